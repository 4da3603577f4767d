// DEPS: stator::compiler::Import::Torch::Export stator::dialects::Graph::Interpreter
#include "test/unit/compiler/Import/Torch/Export/ExportCase.h"

#include "dialects/Graph/GraphOps.h"

using namespace stator;
using namespace stator::test;

namespace {

/// y = a + b + c, where the three are weights of two elements.
ProgramParts sum(const Texts &specs) {
  return {.graph = {.inputs = {asTensor("p_a"), asTensor("p_b"), asTensor("p_c")},
                    .outputs = {asTensor("y")},
                    .nodes = {aten("add.Tensor", {{"self", asTensor("p_a")}, {"other", asTensor("p_b")}}, "t"),
                              aten("add.Tensor", {{"self", asTensor("t")}, {"other", asTensor("p_c")}}, "y")}},
          .inputSpecs = specs};
}
ArchiveParts withWeights(const std::string &a) {
  ArchiveParts archive = archiveOf(sum({parameter("p_a", "a"), parameter("p_b", "a"), parameter("p_c", "a")}));
  archive.weights = {a};
  archive.records = {{"data/weights/weight_0", rawBytes<float>({1, 2, 3, 4})}};
  return archive;
}

} // namespace

TEST_CASE("views of one storage, at an offset and with strides") {
  ArchiveParts archive = archiveOf(
      sum({parameter("p_a", "a"), buffer("p_b", "b"), R"({"tensor_constant":{"arg":{"name":"p_c"},"tensor_constant_name":"c"}})"}));
  archive.weights = {weight("a", "weight_0", meta(7, {"2"}, {"1"}, "1")), weight("b", "weight_0", meta(7, {"2"}, {"2"}))};
  archive.constants = {weight("c", "tensor_0", meta(7, {"2"}, {"0"}))};
  archive.records = {{"data/weights/weight_0", rawBytes<float>({1, 2, 3, 4})}, {"data/constants/tensor_0", rawBytes<float>({100})}};
  CHECK(Imported(archive).run({}).front().reals() == Numbers{2 + 1 + 100, 3 + 3 + 100});
}

TEST_CASE("directories under their older names") {
  ArchiveParts archive = archiveOf(sum({parameter("p_a", "a"), parameter("p_b", "a"), parameter("p_c", "a")}));
  archive.programs[0].first = "other"; // Takes the names of the newer form.
  archive.programs.insert(archive.programs.begin(), {"model", archive.programs[0].second});
  TemporaryFolder folder;
  auto writer = serialization::ZipWriter::create(folder.path("m.pt2"));
  REQUIRE(writer.ok());
  auto add = [&](const std::string &name, const std::string &content) {
    REQUIRE((*writer)->addEntry("m/" + name, bytesOf(content), 64).ok());
  };
  add("data/weights/weight_0", rawBytes<float>({1, 2}));
  add("data/weights/model_model_param_config.json", R"({"config":{)" + weight("a", "weight_0", floats({"2"})) + "}}");
  add("data/constants/model_model_constants_config.json", R"({"config":{}})");
  add("models/model.json", archive.programs[0].second);
  add("archive_format", "pt2");
  REQUIRE((*writer)->finish("").ok());
  mlir::MLIRContext context;
  compiler::ImportedModel model = torch::importExport(folder.path("m.pt2"), {}, context);
  INFO(model.status.message());
  CHECK(model.status.ok());
}

TEST_CASE("weights that are tied are one parameter") {
  ProgramParts parts = sum({parameter("p_a", "a"), parameter("p_b", "b"), parameter("p_c", "a")});
  ArchiveParts archive = archiveOf(parts);
  std::vector<float> large(2048, 1.0f); // Small ones become constants.
  for (const char *name : {"a", "b"})
    archive.weights.push_back(weight(name, "weight_0", floats({"2048"})));
  archive.records = {{"data/weights/weight_0", rawBytes(large)}};
  Imported imported(archive);
  REQUIRE(imported.model.status.ok());
  unsigned count = 0;
  imported.model.module->walk([&](graph::ParameterOp) { ++count; });
  CHECK(count == 1);
  CHECK(imported.run({}).front().reals() == Numbers(2048, 3.0));
}

TEST_CASE("weights that the program never uses are not loaded") {
  ProgramParts parts{.graph = {.inputs = {asTensor("p_a"), asTensor("x")},
                               .outputs = {asTensor("y")},
                               .nodes = {aten("neg.default", {{"self", asTensor("x")}}, "y")},
                               .tensors = {{"x", floats({"1"})}}},
                     .inputSpecs = {parameter("p_a", "gone"), userInput("x")}};
  CHECK(Imported(archiveOf(parts)).run({tensorOf({1}, {1})}).front().reals() == Numbers{-1});
}

TEST_CASE("weights that cannot be read") {
  refuses(withWeights(weight("b", "weight_0", floats({"2"}))), StatusCode::InvalidFile, "weight `a`: is not in the file");
  refuses(withWeights(weight("a", "weight_7", floats({"2"}))), StatusCode::InvalidFile, "weight `a`: ");
  refuses(withWeights(weight("a", "../../etc/passwd", floats({"2"}))), StatusCode::InvalidFile, "weight `a`: ");
  refuses(withWeights(weight("a", "weight_0", meta(7, {"2"}, {"-1"}))), StatusCode::InvalidFile, "weight `a`: ");
  refuses(withWeights(weight("a", "weight_0", meta(7, {"2"}, {"1"}, "1099511627776"))), StatusCode::InvalidFile, "weight `a`: ");
  refuses(withWeights(weight("a", "weight_0", floats({"5"}))), StatusCode::InvalidFile, "weight `a`: ");
  refuses(withWeights(weight("a", "weight_0", floats({"2"}), /*isPickled=*/true)), StatusCode::Unsupported,
          "weight `a`: is a pickled Python object (a tensor subclass");
  refuses(withWeights(weight("a", "weight_0", meta(10, {"2"}, {"1"}))), StatusCode::Unsupported, "weight `a`: ");
}

TEST_CASE("a buffer that is written may have no other view of its memory") {
  ProgramParts parts{.graph = {.inputs = {asTensor("b_a"), asTensor("b_b")},
                               .outputs = {asTensor("y")},
                               .nodes = {aten("add_.Tensor", {{"self", asTensor("b_a")}, {"other", asTensor("b_b")}}, "y")}},
                     .inputSpecs = {buffer("b_a", "a"), buffer("b_b", "b")}};
  ArchiveParts archive = archiveOf(parts);
  archive.weights = {weight("a", "weight_0", floats({"2"})), weight("b", "weight_0", meta(7, {"2"}, {"1"}, "1"))};
  archive.records = {{"data/weights/weight_0", rawBytes<float>({1, 2, 3, 4})}};
  refuses(archive, StatusCode::Unsupported, "`a` is written by the program, and `b` is another view of the same memory");
}

TEST_CASE("archives that are no programs of ours") {
  ArchiveParts archive = archiveOf("{");
  refuses(archive, StatusCode::InvalidFile, "models/model.json: not a well-formed JSON text");
  archive.programs.clear();
  refuses(archive, StatusCode::InvalidFile, "");
  Imported bigEndian(withWeights(weight("a", "weight_0", floats({"2"}))), {}, "big");
  CHECK(!bigEndian.model.status.ok());
  mlir::MLIRContext context;
  CHECK(torch::importExport("/no/such/file.pt2", {}, context).status.code() == StatusCode::NotFound);
}

TEST_CASE("a summary says what is in the file") {
  TemporaryFolder folder;
  ArchiveParts archive = withWeights(weight("a", "weight_0", floats({"4"})));
  archive.weights.push_back(weight("p", "weight_0", floats({"4"}), /*isPickled=*/true));
  writeArchive(folder.path("m.pt2"), archive);
  Result<compiler::ModelSummary> summary = torch::summariseExport(folder.path("m.pt2"));
  INFO(summary.status().message());
  REQUIRE(summary.ok());
  CHECK(summary->kind == "torch.export");
  CHECK(summary->version == "8.20");
  CHECK(summary->producer == "PyTorch 2.15.0");
  REQUIRE(summary->methods.size() == 1);
  CHECK(summary->methods[0].name == "forward");
  CHECK(summary->methods[0].outputs[0].name == "output");
  CHECK(summary->parameters.total.count == 2);
  CHECK(summary->parameters.total.bytes == 16);
  REQUIRE(summary->operators.size() == 1);
  CHECK(summary->operators[0].name == "aten.add.Tensor");
  CHECK(summary->operators[0].count == 2);
  CHECK(summary->operators[0].isSupported);
  CHECK(summary->notes[0] == "weight `p` is a pickled Python object, which is not read");
  CHECK(!torch::summariseExport(folder.path("none.pt2")).ok());
}
