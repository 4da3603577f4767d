// A convolution for which Winograd pays: 147 kB of weights, 262 kB for F(2x2) and 590 kB for F(4x4).
func.func @forward(%x: tensor<1x64x56x56xf32> {graph.name = "x"}) -> (tensor<1x64x56x56xf32> {graph.name = "y"}) {
  %w = graph.constant dense<0.5> : tensor<64x64x3x3xf32>
  %0 = graph.convolution %x, %w {strides = array<i64: 1, 1>, pad_low = array<i64: 1, 1>, pad_high = array<i64: 1, 1>, dilations = array<i64: 1, 1>} : (tensor<1x64x56x56xf32>, tensor<64x64x3x3xf32>) -> tensor<1x64x56x56xf32>
  return %0 : tensor<1x64x56x56xf32>
}
