// DEPS: stator::tools::bench::harness stator::dialects::Graph::Interpreter
// Random fused kernels against the interpreter: any mixture of element-wise ops, broadcasts, moves and reductions must come out right,
// whatever structure the vectoriser picks. STATOR_KERNEL_SEED=N checks other kernels than the committed ones.
#include "test/unit/passes/Kernel/InterpreterComparison.h"

#include "serialization/Base/DimExpr.h"

using namespace stator;
using namespace stator::kernel::testing;

namespace {

using Dims = std::vector<DimExpr>;

/// Writes a function op by op; a value is a number and its sizes. All elements are f32.
class Writer {
public:
  explicit Writer(unsigned seed) : random(seed) {}

  std::string write(bool reduces) {
    // The first argument gives both symbols a value.
    argument({DimExpr::symbol("s0"), DimExpr::symbol("s1")});
    for (int i = 0, e = pick(3); i < e; ++i)
      argument(randomDims());
    for (int i = 0, e = 3 + pick(8); i < e; ++i)
      step(reduces);
    std::string type = typeOf(values.back());
    return "func.func @k(" + arguments + ") -> " + type + " {\n" + body + "  return %" + std::to_string(values.size() - 1) + " : " + type +
           "\n}";
  }

private:
  unsigned pick(size_t count) { return random() % count; }
  Dims randomDims() {
    static const Dims all[] = {{DimExpr::symbol("s0"), DimExpr::symbol("s1")},
                               {DimExpr::symbol("s0"), 6, DimExpr::symbol("s1")},
                               {DimExpr::symbol("s1"), 20},
                               {DimExpr::symbol("s0")},
                               {3, 18},
                               {4, DimExpr::symbol("s0"), 3},
                               {1, 17}};
    return all[pick(std::size(all))];
  }
  static std::string typeOf(const Dims &dims) {
    std::string text;
    for (const DimExpr &dim : dims)
      text += (text.empty() ? "" : ",") + dim.str();
    return tensor(text);
  }
  static std::string list(const std::vector<int64_t> &numbers) {
    std::string text;
    for (int64_t number : numbers)
      text += (text.empty() ? "" : ", ") + std::to_string(number);
    return "array<i64" + (numbers.empty() ? "" : ": " + text) + ">";
  }

  void argument(const Dims &dims) {
    std::string name = "%a" + std::to_string(values.size());
    arguments += (arguments.empty() ? "" : ", ") + name + ": " + typeOf(dims);
    // A no-op gives it a number.
    emit("relu " + name, {dims}, dims);
  }
  /// `op` begins with the op's name and operands.
  size_t emit(const std::string &op, const std::vector<Dims> &operands, const Dims &result, const std::string &attributes = "") {
    std::string types;
    for (const Dims &dims : operands)
      types += (types.empty() ? "" : ", ") + typeOf(dims);
    body += "  %" + std::to_string(values.size()) + " = graph." + op + attributes + " : (" + types + ") -> " + typeOf(result) + "\n";
    values.push_back(result);
    return values.size() - 1;
  }
  static std::string use(size_t value) { return "%" + std::to_string(value); }

  void step(bool reduces) {
    size_t x = pick(4) ? values.size() - 1 : pick(values.size());
    Dims dims = values[x];
    switch (pick(reduces ? 10 : 9)) {
    case 0:
    case 1: {
      static const char *const names[] = {"tanh", "relu", "neg", "abs", "sigmoid", "exp", "sqrt"};
      emit(names[pick(5)] + (" " + use(x)), {dims}, dims);
      return;
    }
    case 2:
    case 3: {
      static const char *const names[] = {"add", "sub", "mul", "maximum"};
      size_t y = x;
      for (size_t i = 0; i < values.size(); ++i)
        if (values[i] == dims && pick(2))
          y = i;
      emit(names[pick(4)] + (" " + use(x) + ", " + use(y)), {dims, dims}, dims);
      return;
    }
    case 4: { // A new leading or inner axis.
      Dims result = dims;
      size_t at = pick(dims.size() + 1);
      if (dims.size() >= 4)
        return;
      result.insert(result.begin() + at, pick(2) ? DimExpr::symbol("s1") : DimExpr(5));
      std::vector<int64_t> axes;
      for (size_t i = 0; i < dims.size(); ++i)
        axes.push_back(i + (i >= at));
      emit("broadcast " + use(x), {dims}, result, " {dimensions = " + list(axes) + "}");
      return;
    }
    case 5: { // A rotation of the axes.
      Dims result;
      std::vector<int64_t> permutation;
      size_t by = dims.empty() ? 0 : pick(dims.size());
      for (size_t i = 0; i < dims.size(); ++i) {
        permutation.push_back((i + by) % dims.size());
        result.push_back(dims[permutation.back()]);
      }
      emit("transpose " + use(x), {dims}, result, " {permutation = " + list(permutation) + "}");
      return;
    }
    case 6: {
      if (dims.empty())
        return;
      emit("reverse " + use(x), {dims}, dims, " {axes = " + list({int64_t(pick(dims.size()))}) + "}");
      return;
    }
    case 7: { // Every second element of an axis of known size.
      Dims result = dims;
      std::string starts;
      std::vector<int64_t> strides;
      for (DimExpr &dim : result) {
        bool cuts = dim.constant() && *dim.constant() > 4;
        starts += std::string(starts.empty() ? "" : ", ") + (cuts ? "\"1\"" : "\"0\"");
        strides.push_back(cuts ? 2 : 1);
        if (cuts)
          dim = DimExpr(*dim.constant() / 2);
      }
      emit("slice " + use(x), {dims}, result, " {starts = #graph.dims<[" + starts + "]>, strides = " + list(strides) + "}");
      return;
    }
    case 8: { // A border of the value of the first element.
      if (dims.empty())
        return;
      size_t zero = values.size();
      body += "  %" + std::to_string(zero) + " = graph.constant dense<0.25> : tensor<f32>\n";
      values.push_back({});
      Dims result = dims;
      std::string low, high;
      std::vector<int64_t> interior(dims.size(), 0);
      size_t axis = pick(dims.size());
      for (size_t i = 0; i < dims.size(); ++i) {
        low += std::string(i ? ", " : "") + (i == axis ? "\"2\"" : "\"0\"");
        high += std::string(i ? ", " : "") + (i == axis ? "\"1\"" : "\"0\"");
      }
      result[axis] = result[axis] + 3;
      emit("pad " + use(x) + ", " + use(zero), {dims, {}}, result,
           " {low = #graph.dims<[" + low + "]>, high = #graph.dims<[" + high + "]>, interior = " + list(interior) + "}");
      return;
    }
    default: { // A mean-like reduction, and its result repeated.
      // Reductions of different axes are evaluated anew for every element; more than two of them would take very long.
      if (dims.empty() || ++numReductions > 2)
        return;
      int64_t axis = pick(dims.size());
      // One sum at most: sums of sums cancel, and then any two orders differ.
      static const char *const kinds[] = {"max", "min", "sum"};
      unsigned kind = pick(hasSum ? 2 : 3);
      hasSum |= kind == 2;
      Dims reduced = dims;
      reduced[axis] = 1;
      size_t r = emit("reduce " + use(x), {dims}, reduced,
                      " {kind = #graph.reduce_kind<" + std::string(kinds[kind]) + ">, axes = " + list({axis}) + ", keep_dims = true}");
      std::vector<int64_t> axes;
      for (size_t i = 0; i < dims.size(); ++i)
        axes.push_back(i);
      size_t wide = emit("broadcast " + use(r), {reduced}, dims, " {dimensions = " + list(axes) + "}");
      emit("sub " + use(x) + ", " + use(wide), {dims, dims}, dims);
      return;
    }
    }
  }

  std::mt19937 random;
  std::string arguments, body;
  std::vector<Dims> values;
  bool hasSum = false;
  int numReductions = 0;
};

} // namespace

TEST_CASE("random fused kernels") {
  const char *seedText = std::getenv("STATOR_KERNEL_SEED");
  unsigned first = seedText ? std::atoi(seedText) : 1;
  for (unsigned i = 0; i < 40; ++i) {
    INFO("seed " << first + i);
    Comparison comparison;
    comparison.text = Writer(first + i).write(/*reduces=*/i % 2 == 1);
    comparison.sizes = {{1, 1}, {3, 5}, {17, 20}, {35, 70}};
    comparison.relative = comparison.absolute = 1e-4;
    comparison.skipsMiddleLevels = i % 3 != 0;
    compareWithInterpreter(comparison);
  }
}
