// DEPS: stator::passes::Plan stator::passes::Optimise stator::dialects::Graph::Interpreter
// Random methods, planned and simulated, against the interpreter.
#include "unit/Catch.h"

#include "unit/passes/Plan/PlanSimulator.h"

#include "dialects/Graph/ParameterRecipes.h"
#include "dialects/Graph/ParameterStore.h"
#include "passes/Optimise/Passes.h"
#include "passes/Plan/Passes.h"

#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"

#include <cstring>
#include <random>

using namespace mlir;
using namespace stator;
using namespace stator::test;

std::byte *PlanSimulator::bytesOf(Value buffer) {
  plan::BufferRef ref = plan::resolveBuffer(buffer);
  int64_t offset = numberOf(ref.offset);
  if (ref.declaration.getKind() == plan::BufferKind::arena)
    return arena.data() + numberOf(plan::exprOf(*ref.declaration.getOffset())) + offset;
  return own.at(ref.declaration).data() + offset;
}

graph::TensorValue PlanSimulator::read(Value buffer) {
  RankedTensorType type = plan::tensorTypeOf(buffer);
  SmallVector<int64_t> shape;
  for (const DimExpr &dim : graph::dimsOf(type))
    shape.push_back(numberOf(dim));
  graph::TensorValue value(graph::elementTypeOf(type.getElementType()), shape);
  forEachRow(buffer, value.data.size(), [&](size_t dense, std::byte *place, size_t bytes) { std::memcpy(value.data.data() + dense, place, bytes); });
  return value;
}

void PlanSimulator::write(Value buffer, const graph::TensorValue &value) {
  REQUIRE(static_cast<int64_t>(value.data.size()) == numberOf(plan::sizeBytesOf(plan::tensorTypeOf(buffer))));
  forEachRow(buffer, value.data.size(), [&](size_t dense, std::byte *place, size_t bytes) { std::memcpy(place, value.data.data() + dense, bytes); });
}

/// Calls `visit` with the dense offset, the place and the size of every row; there is one in a dense buffer.
void PlanSimulator::forEachRow(Value buffer, size_t sizeBytes, llvm::function_ref<void(size_t, std::byte *, size_t)> visit) {
  size_t row = sizeBytes, distance = sizeBytes;
  if (std::optional<graph::Pitch> pitch = plan::pitchOf(buffer)) {
    size_t elementBytes = byteSize(graph::elementTypeOf(plan::tensorTypeOf(buffer).getElementType()));
    row = pitch->row * elementBytes;
    distance = pitch->distance * elementBytes;
  }
  for (size_t done = 0, i = 0; done < sizeBytes; done += row, ++i)
    visit(done, bytesOf(buffer) + i * distance, row);
}

void PlanSimulator::execute(plan::KernelOp kernel) {
  OwningOpRef<func::FuncOp> function = cast<func::FuncOp>(SymbolTable::lookupSymbolIn(module, kernel.getKernel())->clone());
  std::map<std::string, DimExpr> sizes;
  for (auto [i, size] : llvm::enumerate(kernel.getSizes().dims()))
    sizes["s" + std::to_string(i)] = DimExpr(numberOf(size));
  auto substituted = [&](ArrayRef<DimExpr> dims) {
    return llvm::map_to_vector(dims, [&](const DimExpr &dim) { return dim.substitute(sizes); });
  };
  AttrTypeReplacer replacer;
  replacer.addReplacement([&](RankedTensorType type) -> std::optional<Type> {
    return graph::tensorType(substituted(graph::dimsOf(type)), type.getElementType());
  });
  replacer.addReplacement(
      [&](graph::DimsAttr dims) { return graph::DimsAttr::get(module.getContext(), ArrayRef<DimExpr>(substituted(dims.dims()))); });
  replacer.recursivelyReplaceElementsIn(*function, true, false, true);
  (*function)->removeAttr(graph::kSymbolsAttr);
  SmallVector<graph::TensorValue> inputs;
  for (Value input : kernel.getInputs())
    inputs.push_back(read(input));
  auto results = graph::interpret(*function, inputs);
  REQUIRE(succeeded(results));
  for (auto [output, value] : llvm::zip(kernel.getOutputs(), *results))
    write(output, value);
}

void PlanSimulator::execute(Block &block) {
  for (Operation &op : block) {
    if (auto kernel = dyn_cast<plan::KernelOp>(op)) {
      execute(kernel);
    } else if (auto copy = dyn_cast<plan::CopyOp>(op)) {
      write(copy.getDestination(), read(copy.getSource()));
    } else if (auto shape = dyn_cast<plan::ShapeOp>(op)) {
      graph::TensorValue value = read(shape.getDestination());
      for (auto [i, expr] : llvm::enumerate(shape.getValues().dims()))
        value.setInteger(i, numberOf(expr));
      write(shape.getDestination(), value);
    } else if (auto branch = dyn_cast<plan::IfOp>(op)) {
      execute((read(branch.getCondition()).integer(0) ? branch.getOnTrue() : branch.getOnFalse()).front());
    } else if (auto loop = dyn_cast<plan::LoopOp>(op)) {
      for (execute(loop.getBefore().front()); read(loop.getCondition()).integer(0); execute(loop.getBefore().front()))
        execute(loop.getBody().front());
    }
  }
}

std::vector<graph::TensorValue> PlanSimulator::run(const std::vector<graph::TensorValue> &inputs) {
  arena.assign(numberOf(plan::exprOf(*method.getArenaSize())), std::byte{0xA5});
  std::vector<Value> outputs;
  SymbolTableCollection tables;
  for (auto buffer : method.getOps<plan::BufferOp>()) {
    std::vector<std::byte> &bytes = own[buffer];
    bytes.assign(numberOf(plan::sizeBytesOf(buffer.getTensorType())), std::byte{0x5A});
    if (buffer.getKind() == plan::BufferKind::input)
      bytes = inputs.at(*buffer.getIndex()).data;
    if (buffer.getKind() == plan::BufferKind::parameter || buffer.getKind() == plan::BufferKind::state)
      REQUIRE(succeeded(graph::materialize(module.lookupSymbol<graph::ParameterOp>(*buffer.getParameter()), tables,
                                           {reinterpret_cast<char *>(bytes.data()), bytes.size()})));
    if (buffer.getKind() == plan::BufferKind::state)
      if (auto kept = state.find(buffer.getParameter()->str()); kept != state.end())
        bytes = kept->second;
    if (buffer.getKind() == plan::BufferKind::output) {
      outputs.resize(std::max<size_t>(outputs.size(), *buffer.getIndex() + 1));
      outputs[*buffer.getIndex()] = buffer;
    }
  }
  execute(method.getBody().front());
  std::vector<graph::TensorValue> values;
  for (Value output : outputs)
    values.push_back(read(output));
  for (auto buffer : method.getOps<plan::BufferOp>())
    if (buffer.getKind() == plan::BufferKind::state)
      state[buffer.getParameter()->str()] = own[buffer];
  return values;
}

namespace {

/// Writes a random method over three types: !a is two !h one after the other along `axis`, !f is !a flattened.
class MethodWriter {
public:
  explicit MethodWriter(unsigned seed) : random(seed) {}

  std::string write(const std::string &types) {
    Pools pools;
    pools.a = {"%x"};
    pools.h = {"%y"};
    pools.s = {"%p", "%q", "%r"};
    text = types + "!s = tensor<1x4x8xf32>\n";
    for (const char *state : {"p", "q", "r", "onlyWritten"})
      text += std::string("graph.parameter @") + state + " : !s {source = 0 : i32, offset = 0 : i64, is_mutable}\n";
    text += "func.func @forward(%x: !a, %y: !h, %c: tensor<i1>, %n: tensor<i64>, %z: !s) -> (!a, !a, !h, !f, !a, !s, !s) {\n"
            "  %zero = graph.constant dense<0> : tensor<i64>\n  %one = graph.constant dense<1> : tensor<i64>\n"
            "  %where = graph.constant dense<[[0, 3, 7], [0, 1, 2]]> : tensor<2x3xi64>\n"
            "  %what = graph.constant dense<[0.5, 0.25]> : tensor<2xf32>\n";
    for (const char *state : {"p", "q", "r"})
      text += std::string("  %") + state + " = graph.get_parameter @" + state + " : !s\n";
    pools.s.push_back("%z");
    for (int i = 0; i < 18; ++i)
      step(pools, /*depth=*/0);
    std::string f = pools.f.empty() ? reshape(pick(pools.a), "!a", "!f") : pick(pools.f);
    std::string a0 = pick(pools.a), a1 = pick(pools.a), a2 = pools.a.back(), h = pick(pools.h);
    for (const char *state : {"p", "q", "r", "onlyWritten"})
      if (below(5))
        text += std::string("  graph.set_parameter @") + state + ", " + (below(3) ? pools.s.back() : pick(pools.s)) + " : !s\n";
    std::string s0 = pick(pools.s), s1 = pools.s.back();
    text += "  return " + a0 + ", " + a1 + ", " + h + ", " + f + ", " + a2 + ", " + s0 + ", " + s1 + " : !a, !a, !h, !f, !a, !s, !s\n}\n";
    return text;
  }

private:
  struct Pools {
    std::vector<std::string> a, h, f, s;
  };

  unsigned below(unsigned n) { return random() % n; }
  std::string pick(const std::vector<std::string> &pool) { return pool[below(pool.size())]; }
  std::string fresh() { return "%v" + std::to_string(next++); }
  std::string emit(const std::string &op, const std::string &type) {
    std::string name = fresh();
    text += "  " + name + " = " + op + " : " + type + "\n";
    return name;
  }
  std::string reshape(const std::string &x, const std::string &from, const std::string &to) {
    return emit("graph.reshape " + x, "(" + from + ") -> " + to);
  }
  std::string unary(const std::string &x, const std::string &type) {
    static const char *const kOps[] = {"neg", "abs", "relu", "sin"};
    return emit(std::string("graph.") + kOps[below(4)] + " " + x, "(" + type + ") -> " + type);
  }

  void step(Pools &pools, int depth) {
    switch (below(depth < 2 ? 16 : 13)) {
    case 0:
    case 1:
      pools.a.push_back(unary(pick(pools.a), "!a"));
      return;
    case 2:
      pools.h.push_back(unary(pick(pools.h), "!h"));
      return;
    case 3:
      pools.a.push_back(emit("graph.add " + pick(pools.a) + ", " + pick(pools.a), "(!a, !a) -> !a"));
      return;
    case 4:
      pools.a.push_back(emit("graph.concat " + pick(pools.h) + ", " + pick(pools.h) + " {axis = " + std::to_string(axis) + " : i64}", "(!h, !h) -> !a"));
      return;
    case 5:
      pools.h.push_back(emit("graph.slice " + pick(pools.a) + " {starts = #graph.dims<[" + (axis == 1 ? "\"0\", " : "\"0\", \"0\", ") + "\"" +
                                 (below(2) ? "0" : half) + "\"" + (axis == 1 ? ", \"0\"" : "") + "]>, strides = array<i64: 1, 1, 1>}",
                             "(!a) -> !h"));
      return;
    case 6:
      pools.f.push_back(reshape(pick(pools.a), "!a", "!f"));
      return;
    case 7:
      if (!pools.f.empty())
        pools.a.push_back(reshape(unary(pick(pools.f), "!f"), "!f", "!a"));
      return;
    case 8:
      pools.a.push_back(emit("graph.reverse " + pick(pools.a) + " {axes = array<i64: 1>}", "(!a) -> !a"));
      return;
    case 9:
      pools.h.push_back(emit("graph.mul " + pick(pools.h) + ", " + pick(pools.h), "(!h, !h) -> !h"));
      return;
    case 10:
      pools.s.push_back(unary(pick(pools.s), "!s"));
      return;
    case 11:
      pools.s.push_back(emit("graph.add " + pick(pools.s) + ", " + pick(pools.s), "(!s, !s) -> !s"));
      return;
    case 12:
      pools.s.push_back(
          emit("graph.scatter_nd " + pools.s[below(pools.s.size())] + ", %where, %what", "(!s, tensor<2x3xi64>, tensor<2xf32>) -> !s"));
      return;
    case 13:
    case 14:
      branch(pools, depth);
      return;
    case 15:
      loop(pools, depth);
      return;
    }
  }

  void steps(Pools &pools, int depth) {
    for (unsigned i = 0, n = below(3); i < n; ++i)
      step(pools, depth + 1);
  }

  void branch(Pools &pools, int depth) {
    std::string name = fresh();
    text += "  " + name + ":3 = graph.if %c : (tensor<i1>) -> (!a, !h, !s) {\n";
    for (int side = 0; side < 2; ++side) {
      Pools inner = pools;
      steps(inner, depth);
      text += "  graph.yield " + pick(inner.a) + ", " + inner.h.back() + ", " + pick(inner.s) + " : !a, !h, !s\n  }" +
              (side == 0 ? " else {\n" : "\n");
    }
    pools.a.push_back(name + "#0");
    pools.h.push_back(name + "#1");
    pools.s.push_back(name + "#2");
  }

  void loop(Pools &pools, int depth) {
    std::string name = fresh(), i = fresh(), p = fresh(), q = fresh(), s = fresh();
    std::string carried = "tensor<i64>, !a, !a, !s";
    auto arguments = [&](const char *suffix) {
      return "  ^bb0(" + i + suffix + ": tensor<i64>, " + p + suffix + ": !a, " + q + suffix + ": !a, " + s + suffix + ": !s):\n";
    };
    text += "  " + name + ":4 = graph.while %zero, " + pick(pools.a) + ", " + pick(pools.a) + ", " + pick(pools.s) + " : (" + carried +
            ") -> (" + carried + ") {\n" + arguments("c");
    std::string test =
        emit("graph.compare " + i + "c, %n {direction = #graph.compare_direction<lt>}", "(tensor<i64>, tensor<i64>) -> tensor<i1>");
    text += "  graph.yield " + test + " : tensor<i1>\n  } do {\n" + arguments("b");
    Pools inner = pools;
    inner.a.push_back(p + "b");
    inner.a.push_back(q + "b");
    inner.s.push_back(s + "b");
    steps(inner, depth);
    std::string more = emit("graph.add " + i + "b, %one", "(tensor<i64>, tensor<i64>) -> tensor<i64>");
    text += "  graph.yield " + more + ", " + (below(2) ? q + "b" : pick(inner.a)) + ", " + pick(inner.a) + ", " + inner.s.back() + " : " +
            carried + "\n  }\n";
    pools.a.push_back(name + "#1");
    pools.a.push_back(name + "#2");
    pools.s.push_back(name + "#3");
  }

  std::mt19937 random;
  std::string text;
  unsigned next = 0;

public:
  /// Where the second half of !a begins, and along which axis.
  std::string half = "2";
  int axis = 1;
};

void checkMethod(MLIRContext &context, const std::string &text, const std::vector<int64_t> &a, const std::vector<int64_t> &h, int64_t n,
                 size_t *numPitched = nullptr) {
  INFO(text);
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
  REQUIRE(module);
  auto random = [&](ArrayRef<int64_t> shape, int64_t seed) {
    std::vector<double> values(graph::elementCount(shape));
    for (size_t i = 0; i < values.size(); ++i)
      values[i] = static_cast<double>((i * 37 + seed * 11) % 64) / 16 - 2;
    return graph::TensorValue::of(ElementType::F32, shape, values);
  };
  OwningOpRef<ModuleOp> planned = module->clone();
  PassManager passes(&context);
  passes.addNestedPass<func::FuncOp>(optimise::createFormFusionsPass());
  passes.addPass(plan::createPlanOutlineKernelsPass());
  passes.addPass(plan::createPlanBuildPass());
  passes.addNestedPass<plan::MethodOp>(plan::createPlanAssignMemoryPass());
  passes.addPass(plan::createPlanVerifyPass());
  REQUIRE(succeeded(passes.run(*planned)));
  if (numPitched)
    planned->walk([&](plan::ViewOp view) { *numPitched += view.getPitch().has_value(); });
  PlanSimulator simulator(*planned, *planned->getOps<plan::MethodOp>().begin(), {{"N", n}});
  std::map<std::string, graph::TensorValue> state;
  graph::InterpretOptions options;
  options.state = &state;
  for (int64_t condition : {0, 1, 1, 0}) {
    std::vector<graph::TensorValue> inputs = {random(a, 1), random(h, 2),
                                              graph::TensorValue::ofIntegers(ElementType::I1, {}, {condition}),
                                              graph::TensorValue::ofIntegers(ElementType::I64, {}, {3 * condition}), random({1, 4, 8}, 3)};
    auto expected = graph::interpret(cast<func::FuncOp>(module->lookupSymbol("forward")), inputs, options);
    REQUIRE(succeeded(expected));
    std::vector<graph::TensorValue> outputs = simulator.run(inputs);
    REQUIRE(outputs.size() == expected->size());
    for (auto [output, wanted] : llvm::zip(outputs, *expected))
      CHECK(output.data == wanted.data);
    for (auto &[name, wanted] : state)
      // A state that is set to itself is in no plan.
      if (auto kept = simulator.state.find(name); kept != simulator.state.end())
        CHECK(kept->second == wanted.data);
      else
        CHECK(wanted.data ==
              std::vector<std::byte>(graph::parametersOf(&context).bytes(0).begin(), graph::parametersOf(&context).bytes(0).end()));
  }
}

} // namespace

TEST_CASE("planned methods compute what the interpreter computes") {
  MLIRContext context;
  context.loadDialect<graph::GraphDialect, plan::PlanDialect, func::FuncDialect>();
  std::vector<std::byte> initial(4 * 8 * 4);
  for (size_t i = 0; i < 32; ++i) {
    float value = static_cast<float>(i % 7) / 4 - 1;
    std::memcpy(initial.data() + 4 * i, &value, 4);
  }
  graph::parametersOf(&context).addOwned(std::move(initial));
  for (unsigned seed = 0; seed < 150; ++seed) {
    MethodWriter fixed(seed);
    checkMethod(context, fixed.write("!a = tensor<1x4x8xf32>\n!h = tensor<1x2x8xf32>\n!f = tensor<32xf32>\n"), {1, 4, 8}, {1, 2, 8}, 2);
    MethodWriter symbolic(seed);
    symbolic.half = "N";
    std::string text = symbolic.write("!a = tensor<1x?x8xf32, #graph.dims<[\"1\", \"2*N\", \"8\"]>>\n!h = tensor<1x?x8xf32, "
                                      "#graph.dims<[\"1\", \"N\", \"8\"]>>\n!f = tensor<?xf32, #graph.dims<[\"16*N\"]>>\n");
    checkMethod(context, text, {1, 6, 8}, {1, 3, 8}, 3);
  }
}

TEST_CASE("parts whose rows lie apart") {
  MLIRContext context;
  context.loadDialect<graph::GraphDialect, plan::PlanDialect, func::FuncDialect>();
  graph::parametersOf(&context).addOwned(std::vector<std::byte>(4 * 8 * 4));
  size_t numPitched = 0;
  for (unsigned seed = 0; seed < 200; ++seed) {
    MethodWriter fixed(seed);
    fixed.axis = 2;
    fixed.half = "8";
    checkMethod(context, fixed.write("!a = tensor<2x3x16xf32>\n!h = tensor<2x3x8xf32>\n!f = tensor<96xf32>\n"), {2, 3, 16}, {2, 3, 8}, 1,
                &numPitched);
    MethodWriter symbolic(seed);
    symbolic.axis = 2;
    symbolic.half = "8";
    std::string text = symbolic.write("!a = tensor<1x?x16xf32, #graph.dims<[\"1\", \"N\", \"16\"]>>\n!h = tensor<1x?x8xf32, "
                                      "#graph.dims<[\"1\", \"N\", \"8\"]>>\n!f = tensor<?xf32, #graph.dims<[\"16*N\"]>>\n");
    checkMethod(context, text, {1, 3, 16}, {1, 3, 8}, 3, &numPitched);
    MethodWriter middle(seed);
    middle.half = "2";
    checkMethod(context, middle.write("!a = tensor<3x4x8xf32>\n!h = tensor<3x2x8xf32>\n!f = tensor<96xf32>\n"), {3, 4, 8}, {3, 2, 8}, 1,
                &numPitched);
  }
  // The methods are about what is tested here.
  CHECK(numPitched > 500);
}
