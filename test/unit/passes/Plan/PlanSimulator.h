// Executes a plan as the runtime would, on plain memory, with the interpreter in the place of kernels. What it catches: bytes that are
// overwritten too early, views at the wrong place, copies in the wrong order.
#ifndef STATOR_TEST_UNIT_PASSES_PLAN_PLANSIMULATOR_H
#define STATOR_TEST_UNIT_PASSES_PLAN_PLANSIMULATOR_H

#include "dialects/Graph/Interpreter/Interpreter.h"
#include "dialects/Plan/PlanOps.h"

#include "mlir/IR/BuiltinOps.h"

#include <map>
#include <string>

namespace stator::test {

class PlanSimulator {
public:
  PlanSimulator(mlir::ModuleOp module, plan::MethodOp method, std::map<std::string, int64_t> symbols)
      : module(module), method(method), symbols(std::move(symbols)) {}

  std::vector<graph::TensorValue> run(const std::vector<graph::TensorValue> &inputs);

  /// By the name of the parameter; kept from run to run.
  std::map<std::string, std::vector<std::byte>> state;

private:
  std::byte *bytesOf(mlir::Value buffer);
  int64_t numberOf(const DimExpr &expr) { return expr.evaluate(symbols).value(); }
  graph::TensorValue read(mlir::Value buffer);
  void write(mlir::Value buffer, const graph::TensorValue &value);
  void forEachRow(mlir::Value buffer, size_t sizeBytes, llvm::function_ref<void(size_t, std::byte *, size_t)> visit);
  void execute(mlir::Block &block);
  void execute(plan::KernelOp kernel);

  mlir::ModuleOp module;
  plan::MethodOp method;
  std::map<std::string, int64_t> symbols;
  std::vector<std::byte> arena;
  /// Inputs, outputs and parameters. Only looked up.
  std::map<mlir::Operation *, std::vector<std::byte>> own;
};

} // namespace stator::test

#endif // STATOR_TEST_UNIT_PASSES_PLAN_PLANSIMULATOR_H
