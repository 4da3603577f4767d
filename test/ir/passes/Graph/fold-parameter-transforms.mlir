// RUN: stator-opt %s --graph-fold-parameter-transforms --split-input-file | FileCheck %s

// CHECK: graph.parameter @w.transpose : tensor<3x2xf32> {recipe = #graph.recipe<"transpose", [@w], {perm = array<i64: 1, 0>}>}
graph.parameter @w : tensor<2x3xf32> {source = 0 : i32, offset = 0 : i64}
// CHECK-LABEL: @transpose_becomes_recipe
func.func @transpose_becomes_recipe() -> (tensor<3x2xf32> {graph.name = "y"}) {
  // CHECK-NEXT: %[[W:.*]] = graph.get_parameter @w.transpose
  // CHECK-NEXT: return %[[W]]
  %0 = graph.get_parameter @w : tensor<2x3xf32>
  %1 = graph.transpose %0 {permutation = array<i64: 1, 0>} : (tensor<2x3xf32>) -> tensor<3x2xf32>
  return %1 : tensor<3x2xf32>
}

// -----

// CHECK-DAG: @w.reshape : tensor<6xf32> {recipe = #graph.recipe<"reshape", [@w], {shape = array<i64: 6>}>}
// CHECK-DAG: @w.reshape.convert : tensor<6xf16> {recipe = #graph.recipe<"convert", [@w.reshape], {type = f16}>}
graph.parameter @w : tensor<2x3xf32> {source = 0 : i32, offset = 0 : i64}
// CHECK-LABEL: @chains_fold_from_their_start
func.func @chains_fold_from_their_start() -> (tensor<6xf16> {graph.name = "y"}) {
  // CHECK-NEXT: graph.get_parameter @w.reshape.convert
  %0 = graph.get_parameter @w : tensor<2x3xf32>
  %1 = graph.reshape %0 : (tensor<2x3xf32>) -> tensor<6xf32>
  %2 = graph.convert %1 : (tensor<6xf32>) -> tensor<6xf16>
  return %2 : tensor<6xf16>
}

// -----

graph.parameter @state : tensor<2x3xf32> {source = 0 : i32, offset = 0 : i64, is_mutable}
// CHECK-LABEL: @keeps_transforms_of_state
func.func @keeps_transforms_of_state() -> (tensor<3x2xf32> {graph.name = "y"}) {
  // CHECK: graph.transpose
  %0 = graph.get_parameter @state : tensor<2x3xf32>
  %1 = graph.transpose %0 {permutation = array<i64: 1, 0>} : (tensor<2x3xf32>) -> tensor<3x2xf32>
  return %1 : tensor<3x2xf32>
}
