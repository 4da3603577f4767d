// RUN: stator-opt %s --split-input-file --plan-outline-kernels --plan-build | FileCheck %s

!t = tensor<1x4x8xf32>
!h = tensor<1x2x8xf32>

// CHECK-LABEL: plan.method @views_need_no_instruction
// CHECK-DAG: %[[IN:.*]] = plan.buffer input[0] "input_0"
// CHECK-DAG: %[[OUT:.*]] = plan.buffer output[0] "output_0"
// CHECK-DAG: %[[VIEW:.*]] = plan.view %[[IN]] at "64" : tensor<16xf32>
// CHECK: plan.kernel {{.*}}(%[[VIEW]]) -> (%[[OUT]])
// CHECK-NOT: plan.copy
func.func @views_need_no_instruction(%x: !t) -> tensor<16xf32> {
  %s = graph.slice %x {starts = #graph.dims<["0", "2", "0"]>, strides = array<i64: 1, 1, 1>} : (!t) -> !h
  %r = graph.reshape %s : (!h) -> tensor<16xf32>
  %y = graph.fusion %r {family = "map"} : (tensor<16xf32>) -> tensor<16xf32> {
  ^bb0(%v: tensor<16xf32>):
    %1 = graph.relu %v : (tensor<16xf32>) -> tensor<16xf32>
    graph.yield %1 : tensor<16xf32>
  }
  return %y : tensor<16xf32>
}

// -----

!t = tensor<1x4x8xf32>
!h = tensor<1x2x8xf32>

// Producers write into their part of a concatenation; what has another place already is copied.
// CHECK-LABEL: plan.method @concat_in_place
// CHECK-DAG: %[[IN:.*]] = plan.buffer input[0]
// CHECK-DAG: %[[OUT:.*]] = plan.buffer output[0]
// CHECK-DAG: %[[FIRST:.*]] = plan.view %[[OUT]] at "0" : tensor<1x2x8xf32>
// CHECK-DAG: %[[SECOND:.*]] = plan.view %[[OUT]] at "64" : tensor<1x2x8xf32>
// CHECK: plan.kernel {{.*}}(%[[IN]]) -> (%[[FIRST]])
// CHECK-NEXT: plan.copy %[[IN]] to %[[SECOND]] {label = "concat"}
func.func @concat_in_place(%x: !h) -> !t {
  %a = graph.fusion %x {family = "map"} : (!h) -> !h {
  ^bb0(%v: !h):
    %1 = graph.relu %v : (!h) -> !h
    graph.yield %1 : !h
  }
  %y = graph.concat %a, %x {axis = 1 : i64} : (!h, !h) -> !t
  return %y : !t
}

// -----

// The same tensor returned twice and an input returned unchanged cost a copy each.
// CHECK-LABEL: plan.method @outputs
// CHECK-DAG: %[[IN:.*]] = plan.buffer input[0] "x"
// CHECK-DAG: %[[A:.*]] = plan.buffer output[0] "first"
// CHECK-DAG: %[[B:.*]] = plan.buffer output[1] "output_1"
// CHECK-DAG: %[[C:.*]] = plan.buffer output[2] "output_2"
// CHECK: plan.kernel {{.*}}(%[[IN]]) -> (%[[A]])
// CHECK-DAG: plan.copy %[[A]] to %[[B]] {label = "output"}
// CHECK-DAG: plan.copy %[[IN]] to %[[C]] {label = "output"}
func.func @outputs(%x: tensor<4xf32> {graph.name = "x"}) -> (tensor<4xf32> {graph.name = "first"}, tensor<4xf32>, tensor<4xf32>) {
  %a = graph.fusion %x {family = "map"} : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%v: tensor<4xf32>):
    %1 = graph.relu %v : (tensor<4xf32>) -> tensor<4xf32>
    graph.yield %1 : tensor<4xf32>
  }
  return %a, %a, %x : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// -----

// CHECK-LABEL: plan.method @parameters_and_sizes
// CHECK-DAG: %[[W:.*]] = plan.buffer parameter @w : tensor<4xf32>
// CHECK-DAG: %[[S:.*]] = plan.buffer state @s : tensor<4xf32>
// CHECK-DAG: %[[C:.*]] = plan.buffer parameter @constant : tensor<4xf32>
// CHECK: plan.kernel {{.*}}(%[[W]], %[[S]], %[[C]])
// CHECK: plan.shape %{{.*}} {values = #graph.dims<["N", "2*N"]>}
graph.parameter @w : tensor<4xf32> {source = 0 : i32, offset = 0 : i64}
graph.parameter @s : tensor<4xf32> {source = 0 : i32, offset = 0 : i64, is_mutable}
func.func @parameters_and_sizes(%x: tensor<?xf32, #graph.dims<["N"]>>) -> (tensor<4xf32>, tensor<2xi64>) {
  %w = graph.get_parameter @w : tensor<4xf32>
  %s = graph.get_parameter @s : tensor<4xf32>
  %c = graph.constant dense<1.0> : tensor<4xf32>
  %a = graph.fusion %w, %s, %c {family = "map"} : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%u: tensor<4xf32>, %v: tensor<4xf32>, %t: tensor<4xf32>):
    %1 = graph.add %u, %v : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %2 = graph.add %1, %t : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    graph.yield %2 : tensor<4xf32>
  }
  %d = graph.dim_values {values = #graph.dims<["N", "2*N"]>} : () -> tensor<2xi64>
  return %a, %d : tensor<4xf32>, tensor<2xi64>
}
// CHECK: graph.parameter @constant : tensor<4xf32> {offset = 0 : i64, source = 0 : i32}

// -----

// A branch writes its result where both leave it; what a branch only passes on is copied there.
// CHECK-LABEL: plan.method @branches
// CHECK-DAG: %[[X:.*]] = plan.buffer input[0]
// CHECK-DAG: %[[C:.*]] = plan.buffer input[1]
// CHECK-DAG: %[[OUT:.*]] = plan.buffer output[0]
// CHECK: plan.if %[[C]] {
// CHECK-NEXT: plan.kernel {{.*}}(%[[X]]) -> (%[[OUT]])
// CHECK-NEXT: } else {
// CHECK-NEXT: plan.copy %[[X]] to %[[OUT]] {label = "if"}
// CHECK-NEXT: }
func.func @branches(%x: tensor<4xf32>, %c: tensor<i1>) -> tensor<4xf32> {
  %y = graph.if %c : (tensor<i1>) -> tensor<4xf32> {
    %a = graph.fusion %x {family = "map"} : (tensor<4xf32>) -> tensor<4xf32> {
    ^bb0(%v: tensor<4xf32>):
      %1 = graph.relu %v : (tensor<4xf32>) -> tensor<4xf32>
      graph.yield %1 : tensor<4xf32>
    }
    graph.yield %a : tensor<4xf32>
  } else {
    graph.yield %x : tensor<4xf32>
  }
  return %y : tensor<4xf32>
}

// -----

// Carried values have one place; a swap sets one of them aside.
// CHECK-LABEL: plan.method @loops
// CHECK-DAG: %[[X:.*]] = plan.buffer input[0]
// CHECK-DAG: %[[A:.*]] = plan.buffer output[0]
// CHECK-DAG: %[[B:.*]] = plan.buffer output[1]
// CHECK: plan.copy %[[X]] to %[[A]]
// CHECK: plan.copy %[[X]] to %[[B]]
// CHECK: plan.loop %[[GO:.*]] {
// CHECK-NEXT: plan.kernel {{.*}}(%[[A]]) -> (%[[GO]])
// CHECK-NEXT: } do {
// CHECK-NEXT: plan.kernel {{.*}}(%[[A]]) -> (%[[NEXT:.*]]) {
// CHECK-NEXT: plan.copy %[[B]] to %[[ASIDE:.*]] {
// CHECK-NEXT: plan.copy %[[ASIDE]] to %[[A]] {
// CHECK-NEXT: plan.copy %[[NEXT]] to %[[B]] {label = "while"}
// CHECK-NEXT: }
func.func @loops(%x: tensor<f32>) -> (tensor<f32>, tensor<f32>) {
  %w:2 = graph.while %x, %x : (tensor<f32>, tensor<f32>) -> (tensor<f32>, tensor<f32>) {
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %m = graph.fusion %p {family = "map"} : (tensor<f32>) -> tensor<i1> {
    ^bb0(%v: tensor<f32>):
      %1 = graph.is_nan %v : (tensor<f32>) -> tensor<i1>
      graph.yield %1 : tensor<i1>
    }
    graph.yield %m : tensor<i1>
  } do {
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %n = graph.fusion %p {family = "map"} : (tensor<f32>) -> tensor<f32> {
    ^bb0(%v: tensor<f32>):
      %1 = graph.sin %v : (tensor<f32>) -> tensor<f32>
      graph.yield %1 : tensor<f32>
    }
    graph.yield %q, %n : tensor<f32>, tensor<f32>
  }
  return %w#0, %w#1 : tensor<f32>, tensor<f32>
}

// -----

// An element-wise update waits for the readers of the old value and writes where that lies.
// CHECK-LABEL: plan.method @update_in_place
// CHECK-DAG: %[[X:.*]] = plan.buffer input[0]
// CHECK-DAG: %[[Y:.*]] = plan.buffer output[0]
// CHECK-DAG: %[[S:.*]] = plan.buffer state @s
// CHECK: plan.kernel {{.*}}(%[[S]], %[[S]]) -> (%[[Y]])
// CHECK-NEXT: plan.kernel {{.*}}(%[[S]], %[[X]]) -> (%[[S]])
// CHECK-NOT: plan.copy
graph.parameter @s : tensor<4xf32> {source = 0 : i32, offset = 0 : i64, is_mutable}
func.func @update_in_place(%x: tensor<4xf32>) -> tensor<4xf32> {
  %s = graph.get_parameter @s : tensor<4xf32>
  %next = graph.fusion %s, %x {family = "map"} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%u: tensor<4xf32>, %v: tensor<4xf32>):
    %1 = graph.add %u, %v : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    graph.yield %1 : tensor<4xf32>
  }
  %y = graph.fusion %s, %s {family = "map"} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%u: tensor<4xf32>, %v: tensor<4xf32>):
    %1 = graph.mul %u, %v : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    graph.yield %1 : tensor<4xf32>
  }
  graph.set_parameter @s, %next : tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

// A swap goes by way of the arena, behind the output that reads an old value; a state that nobody reads is written all the same.
// CHECK-LABEL: plan.method @exchange
// CHECK-DAG: %[[X:.*]] = plan.buffer input[0]
// CHECK-DAG: %[[Y:.*]] = plan.buffer output[0]
// CHECK-DAG: %[[A:.*]] = plan.buffer state @a
// CHECK-DAG: %[[B:.*]] = plan.buffer state @b
// CHECK-DAG: %[[C:.*]] = plan.buffer state @c
// CHECK: plan.copy %[[A]] to %[[Y]] {label = "output"}
// CHECK-NEXT: plan.copy %[[B]] to %[[T:.*]] {label = "state"}
// CHECK-NEXT: plan.copy %[[A]] to %[[U:.*]] {label = "state"}
// CHECK-NEXT: plan.copy %[[T]] to %[[A]] {label = "state"}
// CHECK-NEXT: plan.copy %[[U]] to %[[B]] {label = "state"}
// CHECK-NEXT: plan.copy %[[X]] to %[[C]] {label = "state"}
graph.parameter @a : tensor<4xf32> {source = 0 : i32, offset = 0 : i64, is_mutable}
graph.parameter @b : tensor<4xf32> {source = 0 : i32, offset = 0 : i64, is_mutable}
graph.parameter @c : tensor<4xf32> {source = 0 : i32, offset = 0 : i64, is_mutable}
func.func @exchange(%x: tensor<4xf32>) -> tensor<4xf32> {
  %a = graph.get_parameter @a : tensor<4xf32>
  %b = graph.get_parameter @b : tensor<4xf32>
  graph.set_parameter @a, %b : tensor<4xf32>
  graph.set_parameter @b, %a : tensor<4xf32>
  graph.set_parameter @c, %x : tensor<4xf32>
  return %a : tensor<4xf32>
}

// -----

// What a kernel reads shifted, or after the new value is made, keeps the old bytes until the end.
// CHECK-LABEL: plan.method @not_in_place
// CHECK-DAG: %[[S:.*]] = plan.buffer state @s
// CHECK-DAG: %[[N:.*]] = plan.buffer arena
// CHECK: plan.kernel {{.*}}(%[[S]]) -> (%[[N]])
// CHECK: plan.copy %[[N]] to %[[S]] {label = "state"}
graph.parameter @s : tensor<4xf32> {source = 0 : i32, offset = 0 : i64, is_mutable}
func.func @not_in_place() -> tensor<2xf32> {
  %s = graph.get_parameter @s : tensor<4xf32>
  %next = graph.fusion %s {family = "data"} : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%u: tensor<4xf32>):
    %1 = graph.reverse %u {axes = array<i64: 0>} : (tensor<4xf32>) -> tensor<4xf32>
    graph.yield %1 : tensor<4xf32>
  }
  %half = graph.slice %next {starts = #graph.dims<["2"]>, strides = array<i64: 1>} : (tensor<4xf32>) -> tensor<2xf32>
  graph.set_parameter @s, %next : tensor<4xf32>
  return %half : tensor<2xf32>
}

// -----

// A scatter into a value that a loop carries stays where that value lies.
// CHECK-LABEL: plan.method @loop_in_place
// CHECK-DAG: %[[OUT:.*]] = plan.buffer output[0]
// CHECK: } do {
// CHECK-NEXT: plan.kernel {{.*}}(%[[OUT]], {{.*}}) -> (%[[OUT]]) {{.*}}in_place = array<i64: 0>
// CHECK-NOT: plan.copy
func.func @loop_in_place(%x: tensor<4xf32>, %i: tensor<1x1xi64>, %v: tensor<1xf32>, %go: tensor<i1>) -> tensor<4xf32> {
  %y = graph.while %x : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%c: tensor<4xf32>):
    graph.yield %go : tensor<i1>
  } do {
  ^bb0(%c: tensor<4xf32>):
    %n = graph.fusion %c, %i, %v {family = "data"} : (tensor<4xf32>, tensor<1x1xi64>, tensor<1xf32>) -> tensor<4xf32> {
    ^bb0(%a: tensor<4xf32>, %b: tensor<1x1xi64>, %d: tensor<1xf32>):
      %1 = graph.scatter_nd %a, %b, %d : (tensor<4xf32>, tensor<1x1xi64>, tensor<1xf32>) -> tensor<4xf32>
      graph.yield %1 : tensor<4xf32>
    }
    graph.yield %n : tensor<4xf32>
  }
  return %y : tensor<4xf32>
}

// -----

!h = tensor<2x3x8xf32>
!t = tensor<2x3x16xf32>

// Parts whose rows lie apart: the producer gets a variant of its kernel, the input is copied by a kernel, the reader knows the pitch too.
// CHECK-LABEL: plan.method @pitched_concat
// CHECK-DAG: %[[IN:.*]] = plan.buffer input[0]
// CHECK-DAG: %[[WHOLE:.*]] = plan.buffer output[0]
// CHECK-DAG: %[[FIRST:.*]] = plan.view %[[WHOLE]] at "0" : tensor<2x3x8xf32> {pitch = array<i64: 8, 16>}
// CHECK-DAG: %[[SECOND:.*]] = plan.view %[[WHOLE]] at "32" : tensor<2x3x8xf32> {pitch = array<i64: 8, 16>}
// CHECK: plan.kernel @kernels::@map_{{[0-9a-f]+_[0-9a-f]+}}(%[[IN]]) -> (%[[FIRST]])
// CHECK-NEXT: plan.kernel @kernels::@copy_{{[0-9a-f]+}}(%[[IN]]) -> (%[[SECOND]]) {{.*}}label = "concat"
// CHECK-NEXT: plan.kernel @kernels::@map_{{[0-9a-f]+_[0-9a-f]+}}(%[[FIRST]]) ->
func.func @pitched_concat(%x: !h) -> (!t, !h) {
  %a = graph.fusion %x {family = "map"} : (!h) -> !h {
  ^bb0(%v: !h):
    %1 = graph.relu %v : (!h) -> !h
    graph.yield %1 : !h
  }
  %y = graph.concat %a, %x {axis = 2 : i64, plan.pitched} : (!h, !h) -> !t
  %b = graph.fusion %a {family = "map"} : (!h) -> !h {
  ^bb0(%v: !h):
    %1 = graph.neg %v : (!h) -> !h
    graph.yield %1 : !h
  }
  return %y, %b : !t, !h
}

// -----

!h = tensor<2x3x8xf32>
!t = tensor<2x3x16xf32>

// A kernel that cannot read rows that lie apart gets a copy.
// CHECK-LABEL: plan.method @pitched_slice_for_a_dense_reader
// CHECK-DAG: %[[IN:.*]] = plan.buffer input[0]
// CHECK-DAG: %[[PART:.*]] = plan.view %[[IN]] at "32" : tensor<2x3x8xf32> {pitch = array<i64: 8, 16>}
// CHECK-DAG: %[[DENSE:.*]] = plan.buffer arena : tensor<2x3x8xf32>
// CHECK: plan.kernel @kernels::@copy_{{[0-9a-f]+}}(%[[PART]]) -> (%[[DENSE]])
// CHECK-NEXT: plan.kernel @kernels::@scan_{{[0-9a-f]+}}(%[[DENSE]])
func.func @pitched_slice_for_a_dense_reader(%x: !t) -> !h {
  %s = graph.slice %x {starts = #graph.dims<["0", "0", "8"]>, strides = array<i64: 1, 1, 1>, plan.pitched} : (!t) -> !h
  %y = graph.fusion %s {family = "scan"} : (!h) -> !h {
  ^bb0(%v: !h):
    %1 = graph.cumulative %v {axis = 2 : i64, kind = #graph.cumulative_kind<sum>} : (!h) -> !h
    graph.yield %1 : !h
  }
  return %y : !h
}
