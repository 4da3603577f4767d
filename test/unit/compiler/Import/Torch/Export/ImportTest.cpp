// DEPS: stator::compiler::Import::Torch::Export stator::dialects::Graph::Interpreter
#include "test/unit/compiler/Import/Torch/Export/ExportCase.h"

#include "dialects/Graph/GraphOps.h"

using namespace stator;
using namespace stator::test;

namespace {

const std::string s0 = "Symbol('s0', positive=True, integer=True)";

/// y = x @ w^T + b, w of 2x3.
ArchiveParts linear() {
  ProgramParts parts{
      .graph = {.inputs = {asTensor("p_w"), asTensor("p_b"), asTensor("x")},
                .outputs = {asTensor("y")},
                .nodes = {aten("linear.default", {{"input", asTensor("x")}, {"weight", asTensor("p_w")}, {"bias", asTensor("p_b")}}, "y")},
                .tensors = {{"x", floats({s0, "3"})}}},
      .inputSpecs = {parameter("p_w", "l.w"), parameter("p_b", "l.b"), userInput("x")},
      .ranges = R"("s0":{"min_val":2,"max_val":16},"2*s0":{"min_val":4,"max_val":32})"};
  ArchiveParts archive = archiveOf(parts);
  archive.weights = {weight("l.w", "weight_0", meta(7, {"2", "3"}, {"3", "1"})), weight("l.b", "weight_1", floats({"2"}))};
  archive.records = {{"data/weights/weight_0", rawBytes<float>({1, 2, 3, 4, 5, 6})}, {"data/weights/weight_1", rawBytes<float>({10, 20})}};
  return archive;
}

/// A buffer that every call counts up; `verifier` says how the program tells.
ArchiveParts counter(bool isDecomposed) {
  ProgramParts parts;
  parts.graph.inputs = {asTensor("b_n"), asTensor("x")};
  parts.graph.tensors = {{"x", floats({"2"})}};
  parts.inputSpecs = {buffer("b_n", "n"), userInput("x")};
  if (isDecomposed) {
    parts.verifiers = "ATEN";
    parts.graph.nodes = {aten("add.Tensor", {{"self", asTensor("b_n")}, {"other", asTensor("x")}}, "n2"),
                         aten("mul.Tensor", {{"self", asTensor("n2")}, {"other", asInt(2)}}, "y")};
    parts.graph.outputs = {asTensor("n2"), asTensor("y")};
    parts.outputSpecs = {R"({"buffer_mutation":{"arg":{"name":"n2"},"buffer_name":"n"}})", userOutput(asTensor("y"))};
  } else {
    parts.graph.nodes = {aten("add_.Tensor", {{"self", asTensor("b_n")}, {"other", asTensor("x")}}, "n2"),
                         aten("mul.Tensor", {{"self", asTensor("b_n")}, {"other", asInt(2)}}, "y")};
    parts.graph.outputs = {asTensor("y")};
  }
  ArchiveParts archive = archiveOf(parts);
  archive.weights = {weight("n", "weight_0", floats({"2"}))};
  archive.records = {{"data/weights/weight_0", rawBytes<float>({5, 6})}};
  return archive;
}

} // namespace

TEST_CASE("a linear layer with a symbolic batch") {
  Imported imported(linear());
  CHECK(imported.run({tensorOf({2, 3}, {1, 0, 0, 0, 1, 1})}).front().reals() == Numbers{11, 24, 15, 31});
  CHECK(imported.names(false) == Texts{"x"});
  CHECK(imported.names(true) == Texts{"output"});
  CHECK(imported.model.operators == std::vector<std::pair<std::string, unsigned>>{{"aten.linear.default", 1}});
  CHECK(imported.model.info[0].second == "PyTorch 2.15.0");
  // A batch of one runs although the file says that sizes begin at 2, as it does in PyTorch.
  CHECK(imported.run({tensorOf({1, 3}, {1, 0, 0})}).front().reals() == Numbers{11, 24});
}

TEST_CASE("a user names and narrows the sizes of a program") {
  compiler::ImportOptions options;
  options.inputs = {{.name = "x", .dims = {{.kind = compiler::DimSpec::Kind::Symbol, .symbol = "batch"}, {}}}};
  options.symbols = {{"batch", 2, 4}};
  Imported imported(linear(), options);
  REQUIRE(imported.model.status.ok());
  std::string text;
  llvm::raw_string_ostream(text) << *imported.model.module;
  CHECK(text.find("batch") != std::string::npos);
  CHECK(text.find("s0") == std::string::npos);

  options.symbols = {{"batch", 2, 99}};
  refuses(linear(), StatusCode::OutOfRange, "size `batch` is given the range 2..99, but the program is made for 1..16", options);
  options.symbols = {{"rows", 2, 4}};
  refuses(linear(), StatusCode::NotFound, "no size of the inputs is named `rows`; the sizes are `batch`", options);
  options.symbols.clear();
  options.inputs[0].dims = {{.kind = compiler::DimSpec::Kind::Number, .number = 3}, {.kind = compiler::DimSpec::Kind::Number, .number = 3}};
  CHECK(Imported(linear(), options).run({tensorOf({3, 3}, Numbers(9, 0))}).front().reals() == Numbers{10, 20, 10, 20, 10, 20});
  options.inputs[0].dims[0].number = 17;
  refuses(linear(), StatusCode::OutOfRange, "size `s0` is given as 17, but the program is made for 1..16", options);
  options.inputs[0].dims[0].number = 2;
  options.inputs[0].dims[1].number = 4;
  refuses(linear(), StatusCode::InvalidArgument, "has size 3 along axis 1 in the program, but 4 was given", options);
  options.inputs[0].dims[1] = {.kind = compiler::DimSpec::Kind::Symbol, .symbol = "n"};
  refuses(linear(), StatusCode::InvalidArgument, "cannot become the size `n`; export it with dynamic_shapes", options);
  options.inputs[0].dims.pop_back();
  refuses(linear(), StatusCode::InvalidArgument, "has rank 2 in the program, but a shape of rank 1 was given", options);
  options.inputs[0] = {.name = "x", .dims = {{}, {}}, .type = ElementType::F64};
  refuses(linear(), StatusCode::InvalidArgument, "is f32 in the program, but f64 was given", options);
  options.inputs[0] = {.name = "x", .dims = {{.min = 20}, {}}};
  refuses(linear(), StatusCode::OutOfRange, "no size along axis 0 is in both the given range and that of the program", options);
  options.inputs[0].name = "z";
  refuses(linear(), StatusCode::InvalidArgument, "there is no tensor input `z`", options);
}

TEST_CASE("an input can be made a constant") {
  compiler::ImportOptions options;
  options.constants = {{.name = "x", .array = compiler::ConstantSpec::Array{ElementType::F32, {1, 3}, std::vector<char>(12, 0)}}};
  CHECK(Imported(linear(), options).run({}).front().reals() == Numbers{10, 20});
  options.constants[0].array->type = ElementType::F64;
  refuses(linear(), StatusCode::InvalidArgument, "is f32 in the program, but the constant is f64", options);
  options.constants = {{.name = "x", .elements = {"1"}}};
  refuses(linear(), StatusCode::InvalidArgument, "give the constant as a .npy file", options);
  options.constants[0].name = "q";
  refuses(linear(), StatusCode::InvalidArgument, "there is no input `q`; the inputs are `x`", options);
}

TEST_CASE("written buffers are state, whether the signature says so or an in-place operator does it") {
  for (bool isDecomposed : {false, true}) {
    Imported imported(counter(isDecomposed));
    CHECK(imported.run({tensorOf({2}, {1, 2})}).front().reals() == Numbers{12, 16});
    unsigned sets = 0;
    imported.method().walk([&](graph::SetParameterOp) { ++sets; });
    CHECK(sets == 1);
    CHECK(imported.names(true) == Texts{"output"});
    CHECK(imported.model.info.back() == std::pair<std::string, std::string>{"state", "`n`"});
  }
}

TEST_CASE("written inputs are given back") {
  ProgramParts parts{.graph = {.inputs = {asTensor("x")},
                               .outputs = {asTensor("y")},
                               .nodes = {aten("mul_.Tensor", {{"self", asTensor("x")}, {"other", asInt(3)}}, "x2"),
                                         aten("add.Tensor", {{"self", asTensor("x")}, {"other", asInt(1)}}, "y")},
                               .tensors = {{"x", floats({"2"})}}}};
  Imported imported(archiveOf(parts));
  auto results = imported.run({tensorOf({2}, {1, 2})});
  CHECK(imported.names(true) == Texts{"output", "x.after"});
  CHECK(results[0].reals() == Numbers{4, 7});
  CHECK(results[1].reals() == Numbers{3, 6});

  parts.graph.nodes[0] = aten("mul.Tensor", {{"self", asTensor("x")}, {"other", asInt(3)}}, "x2");
  parts.graph.outputs = {asTensor("x2"), asTensor("y")};
  parts.outputSpecs = {R"({"user_input_mutation":{"arg":{"name":"x2"},"user_input_name":"x"}})", userOutput(asTensor("y"))};
  Imported decomposed(archiveOf(parts));
  CHECK(decomposed.run({tensorOf({2}, {1, 2})})[1].reals() == Numbers{3, 6});
  CHECK(decomposed.names(true) == Texts{"output", "x.after"});
  parts.outputSpecs[0] = R"({"user_input_mutation":{"arg":{"name":"x2"},"user_input_name":"z"}})";
  refuses(archiveOf(parts), StatusCode::InvalidFile, "input `z` is written, but the program has no such input");
  parts.outputSpecs[0] = R"({"buffer_mutation":{"arg":{"name":"x2"},"buffer_name":"z"}})";
  refuses(archiveOf(parts), StatusCode::InvalidFile, "weight `z`: is not in the file");
}

TEST_CASE("losses and gradients have names") {
  ProgramParts parts{
      .graph = {.inputs = {asTensor("x")}, .outputs = {asTensor("x"), asTensor("x"), asTensor("x")}, .tensors = {{"x", floats({})}}},
      .outputSpecs = {R"({"loss_output":{"arg":{"name":"x"}}})", R"({"gradient_to_parameter":{"arg":{"name":"x"},"parameter_name":"a.w"}})",
                      R"({"gradient_to_user_input":{"arg":{"name":"x"},"user_input_name":"x"}})"}};
  CHECK(Imported(archiveOf(parts)).names(true) == Texts{"loss", "grads.a.w", "grads.x"});
}

TEST_CASE("values that are fixed in the program are no inputs") {
  ProgramParts parts{.graph = {.inputs = {asTensor("x"), asInt(5)}, .outputs = {asTensor("x")}, .tensors = {{"x", floats({"2"})}}},
                     .inputSpecs = {userInput("x"), R"({"constant_input":{"name":"flag","value":{"as_int":5}}})"}};
  CHECK(Imported(archiveOf(parts)).names(false) == Texts{"x"});
  compiler::ImportOptions options;
  options.constants = {{.name = "flag", .text = "5"}};
  CHECK(Imported(archiveOf(parts), options).model.status.ok());
  options.constants[0].text = "6";
  refuses(archiveOf(parts), StatusCode::InvalidArgument, "input `flag` was 5 when the program was exported, which fixed it; 6 was given",
          options);
}

TEST_CASE("outputs that are numbers, nothing or no values") {
  ProgramParts parts{.graph = {.inputs = {asTensor("x")},
                               .outputs = {asSymInt("n"), R"({"as_none":true})", R"({"as_string":"t"})", asInt(4)},
                               .nodes = {node("torch.ops.aten.sym_size.int", {{"self", asTensor("x")}, {"dim", asInt(0)}}, {asSymInt("m")}),
                                         node("_operator.mul", {{"a", asSymInt("m")}, {"b", asInt(2)}}, {asSymInt("n")})},
                               .tensors = {{"x", floats({s0})}}}};
  Imported imported(archiveOf(parts));
  auto results = imported.run({tensorOf({3}, {1, 2, 3})});
  REQUIRE(results.size() == 2);
  CHECK(results[0].reals() == Numbers{6});
  CHECK(results[1].reals() == Numbers{4});
  CHECK(imported.names(true) == Texts{"output.0", "output.3"});
  CHECK(imported.model.info.back().second == "forward: output.2 = t");
}

TEST_CASE("several programs become methods") {
  ProgramParts parts{.graph = {.inputs = {asTensor("x")},
                               .outputs = {asTensor("y")},
                               .nodes = {aten("neg.default", {{"self", asTensor("x")}}, "y")},
                               .tensors = {{"x", floats({"1"})}}}};
  ProgramParts other = parts;
  other.graph.nodes = {aten("abs.default", {{"self", asTensor("x")}}, "y")};
  ArchiveParts archive{{{"encoder", programOf(parts)}, {"decoder", programOf(other)}}, {}, {}, {}};
  Imported both(archive);
  CHECK(both.run({tensorOf({1}, {-2})}, "encoder").front().reals() == Numbers{2});
  CHECK(both.run({tensorOf({1}, {-2})}, "decoder").front().reals() == Numbers{2});
  compiler::ImportOptions options;
  options.methods = {"decoder"};
  Imported one(archive, options);
  CHECK(one.method("decoder"));
  CHECK(!one.method("encoder"));
  options.methods = {"forward"};
  refuses(archive, StatusCode::NotFound, "there is no method `forward`; the archive has `encoder`, `decoder`", options);
}

TEST_CASE("every node that is not supported is reported, with its line in the model") {
  const std::string stack =
      R"(  File \"/usr/lib/torch/nn/modules/module.py\", line 9, in _call_impl\n    return forward()\n  File \"/models/model.py\", line 12, in forward\n    y = x.foo()\n  File \"/usr/lib/torch/nn/functional.py\", line 7, in foo\n    return inner(x)\n)";
  ProgramParts parts{.graph = {.inputs = {asTensor("x")},
                               .outputs = {asTensor("c")},
                               .nodes = {node("torch.ops.aten.no_such.default", {{"self", asTensor("x")}}, {asTensor("a")}, stack),
                                         node("torch.ops.evil.op.default", {{"self", asTensor("a")}}, {asTensor("b")}),
                                         node("torch._functorch.predispatch._add_batch_dim", {{"", asTensor("b")}}, {asTensor("v")}),
                                         node("torch.ops.higher_order.flex_attention", {{"", asTensor("b")}}, {asTensor("h")}),
                                         aten("add.Tensor", {{"self", asTensor("b")}, {"other", asTensor("v")}}, "c")},
                               .tensors = {{"x", floats({"2"})}}}};
  Imported imported(archiveOf(parts));
  CHECK(imported.model.status.code() == StatusCode::Unsupported);
  REQUIRE(imported.model.unsupported.size() == 4);
  CHECK(imported.model.unsupported[0].place ==
        "node `a` (torch.ops.aten.no_such.default), /models/model.py, line 12, in forward: `y = x.foo()`");
  CHECK(imported.model.unsupported[0].reason.find("no such operator is supported; run_decompositions()") == 0);
  CHECK(imported.model.unsupported[1].reason == "no such operator is supported");
  CHECK(imported.model.unsupported[2].reason.find("is a part of torch.vmap") == 0);
  CHECK(imported.model.unsupported[3].reason == "no such higher-order operator is supported");
  CHECK(imported.model.status.message().find("4 parts of the program cannot be imported") != std::string::npos);
}

TEST_CASE("graphs that are wrong") {
  auto program = [](const Texts &nodes) {
    return archiveOf(
        ProgramParts{.graph = {.inputs = {asTensor("x")}, .outputs = {asTensor("y")}, .nodes = nodes, .tensors = {{"x", floats({"2"})}}}});
  };
  refuses(program({}), StatusCode::InvalidFile, "value `y` is used but nothing before produces it");
  std::string negative = aten("neg.default", {{"self", asTensor("x")}}, "y");
  refuses(program({negative, negative}), StatusCode::InvalidFile, "value `y` is produced twice");
  refuses(program({aten("neg.default", {{"self", asTensor("z")}}, "y")}), StatusCode::InvalidFile, "argument `self`: value `z` is used");
  refuses(program({node("torch.ops.aten.neg.default", {{"self", asTensor("x")}}, {asTensor("y"), asTensor("z")})}), StatusCode::InvalidFile,
          "gives 1 values, but the program names 2");
  refuses(program({aten("sym_size.int", {{"self", asTensor("x")}, {"dim", asInt(4)}}, "y")}), StatusCode::InvalidFile,
          "an axis is 4, the tensor has rank 1");
  refuses(program({aten("sym_size.int", {{"self", asInt(1)}}, "y")}), StatusCode::InvalidFile, "the first argument is no tensor");
  refuses(program({aten("neg.default", {{"self", R"({"as_complex":{"real":1.0,"imag":0.0}})"}}, "y")}), StatusCode::Unsupported,
          "arguments of the kind `as_complex` are not supported");
  ProgramParts token{.graph = {.inputs = {asTensor("t"), asTensor("x")}, .outputs = {asTensor("t")}, .tensors = {{"x", floats({"2"})}}},
                     .inputSpecs = {R"({"token":{"arg":{"name":"t"}}})", userInput("x")}};
  refuses(archiveOf(token), StatusCode::Unsupported, "effect tokens are not supported");
  token.inputSpecs[0] = R"({"custom_obj":{"arg":{"name":"t","class_fqn":"c"},"custom_obj_name":"o"}})";
  refuses(archiveOf(token), StatusCode::Unsupported, "custom objects are not supported");
  ProgramParts untyped{.graph = {.inputs = {asTensor("x")}, .outputs = {asTensor("x")}}};
  refuses(archiveOf(untyped), StatusCode::InvalidFile, "input `x`: the program does not say its type and shape");
  ProgramParts complex{.graph = {.inputs = {asTensor("x")}, .outputs = {asTensor("x")}, .tensors = {{"x", meta(10, {"2"}, {"1"})}}}};
  refuses(archiveOf(complex), StatusCode::Unsupported, "has the element type torch.complex64, which is not supported");
}

TEST_CASE("an axis whose size is a multiple of a symbol") {
  // y = x reshaped to [s0, 2], x of 2 * s0 elements.
  ProgramParts parts{
      .graph = {.inputs = {asTensor("x")},
                .outputs = {asTensor("y")},
                .nodes = {node("torch.ops.aten.sym_size.int", {{"self", asTensor("x")}, {"dim", asInt(0)}}, {asSymInt("n")}),
                          node("_operator.floordiv", {{"a", asSymInt("n")}, {"b", asInt(2)}}, {asSymInt("h")}),
                          node("torch.ops.aten.view.default",
                               {{"self", asTensor("x")}, {"size", R"({"as_sym_ints":[{"as_name":"h"},{"as_int":2}]})"}}, {asTensor("y")})},
                .tensors = {{"x", floats({"Mul(Integer(2), " + s0 + ")"})}}},
      .ranges = R"("s0":{"min_val":2,"max_val":8},"2*s0":{"min_val":4,"max_val":16})"};
  Imported imported(archiveOf(parts));
  CHECK(imported.run({tensorOf({4}, {1, 2, 3, 4})}).front().reals() == Numbers{1, 2, 3, 4});
  compiler::ImportOptions options;
  options.inputs = {{.name = "x", .dims = {{.kind = compiler::DimSpec::Kind::Symbol, .symbol = "length"}}}};
  options.symbols = {{"length", 4, 12}};
  CHECK(Imported(archiveOf(parts), options).run({tensorOf({4}, {1, 2, 3, 4})}).front().reals() == Numbers{1, 2, 3, 4});
  options.symbols = {{"length", 4, 64}};
  refuses(archiveOf(parts), StatusCode::OutOfRange, "size `length` is given the range 4..64, but the program is made for 2..16", options);
  options.symbols.clear();
  options.inputs[0].dims[0] = {.kind = compiler::DimSpec::Kind::Number, .number = 6};
  CHECK(Imported(archiveOf(parts), options).run({tensorOf({6}, {1, 2, 3, 4, 5, 6})}).front().reals() == Numbers{1, 2, 3, 4, 5, 6});
  options.inputs[0].dims[0].number = 5;
  refuses(archiveOf(parts), StatusCode::OutOfRange, "which 5 is for no `s0`", options);

  // Where the symbol is an axis too, the other size follows.
  parts.graph.inputs.push_back(asTensor("z"));
  parts.graph.tensors.push_back({"z", floats({s0})});
  options.inputs[0].dims[0].number = 6;
  Imported fixed(archiveOf(parts), options);
  CHECK(fixed.run({tensorOf({6}, {1, 2, 3, 4, 5, 6}), tensorOf({3}, {0, 0, 0})}).front().reals() == Numbers{1, 2, 3, 4, 5, 6});
  options.inputs[0].dims[0] = {.kind = compiler::DimSpec::Kind::Symbol, .symbol = "length"};
  refuses(archiveOf(parts), StatusCode::InvalidArgument, "which follows from other sizes and cannot become the size `length`", options);
  parts.graph.tensors[0].second = floats({"Mul(" + s0 + ", Symbol('s1', positive=True, integer=True))"});
  parts.graph.tensors[1].second = floats({"2"});
  refuses(archiveOf(parts), StatusCode::Unsupported, "does not tell what `s0` is");
}

TEST_CASE("what one program writes is state in the others too") {
  ArchiveParts archive = counter(/*isDecomposed=*/false);
  archive.programs[0].first = "count";
  ProgramParts reader{
      .graph = {.inputs = {asTensor("b_n")}, .outputs = {asTensor("y")}, .nodes = {aten("neg.default", {{"self", asTensor("b_n")}}, "y")}},
      .inputSpecs = {buffer("b_n", "n")}};
  archive.programs.insert(archive.programs.begin(), {"read", programOf(reader)});
  Imported imported(archive);
  INFO(imported.model.status.message());
  REQUIRE(imported.model.status.ok());
  unsigned parameters = 0, reads = 0;
  imported.model.module->walk([&](graph::ParameterOp op) { parameters += op.getIsMutable(); });
  imported.model.module->walk([&](graph::GetParameterOp) { ++reads; });
  CHECK(parameters == 1);
  CHECK(reads == 2);
}

TEST_CASE("what a node gives is held against what the file says of it") {
  ProgramParts parts{.graph = {.inputs = {asTensor("x")},
                               .outputs = {asTensor("y")},
                               .nodes = {aten("neg.default", {{"self", asTensor("x")}}, "y")},
                               .tensors = {{"x", floats({s0, "2"})}, {"y", floats({"4", "2"})}}}};
  CHECK(Imported(archiveOf(parts)).model.status.ok()); // One of the sizes is known to nobody here.
  CHECK(Imported(archiveOf(parts)).model.warnings.empty());
  parts.graph.tensors[1].second = floats({s0, "3"});
  Imported imported(archiveOf(parts));
  CHECK(imported.model.status.ok());
  REQUIRE(imported.model.warnings.size() == 1);
  CHECK(imported.model.warnings[0].message == "node `y` (torch.ops.aten.neg.default): computes f32[s0, 2] where the program has f32[s0, 3]");
  parts.graph.tensors[1].second = meta(8, {"4", "2"}, {"2", "1"});
  refuses(archiveOf(parts), StatusCode::Unsupported, "computes f32[s0, 2] where the program has f64[4, 2]");
}
