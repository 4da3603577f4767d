//===- ModelFile.cpp - kinds of model files and how to read each -----------===//
//
// People give files any name, so the content decides. Text of the graph dialect
// counts as a model like any other: symbols can be fixed and ranges given on
// the command line for it too.
//
//===----------------------------------------------------------------------===//

#include "compiler/ModelFile.h"
#include "compiler/Import/Onnx/OnnxImport.h"
#include "compiler/ParameterSideFile.h"

#include "dialects/Graph/GraphOps.h"
#include "serialization/Base/MappedFile.h"
#include "serialization/Numpy/Npy.h"
#include "serialization/Zip/ZipReader.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace stator;
using namespace stator::compiler;

static const char *const kHowToExport = "; save the program with torch.jit.script(model).save(\"model.pt\") or "
                                        "torch.export.save(torch.export.export(model, args), \"model.pt2\")";

/// PyTorch's archives have one folder, whose name is free, around everything; plain zips of torch.export before 2.8 have none.
static Result<ModelKind> kindOfZip(const std::string &path, std::span<const std::byte> bytes) {
  Result<serialization::ZipReader> zip = serialization::ZipReader::open(bytes);
  if (!zip.ok())
    return zip.status().withContext("`" + path + "`");
  bool hasPickle = false, hasCode = false, isExport = false, isArray = !zip->entries().empty();
  for (const serialization::ZipEntry &entry : zip->entries()) {
    StringRef name = entry.name, inside = name.contains('/') ? name.split('/').second : name;
    if (name == "manifest.pb")
      return invalidFile("`" + path + "`: this is an artifact, which is compiled already; `stator run` runs it");
    hasPickle |= inside == "data.pkl";
    hasCode |= inside == "constants.pkl" || inside.starts_with("code/");
    isExport |= inside == "archive_format" || inside == "serialized_exported_program.json" || name == "serialized_exported_program.json";
    isArray &= name.ends_with(".npy");
  }
  if (isExport)
    return ModelKind::TorchExport;
  if (hasCode)
    return ModelKind::TorchScript;
  if (hasPickle)
    return unsupported("`" + path + "`: this is a file of torch.save, which holds weights (a state dict) but no program" + kHowToExport);
  if (isArray)
    return invalidFile("`" + path + "`: this is a .npz file of arrays, not a model");
  return invalidFile("`" + path + "`: this is a zip file, but neither TorchScript nor torch.export");
}

Result<ModelKind> compiler::modelKindOf(const std::string &path, const std::string &forced) {
  if (forced == "onnx")
    return ModelKind::Onnx;
  if (forced == "mlir")
    return ModelKind::Mlir;
  if (forced == "pt")
    return ModelKind::TorchScript;
  if (forced == "pt2")
    return ModelKind::TorchExport;
  STATOR_TRY(file, MappedFile::open(path));
  std::span<const std::byte> bytes = file->bytes();
  StringRef start(reinterpret_cast<const char *>(bytes.data()), std::min<size_t>(bytes.size(), 4096));
  if (start.empty())
    return invalidFile("`" + path + "`: the file is empty");
  if (start.starts_with("PK\x03\x04") || start.starts_with("PK\x05\x06"))
    return kindOfZip(path, bytes);
  if (start.starts_with("\x80\x02") || start.starts_with("\x80\x03") || start.starts_with("\x80\x04") || start.starts_with("\x80\x05"))
    return unsupported("`" + path + "`: this is a pickle, which holds weights or other objects of Python but no program" + kHowToExport);
  if (start.starts_with("\x93NUMPY"))
    return invalidFile("`" + path + "`: this is a .npy file, not a model");
  // MLIR text is text; an ONNX file begins with field 1 (ir_version), a varint, and has zero and control bytes soon after.
  bool isText = llvm::all_of(start, [](char c) { return llvm::isPrint(c) || llvm::isSpace(c) || static_cast<signed char>(c) < 0; });
  if (!isText)
    return ModelKind::Onnx;
  bool looksLikeIr = llvm::sys::path::extension(path) == ".mlir" || start.contains("func.func") || start.contains("graph.");
  if (!looksLikeIr)
    return invalidFile("`" + path + "`: this is text, but not of the graph dialect; expected a model of ONNX, TorchScript or torch.export, or MLIR text");
  return ModelKind::Mlir;
}

Result<OwningOpRef<ModuleOp>> compiler::readDump(const std::string &path, MLIRContext &context) {
  STATOR_RETURN_IF_ERROR(MappedFile::open(path).status());
  ParserConfig config(&context);
  OwningOpRef<ModuleOp> module = parseSourceFile<ModuleOp>(path, config);
  if (!module)
    return invalidFile("`" + path + "` is not valid IR");
  llvm::SmallString<256> sideFile(path);
  llvm::sys::path::remove_filename(sideFile);
  llvm::sys::path::append(sideFile, kParameterSideFileName);
  bool hasSources = llvm::any_of(module->getOps<graph::ParameterOp>(), [](graph::ParameterOp op) { return op.getSource().has_value(); });
  if (hasSources)
    STATOR_RETURN_IF_ERROR(readParameterSideFile(*module, std::string(sideFile)));
  return module;
}

/// The dims that `--input` gives for the inputs of a method, as values of its symbols.
static Status bindInputs(func::FuncOp method, const ImportOptions &options, std::map<std::string, DimExpr> &values) {
  unsigned next = 0;
  auto nameOf = [&](unsigned i) {
    auto name = method.getArgAttrOfType<StringAttr>(i, graph::kNameAttr);
    return name ? name.str() : "input_" + std::to_string(i);
  };
  auto isNamed = [&](const std::string &name) { return llvm::any_of(options.inputs, [&](const InputSpec &s) { return s.name == name; }); };
  for (const InputSpec &spec : options.inputs) {
    unsigned position = method.getNumArguments();
    if (spec.name.empty()) {
      while (next < method.getNumArguments() && isNamed(nameOf(next)))
        ++next;
      position = next++;
    } else {
      for (unsigned i = 0; i < method.getNumArguments(); ++i)
        if (nameOf(i) == spec.name)
          position = i;
    }
    if (position >= method.getNumArguments())
      return notFound(spec.name.empty() ? "more --input options than inputs of `" + method.getName().str() + "`"
                                        : "there is no input `" + spec.name + "`");
    auto type = cast<RankedTensorType>(method.getArgument(position).getType());
    SmallVector<DimExpr> dims = graph::dimsOf(type);
    std::string place = "input `" + nameOf(position) + "`";
    if (spec.type && *spec.type != graph::elementTypeOf(type.getElementType()))
      return invalidArgument(place + " has another element type than --input gives");
    if (spec.dims.size() != dims.size())
      return invalidArgument(place + " has rank " + std::to_string(dims.size()) + ", --input gives " + std::to_string(spec.dims.size()));
    for (auto [axis, given, dim] : llvm::enumerate(spec.dims, dims)) {
      if (given.kind == DimSpec::Kind::FromModel)
        continue;
      DimExpr wanted = given.kind == DimSpec::Kind::Number ? DimExpr(given.number) : DimExpr::symbol(given.symbol);
      if (std::optional<std::string> symbol = dim.asSymbol()) {
        auto [known, isNew] = values.try_emplace(*symbol, wanted);
        if (!isNew && known->second != wanted)
          return invalidArgument("size `" + *symbol + "` is given as " + known->second.str() + " and as " + wanted.str());
      } else if (dim != wanted) {
        return invalidArgument(place + " has size " + dim.str() + " along axis " + std::to_string(axis) + ", --input gives " + wanted.str());
      }
    }
  }
  return okStatus();
}

static Status specialiseMethod(func::FuncOp method, const ImportOptions &options) {
  MLIRContext *context = method.getContext();
  std::map<std::string, DimExpr> values;
  std::map<std::string, graph::SymbolAttr> ranges;
  if (auto symbols = method->getAttrOfType<ArrayAttr>(graph::kSymbolsAttr))
    for (auto symbol : symbols.getAsRange<graph::SymbolAttr>())
      ranges[symbol.getName().str()] = symbol;
  STATOR_RETURN_IF_ERROR(bindInputs(method, options, values));
  for (Type type : method.getArgumentTypes())
    for (const DimExpr &dim : graph::dimsOf(cast<RankedTensorType>(type)))
      for (const std::string &name : dim.symbols())
        ranges.try_emplace(name, graph::SymbolAttr::get(context, StringAttr::get(context, name), graph::kDefaultSymbolMin,
                                                        graph::kDefaultSymbolMax));
  for (const SymbolSpec &spec : options.symbols) {
    if (!ranges.contains(spec.name))
      return notFound("no size of the inputs is named `" + spec.name + "`");
    if (spec.min == spec.max)
      values.insert_or_assign(spec.name, DimExpr(spec.min));
    else
      ranges[spec.name] = graph::SymbolAttr::get(context, StringAttr::get(context, spec.name), spec.min, spec.max);
  }
  for (const auto &[name, value] : values) {
    auto range = ranges.find(name);
    std::optional<int64_t> number = value.constant();
    if (range != ranges.end() && number && (*number < range->second.getMin() || *number > range->second.getMax()))
      return outOfRange("size `" + name + "` is given as " + std::to_string(*number) + ", its range is " +
                        std::to_string(range->second.getMin()) + ".." + std::to_string(range->second.getMax()));
    ranges.erase(name);
  }
  AttrTypeReplacer replacer;
  replacer.addReplacement([&](RankedTensorType type) -> std::optional<Type> {
    SmallVector<DimExpr> dims = graph::dimsOf(type);
    for (DimExpr &dim : dims)
      dim = dim.substitute(values);
    RankedTensorType replaced = graph::tensorType(dims, type.getElementType());
    return replaced ? replaced : type; // A negative size: the verifier finds what depends on it.
  });
  replacer.addReplacement([&](graph::DimsAttr attr) {
    SmallVector<DimExpr> dims = attr.dims();
    for (DimExpr &dim : dims)
      dim = dim.substitute(values);
    return graph::DimsAttr::get(context, ArrayRef<DimExpr>(dims));
  });
  replacer.recursivelyReplaceElementsIn(method, /*replaceAttrs=*/true, /*replaceLocs=*/false, /*replaceTypes=*/true);
  SmallVector<Attribute> symbols;
  for (const auto &[name, symbol] : ranges)
    symbols.push_back(symbol);
  method->setAttr(graph::kSymbolsAttr, ArrayAttr::get(context, symbols));
  return okStatus();
}

Status compiler::specialise(ModuleOp module, const ImportOptions &options) {
  if (options.inputs.empty() && options.symbols.empty())
    return okStatus();
  for (auto method : module.getOps<func::FuncOp>())
    STATOR_RETURN_IF_ERROR(specialiseMethod(method, options));
  return okStatus();
}

/// The operations of a graph and how often each occurs.
static std::vector<std::pair<std::string, unsigned>> countOperations(ModuleOp module) {
  std::map<std::string, unsigned> counts;
  module.walk([&](Operation *op) {
    if (isa<graph::GraphDialect>(op->getDialect()) && !isa<graph::YieldOp, graph::ParameterOp, graph::GetParameterOp>(op))
      ++counts[op->getName().getStringRef().str()];
  });
  return {counts.begin(), counts.end()};
}

/// Inputs and outputs that a hand-written method leaves without a name are called by their position.
static void nameArguments(ModuleOp module) {
  Builder builder(module.getContext());
  for (auto method : module.getOps<func::FuncOp>()) {
    for (unsigned i = 0; i < method.getNumArguments(); ++i)
      if (!method.getArgAttr(i, graph::kNameAttr))
        method.setArgAttr(i, graph::kNameAttr, builder.getStringAttr("input_" + Twine(i)));
    for (unsigned i = 0; i < method.getNumResults(); ++i)
      if (!method.getResultAttr(i, graph::kNameAttr))
        method.setResultAttr(i, graph::kNameAttr, builder.getStringAttr("output_" + Twine(i)));
  }
}

static ImportedModel readText(const std::string &path, const ImportOptions &options, MLIRContext &context) {
  ImportedModel model;
  if (!options.constants.empty()) {
    model.status = invalidArgument("`" + options.constants.front().name + "` cannot be made a constant: --const is for ONNX models");
    return model;
  }
  Result<OwningOpRef<ModuleOp>> module = readDump(path, context);
  model.status = module.ok() ? specialise(**module, options) : module.status();
  if (!model.status.ok())
    return model;
  model.module = std::move(*module);
  nameArguments(*model.module);
  model.operators = countOperations(*model.module);
  return model;
}

/// Reads the arrays that constants are given as.
static Status readConstants(ImportOptions &options) {
  for (ConstantSpec &constant : options.constants) {
    if (constant.file.empty())
      continue;
    STATOR_TRY(array, serialization::readNpy(constant.file));
    const char *bytes = reinterpret_cast<const char *>(array.data.data());
    constant.array = {array.type, array.shape, std::vector<char>(bytes, bytes + array.data.size())};
  }
  return okStatus();
}

static ImportedModel readOnnx(const std::string &path, ImportOptions options, MLIRContext &context) {
  ImportedModel model;
  model.status = readConstants(options);
  if (!model.status.ok())
    return model;
  onnx::ImportResult imported = onnx::importOnnx(path, options, context);
  model.status = imported.status;
  model.operators = std::move(imported.operators);
  if (!imported.producer.empty())
    model.info.emplace_back("producer", imported.producer);
  if (imported.opset)
    model.info.emplace_back("opset", std::to_string(imported.opset));
  for (const onnx::UnsupportedNode &node : imported.unsupported) {
    std::string place = "node `" + node.node + "`, opset " + std::to_string(node.opset); // The node's text has its operator.
    model.unsupported.push_back({place, node.reason + (node.operands.empty() ? "" : "; operands " + node.operands)});
  }
  if (!model.unsupported.empty() && model.status.ok())
    model.status = unsupported("`" + path + "` has parts that are not supported");
  if (model.status.ok())
    model.module = std::move(imported.module);
  return model;
}

ImportedModel compiler::readModel(const std::string &path, ModelKind kind, const ImportOptions &options, MLIRContext &context) {
  switch (kind) {
  case ModelKind::Onnx:
    return readOnnx(path, options, context);
  case ModelKind::Mlir:
    return readText(path, options, context);
  case ModelKind::TorchScript:
  case ModelKind::TorchExport:
    break;
  }
  ImportedModel model;
  model.status = unsupported("`" + path + "`: TorchScript (.pt) and torch.export (.pt2) files are not supported yet by this version");
  return model;
}
