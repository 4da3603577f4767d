// An intermediate result that no arena can hold.
func.func @forward(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = graph.fusion %x {family = "map"} : (tensor<4xf32>) -> tensor<70368744177664x4xf32> {
  ^bb0(%v: tensor<4xf32>):
    %b = graph.broadcast %v {dimensions = array<i64: 1>} : (tensor<4xf32>) -> tensor<70368744177664x4xf32>
    graph.yield %b : tensor<70368744177664x4xf32>
  }
  %1 = graph.fusion %0 {family = "reduce"} : (tensor<70368744177664x4xf32>) -> tensor<4xf32> {
  ^bb0(%v: tensor<70368744177664x4xf32>):
    %s = graph.reduce %v {axes = array<i64: 0>, kind = #graph.reduce_kind<sum>} : (tensor<70368744177664x4xf32>) -> tensor<4xf32>
    graph.yield %s : tensor<4xf32>
  }
  return %1 : tensor<4xf32>
}
