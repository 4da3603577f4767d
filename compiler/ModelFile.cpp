//===- ModelFile.cpp - kinds of model files and how to read each -----------===//
//
// People give files any name, so the content decides. Text of the graph dialect
// counts as a model like any other: symbols can be fixed and ranges given on
// the command line for it too.
//
//===----------------------------------------------------------------------===//

#include "compiler/ModelFile.h"
#include "compiler/Import/InputSpecs.h"
#include "compiler/Import/Onnx/OnnxImport.h"
#include "compiler/Import/Onnx/OnnxSummary.h"
#include "compiler/Import/Torch/Archive/Archive.h"
#include "compiler/Import/Torch/Export/ExportImport.h"
#include "compiler/Import/Torch/Script/ScriptImport.h"
#include "compiler/ParameterSideFile.h"

#include "dialects/Graph/GraphOps.h"
#include "serialization/Base/MappedFile.h"
#include "serialization/Numpy/Npy.h"
#include "serialization/Zip/ZipReader.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace stator;
using namespace stator::compiler;

/// PyTorch's archives, and what else people have in zips.
static Result<ModelKind> kindOfZip(const std::shared_ptr<MappedFile> &file) {
  Result<serialization::ZipReader> zip = serialization::ZipReader::open(file->bytes());
  if (zip.ok() && zip->find("manifest.pb"))
    return invalidFile("this is an artifact, which is compiled already; `stator run` runs it");
  if (zip.ok() && !zip->entries().empty() && llvm::all_of(zip->entries(), [](const auto &entry) { return entry.name.ends_with(".npy"); }))
    return invalidFile("this is a .npz file of arrays, not a model");
  STATOR_TRY(archive, torch::Archive::open(file));
  return archive->kind() == torch::ArchiveKind::TorchScript ? ModelKind::TorchScript : ModelKind::TorchExport;
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
  bool isPickle = start.size() >= 2 && start[0] == '\x80' && start[1] >= 2 && start[1] <= 5;
  bool isTar = start.size() > 262 && start.substr(257, 5) == "ustar";
  if (start.starts_with("PK\x03\x04") || start.starts_with("PK\x05\x06") || isPickle || isTar) {
    Result<ModelKind> kind = kindOfZip(file);
    return kind.ok() ? kind : kind.status().withContext("`" + path + "`");
  }
  if (start.starts_with("\x93NUMPY"))
    return invalidFile("`" + path + "`: this is a .npy file, not a model");
  // MLIR text is text; an ONNX file begins with field 1 (ir_version), a varint, and has zero and control bytes soon after.
  bool isText = llvm::all_of(start, [](char c) { return llvm::isPrint(c) || llvm::isSpace(c) || static_cast<signed char>(c) < 0; });
  if (!isText)
    return ModelKind::Onnx;
  bool looksLikeIr = llvm::sys::path::extension(path) == ".mlir" || start.contains("func.func") || start.contains("graph.");
  if (!looksLikeIr)
    return invalidFile(
        "`" + path + "`: this is text, but not of the graph dialect; expected a model of ONNX, TorchScript or torch.export, or MLIR text");
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

/// Leaves only the methods that are wanted.
static Status selectMethods(ModuleOp module, const std::vector<std::string> &wanted) {
  if (wanted.empty())
    return okStatus();
  std::vector<std::string> names;
  for (auto method : module.getOps<func::FuncOp>())
    names.push_back(method.getName().str());
  for (const std::string &name : wanted)
    if (!llvm::is_contained(names, name))
      return invalidArgument("the model has no method `" + name + "`; its methods are " + quotedList(names));
  for (auto method : llvm::make_early_inc_range(module.getOps<func::FuncOp>()))
    if (!llvm::is_contained(wanted, method.getName()))
      method.erase();
  return okStatus();
}

static Status readText(const std::string &path, const ImportOptions &options, MLIRContext &context, ImportedModel &model) {
  if (!options.constants.empty())
    return invalidArgument("`" + options.constants.front().name + "` cannot be made a constant: --const is not for MLIR text");
  STATOR_TRY(module, readDump(path, context));
  STATOR_RETURN_IF_ERROR(selectMethods(*module, options.methods));
  nameArguments(*module);
  STATOR_RETURN_IF_ERROR(specialise(*module, options));
  model.module = std::move(module);
  model.operators = countOperations(*model.module);
  return okStatus();
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

ImportedModel compiler::readModel(const std::string &path, ModelKind kind, ImportOptions options, MLIRContext &context) {
  ImportedModel model;
  model.status = readConstants(options);
  if (!model.status.ok())
    return model;
  switch (kind) {
  case ModelKind::Onnx:
    return onnx::importOnnx(path, options, context);
  case ModelKind::Mlir:
    model.status = readText(path, options, context, model);
    return model;
  case ModelKind::TorchExport:
    return torch::importExport(path, options, context);
  case ModelKind::TorchScript:
    return torch::importScript(path, options, context);
  }
  return model;
}

Result<ModelSummary> compiler::summarise(const std::string &path, ModelKind kind) {
  switch (kind) {
  case ModelKind::Onnx:
    return onnx::summariseOnnx(path);
  case ModelKind::TorchExport:
    return torch::summariseExport(path);
  case ModelKind::TorchScript:
    return torch::summariseScript(path);
  case ModelKind::Mlir:
    break;
  }
  return unsupported("`" + path + "`: there is no summary of a model in MLIR text: read it");
}
