// RUN: stator-opt %s --graph-verify-imported --split-input-file --verify-diagnostics

// expected-error@+1 {{module has no public method}}
module {
}

// -----

// expected-error@+1 {{argument 0 has no `graph.name`}}
func.func @unnamed_argument(%x: tensor<4xf32>) -> (tensor<4xf32> {graph.name = "y"}) {
  return %x : tensor<4xf32>
}

// -----

// expected-error@+1 {{two results are called `y`}}
func.func @equal_names(%x: tensor<4xf32> {graph.name = "x"}) -> (tensor<4xf32> {graph.name = "y"}, tensor<4xf32> {graph.name = "y"}) {
  return %x, %x : tensor<4xf32>, tensor<4xf32>
}

// -----

// expected-error@+1 {{size `2*N` uses the symbol `N`, which is not the size of an argument by itself}}
func.func @unreadable_symbol(%x: tensor<?xf32, #graph.dims<["2*N"]>> {graph.name = "x"}) -> (tensor<?xf32, #graph.dims<["2*N"]>> {graph.name = "y"}) {
  return %x : tensor<?xf32, #graph.dims<["2*N"]>>
}

// -----

func.func @foreign_op(%x: tensor<4xf32> {graph.name = "x"}) -> (tensor<4xf32> {graph.name = "y"}) {
  // expected-error@+1 {{does not belong to the graph dialect}}
  %0 = arith.addf %x, %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @region_too_early(%x: tensor<4xf32> {graph.name = "x"}) -> (tensor<4xf32> {graph.name = "y"}) {
  // expected-error@+1 {{is made by the optimise stage and cannot be imported}}
  %0 = graph.fusion %x {family = "map"} : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%a: tensor<4xf32>):
    %r = graph.relu %a : (tensor<4xf32>) -> tensor<4xf32>
    graph.yield %r : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}
