// RUN: stator-opt %s --kernel-contractions --split-input-file --verify-diagnostics

func.func @keys_in_columns(%q: tensor<3x8xf32>, %k: tensor<8x5xf32>, %v: tensor<5x8xf32>) -> tensor<3x8xf32> {
  %0 = graph.transpose %k {permutation = array<i64: 1, 0>} : (tensor<8x5xf32>) -> tensor<5x8xf32>
  // expected-error @+1 {{'graph.attention' op operand #1 is not rows of an argument of the kernel function}}
  %1 = graph.attention %q, %0, %v {scale = 1.0 : f64} : (tensor<3x8xf32>, tensor<5x8xf32>, tensor<5x8xf32>) -> tensor<3x8xf32>
  return %1 : tensor<3x8xf32>
}

// -----

func.func @result_in_columns(%q: tensor<3x8xf32>, %k: tensor<5x8xf32>) -> tensor<8x3xf32> {
  // expected-error @+1 {{'graph.attention' op has a result that the kernel cannot write where `result_in_columns` wants it}}
  %0 = graph.attention %q, %k, %k {scale = 1.0 : f64} : (tensor<3x8xf32>, tensor<5x8xf32>, tensor<5x8xf32>) -> tensor<3x8xf32>
  %1 = graph.transpose %0 {permutation = array<i64: 1, 0>} : (tensor<3x8xf32>) -> tensor<8x3xf32>
  return %1 : tensor<8x3xf32>
}
