// RUN: stator-opt %s --kernel-graph-to-linalg --split-input-file --verify-diagnostics

func.func @scan_with_company(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @+1 {{has no kernel in combination with the other ops of `scan_with_company`}}
  %0 = graph.cumulative %x {kind = #graph.cumulative_kind<sum>, axis = 0 : i64} : (tensor<8xf32>) -> tensor<8xf32>
  %1 = graph.exp %0 : (tensor<8xf32>) -> tensor<8xf32>
  return %1 : tensor<8xf32>
}

// -----

// Each of the thousand elements that one result blends would be written out.
func.func @antialiased(%x: tensor<4000xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{has no kernel in combination with the other ops of `antialiased`}}
  %0 = graph.resize %x {mode = #graph.resize_mode<linear>, coordinate = #graph.resize_coordinate<half_pixel>, antialias = true} :
    (tensor<4000xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
