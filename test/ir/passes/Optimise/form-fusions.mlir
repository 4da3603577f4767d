// RUN: stator-opt %s --optimise-form-fusions --split-input-file | FileCheck %s

// A product takes its bias and activation.
// CHECK-LABEL: @fuses_epilogue_into_matmul
func.func @fuses_epilogue_into_matmul(%x: tensor<4x8xf32> {graph.name = "x"}, %w: tensor<8x6xf32> {graph.name = "w"}, %b: tensor<6xf32> {graph.name = "b"})
    -> (tensor<4x6xf32> {graph.name = "y"}) {
  // CHECK: %[[Y:.*]] = graph.fusion %{{.*}}, %{{.*}}, %{{.*}} {family = "matmul"
  // CHECK: graph.dot_general
  // CHECK: graph.broadcast
  // CHECK: graph.add
  // CHECK: graph.relu
  // CHECK: graph.yield
  // CHECK-NOT: graph.fusion
  // CHECK: return %[[Y]]
  %0 = graph.dot_general %x, %w {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<4x8xf32>, tensor<8x6xf32>) -> tensor<4x6xf32>
  %1 = graph.broadcast %b {dimensions = array<i64: 1>} : (tensor<6xf32>) -> tensor<4x6xf32>
  %2 = graph.add %0, %1 : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
  %3 = graph.relu %2 : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return %3 : tensor<4x6xf32>
}

// -----

// Both uses of the product are inside, so the gate fuses.
// CHECK-LABEL: @fuses_gate
func.func @fuses_gate(%x: tensor<4x8xf32> {graph.name = "x"}, %w: tensor<8x6xf32> {graph.name = "w"}) -> (tensor<4x6xf32> {graph.name = "y"}) {
  // CHECK: graph.fusion
  // CHECK-NOT: graph.fusion
  %0 = graph.dot_general %x, %w {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<4x8xf32>, tensor<8x6xf32>) -> tensor<4x6xf32>
  %1 = graph.sigmoid %0 : (tensor<4x6xf32>) -> tensor<4x6xf32>
  %2 = graph.mul %0, %1 : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
  return %2 : tensor<4x6xf32>
}

// -----

// The first product is a result itself: its epilogue may not swallow it.
// CHECK-LABEL: @keeps_product_with_outside_use
func.func @keeps_product_with_outside_use(%x: tensor<4x8xf32> {graph.name = "x"}, %w: tensor<8x6xf32> {graph.name = "w"})
    -> (tensor<4x6xf32> {graph.name = "y"}, tensor<4x6xf32> {graph.name = "z"}) {
  // CHECK: %[[P:.*]] = graph.fusion {{.*}}family = "matmul"
  // CHECK: %[[R:.*]] = graph.fusion %[[P]] {family = "map"
  // CHECK: return %[[R]], %[[P]]
  %0 = graph.dot_general %x, %w {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<4x8xf32>, tensor<8x6xf32>) -> tensor<4x6xf32>
  %1 = graph.relu %0 : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return %1, %0 : tensor<4x6xf32>, tensor<4x6xf32>
}

// -----

// x + f(relu(x)) with f a second product: fusing the add into the first one would need f before itself.
// CHECK-LABEL: @keeps_cycle_apart
func.func @keeps_cycle_apart(%x: tensor<4x4xf32> {graph.name = "x"}, %w: tensor<4x4xf32> {graph.name = "w"}) -> (tensor<4x4xf32> {graph.name = "y"}) {
  // CHECK: %[[A:.*]] = graph.fusion %{{.*}}, %{{.*}} {family = "matmul"
  // CHECK: %[[B:.*]] = graph.fusion %{{.*}} {family = "matmul"
  // CHECK: return %[[B]]
  %0 = graph.dot_general %x, %w {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = graph.dot_general %0, %w {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %2 = graph.add %0, %1 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %2 : tensor<4x4xf32>
}

// -----

// CHECK-LABEL: @rows_take_their_neighbours
func.func @rows_take_their_neighbours(%x: tensor<4x8xf32> {graph.name = "x"}, %s: tensor<8xf32> {graph.name = "s"}) -> (tensor<4x8xf32> {graph.name = "y"}) {
  // CHECK: graph.fusion {{.*}}family = "rows"
  // CHECK: graph.mul
  // CHECK: graph.softmax
  // CHECK: graph.relu
  // CHECK-NOT: graph.fusion
  %b = graph.broadcast %s {dimensions = array<i64: 1>} : (tensor<8xf32>) -> tensor<4x8xf32>
  %0 = graph.mul %x, %b : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %1 = graph.softmax %0 {axis = 1 : i64} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %2 = graph.relu %1 : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return %2 : tensor<4x8xf32>
}

// -----

// A reduction without a broadcast back is not a row kernel; leading axes are not either.
// CHECK-LABEL: @reductions_keep_their_own_family
func.func @reductions_keep_their_own_family(%x: tensor<4x8xf32> {graph.name = "x"}) -> (tensor<4xf32> {graph.name = "y"}, tensor<8xf32> {graph.name = "z"}) {
  // CHECK: graph.fusion {{.*}}family = "reduce"
  // CHECK: graph.fusion {{.*}}family = "reduce"
  %0 = graph.reduce %x {kind = #graph.reduce_kind<sum>, axes = array<i64: 1>} : (tensor<4x8xf32>) -> tensor<4xf32>
  %1 = graph.reduce %x {kind = #graph.reduce_kind<max>, axes = array<i64: 0>} : (tensor<4x8xf32>) -> tensor<8xf32>
  return %0, %1 : tensor<4xf32>, tensor<8xf32>
}

// -----

// Views need no kernel: a reshape, and a slice that is one run of bytes.
// CHECK-LABEL: @leaves_views_outside
func.func @leaves_views_outside(%x: tensor<4x8xf32> {graph.name = "x"}) -> (tensor<16xf32> {graph.name = "y"}) {
  // CHECK-NOT: graph.fusion
  // CHECK: graph.slice
  // CHECK: graph.reshape
  %0 = graph.slice %x {starts = #graph.dims<["1", "0"]>, strides = array<i64: 1, 1>} : (tensor<4x8xf32>) -> tensor<2x8xf32>
  %1 = graph.reshape %0 : (tensor<2x8xf32>) -> tensor<16xf32>
  return %1 : tensor<16xf32>
}

// -----

// CHECK-LABEL: @column_slice_needs_a_kernel
func.func @column_slice_needs_a_kernel(%x: tensor<4x8xf32> {graph.name = "x"}) -> (tensor<4x2xf32> {graph.name = "y"}) {
  // CHECK: graph.fusion {{.*}}family = "data"
  %0 = graph.slice %x {starts = #graph.dims<["0", "3"]>, strides = array<i64: 1, 1>} : (tensor<4x8xf32>) -> tensor<4x2xf32>
  return %0 : tensor<4x2xf32>
}

// -----

// A map reads rows of a larger tensor where they lie; short ones are copied first, since flat loops over the copy are faster.
// CHECK-LABEL: @gates
func.func @gates(%x: tensor<4x64xf32> {graph.name = "x"}, %z: tensor<4x8xf32> {graph.name = "z"}) -> (tensor<4x32xf32> {graph.name = "y"}, tensor<4x4xf32> {graph.name = "w"}) {
  // CHECK: graph.fusion %arg0 {family = "map"
  // CHECK-COUNT-2: graph.slice
  // CHECK: graph.mul
  // CHECK: graph.fusion %arg1 {family = "data"
  // CHECK: graph.fusion %arg1 {family = "data"
  // CHECK: graph.fusion {{.*}}family = "map"
  %0 = graph.slice %x {starts = #graph.dims<["0", "0"]>, strides = array<i64: 1, 1>} : (tensor<4x64xf32>) -> tensor<4x32xf32>
  %1 = graph.slice %x {starts = #graph.dims<["0", "32"]>, strides = array<i64: 1, 1>} : (tensor<4x64xf32>) -> tensor<4x32xf32>
  %2 = graph.sigmoid %1 : (tensor<4x32xf32>) -> tensor<4x32xf32>
  %3 = graph.mul %0, %2 : (tensor<4x32xf32>, tensor<4x32xf32>) -> tensor<4x32xf32>
  %4 = graph.slice %z {starts = #graph.dims<["0", "0"]>, strides = array<i64: 1, 1>} : (tensor<4x8xf32>) -> tensor<4x4xf32>
  %5 = graph.slice %z {starts = #graph.dims<["0", "4"]>, strides = array<i64: 1, 1>} : (tensor<4x8xf32>) -> tensor<4x4xf32>
  %6 = graph.mul %4, %5 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %3, %6 : tensor<4x32xf32>, tensor<4x4xf32>
}
