// DEPS: stator::compiler::Import::Onnx stator::dialects::Graph::Interpreter stator::deps::protozero
// What moved from attributes to inputs, and what changed its meaning, at the opsets on both sides of the change.
#include "test/unit/compiler/Import/Onnx/OnnxCase.h"

using namespace stator;
using namespace stator::test;

namespace {

/// y = op(x, constants...) on x of [2, 3] = 1, -2, 3, -4, 5, -6, or another shape.
Numbers apply(int64_t version, const std::string &op, const std::vector<Message> &attributes, const std::vector<Message> &constants = {},
              const std::vector<int64_t> &dims = {2, 3}, size_t outputs = 1) {
  GraphParts parts;
  std::vector<std::string> inputs = {"x"}, names;
  std::vector<std::string> shape;
  for (int64_t dim : dims)
    shape.push_back(std::to_string(dim));
  parts.inputs = {value("x", kFloat, shape)};
  for (size_t i = 0; i < constants.size(); ++i) {
    Message renamed = constants[i];
    // The last name of a message counts.
    bool isAbsent = renamed.bytes.empty();
    inputs.push_back(isAbsent ? "" : "c" + std::to_string(i));
    if (!isAbsent)
      parts.initializers.push_back(renamed.text(8, inputs.back()));
  }
  for (size_t i = 0; i < outputs; ++i) {
    names.push_back("y" + std::to_string(i));
    parts.outputs.push_back(value(names.back()));
  }
  parts.nodes = {node(op, inputs, names, attributes)};
  int64_t count = 1;
  for (int64_t dim : dims)
    count *= dim;
  Numbers values;
  for (int64_t i = 0; i < count; ++i)
    values.push_back(i % 2 ? -double(i + 1) : double(i + 1));
  Numbers all;
  Imported imported(model(parts, version).bytes);
  for (const graph::TensorValue &result : imported.run({tensorOf(dims, values)})) {
    Numbers reals = result.reals();
    all.insert(all.end(), reals.begin(), reals.end());
  }
  return all;
}

Message scalar(float value) { return floats("", {}, {value}); }

} // namespace

TEST_CASE("axes of reductions are attributes, later an input") {
  Numbers rows = {2, -5};
  CHECK(apply(11, "ReduceSum", {attributeInts("axes", {1}), attribute("keepdims", 0)}) == rows);
  CHECK(apply(13, "ReduceSum", {attribute("keepdims", 0)}, {ints("", {1})}) == rows);
  CHECK(apply(13, "ReduceMax", {attributeInts("axes", {-1}), attribute("keepdims", 0)}) == Numbers{3, 5});
  CHECK(apply(17, "ReduceMax", {attributeInts("axes", {-1}), attribute("keepdims", 0)}) == Numbers{3, 5});
  CHECK(apply(18, "ReduceMax", {attribute("keepdims", 0)}, {ints("", {-1})}) == Numbers{3, 5});
  CHECK(apply(18, "ReduceSum", {attribute("noop_with_empty_axes", 1)}, {}) == Numbers{1, -2, 3, -4, 5, -6});
  CHECK(apply(18, "ReduceSum", {attribute("keepdims", 0)}, {}) == Numbers{-3});
}

TEST_CASE("axes of squeeze and unsqueeze are an attribute before opset 13") {
  Numbers all = {1, -2, 3, -4, 5, -6};
  CHECK(apply(11, "Unsqueeze", {attributeInts("axes", {0, 3})}) == all);
  CHECK(apply(13, "Unsqueeze", {}, {ints("", {0, -1})}) == all);
  CHECK(apply(11, "Squeeze", {attributeInts("axes", {0})}, {}, {1, 6}) == all);
  CHECK(apply(13, "Squeeze", {}, {ints("", {0})}, {1, 6}) == all);
  CHECK(apply(13, "Squeeze", {}, {}, {1, 6}) == all);
}

TEST_CASE("slice, pad, clip, top-k and split took attributes") {
  CHECK(apply(9, "Slice", {attributeInts("starts", {1}), attributeInts("ends", {9}), attributeInts("axes", {1})}) == Numbers{-2, 3, 5, -6});
  CHECK(apply(10, "Slice", {}, {ints("", {1}), ints("", {9}), ints("", {1})}) == Numbers{-2, 3, 5, -6});
  CHECK(apply(10, "Slice", {}, {ints("", {-1}), ints("", {-9}), ints("", {1}), ints("", {-2})}) == Numbers{3, 1, -6, -4});
  CHECK(apply(2 + 5, "Pad", {attributeInts("pads", {0, 1, 0, 0}), attributeNumber("value", 7)}) == Numbers{7, 1, -2, 3, 7, -4, 5, -6});
  CHECK(apply(11, "Pad", {}, {ints("", {0, 1, 0, 0}), scalar(7)}) == Numbers{7, 1, -2, 3, 7, -4, 5, -6});
  CHECK(apply(18, "Pad", {}, {ints("", {1, 0}), scalar(7), ints("", {1})}) == Numbers{7, 1, -2, 3, 7, -4, 5, -6});
  CHECK(apply(7, "Clip", {attributeNumber("min", -2), attributeNumber("max", 3)}) == Numbers{1, -2, 3, -2, 3, -2});
  CHECK(apply(11, "Clip", {}, {scalar(-2), scalar(3)}) == Numbers{1, -2, 3, -2, 3, -2});
  CHECK(apply(11, "Clip", {}, {Message(), scalar(3)}) == Numbers{1, -2, 3, -4, 3, -6});
  CHECK(apply(9, "TopK", {attribute("k", 1)}, {}, {2, 3}, 2) == Numbers{3, 5, 2, 1});
  CHECK(apply(11, "TopK", {attribute("largest", 0)}, {ints("", {1})}, {2, 3}, 2) == Numbers{-2, -6, 1, 2});
  CHECK(apply(7, "Split", {attribute("axis", 1), attributeInts("split", {1, 2})}, {}, {2, 3}, 2) == Numbers{1, -4, -2, 3, 5, -6});
  CHECK(apply(13, "Split", {attribute("axis", 1)}, {ints("", {1, 2})}, {2, 3}, 2) == Numbers{1, -4, -2, 3, 5, -6});
  CHECK(apply(18, "Split", {attribute("axis", 1), attribute("num_outputs", 2)}, {}, {2, 3}, 2) == Numbers{1, -2, -4, 5, 3, -6});
}

TEST_CASE("softmax before opset 13 takes all axes behind its own as one") {
  Numbers joined = apply(11, "Softmax", {attribute("axis", 1)}, {}, {1, 2, 3}), along = apply(13, "Softmax", {attribute("axis", 1)}, {}, {1, 2, 3});
  double sum = 0;
  for (double value : joined)
    sum += value;
  CHECK(sum == Approx(1));
  CHECK(along[0] + along[3] == Approx(1));
  // So did the default: axis 1 then, the last one now.
  CHECK(apply(11, "Softmax", {}, {}, {1, 2, 3}) == joined);
  Numbers last = apply(13, "Softmax", {}, {}, {1, 2, 3});
  CHECK(last[0] + last[1] + last[2] == Approx(1));
}

TEST_CASE("dropout passes its input on, and its mask is all true") {
  CHECK(apply(7, "Dropout", {attributeNumber("ratio", 0.5F)}) == Numbers{1, -2, 3, -4, 5, -6});
  CHECK(apply(12, "Dropout", {}, {scalar(0.25F)}, {1, 2}, 2) == Numbers{1, -2, 1, 1});
  CHECK(apply(6, "Dropout", {attribute("is_test", 1)}) == Numbers{1, -2, 3, -4, 5, -6});
}

TEST_CASE("before opset 7 the axes of the second operand are placed by an attribute") {
  CHECK(apply(6, "Add", {attribute("broadcast", 1), attribute("axis", 0)}, {floats("", {2}, {10, 20})}) == Numbers{11, 8, 13, 16, 25, 14});
  CHECK(apply(6, "Add", {attribute("broadcast", 1)}, {floats("", {3}, {10, 20, 30})}) == Numbers{11, 18, 33, 6, 25, 24});
  CHECK(apply(6, "PRelu", {}, {floats("", {2}, {2, 3})}, {1, 2, 2}) == Numbers{1, -4, 3, -12});
}

TEST_CASE("upsample gave its scales as an attribute, then as an input, then became resize") {
  Message scales = Message().text(1, "scales").packedFloats(7, {1, 2}).integer(20, 6);
  Numbers doubled = {1, 1, -2, -2};
  CHECK(apply(7, "Upsample", {scales}, {}, {1, 2}) == doubled);
  CHECK(apply(9, "Upsample", {}, {floats("", {2}, {1, 2})}, {1, 2}) == doubled);
  CHECK(apply(10, "Resize", {}, {floats("", {2}, {1, 2})}, {1, 2}) == doubled);
  CHECK(apply(13, "Resize", {}, {floats("", {0}, {}), floats("", {2}, {1, 2})}, {1, 2}) == doubled);
  CHECK(apply(13, "Resize", {}, {Message(), Message(), ints("", {1, 4})}, {1, 2}) == doubled);
}

TEST_CASE("group normalisation scales groups, later channels") {
  std::vector<Message> attributes = {attribute("num_groups", 1), attributeNumber("epsilon", 0)};
  // Two channels of one element each; mean -0.5, deviation 1.5.
  CHECK(apply(18, "GroupNormalization", attributes, {floats("", {1}, {2}), floats("", {1}, {1})}, {1, 2, 1}) == Numbers{3, -1});
  CHECK(apply(21, "GroupNormalization", attributes, {floats("", {2}, {2, 4}), floats("", {2}, {1, 0})}, {1, 2, 1}) == Numbers{3, -4});
}

TEST_CASE("opsets outside the range are refused with both ends") {
  GraphParts parts{.nodes = {node("Relu", {"x"}, {"y"})}, .inputs = {value("x", kFloat, {"2"})}, .outputs = {value("y")}};
  refuses(model(parts, 5), StatusCode::Unsupported, "the model uses opset 5, expected 6 to 27");
  refuses(model(parts, 28), StatusCode::Unsupported, "the model uses opset 28, expected 6 to 27");
  refuses(Message().message(7, graphOf(parts)), StatusCode::InvalidFile, "does not say which opset it uses");
  for (int64_t version = 6; version <= 27; ++version)
    CHECK(evaluate(model(parts, version), {tensorOf({2}, {-1, 2})}) == Numbers{0, 2});
}
