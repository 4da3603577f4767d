// Tests of PyTorch's operators as tables: text files in which each line is one call and what PyTorch 1.13 gave for it. make_cases.py
// writes them. A line reads `add.Tensor(f32[2]{1 2}, i64[]{3}, alpha=2) -> f32[2]{7 8}`; several results are separated by `;`, and
// `@3 f32[2]{..}` is what argument 3 holds after the call. `~1e-3` in front allows that error, a size `n:4` is known only at run time,
// and `=i64[]{3}` is a constant.
#ifndef STATOR_TEST_UNIT_COMPILER_IMPORT_TORCH_ATEN_ATENCASES_H
#define STATOR_TEST_UNIT_COMPILER_IMPORT_TORCH_ATEN_ATENCASES_H

#include "test/unit/compiler/Trace/TraceCase.h"

#include "compiler/Import/Torch/Aten/Operators.h"

#include <cstdlib>
#include <fstream>
#include <string>

namespace aten {

using stator::ElementType;
using stator::graph::TensorValue;
using stator::torch::Value;
using stator::torch::Values;

struct Literal {
  TensorValue value;
  stator::trace::Dims dims;
};

class Line {
public:
  Line(Case &test, stator::torch::Context &context, std::string text) : test(test), context(context), text(std::move(text)) {}

  void run() {
    double tolerance = take('~') ? number() : 0;
    std::string name = until("(");
    take('(');
    Values positional;
    std::vector<stator::torch::KeywordArgument> keywords;
    while (!take(')')) {
      size_t start = at;
      std::string key = word();
      if (!key.empty() && take('='))
        keywords.push_back({key, argument()});
      else {
        at = start;
        positional.push_back(argument());
      }
      take(',');
    }
    const stator::torch::Operator *op = stator::torch::findOperator(name);
    REQUIRE(op);
    auto bound = stator::torch::bindArguments(op->schema, positional, keywords, stator::torch::Conversions::Allowed);
    INFO((bound.ok() ? "" : bound.status().message()));
    REQUIRE(bound.ok());
    auto result = stator::torch::callOperator(context, *op, *bound);
    INFO((result.ok() ? "" : result.status().message()));
    if (take('!')) { // An error that says this.
      std::string wanted = text.substr(at + 1);
      REQUIRE(!result.ok());
      CHECK(std::string(result.status().message()).find(wanted) != std::string::npos);
      return;
    }
    REQUIRE(result.ok());
    REQUIRE(text.compare(skip(), 2, "->") == 0);
    at += 2;
    Values produced = result->items() ? *result->items() : Values{*result};
    std::vector<Literal> expected;
    std::vector<stator::trace::Tensor> actual;
    size_t next = 0;
    do {
      if (take('-')) { // Not compared.
        ++next;
        continue;
      }
      const Value &value = take('@') ? (*bound)[static_cast<size_t>(number())] : produced.at(next++);
      expected.push_back(literal());
      REQUIRE((value.isTensor() || value.isScalar()));
      actual.push_back(value.isTensor() ? context.read(value.asTensor()) : context.scalarTensor(value));
    } while (take(';'));
    compare(expected, actual, tolerance);
  }

private:
  void compare(const std::vector<Literal> &expected, const std::vector<stator::trace::Tensor> &actual, double tolerance) {
    for (size_t i = 0; i < actual.size(); ++i)
      test.b.output("y" + std::to_string(i), actual[i]);
    stator::Status status = test.b.finish();
    INFO(status.message());
    REQUIRE(status.ok());
    stator::trace::BuilderImpl &impl = stator::trace::BuilderImpl::of(test.b);
    stator::trace::DiagnosticCapture capture(impl.context());
    auto results = stator::graph::interpret(impl.method(), test.inputs);
    INFO(test.b.str() << capture.text());
    REQUIRE(mlir::succeeded(results));
    for (size_t i = 0; i < actual.size(); ++i) {
      const TensorValue &value = (*results)[i], &wanted = expected[i].value;
      INFO("result " << i << ": " << value.typeText());
      REQUIRE(value.typeText() == wanted.typeText());
      std::vector<double> a = value.reals(), b = wanted.reals();
      double allowed = std::max(tolerance, value.type == ElementType::BF16 ? 4e-3 : value.type == ElementType::F16 ? 5e-4 : 2e-6);
      for (size_t j = 0; j < a.size(); ++j) {
        INFO("element " << j << ": " << a[j] << ", expected " << b[j]);
        bool isSame = std::isnan(b[j]) ? std::isnan(a[j]) : a[j] == b[j] || std::fabs(a[j] - b[j]) <= allowed * (1 + std::fabs(b[j]));
        REQUIRE(isSame);
      }
    }
  }

  Value argument() {
    if (take('[')) {
      Values items;
      while (!take(']')) {
        items.push_back(argument());
        take(',');
      }
      return Value::list(std::move(items));
    }
    if (take('\'')) {
      std::string string = until("'");
      ++at;
      return Value::string(string);
    }
    bool isConstant = take('=');
    size_t start = skip();
    std::string name = word();
    if (name == "None")
      return Value::none();
    if (name == "True" || name == "False")
      return Value::boolean(name == "True");
    if (stator::parseElementType(name) && text[at] == '[') {
      at = start;
      Literal value = literal();
      return Value::tensor(context.make(isConstant ? constant(value.value) : input(value)));
    }
    at = start;
    double real = number();
    bool isReal = text.substr(start, at - start).find_first_of(".en") != std::string::npos;
    return isReal ? Value::real(real) : Value::integer(static_cast<int64_t>(real));
  }

  stator::trace::Tensor input(const Literal &value) {
    test.inputs.push_back(value.value);
    return test.b.input("input" + std::to_string(test.inputs.size()), value.value.type, value.dims);
  }
  stator::trace::Tensor constant(const TensorValue &value) {
    return test.b.constant(value.type, stator::trace::Ints(value.shape.begin(), value.shape.end()), value.data.data(), value.data.size());
  }

  Literal literal() {
    Literal result;
    auto type = stator::parseElementType(word());
    REQUIRE(type);
    llvm::SmallVector<int64_t> shape;
    REQUIRE(take('['));
    while (!take(']')) {
      std::string symbol = std::isalpha(static_cast<unsigned char>(text[skip()])) ? word() : "";
      take(':');
      shape.push_back(static_cast<int64_t>(number()));
      result.dims.push_back(symbol.empty() ? stator::trace::Dim(shape.back()) : test.b.symbol(symbol, 1, 64));
      take(',');
    }
    REQUIRE(take('{'));
    std::vector<double> values;
    while (!take('}'))
      values.push_back(number());
    result.value = TensorValue::of(*type, shape, values);
    return result;
  }

  size_t skip() {
    while (at < text.size() && text[at] == ' ')
      ++at;
    return at;
  }
  bool take(char c) {
    if (skip() >= text.size() || text[at] != c || (c == '-' && text.compare(at, 2, "- ") != 0))
      return false;
    ++at;
    return true;
  }
  std::string word() {
    size_t start = skip();
    while (at < text.size() && (std::isalnum(static_cast<unsigned char>(text[at])) || text[at] == '_'))
      ++at;
    return text.substr(start, at - start);
  }
  std::string until(const char *stop) {
    size_t start = skip();
    at = text.find(stop, at);
    REQUIRE(at != std::string::npos);
    return text.substr(start, at - start);
  }
  double number() {
    const char *start = text.c_str() + skip();
    char *end = nullptr;
    double value = std::strtod(start, &end);
    REQUIRE(end != start);
    at += static_cast<size_t>(end - start);
    return value;
  }

  Case &test;
  stator::torch::Context &context;
  std::string text;
  size_t at = 0;
};

/// Runs every line of a file of this folder, or of any other by its absolute path.
inline void runCases(const std::string &name) {
  std::ifstream file(name[0] == '/' ? name : std::string(STATOR_SOURCE_DIR) + "/test/unit/compiler/Import/Torch/Aten/" + name);
  std::string text;
  size_t count = 0;
  for (size_t line = 1; std::getline(file, text); ++line) {
    if (text.empty() || text[0] == '#')
      continue;
    ++count;
    SECTION(name + ":" + std::to_string(line)) {
      INFO(text.substr(0, 400));
      Case test;
      stator::torch::Context context(test.b);
      Line(test, context, text).run();
    }
  }
  REQUIRE(count > 0);
}

} // namespace aten

#endif // STATOR_TEST_UNIT_COMPILER_IMPORT_TORCH_ATEN_ATENCASES_H
