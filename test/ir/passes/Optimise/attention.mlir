// RUN: stator-opt %s --optimise-causal-masks --optimise-merge-matmuls --canonicalize --optimise-form-attention --split-input-file | FileCheck %s

// One projection, whose parts the kernel reads where they are; it writes where the transpose would.
// CHECK-DAG: graph.parameter @wq.concat : tensor<8x32xf32> {recipe = #graph.recipe<"concat", [@wq, @wk], {axis = 1 : i64}>}
// CHECK-DAG: graph.parameter @wq.concat.concat : tensor<8x48xf32>
graph.parameter @wq : tensor<8x16xf32> {source = 0 : i32, offset = 0 : i64}
graph.parameter @wk : tensor<8x16xf32> {source = 0 : i32, offset = 512 : i64}
graph.parameter @wv : tensor<8x16xf32> {source = 0 : i32, offset = 1024 : i64}
// CHECK-LABEL: @projections
func.func @projections(%x: tensor<2x5x8xf32> {graph.name = "x"}) -> (tensor<2x5x2x8xf32> {graph.name = "y"}) {
  // CHECK: %[[ALL:.*]] = graph.dot_general {{.*}} -> tensor<2x5x48xf32>
  // CHECK-NEXT: %[[Y:.*]] = graph.fusion %[[ALL]] {family = "attention", reason = "reads and writes through 10 views"}
  // CHECK: return %[[Y]]
  %wq = graph.get_parameter @wq : tensor<8x16xf32>
  %wk = graph.get_parameter @wk : tensor<8x16xf32>
  %wv = graph.get_parameter @wv : tensor<8x16xf32>
  %0 = graph.dot_general %x, %wq {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 2>, rhs_contract = array<i64: 0>} : (tensor<2x5x8xf32>, tensor<8x16xf32>) -> tensor<2x5x16xf32>
  %1 = graph.dot_general %x, %wk {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 2>, rhs_contract = array<i64: 0>} : (tensor<2x5x8xf32>, tensor<8x16xf32>) -> tensor<2x5x16xf32>
  %2 = graph.dot_general %x, %wv {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 2>, rhs_contract = array<i64: 0>} : (tensor<2x5x8xf32>, tensor<8x16xf32>) -> tensor<2x5x16xf32>
  %3 = graph.reshape %0 : (tensor<2x5x16xf32>) -> tensor<2x5x2x8xf32>
  %4 = graph.reshape %1 : (tensor<2x5x16xf32>) -> tensor<2x5x2x8xf32>
  %5 = graph.reshape %2 : (tensor<2x5x16xf32>) -> tensor<2x5x2x8xf32>
  %q = graph.transpose %3 {permutation = array<i64: 0, 2, 1, 3>} : (tensor<2x5x2x8xf32>) -> tensor<2x2x5x8xf32>
  %k = graph.transpose %4 {permutation = array<i64: 0, 2, 1, 3>} : (tensor<2x5x2x8xf32>) -> tensor<2x2x5x8xf32>
  %v = graph.transpose %5 {permutation = array<i64: 0, 2, 1, 3>} : (tensor<2x5x2x8xf32>) -> tensor<2x2x5x8xf32>
  %6 = graph.attention %q, %k, %v {scale = 1.0 : f64} : (tensor<2x2x5x8xf32>, tensor<2x2x5x8xf32>, tensor<2x2x5x8xf32>) -> tensor<2x2x5x8xf32>
  %7 = graph.transpose %6 {permutation = array<i64: 0, 2, 1, 3>} : (tensor<2x2x5x8xf32>) -> tensor<2x5x2x8xf32>
  return %7 : tensor<2x5x2x8xf32>
}

// -----

// Keys with the head's size as an axis of stride 5 are no rows: the transpose stays outside.
// CHECK-LABEL: @columns
func.func @columns(%q: tensor<2x3x8xf32> {graph.name = "q"}, %k: tensor<2x8x5xf32> {graph.name = "k"}, %v: tensor<2x5x8xf32> {graph.name = "v"}) -> (tensor<2x3x8xf32> {graph.name = "y"}) {
  // CHECK: %[[K:.*]] = graph.transpose
  // CHECK: graph.fusion {{.*}}%[[K]]{{.*}}{family = "attention", reason = "single attention"}
  %0 = graph.transpose %k {permutation = array<i64: 0, 2, 1>} : (tensor<2x8x5xf32>) -> tensor<2x5x8xf32>
  %1 = graph.attention %q, %0, %v {scale = 1.0 : f64} : (tensor<2x3x8xf32>, tensor<2x5x8xf32>, tensor<2x5x8xf32>) -> tensor<2x3x8xf32>
  return %1 : tensor<2x3x8xf32>
}

// -----

// CHECK-LABEL: @triangle
func.func @triangle(%q: tensor<2x2x8xf32> {graph.name = "q"}, %k: tensor<2x3x8xf32> {graph.name = "k"}, %v: tensor<2x3x8xf32> {graph.name = "v"}) -> (tensor<2x2x8xf32> {graph.name = "y"}) {
  // CHECK: graph.attention %{{[^,]*}}, %{{[^,]*}}, %{{[^,]*}} {causal = true, causal_offset = #graph.dims<["1"]>
  %m = graph.constant dense<[[[true, true, false], [true, true, true]]]> : tensor<1x2x3xi1>
  %0 = graph.attention %q, %k, %v, %m {scale = 1.0 : f64} : (tensor<2x2x8xf32>, tensor<2x3x8xf32>, tensor<2x3x8xf32>, tensor<1x2x3xi1>) -> tensor<2x2x8xf32>
  return %0 : tensor<2x2x8xf32>
}

// -----

// CHECK-LABEL: @no_triangle
func.func @no_triangle(%q: tensor<2x2x8xf32> {graph.name = "q"}, %k: tensor<2x3x8xf32> {graph.name = "k"}, %v: tensor<2x3x8xf32> {graph.name = "v"}) -> (tensor<2x2x8xf32> {graph.name = "y"}) {
  // CHECK-NOT: causal = true
  %m = graph.constant dense<[[[true, false, true], [true, true, true]]]> : tensor<1x2x3xi1>
  %0 = graph.attention %q, %k, %v, %m {scale = 1.0 : f64} : (tensor<2x2x8xf32>, tensor<2x3x8xf32>, tensor<2x3x8xf32>, tensor<1x2x3xi1>) -> tensor<2x2x8xf32>
  return %0 : tensor<2x2x8xf32>
}

// -----

// CHECK-LABEL: @counters
func.func @counters(%q: tensor<2x?x8xf32, #graph.dims<["2", "T", "8"]>> {graph.name = "q"}, %k: tensor<2x?x8xf32, #graph.dims<["2", "P + T", "8"]>> {graph.name = "k"}) -> (tensor<2x?x8xf32, #graph.dims<["2", "T", "8"]>> {graph.name = "y"}) {
  // CHECK: graph.attention %{{[^,]*}}, %{{[^,]*}}, %{{[^,]*}} {causal = true, causal_offset = #graph.dims<["P"]>
  %rows = graph.iota {axis = 1 : i64} : () -> tensor<1x?x?xi64, #graph.dims<["1", "T", "P + T"]>>
  %columns = graph.iota {axis = 2 : i64} : () -> tensor<1x?x?xi64, #graph.dims<["1", "T", "P + T"]>>
  %p = graph.dim_values {values = #graph.dims<["P"]>, scalar} : () -> tensor<i64>
  %ps = graph.broadcast %p {dimensions = array<i64>} : (tensor<i64>) -> tensor<1x?x?xi64, #graph.dims<["1", "T", "P + T"]>>
  %last = graph.add %rows, %ps : (tensor<1x?x?xi64, #graph.dims<["1", "T", "P + T"]>>, tensor<1x?x?xi64, #graph.dims<["1", "T", "P + T"]>>) -> tensor<1x?x?xi64, #graph.dims<["1", "T", "P + T"]>>
  %m = graph.compare %columns, %last {direction = #graph.compare_direction<le>} : (tensor<1x?x?xi64, #graph.dims<["1", "T", "P + T"]>>, tensor<1x?x?xi64, #graph.dims<["1", "T", "P + T"]>>) -> tensor<1x?x?xi1, #graph.dims<["1", "T", "P + T"]>>
  %0 = graph.attention %q, %k, %k, %m {scale = 1.0 : f64} : (tensor<2x?x8xf32, #graph.dims<["2", "T", "8"]>>, tensor<2x?x8xf32, #graph.dims<["2", "P + T", "8"]>>, tensor<2x?x8xf32, #graph.dims<["2", "P + T", "8"]>>, tensor<1x?x?xi1, #graph.dims<["1", "T", "P + T"]>>) -> tensor<2x?x8xf32, #graph.dims<["2", "T", "8"]>>
  return %0 : tensor<2x?x8xf32, #graph.dims<["2", "T", "8"]>>
}
