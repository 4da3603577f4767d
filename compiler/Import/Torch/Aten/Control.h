// Control flow that depends on data, for both front-ends: branches and bodies give Values, which are merged, and may write memory from
// outside, whose new contents become results.
//
// Merging: two known values that are equal stay as they are; else tensors, ints, floats and bools become results of the `if` (ints as i64,
// floats as f64, bools as i1); lists, tuples and dicts are merged element by element; what is uninitialized on one side takes the type
// and shape of the other. Different structures, strings or objects are an error that names the place.
#ifndef STATOR_COMPILER_IMPORT_TORCH_ATEN_CONTROL_H
#define STATOR_COMPILER_IMPORT_TORCH_ATEN_CONTROL_H

#include "compiler/Import/Torch/Aten/Context.h"

#include <functional>

namespace stator::torch {

/// Both branches are traced, once each. Empty after an error (see Context).
Values dynamicIf(Context &context, const BoolValue &condition, const std::function<Values()> &onTrue,
                 const std::function<Values()> &onFalse);

/// while (condition(values)) values = body(values). Known ints, floats and bools of `initial` become data inside, since they may change;
/// None, strings, objects and devices must come back unchanged. The body is traced more than once when it writes memory
/// from outside: it must be repeatable.
Values dynamicWhile(Context &context, const Values &initial, const std::function<Value(const Values &)> &condition,
                    const std::function<Values(const Values &)> &body);

} // namespace stator::torch

#endif // STATOR_COMPILER_IMPORT_TORCH_ATEN_CONTROL_H
