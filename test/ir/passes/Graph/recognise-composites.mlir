// RUN: stator-opt %s --graph-recognise-composites --split-input-file | FileCheck %s

// CHECK-LABEL: @gelu_with_erf
func.func @gelu_with_erf(%x: tensor<4xf32> {graph.name = "x"}) -> (tensor<4xf32> {graph.name = "y"}) {
  // CHECK-NEXT: %[[Y:.*]] = graph.gelu %{{.*}} : (tensor<4xf32>)
  // CHECK-NEXT: return %[[Y]]
  %root = graph.constant dense<1.41421354> : tensor<4xf32>
  %one = graph.constant dense<1.0> : tensor<4xf32>
  %half = graph.constant dense<0.5> : tensor<4xf32>
  %0 = graph.div %x, %root : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %1 = graph.erf %0 : (tensor<4xf32>) -> tensor<4xf32>
  %2 = graph.add %1, %one : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %3 = graph.mul %x, %2 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %4 = graph.mul %3, %half : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %4 : tensor<4xf32>
}

// -----

// CHECK-LABEL: @gelu_with_tanh
func.func @gelu_with_tanh(%x: tensor<4xf32> {graph.name = "x"}) -> (tensor<4xf32> {graph.name = "y"}) {
  // CHECK-NEXT: graph.gelu %{{.*}} {approximate = #graph.gelu_approximation<tanh>}
  %three = graph.constant dense<3.0> : tensor<4xf32>
  %k = graph.constant dense<0.044715> : tensor<4xf32>
  %s = graph.constant dense<0.797884583> : tensor<4xf32>
  %one = graph.constant dense<1.0> : tensor<4xf32>
  %half = graph.constant dense<0.5> : tensor<4xf32>
  %0 = graph.pow %x, %three : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %1 = graph.mul %0, %k : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %2 = graph.add %x, %1 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %3 = graph.mul %2, %s : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %4 = graph.tanh %3 : (tensor<4xf32>) -> tensor<4xf32>
  %5 = graph.add %4, %one : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %6 = graph.mul %half, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %7 = graph.mul %6, %5 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %7 : tensor<4xf32>
}

// -----

// The gate is of another value.
// CHECK-LABEL: @keeps_product_with_foreign_gate
func.func @keeps_product_with_foreign_gate(%x: tensor<4xf32> {graph.name = "x"}, %z: tensor<4xf32> {graph.name = "z"})
    -> (tensor<4xf32> {graph.name = "y"}) {
  // CHECK-NOT: graph.gelu
  %root = graph.constant dense<1.41421354> : tensor<4xf32>
  %one = graph.constant dense<1.0> : tensor<4xf32>
  %half = graph.constant dense<0.5> : tensor<4xf32>
  %0 = graph.div %z, %root : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %1 = graph.erf %0 : (tensor<4xf32>) -> tensor<4xf32>
  %2 = graph.add %1, %one : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %3 = graph.mul %x, %2 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %4 = graph.mul %3, %half : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %4 : tensor<4xf32>
}

// -----

// CHECK-LABEL: @softmax
func.func @softmax(%x: tensor<2x8xf32> {graph.name = "x"}) -> (tensor<2x8xf32> {graph.name = "y"}) {
  // CHECK-NEXT: graph.softmax %{{.*}} {axis = 1 : i64}
  %0 = graph.reduce %x {kind = #graph.reduce_kind<max>, axes = array<i64: 1>} : (tensor<2x8xf32>) -> tensor<2xf32>
  %1 = graph.broadcast %0 {dimensions = array<i64: 0>} : (tensor<2xf32>) -> tensor<2x8xf32>
  %2 = graph.sub %x, %1 : (tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
  %3 = graph.exp %2 : (tensor<2x8xf32>) -> tensor<2x8xf32>
  %4 = graph.reduce %3 {kind = #graph.reduce_kind<sum>, axes = array<i64: 1>} : (tensor<2x8xf32>) -> tensor<2xf32>
  %5 = graph.broadcast %4 {dimensions = array<i64: 0>} : (tensor<2xf32>) -> tensor<2x8xf32>
  %6 = graph.div %3, %5 : (tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
  return %6 : tensor<2x8xf32>
}

// -----

// CHECK-LABEL: @layer_norm
func.func @layer_norm(%x: tensor<2x8xf32> {graph.name = "x"}) -> (tensor<2x8xf32> {graph.name = "y"}) {
  // CHECK-NEXT: graph.layer_norm %{{.*}} {axis = 1 : i64, epsilon = 9.9999997473787516E-6 : f64
  %n = graph.constant dense<8.0> : tensor<2xf32>
  %eps = graph.constant dense<1.0e-5> : tensor<2xf32>
  %0 = graph.reduce %x {kind = #graph.reduce_kind<sum>, axes = array<i64: 1>} : (tensor<2x8xf32>) -> tensor<2xf32>
  %1 = graph.div %0, %n : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %2 = graph.broadcast %1 {dimensions = array<i64: 0>} : (tensor<2xf32>) -> tensor<2x8xf32>
  %3 = graph.sub %x, %2 : (tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
  %4 = graph.mul %3, %3 : (tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
  %5 = graph.reduce %4 {kind = #graph.reduce_kind<sum>, axes = array<i64: 1>} : (tensor<2x8xf32>) -> tensor<2xf32>
  %6 = graph.div %5, %n : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %7 = graph.add %6, %eps : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %8 = graph.sqrt %7 : (tensor<2xf32>) -> tensor<2xf32>
  %9 = graph.broadcast %8 {dimensions = array<i64: 0>} : (tensor<2xf32>) -> tensor<2x8xf32>
  %10 = graph.div %3, %9 : (tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
  return %10 : tensor<2x8xf32>
}

// -----

// CHECK-LABEL: @rms_norm
func.func @rms_norm(%x: tensor<2x8xf32> {graph.name = "x"}) -> (tensor<2x8xf32> {graph.name = "y"}) {
  // CHECK-NEXT: graph.rms_norm %{{.*}} {axis = 1 : i64
  %n = graph.constant dense<0.125> : tensor<2xf32>
  %eps = graph.constant dense<1.0e-6> : tensor<2xf32>
  %0 = graph.mul %x, %x : (tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
  %1 = graph.reduce %0 {kind = #graph.reduce_kind<sum>, axes = array<i64: 1>} : (tensor<2x8xf32>) -> tensor<2xf32>
  %2 = graph.mul %1, %n : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %3 = graph.add %2, %eps : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %4 = graph.rsqrt %3 : (tensor<2xf32>) -> tensor<2xf32>
  %5 = graph.broadcast %4 {dimensions = array<i64: 0>} : (tensor<2xf32>) -> tensor<2x8xf32>
  %6 = graph.mul %x, %5 : (tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
  return %6 : tensor<2x8xf32>
}
