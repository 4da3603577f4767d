// RUN: stator-opt %s | stator-opt | FileCheck %s

// Methods, parameters, control flow and fusion regions.

// CHECK: graph.parameter @w : tensor<3x5xf32> {offset = 64 : i64, source = 0 : i32}
graph.parameter @w : tensor<3x5xf32> {offset = 64 : i64, source = 0 : i32}
// CHECK: graph.parameter @strided : tensor<5x3xf32> {offset = 64 : i64, source = 0 : i32, strides = array<i64: 1, 5>}
graph.parameter @strided : tensor<5x3xf32> {offset = 64 : i64, source = 0 : i32, strides = array<i64: 1, 5>}
// CHECK: graph.parameter @state : tensor<4xf32> {is_mutable, offset = 0 : i64, source = 1 : i32}
graph.parameter @state : tensor<4xf32> {is_mutable, offset = 0 : i64, source = 1 : i32}
// CHECK: graph.parameter @packed : tensor<1x3x16xf32> {layout = "matmul_panels16", recipe = #graph.recipe<"pack_matmul", [@w], {}>}
graph.parameter @packed : tensor<1x3x16xf32> {layout = "matmul_panels16", recipe = #graph.recipe<"pack_matmul", [@w], {}>}
graph.parameter @scale : tensor<3xf32> {offset = 0 : i64, source = 0 : i32}
graph.parameter @oihw : tensor<6x2x3x3xf32> {offset = 0 : i64, source = 0 : i32}
graph.parameter @depthwise : tensor<6x1x3x3xf32> {offset = 0 : i64, source = 0 : i32}
graph.parameter @gates : tensor<2x12x3xf32> {offset = 0 : i64, source = 0 : i32}

// Every recipe gives the type that its description says.
graph.parameter @r0 : tensor<5x3xf32> {recipe = #graph.recipe<"transpose", [@w], {perm = array<i64: 1, 0>}>}
graph.parameter @r1 : tensor<15xf32> {recipe = #graph.recipe<"reshape", [@w], {shape = array<i64: 15>}>}
graph.parameter @r2 : tensor<2x2xf32> {recipe = #graph.recipe<"slice", [@w], {sizes = array<i64: 2, 2>, starts = array<i64: 1, 0>, strides = array<i64: 1, 4>}>}
graph.parameter @r3 : tensor<3x5xbf16> {recipe = #graph.recipe<"convert", [@w], {type = bf16}>}
graph.parameter @r4 : tensor<3x5xf32> {recipe = #graph.recipe<"mul_channel", [@w, @scale], {axis = 0 : i64}>}
graph.parameter @r5 : tensor<1x5x16xf32> {recipe = #graph.recipe<"pack_matmul", [@w], {transposed}>}
graph.parameter @r6 : tensor<2x1x18x16xf32> {recipe = #graph.recipe<"pack_conv", [@oihw], {groups = 2 : i64}>}
graph.parameter @r7 : tensor<9x6xf32> {recipe = #graph.recipe<"pack_depthwise", [@depthwise], {}>}
graph.parameter @r8 : tensor<2x1x3x3x16xf32> {recipe = #graph.recipe<"pack_recurrent", [@gates], {gates = 3 : i64}>}

// CHECK: func.func @method(%{{.*}}: tensor<?x4xf32, #graph.dims<["N", "4"]>> {graph.name = "x"}) -> (tensor<?x4xf32, #graph.dims<["N", "4"]>> {graph.name = "y"})
// CHECK-SAME: graph.guards = {{\[\[}}"N", "2*M"]], graph.symbols = [#graph.symbol<"N", 1, 64>]
func.func @method(%x: tensor<?x4xf32, #graph.dims<["N", "4"]>> {graph.name = "x"}) -> (tensor<?x4xf32, #graph.dims<["N", "4"]>> {graph.name = "y"})
    attributes {graph.symbols = [#graph.symbol<"N", 1, 64>], graph.guards = [["N", "2*M"]]} {
  // CHECK: graph.get_parameter @packed : tensor<1x3x16xf32>
  %0 = graph.get_parameter @packed : tensor<1x3x16xf32>
  return %x : tensor<?x4xf32, #graph.dims<["N", "4"]>>
}

// CHECK-LABEL: func.func @changes_state
func.func @changes_state(%x: tensor<4xf32>) {
  // CHECK: graph.set_parameter @state, %{{.*}} : tensor<4xf32>
  graph.set_parameter @state, %x : tensor<4xf32>
  return
}

// CHECK-LABEL: func.func @branch
func.func @branch(%c: tensor<i1>, %a: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: graph.if %{{.*}} : (tensor<i1>) -> tensor<4xf32> {
  // CHECK: graph.yield %{{.*}} : tensor<4xf32>
  // CHECK: } else {
  %0 = graph.if %c : (tensor<i1>) -> tensor<4xf32> {
    graph.yield %a : tensor<4xf32>
  } else {
    %1 = graph.neg %a : (tensor<4xf32>) -> tensor<4xf32>
    graph.yield %1 : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}

// CHECK-LABEL: func.func @branch_without_values
func.func @branch_without_values(%c: tensor<i1>) {
  // CHECK: graph.if %{{.*}} : (tensor<i1>) -> () {
  // CHECK-NEXT: graph.yield
  graph.if %c : (tensor<i1>) -> () {
    graph.yield
  } else {
    graph.yield
  }
  return
}

// CHECK-LABEL: func.func @loop
func.func @loop(%n: tensor<i64>, %i: tensor<i64>) -> tensor<i64> {
  // CHECK: graph.while %{{.*}} : (tensor<i64>) -> tensor<i64> {
  // CHECK-NEXT: ^bb0(%{{.*}}: tensor<i64>):
  // CHECK: } do {
  %0 = graph.while %i : (tensor<i64>) -> tensor<i64> {
  ^bb0(%v: tensor<i64>):
    %c = graph.compare %v, %n {direction = #graph.compare_direction<lt>} : (tensor<i64>, tensor<i64>) -> tensor<i1>
    graph.yield %c : tensor<i1>
  } do {
  ^bb0(%v: tensor<i64>):
    %w = graph.add %v, %v : (tensor<i64>, tensor<i64>) -> tensor<i64>
    graph.yield %w : tensor<i64>
  }
  return %0 : tensor<i64>
}

// CHECK-LABEL: func.func @fused
func.func @fused(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: graph.fusion %{{.*}}, %{{.*}} {family = "map", reason = "element-wise chain"} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> {
  %0 = graph.fusion %a, %b {family = "map", kernel = "own", reason = "element-wise chain"} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%x: tensor<4xf32>, %y: tensor<4xf32>):
    %s = graph.add %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    graph.yield %s : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}
