// A fusion that asks for a library that there is not.
func.func @forward(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = graph.fusion %x {family = "map", kernel = "fastlib"} : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%v: tensor<4xf32>):
    %1 = graph.relu %v : (tensor<4xf32>) -> tensor<4xf32>
    graph.yield %1 : tensor<4xf32>
  }
  return %y : tensor<4xf32>
}
