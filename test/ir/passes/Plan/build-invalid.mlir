// RUN: stator-opt %s --split-input-file --plan-build --verify-diagnostics

func.func @operation_without_kernel(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{is neither in a fusion nor a view of contiguous bytes}}
  %y = graph.relu %x : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

func.func @slice_of_columns(%x: tensor<4x4xf32>) -> tensor<4x2xf32> {
  // expected-error @+1 {{is neither in a fusion nor a view of contiguous bytes}}
  %y = graph.slice %x {starts = #graph.dims<["0", "1"]>, strides = array<i64: 1, 1>} : (tensor<4x4xf32>) -> tensor<4x2xf32>
  return %y : tensor<4x2xf32>
}

// -----

func.func @concat_of_columns(%x: tensor<4x4xf32>) -> tensor<4x8xf32> {
  // expected-error @+1 {{is neither in a fusion nor a view of contiguous bytes}}
  %y = graph.concat %x, %x {axis = 1 : i64} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}
