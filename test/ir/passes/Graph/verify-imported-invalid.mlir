// RUN: stator-opt %s --graph-verify-imported --split-input-file --verify-diagnostics
// More of what the importer must never leave; the common cases are in verify-imported.mlir.

// expected-error@+1 {{method has no body}}
func.func private @declared_only(tensor<4xf32>) -> tensor<4xf32>

// -----

// expected-error@+1 {{method has 2 blocks, expected 1}}
func.func @unstructured(%x: tensor<4xf32> {graph.name = "x"}) -> (tensor<4xf32> {graph.name = "y"}) {
  cf.br ^next
^next:
  return %x : tensor<4xf32>
}

// -----

// expected-error@+1 {{two arguments are called `x`}}
func.func @equal_arguments(%a: tensor<4xf32> {graph.name = "x"}, %b: tensor<4xf32> {graph.name = "x"}) -> (tensor<4xf32> {graph.name = "y"}) {
  return %a : tensor<4xf32>
}

// -----

// expected-error@+1 {{argument 0 has type 'tensor<?xf32>', expected a ranked tensor whose unknown sizes are named}}
func.func @nameless_size(%x: tensor<?xf32> {graph.name = "x"}) -> (tensor<?xf32> {graph.name = "y"}) {
  return %x : tensor<?xf32>
}

// -----

module {
  // expected-error@+1 {{cannot stand at the top of a graph module, expected methods and parameters}}
  module @nested {
  }
}

// -----

// expected-error@+1 {{has the kernel layout `matmul_panels16`, expected plain row-major weights}}
graph.parameter @w : tensor<4xf32> {source = 0 : i32, offset = 0 : i64, layout = "matmul_panels16"}
func.func @packed_too_early(%x: tensor<4xf32> {graph.name = "x"}) -> (tensor<4xf32> {graph.name = "y"}) {
  return %x : tensor<4xf32>
}
