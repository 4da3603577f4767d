// The graph dialect: its class, enums and attributes. Operations are in GraphOps.h, sizes in Shapes.h.
#ifndef STATOR_DIALECTS_GRAPH_GRAPHDIALECT_H
#define STATOR_DIALECTS_GRAPH_GRAPHDIALECT_H

#include "serialization/Base/DimExpr.h"

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/TensorEncoding.h"

#include <memory>
#include <optional>

namespace stator::graph {
class ParameterStore;

// Names of the attributes that methods and their arguments carry.
inline constexpr llvm::StringLiteral kNameAttr = "graph.name";
inline constexpr llvm::StringLiteral kSymbolsAttr = "graph.symbols";
inline constexpr llvm::StringLiteral kGuardsAttr = "graph.guards";

/// The range of a symbol that a method does not list.
inline constexpr int64_t kDefaultSymbolMin = 0;
inline constexpr int64_t kDefaultSymbolMax = 2147483647;

/// Constants of more elements become parameters.
inline constexpr int64_t kMaxConstantElements = 1024;
} // namespace stator::graph

#include "dialects/Graph/GraphEnums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "dialects/Graph/GraphAttrs.h.inc"

#include "dialects/Graph/GraphDialect.h.inc"

#endif // STATOR_DIALECTS_GRAPH_GRAPHDIALECT_H
