// RUN: stator-opt %s -split-input-file -verify-diagnostics

// What the verifiers of contractions, windows, normalisations and recurrent layers refuse.

func.func @refuses_has_a_right_hand_side_of_i32(%x: tensor<2x3xf32>, %y: tensor<3x4xi32>) {
  // expected-error@+2 {{has a right-hand side of 'i32' elements, expected 'f32'}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = graph.dot_general %x, %y {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<2x3xf32>, tensor<3x4xi32>) -> tensor<2xf32>
  return
}

// -----

func.func @refuses_has_0_entries_in_rhs_contract_expected(%x: tensor<2x3xf32>, %y: tensor<3x4xf32>) {
  // expected-error@+2 {{has 0 entries in `rhs_contract`, expected 1}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = graph.dot_general %x, %y {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64>} : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @refuses_has_axis_1_twice_in_lhs_batch(%x: tensor<2x3xf32>, %y: tensor<3x4xf32>) {
  // expected-error@+2 {{has axis 1 twice in `lhs_batch, lhs_contract`}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = graph.dot_general %x, %y {lhs_batch = array<i64: 1>, rhs_batch = array<i64: 0>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @refuses_pairs_axis_1_of_size_3_with(%x: tensor<2x3xf32>, %y: tensor<3x4xf32>) {
  // expected-error@+2 {{pairs axis 1 of size 3 with axis 1 of size 4, which must be equal}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = graph.dot_general %x, %y {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 1>} : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @refuses_has_a_packed_right_hand_side_of(%x: tensor<2x3xf32>, %y: tensor<1x3x16xf32>) {
  // expected-error@+2 {{has a packed right-hand side of 4 columns, expected at least one, leading batch axes and one contracted axis after them}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = graph.dot_general %x, %y {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 1>, rhs_packed = 4 : i64} : (tensor<2x3xf32>, tensor<1x3x16xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @refuses_has_a_packed_right_hand_side_of(%x: tensor<2x3xf32>, %y: tensor<1x3x16xf32>) {
  // expected-error@+2 {{has a packed right-hand side of shape [1, 3, 16], expected [2, 3, 16]}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = graph.dot_general %x, %y {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>, rhs_packed = 20 : i64} : (tensor<2x3xf32>, tensor<1x3x16xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @refuses_sums_of_quadrants(%x: tensor<2x3xf32>, %y: tensor<7x1x3x16xf32>) {
  // expected-error@+2 {{has sums of quadrants of a matrix of 3 by 20, which has none}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = graph.dot_general %x, %y {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>, rhs_packed = 20 : i64} : (tensor<2x3xf32>, tensor<7x1x3x16xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @refuses_has_a_filter_of_f16_elements_expected(%x: tensor<1x4x8x8xf32>, %w: tensor<4x4x3x3xf16>) {
  // expected-error@+2 {{has a filter of 'f16' elements, expected 'f32'}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = graph.convolution %x, %w {strides = array<i64: 1, 1>, pad_low = array<i64: 0, 0>, pad_high = array<i64: 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x4x8x8xf32>, tensor<4x4x3x3xf16>) -> tensor<1x4x8x8xf32>
  return
}

// -----

func.func @refuses_has_a_filter_of_type_tensor_x4x3x3xf32(%x: tensor<1x4x8x8xf32>, %w: tensor<?x4x3x3xf32, #graph.dims<["O", "4", "3", "3"]>>) {
  // expected-error@+2 {{has a filter of type 'tensor<?x4x3x3xf32, #graph.dims<["O", "4", "3", "3"]>>', expected constant sizes}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = graph.convolution %x, %w {strides = array<i64: 1, 1>, pad_low = array<i64: 0, 0>, pad_high = array<i64: 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x4x8x8xf32>, tensor<?x4x3x3xf32, #graph.dims<["O", "4", "3", "3"]>>) -> tensor<1x4x8x8xf32>
  return
}

// -----

func.func @refuses_has_filter_shape_without_filter_packed(%x: tensor<1x4x8x8xf32>, %w: tensor<4x4x3x3xf32>) {
  // expected-error@+2 {{has `filter_shape` without `filter_packed`}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = graph.convolution %x, %w {strides = array<i64: 1, 1>, pad_low = array<i64: 0, 0>, pad_high = array<i64: 0, 0>, dilations = array<i64: 1, 1>, filter_shape = array<i64: 4, 4, 3, 3>} : (tensor<1x4x8x8xf32>, tensor<4x4x3x3xf32>) -> tensor<1x4x8x8xf32>
  return
}

// -----

func.func @refuses_has_filter_packed_without_filter_shape(%x: tensor<1x4x8x8xf32>, %w: tensor<1x1x36x16xf32>) {
  // expected-error@+2 {{has `filter_packed` without `filter_shape`}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = graph.convolution %x, %w {strides = array<i64: 1, 1>, pad_low = array<i64: 0, 0>, pad_high = array<i64: 0, 0>, dilations = array<i64: 1, 1>, filter_packed} : (tensor<1x4x8x8xf32>, tensor<1x1x36x16xf32>) -> tensor<1x4x8x8xf32>
  return
}

// -----

func.func @refuses_has_an_impossible_filter_shape_for_3(%x: tensor<1x4x8x8xf32>, %w: tensor<1x1x36x16xf32>) {
  // expected-error@+2 {{has an impossible `filter_shape` for 3 groups}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = graph.convolution %x, %w {strides = array<i64: 1, 1>, pad_low = array<i64: 0, 0>, pad_high = array<i64: 0, 0>, dilations = array<i64: 1, 1>, filter_packed, groups = 3 : i64, filter_shape = array<i64: 4, 4, 3, 3>} : (tensor<1x4x8x8xf32>, tensor<1x1x36x16xf32>) -> tensor<1x4x8x8xf32>
  return
}

// -----

func.func @refuses_a_winograd_tile(%x: tensor<1x4x8x8xf32>, %w: tensor<4x4x3x3xf32>) {
  // expected-error@+2 {{asks for Winograd tiles of 3, which are 2 or 4 for a 3x3 filter without stride, dilation and groups}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = graph.convolution %x, %w {strides = array<i64: 1, 1>, pad_low = array<i64: 0, 0>, pad_high = array<i64: 0, 0>, dilations = array<i64: 1, 1>, winograd = 3 : i64} : (tensor<1x4x8x8xf32>, tensor<4x4x3x3xf32>) -> tensor<1x4x6x6xf32>
  return
}

// -----

func.func @refuses_winograd_with_a_stride(%x: tensor<1x4x8x8xf32>, %w: tensor<4x4x3x3xf32>) {
  // expected-error@+2 {{asks for Winograd tiles of 2, which are 2 or 4 for a 3x3 filter without stride, dilation and groups}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = graph.convolution %x, %w {strides = array<i64: 2, 1>, pad_low = array<i64: 1, 1>, pad_high = array<i64: 1, 1>, dilations = array<i64: 1, 1>, winograd = 2 : i64} : (tensor<1x4x8x8xf32>, tensor<4x4x3x3xf32>) -> tensor<1x4x4x8xf32>
  return
}

// -----

func.func @refuses_a_winograd_filter_of_another_tile(%x: tensor<1x4x8x8xf32>, %w: tensor<1x16x4x16xf32>) {
  // expected-error@+2 {{has a packed filter of shape [1, 16, 4, 16], expected [1, 36, 4, 16]}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = graph.convolution %x, %w {strides = array<i64: 1, 1>, pad_low = array<i64: 1, 1>, pad_high = array<i64: 1, 1>, dilations = array<i64: 1, 1>, filter_packed, filter_shape = array<i64: 4, 4, 3, 3>, winograd = 4 : i64} : (tensor<1x4x8x8xf32>, tensor<1x16x4x16xf32>) -> tensor<1x4x8x8xf32>
  return
}

// -----

func.func @refuses_has_a_packed_filter_of_shape_1(%x: tensor<1x4x8x8xf32>, %w: tensor<1x1x36x16xf32>) {
  // expected-error@+2 {{has a packed filter of shape [1, 1, 36, 16], expected [1, 2, 36, 16]}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = graph.convolution %x, %w {strides = array<i64: 1, 1>, pad_low = array<i64: 0, 0>, pad_high = array<i64: 0, 0>, dilations = array<i64: 1, 1>, filter_packed, filter_shape = array<i64: 17, 4, 3, 3>} : (tensor<1x4x8x8xf32>, tensor<1x1x36x16xf32>) -> tensor<1x4x8x8xf32>
  return
}

// -----

func.func @refuses_has_an_input_of_rank_4_and(%x: tensor<1x4x8x8xf32>, %w: tensor<4x4x3xf32>) {
  // expected-error@+2 {{has an input of rank 4 and a filter of rank 3, expected equal ranks of at least 3}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = graph.convolution %x, %w {strides = array<i64: 1, 1>, pad_low = array<i64: 0, 0>, pad_high = array<i64: 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x4x8x8xf32>, tensor<4x4x3xf32>) -> tensor<1x4x8x8xf32>
  return
}

// -----

func.func @refuses_has_4_input_channels_a_filter_of(%x: tensor<1x4x8x8xf32>, %w: tensor<4x3x3x3xf32>) {
  // expected-error@+2 {{has 4 input channels, a filter of 4 output channels and 3 input channels per group, and 1 groups, which do not fit}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = graph.convolution %x, %w {strides = array<i64: 1, 1>, pad_low = array<i64: 0, 0>, pad_high = array<i64: 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x4x8x8xf32>, tensor<4x3x3x3xf32>) -> tensor<1x4x8x8xf32>
  return
}

// -----

func.func @refuses_has_kernel_size_3_stride_0_and(%x: tensor<1x4x8x8xf32>, %w: tensor<4x4x3x3xf32>) {
  // expected-error@+2 {{has kernel size 3, stride 0 and dilation 1 on spatial axis 1, expected at least 1 of each}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = graph.convolution %x, %w {strides = array<i64: 1, 0>, pad_low = array<i64: 0, 0>, pad_high = array<i64: 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x4x8x8xf32>, tensor<4x4x3x3xf32>) -> tensor<1x4x8x8xf32>
  return
}

// -----

func.func @refuses_has_a_window_longer_than_spatial_axis(%x: tensor<1x4x8x8xf32>, %w: tensor<4x4x3x3xf32>) {
  // expected-error@+2 {{has a window longer than spatial axis 0 of size 8 with its padding}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = graph.convolution %x, %w {strides = array<i64: 1, 1>, pad_low = array<i64: 0, 0>, pad_high = array<i64: 0, 0>, dilations = array<i64: 4, 1>} : (tensor<1x4x8x8xf32>, tensor<4x4x3x3xf32>) -> tensor<1x4x8x8xf32>
  return
}

// -----

func.func @refuses_has_4611686018427387904_among_its_window_s_attributes(%x: tensor<1x4x8x8xf32>, %w: tensor<4x4x3x3xf32>) {
  // expected-error@+2 {{has 4611686018427387904 among its window's attributes, expected at most 1099511627776}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = graph.convolution %x, %w {strides = array<i64: 1, 1>, pad_low = array<i64: 0, 4611686018427387904>, pad_high = array<i64: 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x4x8x8xf32>, tensor<4x4x3x3xf32>) -> tensor<1x4x8x8xf32>
  return
}

// -----

func.func @refuses_has_1_entries_in_pad_low_expected(%x: tensor<1x4x8x8xf32>, %w: tensor<4x4x3x3xf32>) {
  // expected-error@+2 {{has 1 entries in `pad_low`, expected 2}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = graph.convolution %x, %w {strides = array<i64: 1, 1>, pad_low = array<i64: 1>, pad_high = array<i64: 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x4x8x8xf32>, tensor<4x4x3x3xf32>) -> tensor<1x4x8x8xf32>
  return
}

// -----

func.func @refuses_has_an_input_of_rank_2_expected(%x: tensor<2x3xf32>) {
  // expected-error@+2 {{has an input of rank 2, expected at least 3}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = graph.pool %x {kind = #graph.pool_kind<max>, kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, pad_low = array<i64: 0, 0>, pad_high = array<i64: 0, 0>, dilations = array<i64: 1, 1>} : (tensor<2x3xf32>) -> tensor<1x4x8x8xf32>
  return
}

// -----

func.func @refuses_averages_i32_elements_expected_floating_point_ones(%x: tensor<1x4x8x8xi32>) {
  // expected-error@+2 {{averages 'i32' elements, expected floating-point ones}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = graph.pool %x {kind = #graph.pool_kind<average>, kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, pad_low = array<i64: 0, 0>, pad_high = array<i64: 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x4x8x8xi32>) -> tensor<1x4x8x8xf32>
  return
}

// -----

func.func @refuses_has_ceil_extra_1_expected_0_to(%x: tensor<1x4x8x8xf32>) {
  // expected-error@+2 {{has `ceil_extra` -1, expected 0 to 1099511627776}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = graph.pool %x {kind = #graph.pool_kind<average>, kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, pad_low = array<i64: 0, 0>, pad_high = array<i64: 0, 0>, dilations = array<i64: 1, 1>, ceil_extra = array<i64: 0, -1>} : (tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32>
  return
}

// -----

func.func @refuses_has_a_scale_of_shape_3_expected(%x: tensor<2x3xf32>, %v: tensor<3xf32>) {
  // expected-error@+2 {{has a scale of shape [3], expected [2]}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = graph.batch_norm %x, %v, %v, %v, %v {axis = 0 : i64, epsilon = 1.0e-5 : f64} : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @refuses_has_a_scale_of_shape_3_expected(%x: tensor<2x3xf32>, %v: tensor<3xf32>) {
  // expected-error@+2 {{has a scale of shape [3], expected [2, 3]}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = graph.layer_norm %x, %v, %v {axis = 0 : i64, epsilon = 1.0e-5 : f64, operandSegmentSizes = array<i32: 1, 1, 1>} : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @refuses_has_a_scale_of_f16_elements_expected(%x: tensor<2x3xf32>, %v: tensor<3xf16>) {
  // expected-error@+2 {{has a scale of 'f16' elements, expected 'f32'}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = graph.rms_norm %x, %v {axis = 1 : i64, epsilon = 1.0e-5 : f64} : (tensor<2x3xf32>, tensor<3xf16>) -> tensor<2x3xf32>
  return
}

// -----

func.func @refuses_has_axis_2_expected_0_axis_2(%x: tensor<2x3xf32>) {
  // expected-error@+2 {{has `axis` 2, expected 0 <= `axis` < 2}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = graph.softmax %x {axis = 2 : i64} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @refuses_has_a_query_key_and_value_of(%x: tensor<2x3xf32>, %k: tensor<3xf32>) {
  // expected-error@+2 {{has a query, key and value of ranks 2, 1 and 1, expected equal ranks of at least 2}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = graph.attention %x, %k, %k {scale = 1.0 : f64} : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @refuses_has_a_key_of_shape_5_4(%x: tensor<2x3xf32>, %k: tensor<5x4xf32>) {
  // expected-error@+2 {{has a key of shape [5, 4], expected [5, 3]}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = graph.attention %x, %k, %k {scale = 1.0 : f64} : (tensor<2x3xf32>, tensor<5x4xf32>, tensor<5x4xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @refuses_has_a_mask_of_shape_2_3(%x: tensor<2x3xf32>, %k: tensor<5x3xf32>, %m: tensor<2x3xi1>) {
  // expected-error@+2 {{has a mask of shape [2, 3], expected one that broadcasts to [2, 5]}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = graph.attention %x, %k, %k, %m {scale = 1.0 : f64} : (tensor<2x3xf32>, tensor<5x3xf32>, tensor<5x3xf32>, tensor<2x3xi1>) -> tensor<2x3xf32>
  return
}

// -----

func.func @refuses_has_an_input_of_type_tensor_5x2x3xf32(%x: tensor<5x2x3xf32>, %w: tensor<1x16x3xf32>, %r: tensor<16x4xf32>) {
  // expected-error@+2 {{has an input of type 'tensor<5x2x3xf32>' and recurrent weights of type 'tensor<16x4xf32>', expected rank 3 and 3}}
  // expected-error@+1 {{failed to infer returned types}}
  %0:3 = graph.lstm %x, %w, %r {operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0>} : (tensor<5x2x3xf32>, tensor<1x16x3xf32>, tensor<16x4xf32>) -> (tensor<5x1x2x4xf32>, tensor<1x2x4xf32>, tensor<1x2x4xf32>)
  return
}

// -----

func.func @refuses_has_a_w_of_shape_1_12(%x: tensor<5x2x3xf32>, %w: tensor<1x12x3xf32>, %r: tensor<1x16x4xf32>) {
  // expected-error@+2 {{has a w of shape [1, 12, 3], expected [1, 16, 3]}}
  // expected-error@+1 {{failed to infer returned types}}
  %0:3 = graph.lstm %x, %w, %r {operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0>} : (tensor<5x2x3xf32>, tensor<1x12x3xf32>, tensor<1x16x4xf32>) -> (tensor<5x1x2x4xf32>, tensor<1x2x4xf32>, tensor<1x2x4xf32>)
  return
}

// -----

func.func @refuses_has_a_sequence_lengths_of_shape_3(%x: tensor<5x2x3xf32>, %w: tensor<1x12x3xf32>, %r: tensor<1x12x4xf32>, %n: tensor<3xi32>) {
  // expected-error@+2 {{has a sequence_lengths of shape [3], expected [2]}}
  // expected-error@+1 {{failed to infer returned types}}
  %0:2 = graph.gru %x, %w, %r, %n {operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 1>} : (tensor<5x2x3xf32>, tensor<1x12x3xf32>, tensor<1x12x4xf32>, tensor<3xi32>) -> (tensor<5x1x2x4xf32>, tensor<1x2x4xf32>)
  return
}

// -----

func.func @refuses_has_a_initial_h_of_shape_1(%x: tensor<5x2x3xf32>, %w: tensor<1x4x3xf32>, %r: tensor<1x4x4xf32>, %h: tensor<1x2x5xf32>) {
  // expected-error@+2 {{has a initial_h of shape [1, 2, 5], expected [1, 2, 4]}}
  // expected-error@+1 {{failed to infer returned types}}
  %0:2 = graph.rnn %x, %w, %r, %h {operandSegmentSizes = array<i32: 1, 1, 1, 0, 1, 0>} : (tensor<5x2x3xf32>, tensor<1x4x3xf32>, tensor<1x4x4xf32>, tensor<1x2x5xf32>) -> (tensor<5x1x2x4xf32>, tensor<1x2x4xf32>)
  return
}
