// RUN: stator-opt %s --kernel-vectorise --verify-diagnostics

func.func @not_linalg(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @+1 {{has no kernel in combination with the other ops of `not_linalg`}}
  %0 = graph.exp %x : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
