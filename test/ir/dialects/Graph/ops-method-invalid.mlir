// RUN: stator-opt %s -split-input-file -verify-diagnostics

// What is refused of sizes, methods, parameters, control flow and fusion regions.

// expected-error@+1 {{`#graph.dims` names 1 sizes of a tensor of rank 2}}
func.func private @f(tensor<?x4xf32, #graph.dims<["N"]>>)

// -----

// expected-error@+1 {{`#graph.dims` on a tensor whose sizes are all constants, expected none}}
func.func private @f(tensor<2x4xf32, #graph.dims<["2", "4"]>>)

// -----

// expected-error@+1 {{`#graph.dims` names size 1 "5", the tensor has 4}}
func.func private @f(tensor<?x4xf32, #graph.dims<["N", "5"]>>)

// -----

// expected-error@+1 {{`#graph.dims` names size 0 "3", the tensor has `?`}}
func.func private @f(tensor<?x4xf32, #graph.dims<["3", "4"]>>)

// -----

// expected-error@+1 {{size "N +" is not an expression: }}
func.func private @f(tensor<?xf32, #graph.dims<["N +"]>>)

// -----

// expected-error@+1 {{size "1 + N" is not in canonical form, expected "N + 1"}}
func.func private @f(tensor<?xf32, #graph.dims<["1 + N"]>>)

// -----

// expected-error@+1 {{has `graph.symbols` [1], expected a list of `#graph.symbol`}}
func.func private @f() attributes {graph.symbols = [1]}

// -----

// expected-error@+1 {{lists the symbol "N" twice in `graph.symbols`}}
func.func private @f() attributes {graph.symbols = [#graph.symbol<"N", 1, 2>, #graph.symbol<"N", 1, 3>]}

// -----

// expected-error@+1 {{a symbol has no name}}
func.func private @f() attributes {graph.symbols = [#graph.symbol<"", 1, 2>]}

// -----

// expected-error@+1 {{symbol "N" has the range 3..2, expected 0 <= min <= max}}
func.func private @f() attributes {graph.symbols = [#graph.symbol<"N", 3, 2>]}

// -----

// expected-error@+1 {{has `graph.guards` [["N"]], expected a list of pairs of size expressions}}
func.func private @f() attributes {graph.guards = [["N"]]}

// -----

// expected-error@+1 {{has `graph.name` 1 : i64, expected a string}}
func.func private @f(tensor<f32> {graph.name = 1})

// -----

func.func @refuses_large_constants() {
  // expected-error@+1 {{has 1025 elements, expected at most 1024; larger tensors are parameters}}
  %0 = graph.constant dense<"0x01020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020102010201020202"> : tensor<1025xi16>
  return
}

// -----

func.func @refuses_constants_of_unknown_size() {
  // expected-error@+2 {{has a value of type 'vector<4xf32>', expected a tensor of constant sizes}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = "graph.constant"() {value = dense<1.0> : vector<4xf32>} : () -> tensor<4xf32>
  return
}

// -----

func.func @refuses_constants_from_elsewhere() {
  // expected-error@+1 {{has a value whose elements are not in the IR; such tensors are parameters}}
  %0 = graph.constant dense_resource<blob> : tensor<4xf32>
  return
}

// -----

// expected-error@+1 {{, expected constant sizes and a byte size below 2^63}}
graph.parameter @p : tensor<?xf32, #graph.dims<["N"]>> {source = 0 : i32, offset = 0 : i64}

// -----

// expected-error@+1 {{has neither a `source` nor a `recipe`, expected one of them}}
graph.parameter @p : tensor<4xf32>

// -----

// expected-error@+1 {{has both a `source` and a `recipe`, expected one of them}}
graph.parameter @p : tensor<4xf32> {source = 0 : i32, offset = 0 : i64, recipe = #graph.recipe<"reshape", [], {}>}

// -----

// expected-error@+1 {{has a `source` without an `offset`}}
graph.parameter @p : tensor<4xf32> {source = 0 : i32}

// -----

// expected-error@+1 {{has `offset` -4, expected at least 0}}
graph.parameter @p : tensor<4xf32> {source = 0 : i32, offset = -4 : i64}

// -----

// expected-error@+1 {{has stride -1, expected at least 0}}
graph.parameter @p : tensor<4xf32> {source = 0 : i32, offset = 0 : i64, strides = array<i64: -1>}

// -----

// expected-error@+1 {{has a `recipe` with `strides`}}
graph.parameter @p : tensor<4xf32> {strides = array<i64: 1>, recipe = #graph.recipe<"reshape", [], {}>}

// -----

// expected-error@+1 {{is made from @q, which is not a `graph.parameter`}}
graph.parameter @p : tensor<4xf32> {recipe = #graph.recipe<"reshape", [@q], {shape = array<i64: 4>}>}

// -----

// expected-note@+1 {{declared here}}
graph.parameter @q : tensor<4xf32> {source = 0 : i32, offset = 0 : i64, is_mutable}
// expected-error@+1 {{is made from @q, which is mutable}}
graph.parameter @p : tensor<4xf32> {recipe = #graph.recipe<"reshape", [@q], {shape = array<i64: 4>}>}

// -----

graph.parameter @q : tensor<4xf32> {source = 0 : i32, offset = 0 : i64}
// expected-error@+1 {{has the type 'tensor<4xf32>', its recipe gives 'tensor<2x2xf32>'}}
graph.parameter @p : tensor<4xf32> {recipe = #graph.recipe<"reshape", [@q], {shape = array<i64: 2, 2>}>}

// -----

graph.parameter @q : tensor<4xf32> {source = 0 : i32, offset = 0 : i64}
// expected-error@+1 {{recipe "swizzle" is not known}}
graph.parameter @p : tensor<4xf32> {recipe = #graph.recipe<"swizzle", [@q], {}>}

// -----

graph.parameter @q : tensor<4xf32> {source = 0 : i32, offset = 0 : i64}
// expected-error@+1 {{recipe "reshape" has 2 sources, expected 1}}
graph.parameter @p : tensor<4xf32> {recipe = #graph.recipe<"reshape", [@q, @q], {}>}

// -----

graph.parameter @q : tensor<4xf32> {source = 0 : i32, offset = 0 : i64}
// expected-error@+1 {{recipe "reshape" expects the option `shape` with sizes}}
graph.parameter @p : tensor<4xf32> {recipe = #graph.recipe<"reshape", [@q], {}>}

// -----

graph.parameter @q : tensor<4xf32> {source = 0 : i32, offset = 0 : i64}
// expected-error@+1 {{makes 'tensor<5xf32>' of 'tensor<4xf32>', which has another number of elements}}
graph.parameter @p : tensor<4xf32> {recipe = #graph.recipe<"reshape", [@q], {shape = array<i64: 5>}>}

// -----

graph.parameter @q : tensor<2x2xf32> {source = 0 : i32, offset = 0 : i64}
// expected-error@+1 {{recipe "transpose" expects the option `perm` with 2 integers}}
graph.parameter @p : tensor<4xf32> {recipe = #graph.recipe<"transpose", [@q], {}>}

// -----

graph.parameter @q : tensor<2x2xf32> {source = 0 : i32, offset = 0 : i64}
// expected-error@+1 {{has a `perm` without axis 1}}
graph.parameter @p : tensor<4xf32> {recipe = #graph.recipe<"transpose", [@q], {perm = array<i64: 0, 0>}>}

// -----

graph.parameter @q : tensor<8xf32> {source = 0 : i32, offset = 0 : i64}
// expected-error@+1 {{reads outside of axis 0 of size 8: start 5, size 4, stride 1}}
graph.parameter @p : tensor<4xf32> {recipe = #graph.recipe<"slice", [@q], {starts = array<i64: 5>, sizes = array<i64: 4>, strides = array<i64: 1>}>}

// -----

graph.parameter @q : tensor<4xf32> {source = 0 : i32, offset = 0 : i64}
// expected-error@+1 {{recipe "convert" expects the option `type` with an element type}}
graph.parameter @p : tensor<4xf32> {recipe = #graph.recipe<"convert", [@q], {}>}

// -----

graph.parameter @q : tensor<4xf32> {source = 0 : i32, offset = 0 : i64}
// expected-error@+1 {{expects the option `axis` with an integer from 0 to 0}}
graph.parameter @p : tensor<4xf32> {recipe = #graph.recipe<"mul_channel", [@q, @q], {axis = 1 : i64}>}

// -----

graph.parameter @q : tensor<4x2xf32> {source = 0 : i32, offset = 0 : i64}
// expected-error@+1 {{has a scale of type 'tensor<4x2xf32>', expected 'tensor<4xf32>' of floating-point elements}}
graph.parameter @p : tensor<4xf32> {recipe = #graph.recipe<"mul_channel", [@q, @q], {axis = 0 : i64}>}

// -----

graph.parameter @q : tensor<4xf32> {source = 0 : i32, offset = 0 : i64}
// expected-error@+1 {{has a source of type 'tensor<4xf32>', expected rank 2 or more}}
graph.parameter @p : tensor<4xf32> {recipe = #graph.recipe<"pack_matmul", [@q], {}>}

// -----

graph.parameter @q : tensor<4x48xf32> {source = 0 : i32, offset = 0 : i64}
// expected-error@+1 {{has a source of type 'tensor<4x48xf32>', expected a matrix of floating-point elements with an even depth and columns in multiples of 32}}
graph.parameter @p : tensor<4xf32> {recipe = #graph.recipe<"pack_strassen", [@q], {}>}

// -----

graph.parameter @q : tensor<4x4xf32> {source = 0 : i32, offset = 0 : i64}
// expected-error@+1 {{has a source of type 'tensor<4x4xf32>', expected rank 3 or more}}
graph.parameter @p : tensor<4xf32> {recipe = #graph.recipe<"pack_conv", [@q], {groups = 1 : i64}>}

// -----

graph.parameter @q : tensor<4x2x3xf32> {source = 0 : i32, offset = 0 : i64}
// expected-error@+1 {{has 4 output channels, which 3 groups do not divide}}
graph.parameter @p : tensor<4xf32> {recipe = #graph.recipe<"pack_conv", [@q], {groups = 3 : i64}>}

// -----

graph.parameter @q : tensor<4x2x3x5xf32> {source = 0 : i32, offset = 0 : i64}
// expected-error@+1 {{has a source of type 'tensor<4x2x3x5xf32>', expected [O, I, 3, 3] of floating-point elements}}
graph.parameter @p : tensor<4xf32> {recipe = #graph.recipe<"pack_winograd", [@q], {tile = 2 : i64}>}

// -----

graph.parameter @q : tensor<4x2x3x3xf32> {source = 0 : i32, offset = 0 : i64}
// expected-error@+1 {{has tiles of 3, expected 2 or 4}}
graph.parameter @p : tensor<4xf32> {recipe = #graph.recipe<"pack_winograd", [@q], {tile = 3 : i64}>}

// -----

graph.parameter @q : tensor<4x2x3xf32> {source = 0 : i32, offset = 0 : i64}
// expected-error@+1 {{has a source of type 'tensor<4x2x3xf32>', expected [C, 1, taps..]}}
graph.parameter @p : tensor<4xf32> {recipe = #graph.recipe<"pack_depthwise", [@q], {}>}

// -----

graph.parameter @q : tensor<4x2xf32> {source = 0 : i32, offset = 0 : i64}
// expected-error@+1 {{has a source of type 'tensor<4x2xf32>', expected rank 3}}
graph.parameter @p : tensor<4xf32> {recipe = #graph.recipe<"pack_recurrent", [@q], {gates = 1 : i64}>}

// -----

graph.parameter @q : tensor<1x8x2xf32> {source = 0 : i32, offset = 0 : i64}
// expected-error@+1 {{has 8 rows, which 3 gates do not divide}}
graph.parameter @p : tensor<4xf32> {recipe = #graph.recipe<"pack_recurrent", [@q], {gates = 3 : i64}>}

// -----

func.func @refuses_unknown_parameters() {
  // expected-error@+1 {{names @p, which is not a `graph.parameter`}}
  %0 = graph.get_parameter @p : tensor<4xf32>
  return
}

// -----

// expected-note@+1 {{declared here}}
graph.parameter @p : tensor<4xf32> {source = 0 : i32, offset = 0 : i64}
func.func @refuses_a_parameter_of_another_type() {
  // expected-error@+1 {{has the type 'tensor<5xf32>', expected that of the parameter, 'tensor<4xf32>'}}
  %0 = graph.get_parameter @p : tensor<5xf32>
  return
}

// -----

func.func @refuses_a_condition_that_is_no_scalar(%c: tensor<1xi1>) {
  // expected-error@+1 {{has a condition of type 'tensor<1xi1>', expected tensor<i1>}}
  graph.if %c : (tensor<1xi1>) -> () {
    graph.yield
  } else {
    graph.yield
  }
  return
}

// -----

func.func @refuses_branches_of_other_types(%c: tensor<i1>, %x: tensor<4xf32>) {
  // expected-error@+1 {{has a else region that yields (), expected ('tensor<4xf32>')}}
  %0 = graph.if %c : (tensor<i1>) -> tensor<4xf32> {
    graph.yield %x : tensor<4xf32>
  } else {
    // expected-note@+1 {{yielded here}}
    graph.yield
  }
  return
}

// -----

func.func @refuses_loops_that_change_types(%x: tensor<4xf32>, %c: tensor<i1>) {
  // expected-error@+1 {{has results of types ('tensor<5xf32>'), expected those of the carried values ('tensor<4xf32>')}}
  %0 = graph.while %x : (tensor<4xf32>) -> tensor<5xf32> {
  ^bb0(%v: tensor<4xf32>):
    graph.yield %c : tensor<i1>
  } do {
  ^bb0(%v: tensor<4xf32>):
    graph.yield %v : tensor<4xf32>
  }
  return
}

// -----

func.func @refuses_loop_arguments_of_other_types(%x: tensor<4xf32>, %c: tensor<i1>) {
  // expected-error@+1 {{has a condition region with arguments of types (), expected ('tensor<4xf32>')}}
  %0 = graph.while %x : (tensor<4xf32>) -> tensor<4xf32> {
    graph.yield %c : tensor<i1>
  } do {
  ^bb0(%v: tensor<4xf32>):
    graph.yield %v : tensor<4xf32>
  }
  return
}

// -----

func.func @refuses_regions_without_yield(%x: tensor<4xf32>) {
  // expected-error@+1 {{has a body region that does not end in `graph.yield`}}
  %0 = "graph.fusion"(%x) <{family = "map"}> ({
  ^bb0(%y: tensor<4xf32>):
    %1 = graph.neg %y : (tensor<4xf32>) -> tensor<4xf32>
    llvm.unreachable
  }) : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @refuses_unknown_families(%x: tensor<4xf32>) {
  // expected-error@+1 {{has the family "stencil", expected one of map, rows, reduce, matmul, conv, depthwise, pool, data, recurrent, attention, sort, scan, inverted_residual, gate}}
  %0 = graph.fusion %x {family = "stencil"} : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%y: tensor<4xf32>):
    graph.yield %y : tensor<4xf32>
  }
  return
}

// -----

func.func @refuses_fusions_without_kernel(%x: tensor<4xf32>) {
  // expected-error@+1 {{has an empty `kernel`, expected "own" or the name of a library}}
  %0 = graph.fusion %x {family = "map", kernel = ""} : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%y: tensor<4xf32>):
    graph.yield %y : tensor<4xf32>
  }
  return
}

// -----

func.func @unknown_state(%x: tensor<4xf32>) {
  // expected-error@+1 {{names @s, which is not a `graph.parameter`}}
  graph.set_parameter @s, %x : tensor<4xf32>
  return
}

// -----

// expected-note@+1 {{declared here}}
graph.parameter @w : tensor<4xf32> {source = 0 : i32, offset = 0 : i64}
func.func @frozen(%x: tensor<4xf32>) {
  // expected-error@+1 {{sets @w, which is not mutable}}
  graph.set_parameter @w, %x : tensor<4xf32>
  return
}

// -----

// expected-note@+1 {{declared here}}
graph.parameter @s : tensor<4xf32> {source = 0 : i32, offset = 0 : i64, is_mutable}
func.func @other_type(%x: tensor<5xf32>) {
  // expected-error@+1 {{gives a value of type 'tensor<5xf32>', expected that of the parameter, 'tensor<4xf32>'}}
  graph.set_parameter @s, %x : tensor<5xf32>
  return
}

// -----

graph.parameter @s : tensor<4xf32> {source = 0 : i32, offset = 0 : i64, is_mutable}
graph.parameter @t : tensor<4xf32> {source = 0 : i32, offset = 0 : i64, is_mutable}
func.func @twice(%x: tensor<4xf32>) {
  // expected-note@+1 {{set here before}}
  graph.set_parameter @s, %x : tensor<4xf32>
  graph.set_parameter @t, %x : tensor<4xf32>
  // expected-error@+1 {{sets @s a second time}}
  graph.set_parameter @s, %x : tensor<4xf32>
  return
}

// -----

graph.parameter @s : tensor<4xf32> {source = 0 : i32, offset = 0 : i64, is_mutable}
func.func @in_the_middle(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{stands before `graph.neg`, expected at the end of the method}}
  graph.set_parameter @s, %x : tensor<4xf32>
  %0 = graph.neg %x : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

graph.parameter @s : tensor<4xf32> {source = 0 : i32, offset = 0 : i64, is_mutable}
func.func @in_a_branch(%c: tensor<i1>, %x: tensor<4xf32>) {
  graph.if %c : (tensor<i1>) -> () {
    // expected-error@+1 {{stands inside of `graph.if`, expected at the end of a method}}
    graph.set_parameter @s, %x : tensor<4xf32>
    graph.yield
  } else {
    graph.yield
  }
  return
}
