// RUN: stator-opt %s --graph-verify --split-input-file --verify-diagnostics

func.func @dead_op(%x: tensor<4xf32> {graph.name = "x"}) -> (tensor<4xf32> {graph.name = "y"}) {
  // expected-error@+1 {{has no use and no effect; the graph stage should have removed it}}
  %0 = graph.relu %x : (tensor<4xf32>) -> tensor<4xf32>
  return %x : tensor<4xf32>
}
