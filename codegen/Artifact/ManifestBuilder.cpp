//===- ManifestBuilder.cpp - plan operations to manifest structs -----------===//
//
// Buffers are numbered in order of declaration, kernels in the order of the
// module @kernels, parameters in order of first use: the same plan gives the
// same manifest.
//
//===----------------------------------------------------------------------===//

#include "codegen/Artifact/ManifestBuilder.h"
#include "codegen/Artifact/ExpressionTable.h"

#include "dialects/Graph/Shapes.h"
#include "dialects/Graph/Work.h"
#include "dialects/Plan/LibraryCalls.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace stator;
using namespace stator::codegen;
namespace ser = stator::serialization;

namespace {

std::vector<DimExpr> dimsOf(RankedTensorType type) {
  SmallVector<DimExpr> dims = graph::dimsOf(type);
  return {dims.begin(), dims.end()};
}
std::vector<DimExpr> exprsOf(graph::DimsAttr attr) {
  SmallVector<DimExpr> dims = attr.dims();
  return {dims.begin(), dims.end()};
}

/// What all methods share.
struct ModuleTables {
  ModuleOp module;
  PlannedManifest &out;
  const KernelScratch &scratch;
  std::map<std::string, uint32_t> kernels;
  std::map<std::string, uint32_t> parameters;
  /// Of the kernels by number, in their own sizes.
  std::vector<std::optional<graph::Work>> work;

  uint32_t parameterIndex(StringRef name) {
    auto [known, isNew] = parameters.try_emplace(name.str(), static_cast<uint32_t>(out.parameters.size()));
    if (isNew) {
      auto op = module.lookupSymbol<graph::ParameterOp>(name);
      RankedTensorType type = op.tensorType();
      ser::Parameter parameter;
      parameter.name = name.str();
      parameter.elementType = graph::elementTypeOf(type.getElementType());
      parameter.dims.assign(type.getShape().begin(), type.getShape().end());
      parameter.layout = op.getLayout().value_or("").str();
      parameter.isMutable = op.getIsMutable();
      if (graph::RecipeAttr recipe = op.getRecipeAttr()) {
        llvm::raw_string_ostream stream(parameter.recipe);
        stream << Attribute(recipe);
      }
      out.manifest.parameters.push_back(std::move(parameter));
      out.parameters.push_back(op);
    }
    return known->second;
  }

  void requireLibrary(StringRef library) {
    auto &requirements = out.manifest.requirements;
    if (!llvm::is_contained(requirements, library))
      requirements.insert(llvm::upper_bound(requirements, library), library.str());
  }
};

/// The named sizes of a method, each with the input axis whose extent it is. Symbols that no input shows are left out; an expression
/// that needs one is an error later.
std::vector<ser::Symbol> symbolsOf(plan::MethodOp method) {
  std::map<std::string, std::pair<int64_t, int64_t>> ranges;
  if (auto symbols = method.getSymbols())
    for (auto symbol : symbols->getAsRange<graph::SymbolAttr>())
      ranges[symbol.getName().str()] = {symbol.getMin(), symbol.getMax()};
  std::vector<ser::Symbol> symbols;
  for (auto buffer : method.getOps<plan::BufferOp>()) {
    if (buffer.getKind() != plan::BufferKind::input)
      continue;
    for (auto [axis, dim] : llvm::enumerate(graph::dimsOf(buffer.getTensorType()))) {
      std::optional<std::string> name = dim.asSymbol();
      if (!name || llvm::any_of(symbols, [&](const ser::Symbol &known) { return known.name == *name; }))
        continue;
      auto range = ranges.find(*name);
      auto [min, max] = range == ranges.end() ? std::pair(graph::kDefaultSymbolMin, graph::kDefaultSymbolMax) : range->second;
      symbols.push_back({*name, min, max, static_cast<uint32_t>(*buffer.getIndex()), static_cast<uint32_t>(axis)});
    }
  }
  return symbols;
}

/// Translates one method and its plan.
class MethodTranslator {
public:
  MethodTranslator(plan::MethodOp method, ModuleTables &tables)
      : method(method), tables(tables), symbols(symbolsOf(method)), expressions(symbols) {}

  Status translate() {
    ser::Plan plan;
    for (Operation &op : method.getBody().front())
      if (isa<plan::BufferOp, plan::ViewOp>(op))
        addBuffer(op, plan);
    plan.instructions = instructionsOf(method.getBody().front());
    plan.arenaSize = expressions.add(plan::exprOf(method.getArenaSize().value_or("0")));
    plan.scratchSize = expressions.add(scratchSize);
    plan.livePeak = method.getLivePeak().value_or(0);

    ser::Method out;
    out.name = method.getSymName().str();
    for (auto buffer : method.getOps<plan::BufferOp>()) {
      bool isInput = buffer.getKind() == plan::BufferKind::input;
      if (!isInput && buffer.getKind() != plan::BufferKind::output)
        continue;
      std::vector<ser::Value> &values = isInput ? out.inputs : out.outputs;
      size_t index = *buffer.getIndex();
      if (values.size() <= index)
        values.resize(index + 1);
      RankedTensorType type = buffer.getTensorType();
      values[index] = {buffer.getName().value_or("").str(), graph::elementTypeOf(type.getElementType()), expressions.addAll(dimsOf(type))};
    }
    if (auto guards = method.getGuards())
      for (auto guard : guards->getAsRange<ArrayAttr>())
        out.guards.push_back({guardSide(guard, 0), guardSide(guard, 1)});
    out.symbols = symbols;
    out.plan = static_cast<uint32_t>(tables.out.manifest.plans.size());
    if (!expressions.status().ok())
      return Status(expressions.status().code(), "method `" + out.name + "`: " + expressions.status().message());
    out.expressions = expressions.take();
    tables.out.manifest.methods.push_back(std::move(out));
    tables.out.manifest.plans.push_back(std::move(plan));
    return Status();
  }

private:
  uint32_t guardSide(ArrayAttr guard, size_t side) { return expressions.add(plan::exprOf(cast<StringAttr>(guard[side]).getValue())); }

  void addBuffer(Operation &op, ser::Plan &plan) {
    plan::BufferRef ref = plan::resolveBuffer(op.getResult(0));
    plan::BufferOp base = ref.declaration;
    ser::Buffer buffer;
    buffer.kind = static_cast<ser::BufferKind>(base.getKind()); // The enums have the same numbers, which a test compares.
    if (base.getIndex())
      buffer.index = static_cast<uint32_t>(*base.getIndex());
    if (base.getParameter())
      buffer.index = tables.parameterIndex(*base.getParameter());
    buffer.elementType = graph::elementTypeOf(ref.type.getElementType());
    buffer.dims = expressions.addAll(dimsOf(ref.type));
    buffer.size = expressions.add(plan::sizeBytesOf(ref.type));
    buffer.offset = expressions.add(plan::exprOf(base.getOffset().value_or("0")) + ref.offset);
    if (isa<plan::ViewOp>(op))
      buffer.viewOf = buffers.at(base);
    buffers[&op] = static_cast<uint32_t>(plan.buffers.size());
    plan.buffers.push_back(std::move(buffer));
  }

  uint32_t bufferIndex(Value value) { return buffers.at(value.getDefiningOp()); }

  std::vector<ser::Instruction> instructionsOf(Block &block) {
    std::vector<ser::Instruction> instructions;
    for (Operation &op : block)
      if (!isa<plan::BufferOp, plan::ViewOp>(op))
        instructions.push_back(instructionOf(op));
    return instructions;
  }

  ser::Instruction instructionOf(Operation &op) {
    ser::Instruction out;
    llvm::TypeSwitch<Operation *>(&op)
        .Case<plan::KernelOp>([&](plan::KernelOp kernel) {
          out.kind = ser::InstructionKind::Kernel;
          std::string name = kernel.getKernel().getLeafReference().str();
          out.kernel = tables.kernels.at(name);
          fillCall(kernel, out);
          addScratch(name, kernel.getSizes());
          if (const std::optional<graph::Work> &work = tables.work[out.kernel]) {
            out.operations = expressions.tryAdd(inMethodSizes(work->operations, kernel.getSizes()));
            out.bytes = expressions.tryAdd(inMethodSizes(work->bytes, kernel.getSizes()));
          }
        })
        .Case<plan::LibraryOp>([&](plan::LibraryOp library) {
          out.kind = ser::InstructionKind::Library;
          out.library = library.getLibrary().str();
          out.routine = library.getRoutine().str();
          for (NamedAttribute option : library.getOptions()) // Sorted by name.
            out.attributes.push_back(attributeOf(option));
          fillCall(library, out);
          out.operations = expressions.tryAdd(plan::operationsOf(library));
          DimExpr bytes(0);
          for (OperandRange buffers : {library.getInputs(), library.getOutputs()})
            for (Value buffer : buffers)
              bytes += plan::sizeBytesOf(plan::tensorTypeOf(buffer));
          out.bytes = expressions.tryAdd(bytes);
          tables.requireLibrary(library.getLibrary());
        })
        .Case<plan::CopyOp>([&](plan::CopyOp copy) {
          out.kind = ser::InstructionKind::Copy;
          out.name = copy.getLabel().value_or("").str();
          out.source = bufferIndex(copy.getSource());
          out.destination = bufferIndex(copy.getDestination());
          out.sourceOffset = out.destinationOffset = expressions.add(DimExpr(0));
          DimExpr bytes = plan::sizeBytesOf(plan::tensorTypeOf(copy.getSource()));
          out.copySize = expressions.add(bytes);
          out.bytes = expressions.tryAdd(DimExpr(2) * bytes);
        })
        .Case<plan::ShapeOp>([&](plan::ShapeOp shape) {
          out.kind = ser::InstructionKind::Shape;
          out.name = shape.getLabel().value_or("").str();
          out.destination = bufferIndex(shape.getDestination());
          out.sizes = expressions.addAll(exprsOf(shape.getValues()));
        })
        .Case<plan::IfOp, plan::LoopOp>([&](auto branch) {
          out.kind = std::is_same_v<decltype(branch), plan::IfOp> ? ser::InstructionKind::If : ser::InstructionKind::Loop;
          out.condition = bufferIndex(branch.getCondition());
          out.first = instructionsOf(branch->getRegion(0).front());
          out.second = instructionsOf(branch->getRegion(1).front());
        });
    return out;
  }

  template <typename CallOp> void fillCall(CallOp call, ser::Instruction &out) {
    out.name = call.getLabel().str();
    out.family = call.getFamily().str();
    out.reason = call.getReason().value_or("").str();
    for (Value input : call.getInputs())
      out.buffers.push_back(bufferIndex(input));
    for (Value output : call.getOutputs())
      out.buffers.push_back(bufferIndex(output));
    out.numInputs = static_cast<uint32_t>(call.getInputs().size());
    out.sizes = expressions.addAll(exprsOf(call.getSizes()));
  }

  static ser::Attribute attributeOf(NamedAttribute option) {
    ser::Attribute out;
    out.name = option.getName().str();
    llvm::TypeSwitch<Attribute>(option.getValue())
        .Case<IntegerAttr>([&](IntegerAttr number) { out.integers.push_back(number.getInt()); })
        .Case<DenseI64ArrayAttr>([&](DenseI64ArrayAttr list) { out.integers.assign(list.asArrayRef().begin(), list.asArrayRef().end()); })
        .Case<FloatAttr>([&](FloatAttr number) { out.numbers.push_back(number.getValueAsDouble()); })
        .Case<StringAttr>([&](StringAttr text) { out.text = text.str(); });
    return out;
  }

  /// An expression of a kernel's own sizes, for a call with these.
  static DimExpr inMethodSizes(const DimExpr &expr, graph::DimsAttr sizes) {
    std::map<std::string, DimExpr> values;
    for (auto [i, size] : llvm::enumerate(sizes.dims()))
      values["s" + std::to_string(i)] = size;
    return expr.substitute(values);
  }

  /// The workers' scratch is one piece of memory for all kernels: the largest need counts.
  void addScratch(const std::string &kernel, graph::DimsAttr sizes) {
    auto found = tables.scratch.find(kernel);
    if (found == tables.scratch.end())
      return;
    DimExpr needed = inMethodSizes(found->second, sizes);
    if (scratchNeeds.insert(needed.str()).second)
      scratchSize = scratchSize.max(needed);
  }

  plan::MethodOp method;
  ModuleTables &tables;
  std::vector<ser::Symbol> symbols;
  ExpressionTable expressions;
  /// Only looked up: nothing depends on the order of addresses.
  std::map<Operation *, uint32_t> buffers;
  std::set<std::string> scratchNeeds;
  DimExpr scratchSize{0};
};

} // namespace

Result<PlannedManifest> codegen::buildManifest(ModuleOp module, const KernelScratch &scratch, const KernelsWithBarrier &withBarrier) {
  PlannedManifest out;
  ModuleTables tables{module, out, scratch, {}, {}, {}};
  if (auto kernels = module.lookupSymbol<ModuleOp>(plan::kKernelModuleName))
    for (auto function : kernels.getOps<func::FuncOp>()) {
      ser::Kernel kernel;
      kernel.name = function.getName().str();
      kernel.numBuffers = function.getNumArguments() + function.getNumResults();
      if (auto symbols = function->getAttrOfType<ArrayAttr>(graph::kSymbolsAttr))
        kernel.numSizes = symbols.size();
      kernel.independentParts = !withBarrier.count(kernel.name);
      tables.kernels.emplace(kernel.name, static_cast<uint32_t>(out.manifest.kernels.size()));
      out.manifest.kernels.push_back(std::move(kernel));
      tables.work.push_back(function.isExternal() ? std::nullopt : std::optional(graph::workOf(function.getBody())));
    }
  for (auto method : module.getOps<plan::MethodOp>())
    if (Status status = MethodTranslator(method, tables).translate(); !status.ok())
      return status;
  return out;
}
