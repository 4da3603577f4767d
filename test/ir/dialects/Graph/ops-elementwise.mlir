// RUN: stator-opt %s | stator-opt | FileCheck %s

// Every element-wise operation, in the form in which it is printed.

// CHECK-LABEL: func.func @unary_of_floats
func.func @unary_of_floats(%x: tensor<4xf32>) {
  // CHECK: graph.exp %{{[^ ]+}} : (tensor<4xf32>) -> tensor<4xf32>
  %exp = graph.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK: graph.expm1 %{{[^ ]+}} : (tensor<4xf32>) -> tensor<4xf32>
  %expm1 = graph.expm1 %x : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK: graph.log %{{[^ ]+}} : (tensor<4xf32>) -> tensor<4xf32>
  %log = graph.log %x : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK: graph.log1p %{{[^ ]+}} : (tensor<4xf32>) -> tensor<4xf32>
  %log1p = graph.log1p %x : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK: graph.sqrt %{{[^ ]+}} : (tensor<4xf32>) -> tensor<4xf32>
  %sqrt = graph.sqrt %x : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK: graph.rsqrt %{{[^ ]+}} : (tensor<4xf32>) -> tensor<4xf32>
  %rsqrt = graph.rsqrt %x : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK: graph.sin %{{[^ ]+}} : (tensor<4xf32>) -> tensor<4xf32>
  %sin = graph.sin %x : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK: graph.cos %{{[^ ]+}} : (tensor<4xf32>) -> tensor<4xf32>
  %cos = graph.cos %x : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK: graph.tan %{{[^ ]+}} : (tensor<4xf32>) -> tensor<4xf32>
  %tan = graph.tan %x : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK: graph.asin %{{[^ ]+}} : (tensor<4xf32>) -> tensor<4xf32>
  %asin = graph.asin %x : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK: graph.acos %{{[^ ]+}} : (tensor<4xf32>) -> tensor<4xf32>
  %acos = graph.acos %x : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK: graph.atan %{{[^ ]+}} : (tensor<4xf32>) -> tensor<4xf32>
  %atan = graph.atan %x : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK: graph.sinh %{{[^ ]+}} : (tensor<4xf32>) -> tensor<4xf32>
  %sinh = graph.sinh %x : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK: graph.cosh %{{[^ ]+}} : (tensor<4xf32>) -> tensor<4xf32>
  %cosh = graph.cosh %x : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK: graph.asinh %{{[^ ]+}} : (tensor<4xf32>) -> tensor<4xf32>
  %asinh = graph.asinh %x : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK: graph.acosh %{{[^ ]+}} : (tensor<4xf32>) -> tensor<4xf32>
  %acosh = graph.acosh %x : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK: graph.atanh %{{[^ ]+}} : (tensor<4xf32>) -> tensor<4xf32>
  %atanh = graph.atanh %x : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK: graph.tanh %{{[^ ]+}} : (tensor<4xf32>) -> tensor<4xf32>
  %tanh = graph.tanh %x : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK: graph.erf %{{[^ ]+}} : (tensor<4xf32>) -> tensor<4xf32>
  %erf = graph.erf %x : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK: graph.sigmoid %{{[^ ]+}} : (tensor<4xf32>) -> tensor<4xf32>
  %sigmoid = graph.sigmoid %x : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK: graph.floor %{{[^ ]+}} : (tensor<4xf32>) -> tensor<4xf32>
  %floor = graph.floor %x : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK: graph.ceil %{{[^ ]+}} : (tensor<4xf32>) -> tensor<4xf32>
  %ceil = graph.ceil %x : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK: graph.round_even %{{[^ ]+}} : (tensor<4xf32>) -> tensor<4xf32>
  %round_even = graph.round_even %x : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK: graph.is_nan %{{[^ ]+}} : (tensor<4xf32>) -> tensor<4xi1>
  %nan = graph.is_nan %x : (tensor<4xf32>) -> tensor<4xi1>
  // CHECK: graph.is_inf %{{[^ ]+}} : (tensor<4xf32>) -> tensor<4xi1>
  %inf = graph.is_inf %x : (tensor<4xf32>) -> tensor<4xi1>
  // CHECK: graph.gelu %{{[^ ]+}} : (tensor<4xf32>) -> tensor<4xf32>
  %g = graph.gelu %x : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK: graph.gelu %{{[^ ]+}} {approximate = #graph.gelu_approximation<tanh>} : (tensor<4xf32>) -> tensor<4xf32>
  %t = graph.gelu %x {approximate = #graph.gelu_approximation<tanh>} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// CHECK-LABEL: func.func @unary_of_numbers
func.func @unary_of_numbers(%x: tensor<4xf32>, %i: tensor<4xi32>, %u: tensor<4xui8>) {
  // CHECK: graph.abs %{{[^ ]+}} : (tensor<4xf32>) -> tensor<4xf32>
  %absx = graph.abs %x : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK: graph.abs %{{[^ ]+}} : (tensor<4xi32>) -> tensor<4xi32>
  %absi = graph.abs %i : (tensor<4xi32>) -> tensor<4xi32>
  // CHECK: graph.abs %{{[^ ]+}} : (tensor<4xui8>) -> tensor<4xui8>
  %absu = graph.abs %u : (tensor<4xui8>) -> tensor<4xui8>
  // CHECK: graph.neg %{{[^ ]+}} : (tensor<4xf32>) -> tensor<4xf32>
  %negx = graph.neg %x : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK: graph.neg %{{[^ ]+}} : (tensor<4xi32>) -> tensor<4xi32>
  %negi = graph.neg %i : (tensor<4xi32>) -> tensor<4xi32>
  // CHECK: graph.neg %{{[^ ]+}} : (tensor<4xui8>) -> tensor<4xui8>
  %negu = graph.neg %u : (tensor<4xui8>) -> tensor<4xui8>
  // CHECK: graph.sign %{{[^ ]+}} : (tensor<4xf32>) -> tensor<4xf32>
  %signx = graph.sign %x : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK: graph.sign %{{[^ ]+}} : (tensor<4xi32>) -> tensor<4xi32>
  %signi = graph.sign %i : (tensor<4xi32>) -> tensor<4xi32>
  // CHECK: graph.sign %{{[^ ]+}} : (tensor<4xui8>) -> tensor<4xui8>
  %signu = graph.sign %u : (tensor<4xui8>) -> tensor<4xui8>
  // CHECK: graph.relu %{{[^ ]+}} : (tensor<4xf32>) -> tensor<4xf32>
  %relux = graph.relu %x : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK: graph.relu %{{[^ ]+}} : (tensor<4xi32>) -> tensor<4xi32>
  %relui = graph.relu %i : (tensor<4xi32>) -> tensor<4xi32>
  // CHECK: graph.relu %{{[^ ]+}} : (tensor<4xui8>) -> tensor<4xui8>
  %reluu = graph.relu %u : (tensor<4xui8>) -> tensor<4xui8>
  return
}

// CHECK-LABEL: func.func @complement_of_bits_and_bools
func.func @complement_of_bits_and_bools(%i: tensor<4xi32>, %b: tensor<4xi1>) {
  // CHECK: graph.not %{{[^ ]+}} : (tensor<4xi32>) -> tensor<4xi32>
  %0 = graph.not %i : (tensor<4xi32>) -> tensor<4xi32>
  // CHECK: graph.not %{{[^ ]+}} : (tensor<4xi1>) -> tensor<4xi1>
  %1 = graph.not %b : (tensor<4xi1>) -> tensor<4xi1>
  return
}

// CHECK-LABEL: func.func @converts_every_element_type
func.func @converts_every_element_type(%x: tensor<4xf32>) {
  // CHECK: graph.convert %{{[^ ]+}} : (tensor<4xf32>) -> tensor<4xf64>
  %0 = graph.convert %x : (tensor<4xf32>) -> tensor<4xf64>
  // CHECK: graph.convert %{{[^ ]+}} : (tensor<4xf32>) -> tensor<4xf32>
  %1 = graph.convert %x : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK: graph.convert %{{[^ ]+}} : (tensor<4xf32>) -> tensor<4xf16>
  %2 = graph.convert %x : (tensor<4xf32>) -> tensor<4xf16>
  // CHECK: graph.convert %{{[^ ]+}} : (tensor<4xf32>) -> tensor<4xbf16>
  %3 = graph.convert %x : (tensor<4xf32>) -> tensor<4xbf16>
  // CHECK: graph.convert %{{[^ ]+}} : (tensor<4xf32>) -> tensor<4xi64>
  %4 = graph.convert %x : (tensor<4xf32>) -> tensor<4xi64>
  // CHECK: graph.convert %{{[^ ]+}} : (tensor<4xf32>) -> tensor<4xi32>
  %5 = graph.convert %x : (tensor<4xf32>) -> tensor<4xi32>
  // CHECK: graph.convert %{{[^ ]+}} : (tensor<4xf32>) -> tensor<4xi16>
  %6 = graph.convert %x : (tensor<4xf32>) -> tensor<4xi16>
  // CHECK: graph.convert %{{[^ ]+}} : (tensor<4xf32>) -> tensor<4xi8>
  %7 = graph.convert %x : (tensor<4xf32>) -> tensor<4xi8>
  // CHECK: graph.convert %{{[^ ]+}} : (tensor<4xf32>) -> tensor<4xui8>
  %8 = graph.convert %x : (tensor<4xf32>) -> tensor<4xui8>
  // CHECK: graph.convert %{{[^ ]+}} : (tensor<4xf32>) -> tensor<4xi1>
  %9 = graph.convert %x : (tensor<4xf32>) -> tensor<4xi1>
  return
}

// CHECK-LABEL: func.func @binary_of_numbers
func.func @binary_of_numbers(%x: tensor<4xf32>, %i: tensor<4xi32>) {
  // CHECK: graph.add %{{[^ ]+}}, %{{[^ ]+}} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %addx = graph.add %x, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK: graph.add %{{[^ ]+}}, %{{[^ ]+}} : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  %addi = graph.add %i, %i : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  // CHECK: graph.sub %{{[^ ]+}}, %{{[^ ]+}} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %subx = graph.sub %x, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK: graph.sub %{{[^ ]+}}, %{{[^ ]+}} : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  %subi = graph.sub %i, %i : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  // CHECK: graph.mul %{{[^ ]+}}, %{{[^ ]+}} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %mulx = graph.mul %x, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK: graph.mul %{{[^ ]+}}, %{{[^ ]+}} : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  %muli = graph.mul %i, %i : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  // CHECK: graph.div %{{[^ ]+}}, %{{[^ ]+}} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %divx = graph.div %x, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK: graph.div %{{[^ ]+}}, %{{[^ ]+}} : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  %divi = graph.div %i, %i : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  // CHECK: graph.floor_div %{{[^ ]+}}, %{{[^ ]+}} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %floor_divx = graph.floor_div %x, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK: graph.floor_div %{{[^ ]+}}, %{{[^ ]+}} : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  %floor_divi = graph.floor_div %i, %i : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  // CHECK: graph.remainder %{{[^ ]+}}, %{{[^ ]+}} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %remainderx = graph.remainder %x, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK: graph.remainder %{{[^ ]+}}, %{{[^ ]+}} : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  %remainderi = graph.remainder %i, %i : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  // CHECK: graph.modulo %{{[^ ]+}}, %{{[^ ]+}} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %modulox = graph.modulo %x, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK: graph.modulo %{{[^ ]+}}, %{{[^ ]+}} : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  %moduloi = graph.modulo %i, %i : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  // CHECK: graph.pow %{{[^ ]+}}, %{{[^ ]+}} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %powx = graph.pow %x, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK: graph.pow %{{[^ ]+}}, %{{[^ ]+}} : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  %powi = graph.pow %i, %i : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  // CHECK: graph.maximum %{{[^ ]+}}, %{{[^ ]+}} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %maximumx = graph.maximum %x, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK: graph.maximum %{{[^ ]+}}, %{{[^ ]+}} : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  %maximumi = graph.maximum %i, %i : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  // CHECK: graph.minimum %{{[^ ]+}}, %{{[^ ]+}} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %minimumx = graph.minimum %x, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK: graph.minimum %{{[^ ]+}}, %{{[^ ]+}} : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  %minimumi = graph.minimum %i, %i : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  // CHECK: graph.atan2 %{{[^ ]+}}, %{{[^ ]+}} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %atan2 = graph.atan2 %x, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return
}

// CHECK-LABEL: func.func @binary_of_bits
func.func @binary_of_bits(%i: tensor<4xi32>, %b: tensor<4xi1>) {
  // CHECK: graph.and %{{[^ ]+}}, %{{[^ ]+}} : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  %andi = graph.and %i, %i : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  // CHECK: graph.and %{{[^ ]+}}, %{{[^ ]+}} : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  %andb = graph.and %b, %b : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  // CHECK: graph.or %{{[^ ]+}}, %{{[^ ]+}} : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  %ori = graph.or %i, %i : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  // CHECK: graph.or %{{[^ ]+}}, %{{[^ ]+}} : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  %orb = graph.or %b, %b : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  // CHECK: graph.xor %{{[^ ]+}}, %{{[^ ]+}} : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  %xori = graph.xor %i, %i : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  // CHECK: graph.xor %{{[^ ]+}}, %{{[^ ]+}} : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  %xorb = graph.xor %b, %b : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  // CHECK: graph.shift_left %{{[^ ]+}}, %{{[^ ]+}} : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  %shift_left = graph.shift_left %i, %i : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  // CHECK: graph.shift_right %{{[^ ]+}}, %{{[^ ]+}} : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  %shift_right = graph.shift_right %i, %i : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  return
}

// CHECK-LABEL: func.func @comparisons_and_choice
func.func @comparisons_and_choice(%x: tensor<4xf32>, %b: tensor<4xi1>) {
  // CHECK: graph.compare %{{[^ ]+}}, %{{[^ ]+}} {direction = #graph.compare_direction<eq>} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  %eq = graph.compare %x, %x {direction = #graph.compare_direction<eq>} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  // CHECK: graph.compare %{{[^ ]+}}, %{{[^ ]+}} {direction = #graph.compare_direction<ne>} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  %ne = graph.compare %x, %x {direction = #graph.compare_direction<ne>} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  // CHECK: graph.compare %{{[^ ]+}}, %{{[^ ]+}} {direction = #graph.compare_direction<lt>} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  %lt = graph.compare %x, %x {direction = #graph.compare_direction<lt>} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  // CHECK: graph.compare %{{[^ ]+}}, %{{[^ ]+}} {direction = #graph.compare_direction<le>} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  %le = graph.compare %x, %x {direction = #graph.compare_direction<le>} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  // CHECK: graph.compare %{{[^ ]+}}, %{{[^ ]+}} {direction = #graph.compare_direction<gt>} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  %gt = graph.compare %x, %x {direction = #graph.compare_direction<gt>} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  // CHECK: graph.compare %{{[^ ]+}}, %{{[^ ]+}} {direction = #graph.compare_direction<ge>} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  %ge = graph.compare %x, %x {direction = #graph.compare_direction<ge>} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  // CHECK: graph.select %{{[^ ]+}}, %{{[^ ]+}}, %{{[^ ]+}} : (tensor<4xi1>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %0 = graph.select %b, %x, %x : (tensor<4xi1>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return
}

// CHECK-LABEL: func.func @named_sizes
func.func @named_sizes(%x: tensor<?x64xf32, #graph.dims<["N", "64"]>>) {
  // CHECK: graph.add %{{[^ ]+}}, %{{[^ ]+}} : (tensor<?x64xf32, #graph.dims<["N", "64"]>>, tensor<?x64xf32, #graph.dims<["N", "64"]>>) -> tensor<?x64xf32, #graph.dims<["N", "64"]>>
  %0 = graph.add %x, %x : (tensor<?x64xf32, #graph.dims<["N", "64"]>>, tensor<?x64xf32, #graph.dims<["N", "64"]>>) -> tensor<?x64xf32, #graph.dims<["N", "64"]>>
  // CHECK: graph.compare %{{[^ ]+}}, %{{[^ ]+}} {direction = #graph.compare_direction<lt>} : (tensor<?x64xf32, #graph.dims<["N", "64"]>>, tensor<?x64xf32, #graph.dims<["N", "64"]>>) -> tensor<?x64xi1, #graph.dims<["N", "64"]>>
  %1 = graph.compare %x, %x {direction = #graph.compare_direction<lt>} : (tensor<?x64xf32, #graph.dims<["N", "64"]>>, tensor<?x64xf32, #graph.dims<["N", "64"]>>) -> tensor<?x64xi1, #graph.dims<["N", "64"]>>
  return
}
