//===- InterpreterComparison.h - kernels against the interpreter ------------===//
//
// A kernel function is compiled for every CPU level that the machine has and run
// with one to three workers on random inputs; the result must be what the
// reference interpreter computes, and the same bits for every number of workers
// (which the last two sizes of a test are run with; others with one).
//
//===----------------------------------------------------------------------===//

#ifndef STATOR_TEST_UNIT_PASSES_KERNEL_INTERPRETERCOMPARISON_H
#define STATOR_TEST_UNIT_PASSES_KERNEL_INTERPRETERCOMPARISON_H

#include "dialects/Graph/Interpreter/Interpreter.h"
#include "dialects/Graph/Shapes.h"
#include "test/unit/Catch.h"
#include "tools/bench/harness/KernelHarness.h"

#include "mlir/Parser/Parser.h"
#include "llvm/Support/Error.h"

#include <cmath>
#include <cstring>
#include <random>

namespace stator::kernel::testing {

/// `tensor<?x4xf32, #graph.dims<["s0", "4"]>>` for "s0,4" and "f32"; a plain type when all sizes are numbers.
inline std::string tensor(const std::string &dims, const std::string &element = "f32") {
  std::string shape, names;
  bool isDynamic = false;
  llvm::SmallVector<llvm::StringRef> parts;
  llvm::StringRef(dims).split(parts, ',', -1, /*KeepEmpty=*/false);
  for (llvm::StringRef part : parts) {
    bool isNumber = llvm::all_of(part, llvm::isDigit);
    isDynamic |= !isNumber;
    shape += (isNumber ? part.str() : "?") + "x";
    names += (names.empty() ? "\"" : ", \"") + part.str() + "\"";
  }
  return "tensor<" + shape + element + (isDynamic ? ", #graph.dims<[" + names + "]>>" : ">");
}

/// "(t) -> t" and so on, with every `$name` of `text` replaced by its type.
inline std::string withTypes(std::string text, const std::map<std::string, std::string> &types) {
  for (auto it = types.rbegin(); it != types.rend(); ++it)
    for (size_t at; (at = text.find("$" + it->first)) != std::string::npos;)
      text.replace(at, it->first.size() + 1, it->second);
  return text;
}

struct InputRange {
  double low = -2, high = 2;
  /// Infinities, NaN, zeros of both signs, denormals, the largest numbers.
  bool hasSpecials = false;
};

struct Comparison {
  /// One function; its symbols are s0, s1, ...
  std::string text;
  /// Values of the symbols for each run. Empty: one run without symbols.
  std::vector<std::vector<int64_t>> sizes;
  /// Of argument i; the last one holds for the rest.
  std::vector<InputRange> ranges = {{}};
  /// |difference| <= absolute + relative * |expected|, for floats.
  double relative = 1e-5, absolute = 1e-6;
  /// Only the lowest level, which has neither masks nor half-precision conversions, and the highest.
  bool skipsMiddleLevels = false;
};

inline double randomReal(std::mt19937 &random, const InputRange &range, ElementType type) {
  if (range.hasSpecials && random() % 4 == 0) {
    double largest = type == ElementType::F64 ? 1.7e308 : type == ElementType::F16 ? 65504 : 3.4e38;
    double tiny = type == ElementType::F64 ? 5e-320 : type == ElementType::F16 ? 1e-7 : 1e-42;
    const double values[] = {INFINITY, -INFINITY, NAN, 0.0, -0.0, 1.0, -1.0, tiny, -tiny, largest, -largest, 0.5, 1e30, -1e-30};
    return values[random() % std::size(values)];
  }
  return range.low + (range.high - range.low) * (random() % 100003) / 100003.0;
}

inline graph::TensorValue randomTensor(ElementType type, llvm::ArrayRef<int64_t> shape, const InputRange &range, std::mt19937 &random) {
  graph::TensorValue value(type, shape);
  bool isReal = type == ElementType::F32 || type == ElementType::F64 || type == ElementType::F16 || type == ElementType::BF16;
  for (int64_t i = 0; i < value.count(); ++i) {
    if (isReal)
      value.setReal(i, randomReal(random, range, type));
    else if (type == ElementType::I1)
      value.setInteger(i, random() % 2);
    else if (range.hasSpecials)
      value.setInteger(i, random() % 3 ? int64_t(uint64_t(random()) << 32 | random()) : int64_t(random() % 5) - 2);
    else
      value.setInteger(i,
                       int64_t(std::floor(range.low)) + int64_t(random() % uint64_t(std::floor(range.high) - std::floor(range.low) + 1)));
  }
  return value;
}

/// The first wrong element, described; empty if there is none.
inline std::string difference(const graph::TensorValue &actual, const graph::TensorValue &expected, double relative, double absolute) {
  bool isReal = expected.type == ElementType::F32 || expected.type == ElementType::F64 || expected.type == ElementType::F16 ||
                expected.type == ElementType::BF16;
  // A half is one rounding, and one of its neighbours when the exact value lies between two.
  if (expected.type == ElementType::F16)
    relative = std::max(relative, 1.0 / 1024);
  if (expected.type == ElementType::BF16)
    relative = std::max(relative, 1.0 / 128);
  int64_t wrong = 0;
  std::string first;
  for (int64_t i = 0; i < expected.count(); ++i) {
    bool isSame;
    if (isReal) {
      double a = actual.real(i), e = expected.real(i);
      isSame = std::isnan(e) ? std::isnan(a) : a == e || std::abs(a - e) <= absolute + relative * std::abs(e);
      // A result next to the largest number may round to infinity.
      if (!isSame && !std::isnan(a) && std::isinf(e) != std::isinf(a) && std::abs(std::isinf(e) ? a : e) > 3.402e38)
        isSame = std::signbit(a) == std::signbit(e);
      if (!isSame && first.empty())
        first = "element " + std::to_string(i) + " is " + std::to_string(a) + " (" + llvm::formatv("{0:e}", a).str() + "), expected " +
                std::to_string(e) + " (" + llvm::formatv("{0:e}", e).str() + ")";
    } else {
      isSame = actual.integer(i) == expected.integer(i);
      if (!isSame && first.empty())
        first = "element " + std::to_string(i) + " is " + std::to_string(actual.integer(i)) + ", expected " +
                std::to_string(expected.integer(i));
    }
    wrong += !isSame;
  }
  return wrong ? std::to_string(wrong) + " of " + std::to_string(expected.count()) + " wrong: " + first : "";
}

inline void compareWithInterpreter(const Comparison &comparison) {
  using namespace mlir;
  MLIRContext context(MLIRContext::Threading::DISABLED);
  context.loadDialect<graph::GraphDialect, func::FuncDialect>();
  INFO(comparison.text);
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(comparison.text, &context);
  REQUIRE(module);
  auto function = *module->getOps<func::FuncOp>().begin();
  std::string name = function.getName().str();

  std::vector<std::pair<const CpuLevel *, std::unique_ptr<bench::LoadedKernels>>> kernels;
  for (const CpuLevel &level : cpuLevels()) {
    bool isExtreme = &level == &cpuLevels().front() || &level == &cpuLevels().back();
    if (!bench::canRun(level) || (comparison.skipsMiddleLevels && !isExtreme))
      continue;
    auto loaded = bench::LoadedKernels::compile(comparison.text, level);
    if (!loaded)
      FAIL(std::string(level.name) << ": " << llvm::toString(loaded.takeError()));
    kernels.emplace_back(&level, std::move(*loaded));
  }
  std::vector<std::vector<int64_t>> runs = comparison.sizes;
  if (runs.empty())
    runs.push_back({});
  for (size_t run = 0; run < runs.size(); ++run) {
    const std::vector<int64_t> &sizes = runs[run];
    unsigned mostWorkers = run + 2 < runs.size() ? 1 : 3;
    std::map<std::string, int64_t> symbols;
    std::string sizesText;
    for (size_t i = 0; i < sizes.size(); ++i) {
      symbols["s" + std::to_string(i)] = sizes[i];
      sizesText += " " + std::to_string(sizes[i]);
    }
    INFO("sizes" << sizesText);
    std::mt19937 random(17);
    SmallVector<graph::TensorValue> inputs;
    for (auto [i, type] : llvm::enumerate(function.getArgumentTypes())) {
      auto tensorType = cast<RankedTensorType>(type);
      SmallVector<int64_t> shape;
      for (const DimExpr &dim : graph::dimsOf(tensorType))
        shape.push_back(dim.evaluate(symbols).value());
      const InputRange &range = comparison.ranges[std::min(i, comparison.ranges.size() - 1)];
      inputs.push_back(randomTensor(graph::elementTypeOf(tensorType.getElementType()), shape, range, random));
    }
    FailureOr<SmallVector<graph::TensorValue>> expected = graph::interpret(function, inputs);
    REQUIRE(succeeded(expected));

    for (auto &[level, loaded] : kernels) {
      std::vector<std::vector<std::byte>> first;
      for (unsigned workers = 1; workers <= mostWorkers; ++workers) {
        INFO(level->name << ", " << workers << " workers");
        bench::WorkerTeam team(workers);
        // Guards on both sides show writes out of bounds.
        constexpr size_t guard = 256;
        std::vector<void *> buffers;
        std::vector<std::vector<std::byte>> storage;
        for (graph::TensorValue &input : inputs) {
          storage.emplace_back(input.data);
          storage.back().resize(input.data.size() + guard, std::byte(0xa5));
        }
        for (const graph::TensorValue &result : *expected)
          storage.emplace_back(result.data.size() + 2 * guard, std::byte(0x5a));
        for (size_t i = 0; i < storage.size(); ++i)
          buffers.push_back(storage[i].data() + (i < inputs.size() ? 0 : guard));
        loaded->run(name, buffers, sizes, team);
        for (size_t r = 0; r < expected->size(); ++r) {
          std::vector<std::byte> &all = storage[inputs.size() + r];
          auto isGuard = [](std::byte b) { return b == std::byte(0x5a); };
          CHECK(std::all_of(all.begin(), all.begin() + guard, isGuard));
          CHECK(std::all_of(all.end() - guard, all.end(), isGuard));
          graph::TensorValue actual = (*expected)[r];
          actual.data.assign(all.begin() + guard, all.end() - guard);
          std::string wrong = difference(actual, (*expected)[r], comparison.relative, comparison.absolute);
          INFO("result " << r << ": " << wrong);
          CHECK(wrong.empty());
          if (workers == 1)
            first.push_back(actual.data);
          else
            CHECK(first[r] == actual.data);
        }
        for (size_t i = 0; i < inputs.size(); ++i)
          CHECK(std::equal(inputs[i].data.begin(), inputs[i].data.end(), storage[i].begin()));
      }
    }
  }
}

} // namespace stator::kernel::testing

#endif // STATOR_TEST_UNIT_PASSES_KERNEL_INTERPRETERCOMPARISON_H
