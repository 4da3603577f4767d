// The common form of element-wise functions: promote, broadcast, compute on known elements if all are known, else append.
#ifndef STATOR_COMPILER_TRACE_ELEMENTWISESUPPORT_H
#define STATOR_COMPILER_TRACE_ELEMENTWISESUPPORT_H

#include "compiler/Trace/FunctionSupport.h"

namespace stator::trace {

/// graph.`op` of x as it is.
Tensor unary(llvm::StringRef op, const Tensor &x);
/// graph.`op` of x, integers as f32 first.
Tensor floatUnary(llvm::StringRef op, const Tensor &x);
/// graph.`op` of promoted and broadcast operands.
Tensor binary(llvm::StringRef op, const Tensor &a, const Tensor &b);
Tensor compare(llvm::StringRef name, graph::CompareDirection direction, const Tensor &a, const Tensor &b);
/// x, or f32 for integers.
Tensor toFloat(const Tensor &x);
/// `op` of x and a number in x's type.
Tensor withScalar(llvm::StringRef op, const Tensor &x, double value);

} // namespace stator::trace

#endif // STATOR_COMPILER_TRACE_ELEMENTWISESUPPORT_H
