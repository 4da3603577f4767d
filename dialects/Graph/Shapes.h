// Tensor types and their sizes. A type whose sizes are all constants is plain; any other carries `#graph.dims`, which names every size
// by its canonical text. Building types only through tensorType() keeps the rule that equal sizes make equal types, on which type
// inference and the element-wise operations rest.
#ifndef STATOR_DIALECTS_GRAPH_SHAPES_H
#define STATOR_DIALECTS_GRAPH_SHAPES_H

#include "dialects/Graph/GraphDialect.h"

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "stator/ElementType.h"

#include <map>

namespace stator::graph {

/// The sizes of a tensor. A `?` without a name, which the verifier refuses, reads as an invalid expression.
llvm::SmallVector<DimExpr> dimsOf(mlir::RankedTensorType type);
DimExpr dimOf(mlir::RankedTensorType type, int64_t axis);

/// The type of these sizes; with an encoding only when some size is not a constant. Null when a size is invalid (overflow) or a
/// constant below zero, so whoever computes with sizes from a file tests the result.
mlir::RankedTensorType tensorType(llvm::ArrayRef<DimExpr> dims, mlir::Type element);
mlir::RankedTensorType tensorType(llvm::ArrayRef<int64_t> sizes, mlir::Type element);
/// The same sizes with other elements.
mlir::RankedTensorType withElement(mlir::RankedTensorType type, mlir::Type element);

/// The product of the sizes.
DimExpr elementCount(mlir::RankedTensorType type);
/// The number of elements of a type without symbols; nothing when there are some, or on overflow.
std::optional<int64_t> staticElementCount(mlir::RankedTensorType type);
/// Bytes of a tensor in memory: dense, row-major, one byte per i1.
std::optional<int64_t> staticByteSize(mlir::RankedTensorType type);

/// For an element type that the dialect has; see isSupportedElement().
ElementType elementTypeOf(mlir::Type type);
mlir::Type toMlirType(ElementType type, mlir::MLIRContext *context);

bool isSupportedElement(mlir::Type type);
bool isFloatElement(mlir::Type type);
/// Everything but i1.
bool isNumberElement(mlir::Type type);
/// Integers, not i1.
bool isIntElement(mlir::Type type);
/// Integers and i1.
bool isBitsElement(mlir::Type type);
bool isBoolElement(mlir::Type type);
/// i32 or i64.
bool isIndexElement(mlir::Type type);
/// A ranked tensor of supported elements, plain or with `#graph.dims` exactly as tensorType() makes it.
bool isGraphTensor(mlir::Type type);

/// Whether two sizes may be equal: false only when they differ for all values of the symbols.
bool mayBeEqual(const DimExpr &a, const DimExpr &b);

/// "[N, 64]", for messages.
std::string str(llvm::ArrayRef<DimExpr> dims);

/// The ranges of a method's symbols as its `graph.symbols` gives them; symbols that are not listed are absent.
std::map<std::string, DimInterval> symbolRanges(mlir::FunctionOpInterface method);
/// As above, and with the default range for every other symbol in the types of the arguments.
std::map<std::string, DimInterval> allSymbolRanges(mlir::FunctionOpInterface method);

} // namespace stator::graph

#endif // STATOR_DIALECTS_GRAPH_SHAPES_H
