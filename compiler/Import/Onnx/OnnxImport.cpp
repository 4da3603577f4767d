//===- OnnxImport.cpp - from an ONNX file to the graph dialect -------------===//

#include "compiler/Import/Onnx/OnnxImport.h"
#include "compiler/Import/Onnx/GraphImporter.h"
#include "compiler/Trace/BuilderImpl.h"
#include "dialects/Graph/GraphDialect.h"

#include "mlir/IR/Builders.h"

namespace stator::onnx {

static std::string summarise(const std::vector<compiler::UnsupportedPart> &nodes) {
  std::string text = std::to_string(nodes.size()) + (nodes.size() == 1 ? " node is" : " nodes are") + " not supported:";
  for (const compiler::UnsupportedPart &node : nodes)
    text += "\n  " + node.place + ": " + node.reason;
  return text;
}

compiler::ImportedModel importOnnx(const std::string &path, const compiler::ImportOptions &options, mlir::MLIRContext &context) {
  compiler::ImportedModel result;
  for (const std::string &method : options.methods)
    if (method != "forward") {
      result.status = invalidArgument("there is no method `" + method + "`: an ONNX model has one, which is called `forward`");
      return result;
    }
  Result<std::shared_ptr<MappedFile>> file = MappedFile::open(path);
  if (!file.ok()) {
    result.status = file.status();
    return result;
  }
  Result<Model> model = parseModel((*file)->bytes());
  if (!model.ok()) {
    result.status = model.status().withContext(path);
    return result;
  }
  std::string producer(model->producerName);
  if (!model->producerVersion.empty())
    producer += " " + std::string(model->producerVersion);
  if (!producer.empty())
    result.info.emplace_back("producer", producer);

  context.loadDialect<graph::GraphDialect, mlir::func::FuncDialect>();
  mlir::OwningOpRef<mlir::ModuleOp> module(mlir::ModuleOp::create(mlir::UnknownLoc::get(&context)));
  trace::Builder builder(std::make_unique<trace::BuilderImpl>(*module, "forward"));
  TensorLoader loader(builder, *file, path);
  GraphImporter importer(builder, *model, loader, result);
  importer.importMain(options);
  // What the tracing API calls a wrong argument comes from the file here, unless it is about the options.
  Status status = builder.status();
  if (status.code() == StatusCode::InvalidArgument && importer.isInsideNodes())
    status = invalidFile(status.message());
  if (!status.ok())
    result.status = status.withContext(path);
  else if (!result.unsupported.empty())
    result.status = unsupported(path + ": " + summarise(result.unsupported));
  else
    result.status = builder.finish().withContext(path);
  if (result.status.ok())
    result.module = std::move(module);
  return result;
}

} // namespace stator::onnx
