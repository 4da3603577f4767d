// RUN: stator-opt %s --kernel-contractions --split-input-file --verify-diagnostics

// What kernels do not take is refused by name; earlier stages bring graphs into the forms that they do take.

func.func @two_contracted_axes(%a: tensor<2x3x4xf32>, %b: tensor<3x4x5xf32>) -> tensor<2x5xf32> {
  // expected-error @+1 {{'graph.dot_general' op contracts 2 axes, but a matmul kernel takes exactly 1}}
  %0 = graph.dot_general %a, %b {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1, 2>,
    rhs_contract = array<i64: 0, 1>} : (tensor<2x3x4xf32>, tensor<3x4x5xf32>) -> tensor<2x5xf32>
  return %0 : tensor<2x5xf32>
}

// -----

func.func @no_column_axis(%a: tensor<2x3xf32>, %b: tensor<3xf32>) -> tensor<2xf32> {
  // expected-error @+1 {{'graph.dot_general' op has a right-hand side with 0 free axes, but a matmul kernel takes exactly 1}}
  %0 = graph.dot_general %a, %b {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>,
    rhs_contract = array<i64: 0>} : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

// -----

func.func @sums_for_unknown_rows(%a: tensor<?x64xf32, #graph.dims<["s0", "64"]>>, %b: tensor<7x2x32x16xf32>) -> tensor<?x64xf32, #graph.dims<["s0", "64"]>> {
  // expected-error @+1 {{'graph.dot_general' op has weights for Strassen's algorithm, but rows that are of unknown number or lie apart}}
  %0 = graph.dot_general %a, %b {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>,
    rhs_packed = 64 : i64} : (tensor<?x64xf32, #graph.dims<["s0", "64"]>>, tensor<7x2x32x16xf32>) -> tensor<?x64xf32, #graph.dims<["s0", "64"]>>
  return %0 : tensor<?x64xf32, #graph.dims<["s0", "64"]>>
}

// -----

func.func @plain_filter(%x: tensor<1x8x8x3xf32>, %w: tensor<16x3x3x3xf32>) -> tensor<1x6x6x16xf32> {
  // expected-error @+1 {{'graph.convolution' op has a plain filter, but a convolution kernel takes channels last and a packed filter}}
  %0 = graph.convolution %x, %w {strides = array<i64: 1, 1>, pad_low = array<i64: 0, 0>, pad_high = array<i64: 0, 0>,
    dilations = array<i64: 1, 1>, layout = #graph.layout<channels_last>} : (tensor<1x8x8x3xf32>, tensor<16x3x3x3xf32>)
    -> tensor<1x6x6x16xf32>
  return %0 : tensor<1x6x6x16xf32>
}

// -----

func.func @channels_first(%x: tensor<1x3x8x8xf32>, %w: tensor<1x1x27x16xf32>) -> tensor<1x16x6x6xf32> {
  // expected-error @+1 {{'graph.convolution' op has channels first, but a convolution kernel takes channels last and a packed filter}}
  %0 = graph.convolution %x, %w {strides = array<i64: 1, 1>, pad_low = array<i64: 0, 0>, pad_high = array<i64: 0, 0>,
    dilations = array<i64: 1, 1>, filter_packed, filter_shape = array<i64: 16, 3, 3, 3>}
    : (tensor<1x3x8x8xf32>, tensor<1x1x27x16xf32>) -> tensor<1x16x6x6xf32>
  return %0 : tensor<1x16x6x6xf32>
}

// -----

func.func @symbolic_heads(%q: tensor<1x2x?xf32, #graph.dims<["1", "2", "s0"]>>, %v: tensor<1x2x4xf32>) -> tensor<1x2x4xf32> {
  // expected-error @+1 {{'graph.attention' op has heads of size s0 and 4, but an attention kernel takes constants}}
  %0 = graph.attention %q, %q, %v {scale = 1.0 : f64} : (tensor<1x2x?xf32, #graph.dims<["1", "2", "s0"]>>,
    tensor<1x2x?xf32, #graph.dims<["1", "2", "s0"]>>, tensor<1x2x4xf32>) -> tensor<1x2x4xf32>
  return %0 : tensor<1x2x4xf32>
}

// -----

func.func @computed_operand(%a: tensor<2x3xf32>, %b: tensor<3x4xf32>) -> tensor<2x4xf32> {
  %0 = graph.relu %a : (tensor<2x3xf32>) -> tensor<2x3xf32>
  // expected-error @+1 {{'graph.dot_general' op operand #0 is not an argument of the kernel function}}
  %1 = graph.dot_general %0, %b {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>,
    rhs_contract = array<i64: 0>} : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  return %1 : tensor<2x4xf32>
}

// -----

func.func @more_than_a_layer(%x: tensor<5x2x3xf32>, %w: tensor<1x4x3xf32>, %r: tensor<1x4x4xf32>) -> tensor<1x2x4xf32> {
  // expected-error @+1 {{'graph.rnn' op stands in a kernel that computes more than its results}}
  %0:2 = graph.rnn %x, %w, %r {operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0>}
    : (tensor<5x2x3xf32>, tensor<1x4x3xf32>, tensor<1x4x4xf32>) -> (tensor<5x1x2x4xf32>, tensor<1x2x4xf32>)
  %1 = graph.relu %0#1 : (tensor<1x2x4xf32>) -> tensor<1x2x4xf32>
  return %1 : tensor<1x2x4xf32>
}

// -----

func.func @symbolic_units(%x: tensor<5x2x3xf32>, %w: tensor<1x?x3xf32, #graph.dims<["1", "s0", "3"]>>,
                          %r: tensor<1x?x?xf32, #graph.dims<["1", "s0", "s0"]>>)
    -> tensor<1x2x?xf32, #graph.dims<["1", "2", "s0"]>> {
  // expected-error @+1 {{'graph.rnn' op has a symbolic number of hidden units, but a recurrent kernel takes a constant one}}
  %0:2 = graph.rnn %x, %w, %r {operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0>}
    : (tensor<5x2x3xf32>, tensor<1x?x3xf32, #graph.dims<["1", "s0", "3"]>>, tensor<1x?x?xf32, #graph.dims<["1", "s0", "s0"]>>)
    -> (tensor<5x1x2x?xf32, #graph.dims<["5", "1", "2", "s0"]>>, tensor<1x2x?xf32, #graph.dims<["1", "2", "s0"]>>)
  return %0#1 : tensor<1x2x?xf32, #graph.dims<["1", "2", "s0"]>>
}
