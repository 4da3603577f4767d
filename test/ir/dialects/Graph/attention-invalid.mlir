// RUN: stator-opt %s --split-input-file --verify-diagnostics

func.func @two_offsets(%x: tensor<2x3xf32>) {
  // expected-error@+2 {{has a causal offset of 2 sizes, expected 1}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = graph.attention %x, %x, %x {scale = 1.0 : f64, causal = true, causal_offset = #graph.dims<["1", "2"]>} : (tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @offset_of_nothing(%x: tensor<2x3xf32>) {
  // expected-error@+2 {{has a causal offset of 1 sizes without being causal}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = graph.attention %x, %x, %x {scale = 1.0 : f64, causal_offset = #graph.dims<["1"]>} : (tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

graph.parameter @v : tensor<2x3x2xf32> {source = 0 : i32, offset = 0 : i64}
graph.parameter @w : tensor<2x3x3xf32> {source = 0 : i32, offset = 48 : i64}
// expected-error@+1 {{recipe "concat" has sources of types 'tensor<2x3x2xf32>' and 'tensor<2x3x3xf32>', expected the same but for the size of axis 1}}
graph.parameter @bad : tensor<2x6x2xf32> {recipe = #graph.recipe<"concat", [@v, @w], {axis = 1 : i64}>}
