// Names as importers of nested inputs and outputs make them, and worse.
func.func @forward(%a: tensor<2xf32> {graph.name = "cfg.m"}, %b: tensor<2xf32> {graph.name = "xs[0]"}, %c: tensor<2xf32> {graph.name = "a=b x"})
    -> (tensor<2xf32> {graph.name = "output.0"}, tensor<2xf32> {graph.name = "output.1.q"}, tensor<2xf32> {graph.name = "a=b x.after"}) {
  %0 = graph.add %a, %b : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %1 = graph.mul %a, %c : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %2 = graph.relu %c : (tensor<2xf32>) -> tensor<2xf32>
  return %0, %1, %2 : tensor<2xf32>, tensor<2xf32>, tensor<2xf32>
}
