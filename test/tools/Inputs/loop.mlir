// Doubles x until its magnitude is at least 100; `before` is what it was before the last step, `branch` the magnitude of a negative x.
func.func @forward(%x: tensor<f32> {graph.name = "x"}) -> (tensor<f32> {graph.name = "last"}, tensor<f32> {graph.name = "before"}, tensor<f32> {graph.name = "branch"}) {
  %limit = graph.constant dense<100.0> : tensor<f32>
  %zero = graph.constant dense<0.0> : tensor<f32>
  %r:2 = graph.while %x, %x : (tensor<f32>, tensor<f32>) -> (tensor<f32>, tensor<f32>) {
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %m = graph.abs %a : (tensor<f32>) -> tensor<f32>
    %c = graph.compare %m, %limit {direction = #graph.compare_direction<lt>} : (tensor<f32>, tensor<f32>) -> tensor<i1>
    graph.yield %c : tensor<i1>
  } do {
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %d = graph.add %a, %a : (tensor<f32>, tensor<f32>) -> tensor<f32>
    graph.yield %d, %a : tensor<f32>, tensor<f32>
  }
  %isNegative = graph.compare %x, %zero {direction = #graph.compare_direction<lt>} : (tensor<f32>, tensor<f32>) -> tensor<i1>
  %s = graph.if %isNegative : (tensor<i1>) -> tensor<f32> {
    %n = graph.neg %x : (tensor<f32>) -> tensor<f32>
    graph.yield %n : tensor<f32>
  } else {
    graph.yield %r#0 : tensor<f32>
  }
  return %r#0, %r#1, %s : tensor<f32>, tensor<f32>, tensor<f32>
}
