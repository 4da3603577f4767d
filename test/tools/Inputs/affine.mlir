// relu(x * w + b) on a free number of rows.
!t = tensor<?x4xf32, #graph.dims<["N", "4"]>>
func.func @forward(%x: !t {graph.name = "x"}) -> (!t {graph.name = "y"}) attributes {graph.symbols = [#graph.symbol<"N", 1, 64>]} {
  %w = graph.constant dense<[1.0, 2.0, -1.0, 0.5]> : tensor<4xf32>
  %b = graph.constant dense<[0.5, 0.0, 0.0, -1.0]> : tensor<4xf32>
  %0 = graph.broadcast %w {dimensions = array<i64: 1>} : (tensor<4xf32>) -> !t
  %1 = graph.mul %x, %0 : (!t, !t) -> !t
  %2 = graph.broadcast %b {dimensions = array<i64: 1>} : (tensor<4xf32>) -> !t
  %3 = graph.add %1, %2 : (!t, !t) -> !t
  %4 = graph.relu %3 : (!t) -> !t
  return %4 : !t
}
