// Runs one operation of the graph dialect, or a method given as text, in the interpreter and compares with values that were computed
// elsewhere.
#ifndef STATOR_TEST_UNIT_DIALECTS_GRAPH_INTERPRETOP_H
#define STATOR_TEST_UNIT_DIALECTS_GRAPH_INTERPRETOP_H

#include "test/unit/Catch.h"

#include "dialects/Graph/Interpreter/Interpreter.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"

#include <cmath>
#include <string>
#include <vector>

namespace stator::graph::test {

using Shape = std::vector<int64_t>;
using Tensors = std::vector<TensorValue>;

inline TensorValue make(ElementType type, const Shape &shape, const std::vector<double> &values) {
  return isFloat(type) ? TensorValue::of(type, shape, values)
                       : TensorValue::ofIntegers(type, shape, std::vector<int64_t>(values.begin(), values.end()));
}
inline TensorValue f64(const Shape &shape, const std::vector<double> &values) { return make(ElementType::F64, shape, values); }
inline TensorValue f32(const Shape &shape, const std::vector<double> &values) { return make(ElementType::F32, shape, values); }
inline TensorValue f16(const Shape &shape, const std::vector<double> &values) { return make(ElementType::F16, shape, values); }
inline TensorValue bf16(const Shape &shape, const std::vector<double> &values) { return make(ElementType::BF16, shape, values); }
inline TensorValue i64(const Shape &shape, const std::vector<int64_t> &values) {
  return TensorValue::ofIntegers(ElementType::I64, shape, values);
}
inline TensorValue i32(const Shape &shape, const std::vector<double> &values) { return make(ElementType::I32, shape, values); }
inline TensorValue i16(const Shape &shape, const std::vector<double> &values) { return make(ElementType::I16, shape, values); }
inline TensorValue i8(const Shape &shape, const std::vector<double> &values) { return make(ElementType::I8, shape, values); }
inline TensorValue u8(const Shape &shape, const std::vector<double> &values) { return make(ElementType::U8, shape, values); }
inline TensorValue i1(const Shape &shape, const std::vector<double> &values) { return make(ElementType::I1, shape, values); }

/// One rounding of the type, and some of a double.
inline double toleranceOf(ElementType type) {
  switch (type) {
  case ElementType::F64:
    return 1e-12;
  case ElementType::F32:
    return 1e-6;
  case ElementType::F16:
    return 1e-3;
  default:
    return 8e-3;
  }
}

/// Equal but for rounding; NaN equals NaN. A difference is shown with its place.
inline void checkTensor(const TensorValue &actual, const TensorValue &expected, const std::string &what) {
  INFO(what);
  REQUIRE(actual.typeText() == expected.typeText());
  for (int64_t i = 0, n = actual.count(); i < n; ++i) {
    INFO("element " << i);
    if (!isFloat(actual.type)) {
      CHECK(actual.integer(i) == expected.integer(i));
      continue;
    }
    double a = actual.real(i), e = expected.real(i);
    INFO(a << " instead of " << e);
    CHECK((a == e || (std::isnan(a) && std::isnan(e)) || std::fabs(a - e) <= toleranceOf(actual.type) * std::max(1.0, std::fabs(e))));
  }
}

/// A module parsed from text, its context, and the diagnostics that arose.
class Program {
public:
  explicit Program(const std::string &text)
      : handler(&context, [this](mlir::Diagnostic &diagnostic) {
          diagnostics += diagnostic.str() + "\n";
          return mlir::success();
        }) {
    context.loadDialect<GraphDialect, mlir::func::FuncDialect>();
    module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
    INFO(diagnostics);
    REQUIRE(module);
  }

  mlir::func::FuncOp method(llvm::StringRef name = "main") { return module->lookupSymbol<mlir::func::FuncOp>(name); }

  mlir::FailureOr<llvm::SmallVector<TensorValue>> run(const Tensors &inputs, const InterpretOptions &options = {}) {
    return interpret(method(), inputs, options);
  }

  void check(const Tensors &inputs, const Tensors &expected) {
    mlir::FailureOr<llvm::SmallVector<TensorValue>> results = run(inputs);
    INFO(diagnostics);
    REQUIRE(mlir::succeeded(results));
    REQUIRE(results->size() == expected.size());
    for (size_t i = 0; i < expected.size(); ++i)
      checkTensor((*results)[i], expected[i], "result " + std::to_string(i));
  }

  /// Runs, which fails with a diagnostic that contains `text`.
  void checkError(const Tensors &inputs, const std::string &text, const InterpretOptions &options = {}) {
    CHECK(mlir::failed(run(inputs, options)));
    CHECK_THAT(diagnostics, Catch::Matchers::Contains(text));
  }

  mlir::MLIRContext context;
  std::string diagnostics;
  mlir::ScopedDiagnosticHandler handler;
  mlir::OwningOpRef<mlir::ModuleOp> module;
};

/// A method of one op, `main`.
inline std::string methodOf(const std::string &op, const std::string &attributes, const Tensors &operands, const Tensors &results) {
  std::string arguments, names, operandTypes, resultTypes, resultNames;
  for (size_t i = 0; i < operands.size(); ++i) {
    std::string separator = i ? ", " : "", name = "%a" + std::to_string(i);
    arguments += separator + name + ": " + operands[i].typeText();
    names += separator + name;
    operandTypes += separator + operands[i].typeText();
  }
  for (size_t i = 0; i < results.size(); ++i) {
    resultTypes += (i ? ", " : "") + results[i].typeText();
    resultNames += (i ? ", %r#" : "%r#") + std::to_string(i);
  }
  return "func.func @main(" + arguments + ") -> (" + resultTypes + ") {\n  %r:" + std::to_string(results.size()) + " = graph." + op + " " +
         names + " {" + attributes + "} : (" + operandTypes + ") -> (" + resultTypes + ")\n  return " + resultNames + " : " + resultTypes +
         "\n}\n";
}

/// `op` on these operands gives these results.
inline void checkOp(const std::string &op, const std::string &attributes, const Tensors &operands, const Tensors &expected) {
  INFO("graph." << op << " {" << attributes << "}");
  Program(methodOf(op, attributes, operands, expected)).check(operands, expected);
}

/// `op` on these operands fails when it runs; `results` only give the types.
inline void checkOpError(const std::string &op, const std::string &attributes, const Tensors &operands, const Tensors &results,
                         const std::string &text, const InterpretOptions &options = {}) {
  INFO("graph." << op << " {" << attributes << "}");
  Program(methodOf(op, attributes, operands, results)).checkError(operands, text, options);
}

} // namespace stator::graph::test

#endif // STATOR_TEST_UNIT_DIALECTS_GRAPH_INTERPRETOP_H
