// RUN: stator-opt %s --optimise-choose-kernels=library=mkl --verify-diagnostics

// expected-error@+1 {{unknown library `mkl`, expected none, onednn or auto}}
func.func @unknown_library(%x: tensor<4xf32> {graph.name = "x"}) -> (tensor<4xf32> {graph.name = "y"}) {
  return %x : tensor<4xf32>
}
