// RUN: stator-opt %s -split-input-file -verify-diagnostics

// What the verifiers of element-wise, shape, indexing and reducing operations refuse.

func.func @refuses_graph_add_op_has_operands_of_types(%x: tensor<4xf32>, %y: tensor<5xf32>) {
  // expected-error@+2 {{'graph.add' op has operands of types 'tensor<4xf32>' and 'tensor<5xf32>', which must be equal}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = graph.add %x, %y : (tensor<4xf32>, tensor<5xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @refuses_inferred_type_s_tensor_4xf32_are_incompatible(%x: tensor<4xf32>) {
  // expected-error@+2 {{inferred type(s) 'tensor<4xf32>' are incompatible with return type(s) of operation 'tensor<5xf32>'}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = graph.add %x, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<5xf32>
  return
}

// -----

func.func @refuses_operand_0_must_be_tensor_of_floating(%x: tensor<4xi32>) {
  // expected-error@+1 {{operand #0 must be tensor of floating-point elements, but got 'tensor<4xi32>'}}
  %0 = graph.exp %x : (tensor<4xi32>) -> tensor<4xi32>
  return
}

// -----

func.func @refuses_operand_0_must_be_tensor_of_floating(%x: tensor<?xf32>) {
  // expected-error@+1 {{operand #0 must be tensor of floating-point elements, but got 'tensor<?xf32>'}}
  %0 = graph.exp %x : (tensor<?xf32>) -> tensor<?xf32>
  return
}

// -----

func.func @refuses_operand_0_must_be_tensor_of_integers(%x: tensor<4xi1>) {
  // expected-error@+1 {{operand #0 must be tensor of integers or floating-point elements, not i1, but got 'tensor<4xi1>'}}
  %0 = graph.add %x, %x : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  return
}

// -----

func.func @refuses_operand_0_must_be_tensor_of_integers(%x: tensor<4xi1>) {
  // expected-error@+1 {{operand #0 must be tensor of integers, not i1, but got 'tensor<4xi1>'}}
  %0 = graph.shift_left %x, %x : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  return
}

// -----

func.func @refuses_operand_0_must_be_tensor_of_integers(%x: tensor<4xf32>) {
  // expected-error@+1 {{operand #0 must be tensor of integers or i1, but got 'tensor<4xf32>'}}
  %0 = graph.not %x : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @refuses_operand_0_must_be_ranked_tensor_of(%x: tensor<4xi24>) {
  // expected-error@+1 {{operand #0 must be ranked tensor of a supported element type whose unknown sizes are named by `#graph.dims`, but got 'tensor<4xi24>'}}
  %0 = graph.convert %x : (tensor<4xi24>) -> tensor<4xf32>
  return
}

// -----

func.func @refuses_has_a_result_of_type_tensor_5xi32(%x: tensor<4xf32>) {
  // expected-error@+1 {{has a result of type 'tensor<5xi32>', expected 'tensor<4xi32>'}}
  %0 = graph.convert %x : (tensor<4xf32>) -> tensor<5xi32>
  return
}

// -----

func.func @refuses_has_a_condition_of_shape_3_expected(%c: tensor<3xi1>, %x: tensor<4xf32>) {
  // expected-error@+2 {{has a condition of shape [3], expected [4]}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = graph.select %c, %x, %x : (tensor<3xi1>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @refuses_has_a_result_of_i32_elements_expected(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{has a result of 'i32' elements, expected 'f32'}}
  %0 = graph.reshape %x : (tensor<2x3xf32>) -> tensor<6xi32>
  return
}

// -----

func.func @refuses_turns_6_elements_of_type_tensor_2x3xf32(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{turns 6 elements of type 'tensor<2x3xf32>' into 5 elements of type 'tensor<5xf32>'}}
  %0 = graph.reshape %x : (tensor<2x3xf32>) -> tensor<5xf32>
  return
}

// -----

func.func @refuses_turns_n_elements_of_type(%x: tensor<?xf32, #graph.dims<["N"]>>) {
  // expected-error@+1 {{turns N elements of type}}
  %0 = graph.reshape %x : (tensor<?xf32, #graph.dims<["N"]>>) -> tensor<?xf32, #graph.dims<["N + 1"]>>
  return
}

// -----

func.func @refuses_has_1_entries_in_permutation_expected_2(%x: tensor<2x3xf32>) {
  // expected-error@+2 {{has 1 entries in `permutation`, expected 2}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = graph.transpose %x {permutation = array<i64: 0>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @refuses_has_axis_0_twice_in_permutation(%x: tensor<2x3xf32>) {
  // expected-error@+2 {{has axis 0 twice in `permutation`}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = graph.transpose %x {permutation = array<i64: 0, 0>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @refuses_has_permutation_2_expected_0_permutation_2(%x: tensor<2x3xf32>) {
  // expected-error@+2 {{has `permutation` 2, expected 0 <= `permutation` < 2}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = graph.transpose %x {permutation = array<i64: 0, 2>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @refuses_has_dimensions_0_after_1_expected_increasing(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{has `dimensions` 0 after 1, expected increasing axes}}
  %0 = graph.broadcast %x {dimensions = array<i64: 1, 0>} : (tensor<2x3xf32>) -> tensor<3x2xf32>
  return
}

// -----

func.func @refuses_puts_axis_1_of_size_3_on(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{puts axis 1 of size 3 on axis 1 of size 4, expected equal sizes or 1}}
  %0 = graph.broadcast %x {dimensions = array<i64: 0, 1>} : (tensor<2x3xf32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @refuses_has_1_entries_in_starts_expected_2(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{has 1 entries in `starts`, expected 2}}
  %0 = graph.slice %x {starts = #graph.dims<["0"]>, strides = array<i64: 1, 1>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @refuses_has_a_result_of_rank_1_expected(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{has a result of rank 1, expected 2}}
  %0 = graph.slice %x {starts = #graph.dims<["0", "0"]>, strides = array<i64: 1, 1>} : (tensor<2x3xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @refuses_has_stride_0_on_axis_1_expected(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{has stride 0 on axis 1, expected at least 1}}
  %0 = graph.slice %x {starts = #graph.dims<["0", "0"]>, strides = array<i64: 1, 0>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @refuses_reads_elements_1_to_3_of_axis(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{reads elements 1 to 3 of axis 1 of size 3}}
  %0 = graph.slice %x {starts = #graph.dims<["0", "1"]>, strides = array<i64: 1, 2>} : (tensor<2x3xf32>) -> tensor<2x2xf32>
  return
}

// -----

func.func @refuses_reads_elements_1_to_n_of_axis(%x: tensor<?xf32, #graph.dims<["N"]>>) {
  // expected-error@+1 {{reads elements 1 to N of axis 0 of size N}}
  %0 = graph.slice %x {starts = #graph.dims<["1"]>, strides = array<i64: 1>} : (tensor<?xf32, #graph.dims<["N"]>>) -> tensor<?xf32, #graph.dims<["N"]>>
  return
}

// -----

func.func @refuses_has_axes_2_expected_0_axes_2(%x: tensor<2x3xf32>) {
  // expected-error@+2 {{has `axes` 2, expected 0 <= `axes` < 2}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = graph.reverse %x {axes = array<i64: 2>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @refuses_has_a_value_of_shape_1_expected(%x: tensor<4xf32>, %v: tensor<1xf32>) {
  // expected-error@+2 {{has a value of shape [1], expected []}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = graph.pad %x, %v {low = #graph.dims<["0"]>, high = #graph.dims<["0"]>, interior = array<i64: 0>} : (tensor<4xf32>, tensor<1xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @refuses_has_a_value_of_i32_elements_expected(%x: tensor<4xf32>, %v: tensor<i32>) {
  // expected-error@+2 {{has a value of 'i32' elements, expected 'f32'}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = graph.pad %x, %v {low = #graph.dims<["0"]>, high = #graph.dims<["0"]>, interior = array<i64: 0>} : (tensor<4xf32>, tensor<i32>) -> tensor<4xf32>
  return
}

// -----

func.func @refuses_has_interior_padding_1_on_axis_0(%x: tensor<4xf32>, %v: tensor<f32>) {
  // expected-error@+2 {{has interior padding 1 on axis 0 of size 4, expected 0, or with mode `constant`}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = graph.pad %x, %v {low = #graph.dims<["0"]>, high = #graph.dims<["0"]>, interior = array<i64: 1>, mode = #graph.pad_mode<edge>} : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  return
}

// -----

func.func @refuses_has_padding_4_on_axis_0_of(%x: tensor<4xf32>, %v: tensor<f32>) {
  // expected-error@+2 {{has padding 4 on axis 0 of size 4, which its mode does not allow}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = graph.pad %x, %v {low = #graph.dims<["0"]>, high = #graph.dims<["4"]>, interior = array<i64: 0>, mode = #graph.pad_mode<reflect>} : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  return
}

// -----

func.func @refuses_has_padding_1_on_axis_0_of(%x: tensor<4xf32>, %v: tensor<f32>) {
  // expected-error@+2 {{has padding -1 on axis 0 of size 4, which its mode does not allow}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = graph.pad %x, %v {low = #graph.dims<["-1"]>, high = #graph.dims<["0"]>, interior = array<i64: 0>, mode = #graph.pad_mode<wrap>} : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  return
}

// -----

func.func @refuses_has_padding_4611686018427387904_on_axis_0_expected(%x: tensor<4xf32>, %v: tensor<f32>) {
  // expected-error@+2 {{has padding -4611686018427387904 on axis 0, expected at most 1099511627776}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = graph.pad %x, %v {low = #graph.dims<["-4611686018427387904"]>, high = #graph.dims<["4611686018427387904"]>, interior = array<i64: 0>} : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  return
}

// -----

func.func @refuses_would_have_a_result_of_sizes_2(%x: tensor<4xf32>, %v: tensor<f32>) {
  // expected-error@+2 {{would have a result of sizes [-2], which is not possible}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = graph.pad %x, %v {low = #graph.dims<["-3"]>, high = #graph.dims<["-3"]>, interior = array<i64: 0>} : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  return
}

// -----

func.func @refuses_a_concat_of_nothing() {
  // expected-error@+2 {{has no operands, expected at least one}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = graph.concat {axis = 0 : i64} : () -> tensor<4xf32>
  return
}

// -----

func.func @refuses_has_a_operand_of_shape_2_4(%x: tensor<2x3xf32>, %y: tensor<2x4xf32>) {
  // expected-error@+2 {{has a operand of shape [2, 4], expected [2, 3]}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = graph.concat %x, %y {axis = 0 : i64} : (tensor<2x3xf32>, tensor<2x4xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @refuses_has_axis_2_expected_0_axis_2() {
  // expected-error@+1 {{has `axis` 2, expected 0 <= `axis` < 2}}
  %0 = graph.iota {axis = 2 : i64} : () -> tensor<2x3xi32>
  return
}

// -----

func.func @refuses_has_2_entries_in_values_expected_1() {
  // expected-error@+2 {{has 2 entries in `values`, expected 1}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = graph.dim_values {values = #graph.dims<["N", "M"]>, scalar} : () -> tensor<2xi64>
  return
}

// -----

func.func @refuses_has_a_result_of_rank_1_expected(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{has a result of rank 1, expected 2}}
  %0 = graph.resize %x {mode = #graph.resize_mode<nearest>, coordinate = #graph.resize_coordinate<half_pixel>} : (tensor<2x3xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @refuses_interpolates_i32_elements_expected_floating_point_ones(%x: tensor<2x3xi32>) {
  // expected-error@+1 {{interpolates 'i32' elements, expected floating-point ones}}
  %0 = graph.resize %x {mode = #graph.resize_mode<linear>, coordinate = #graph.resize_coordinate<half_pixel>} : (tensor<2x3xi32>) -> tensor<4x6xi32>
  return
}

// -----

func.func @refuses_has_antialias_with_mode_nearest_expected_linear(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{has `antialias` with mode `nearest`, expected `linear` or `cubic`}}
  %0 = graph.resize %x {mode = #graph.resize_mode<nearest>, coordinate = #graph.resize_coordinate<half_pixel>, antialias = true} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @refuses_has_the_scale_0_000000e_00_expected(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{has the scale 0.000000e+00, expected a positive number}}
  %0 = graph.resize %x {mode = #graph.resize_mode<nearest>, coordinate = #graph.resize_coordinate<half_pixel>, scales = array<f64: 1.0, 0.0>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @refuses_has_axis_2_expected_0_axis_2(%x: tensor<2x3xf32>, %i: tensor<2xi64>) {
  // expected-error@+2 {{has `axis` 2, expected 0 <= `axis` < 2}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = graph.gather %x, %i {axis = 2 : i64} : (tensor<2x3xf32>, tensor<2xi64>) -> tensor<2x3xf32>
  return
}

// -----

func.func @refuses_operand_1_must_be_tensor_of_i32(%x: tensor<2x3xf32>, %i: tensor<2xi8>) {
  // expected-error@+1 {{operand #1 must be tensor of i32 or i64, but got 'tensor<2xi8>'}}
  %0 = graph.gather %x, %i {axis = 0 : i64} : (tensor<2x3xf32>, tensor<2xi8>) -> tensor<2x3xf32>
  return
}

// -----

func.func @refuses_has_indices_of_rank_1_expected_2(%x: tensor<2x3xf32>, %i: tensor<2xi64>) {
  // expected-error@+2 {{has indices of rank 1, expected 2}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = graph.gather_elements %x, %i {axis = 0 : i64} : (tensor<2x3xf32>, tensor<2xi64>) -> tensor<2x3xf32>
  return
}

// -----

func.func @refuses_has_indices_of_shape_1_4_for(%x: tensor<2x3xf32>, %i: tensor<1x4xi64>) {
  // expected-error@+2 {{has indices of shape [1, 4] for an input of shape [2, 3], expected no larger size off axis 0}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = graph.gather_elements %x, %i {axis = 0 : i64} : (tensor<2x3xf32>, tensor<1x4xi64>) -> tensor<1x4xf32>
  return
}

// -----

func.func @refuses_has_indices_of_type_tensor_i64_expected(%x: tensor<2x3xf32>, %i: tensor<i64>) {
  // expected-error@+2 {{has indices of type 'tensor<i64>', expected a last axis of constant size}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = graph.gather_nd %x, %i : (tensor<2x3xf32>, tensor<i64>) -> tensor<f32>
  return
}

// -----

func.func @refuses_has_index_tuples_of_length_3_expected(%x: tensor<2x3xf32>, %i: tensor<5x3xi64>) {
  // expected-error@+2 {{has index tuples of length 3, expected at most 2}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = graph.gather_nd %x, %i : (tensor<2x3xf32>, tensor<5x3xi64>) -> tensor<5xf32>
  return
}

// -----

func.func @refuses_has_batch_dims_2_for_an_input(%x: tensor<2x3xf32>, %i: tensor<5x1xi64>) {
  // expected-error@+2 {{has `batch_dims` 2 for an input of rank 2 and indices of rank 2}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = graph.gather_nd %x, %i {batch_dims = 2 : i64} : (tensor<2x3xf32>, tensor<5x1xi64>) -> tensor<5xf32>
  return
}

// -----

func.func @refuses_has_batch_axes_2_in_the_input(%x: tensor<2x3xf32>, %i: tensor<5x1xi64>) {
  // expected-error@+2 {{has batch axes [2] in the input and [5] in the indices, which must be equal}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = graph.gather_nd %x, %i {batch_dims = 1 : i64} : (tensor<2x3xf32>, tensor<5x1xi64>) -> tensor<5xf32>
  return
}

// -----

func.func @refuses_has_a_tensor_of_updates_of_shape(%x: tensor<2x3xf32>, %i: tensor<1x3xi64>, %u: tensor<2x3xf32>) {
  // expected-error@+2 {{has a tensor of updates of shape [2, 3], expected [1, 3]}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = graph.scatter_elements %x, %i, %u {axis = 0 : i64} : (tensor<2x3xf32>, tensor<1x3xi64>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @refuses_combines_i1_elements_by_add_expected_numbers(%x: tensor<4xi1>, %i: tensor<4xi64>) {
  // expected-error@+2 {{combines 'i1' elements by `add`, expected numbers}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = graph.scatter_elements %x, %i, %x {axis = 0 : i64, reduction = #graph.scatter_reduction<add>} : (tensor<4xi1>, tensor<4xi64>, tensor<4xi1>) -> tensor<4xi1>
  return
}

// -----

func.func @refuses_has_a_tensor_of_updates_of_shape(%x: tensor<2x3xf32>, %i: tensor<5x1xi64>) {
  // expected-error@+2 {{has a tensor of updates of shape [2, 3], expected [5, 3]}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = graph.scatter_nd %x, %i, %x : (tensor<2x3xf32>, tensor<5x1xi64>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @refuses_of_kind_any_has_an_operand_of(%x: tensor<2x3xf32>) {
  // expected-error@+2 {{of kind `any` has an operand of 'f32' elements, expected i1}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = graph.reduce %x {kind = #graph.reduce_kind<any>, axes = array<i64: 0>} : (tensor<2x3xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @refuses_of_kind_sum_has_an_operand_of(%x: tensor<2x3xi1>) {
  // expected-error@+2 {{of kind `sum` has an operand of 'i1' elements, expected numbers}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = graph.reduce %x {kind = #graph.reduce_kind<sum>, axes = array<i64: 0>} : (tensor<2x3xi1>) -> tensor<3xi1>
  return
}

// -----

func.func @refuses_looks_for_an_extremum_on_axis_0(%x: tensor<0x3xf32>) {
  // expected-error@+2 {{looks for an extremum on axis 0, which is empty}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = graph.arg_reduce %x {kind = #graph.arg_reduce_kind<max>, axis = 0 : i64} : (tensor<0x3xf32>) -> tensor<3xi64>
  return
}

// -----

func.func @refuses_has_axis_2_expected_0_axis_2(%x: tensor<2x3xf32>) {
  // expected-error@+2 {{has `axis` 2, expected 0 <= `axis` < 2}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = graph.cumulative %x {kind = #graph.cumulative_kind<sum>, axis = 2 : i64} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @refuses_wants_5_elements_of_axis_0_of(%x: tensor<4xf32>) {
  // expected-error@+2 {{wants 5 elements of axis 0 of size 4}}
  // expected-error@+1 {{failed to infer returned types}}
  %0, %1 = graph.top_k %x {k = #graph.dims<["5"]>, axis = 0 : i64} : (tensor<4xf32>) -> (tensor<5xf32>, tensor<5xi64>)
  return
}
