//===- MethodContract.cpp - what every method of a graph module obeys ------===//

#include "passes/Graph/MethodContract.h"
#include "dialects/Graph/GraphOps.h"

#include "llvm/ADT/StringSet.h"

#include <set>

using namespace mlir;

namespace stator::graph {

static LogicalResult verifyNames(func::FuncOp method) {
  llvm::StringSet<> inputs, outputs;
  for (unsigned i = 0; i < method.getNumArguments(); ++i) {
    auto name = method.getArgAttrOfType<StringAttr>(i, "graph.name");
    if (!name || name.getValue().empty())
      return method.emitError() << "argument " << i << " has no `graph.name`";
    if (!inputs.insert(name.getValue()).second)
      return method.emitError() << "two arguments are called `" << name.getValue() << "`";
  }
  for (unsigned i = 0; i < method.getNumResults(); ++i) {
    auto name = method.getResultAttrOfType<StringAttr>(i, "graph.name");
    if (!name || name.getValue().empty())
      return method.emitError() << "result " << i << " has no `graph.name`";
    if (!outputs.insert(name.getValue()).second)
      return method.emitError() << "two results are called `" << name.getValue() << "`";
  }
  return success();
}

static LogicalResult verifyTypes(func::FuncOp method) {
  for (auto [kind, types] : {std::pair("argument", method.getArgumentTypes()), std::pair("result", method.getResultTypes())})
    for (auto [index, type] : llvm::enumerate(types))
      if (!isGraphTensor(type))
        return method.emitError() << kind << " " << index << " has type " << type
                                  << ", expected a ranked tensor whose unknown sizes are named";
  return success();
}

/// At run time a symbol gets its value from an argument whose size is just that symbol.
static LogicalResult verifySymbolsAreRead(func::FuncOp method) {
  std::set<std::string> readable;
  for (Type type : method.getArgumentTypes())
    for (const DimExpr &dim : dimsOf(cast<RankedTensorType>(type)))
      if (std::optional<std::string> symbol = dim.asSymbol())
        readable.insert(*symbol);
  auto check = [&](Type type, Operation *op) -> LogicalResult {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!tensor)
      return success();
    for (const DimExpr &dim : dimsOf(tensor))
      for (const std::string &symbol : dim.symbols())
        if (!readable.count(symbol))
          return op->emitError() << "size `" << dim.str() << "` uses the symbol `" << symbol
                                 << "`, which is not the size of an argument by itself";
    return success();
  };
  for (Type type : method.getArgumentTypes())
    if (failed(check(type, method)))
      return failure();
  WalkResult result = method.walk([&](Operation *op) {
    for (Type type : op->getResultTypes())
      if (failed(check(type, op)))
        return WalkResult::interrupt();
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

LogicalResult verifyMethod(func::FuncOp method) {
  if (method.isExternal())
    return method.emitError() << "method has no body";
  if (!method.getBody().hasOneBlock())
    return method.emitError() << "method has " << method.getBody().getBlocks().size() << " blocks, expected 1";
  if (failed(verifyTypes(method)) || failed(verifyNames(method)) || failed(verifySymbolsAreRead(method)))
    return failure();
  WalkResult result = method.walk([&](Operation *op) {
    if (op == method || isa<func::ReturnOp>(op) || isa_and_nonnull<GraphDialect>(op->getDialect()))
      return WalkResult::advance();
    op->emitOpError() << "does not belong to the graph dialect";
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

LogicalResult verifyMethods(ModuleOp module) {
  unsigned methods = 0;
  for (Operation &op : *module.getBody()) {
    if (isa<ParameterOp>(op))
      continue;
    auto method = dyn_cast<func::FuncOp>(op);
    if (!method)
      return op.emitOpError() << "cannot stand at the top of a graph module, expected methods and parameters";
    if (failed(verifyMethod(method)))
      return failure();
    methods += method.isPublic();
  }
  if (methods == 0)
    return module.emitError() << "module has no public method";
  return success();
}

} // namespace stator::graph
