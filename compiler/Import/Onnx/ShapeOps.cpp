//===- ShapeOps.cpp - ONNX ops that move data or make it -------------------===//

#include "compiler/Import/Onnx/GraphImporter.h"
#include "compiler/Import/Onnx/OpContext.h"
#include "compiler/Import/Onnx/TensorLoader.h"

namespace stator::onnx {

namespace fn = trace::fn;

namespace {

/// The contents of a 1-D tensor of axes, which must be known.
std::optional<trace::Ints> knownAxes(OpContext &op, const trace::Tensor &tensor, std::string_view what) {
  if (!tensor)
    return trace::Ints();
  auto numbers = tensor.knownNumbers();
  if (!numbers) {
    op.unsupported("the " + std::string(what) + " are computed by the model, expected a constant");
    return std::nullopt;
  }
  return trace::Ints(numbers->begin(), numbers->end());
}

void constant(OpContext &op) {
  trace::Builder &builder = op.builder();
  if (const Tensor *value = op.tensor("value"))
    return op.output(op.importer().tensors().load(*value, op.node().outputs.empty() ? "" : op.node().outputs[0]));
  if (op.has("value_int"))
    return op.output(builder.scalarInt(ElementType::I64, op.integer("value_int", 0)));
  if (op.has("value_float"))
    return op.output(builder.scalar(ElementType::F32, op.number("value_float", 0)));
  if (auto values = op.integers("value_ints"))
    return op.output(builder.vector(*values));
  if (auto values = op.numbers("value_floats"))
    return op.output(builder.vector(*values));
  op.unsupported("a constant of strings or a sparse constant is not supported");
}

void constantOfShape(OpContext &op) {
  trace::Tensor value;
  if (const Tensor *tensor = op.tensor("value"))
    value = op.importer().tensors().load(*tensor, "");
  op.output(fn::constantOfShape(op.input(0), value));
}

void shape(OpContext &op) {
  std::optional<int64_t> end;
  if (op.has("end"))
    end = op.integer("end", 0);
  op.output(fn::shapeOf(op.input(0), op.integer("start", 0), end));
}

void size(OpContext &op) { op.output(fn::sizeOf(op.input(0))); }

void reshape(OpContext &op) { op.output(fn::reshape(op.input(0), op.input(1), op.flag("allowzero"))); }

void flatten(OpContext &op) { op.output(fn::flatten(op.input(0), op.integer("axis", 1))); }

void transpose(OpContext &op) { op.output(fn::transpose(op.input(0), op.integers("perm").value_or(trace::Ints()))); }

void squeeze(OpContext &op) {
  if (auto axes = knownAxes(op, op.optional(1), "axes"))
    op.output(fn::squeeze(op.input(0), *axes));
}

void unsqueeze(OpContext &op) {
  if (auto axes = knownAxes(op, op.input(1), "axes"))
    op.output(fn::unsqueeze(op.input(0), *axes));
}

void expand(OpContext &op) { op.output(fn::expand(op.input(0), op.input(1))); }

void tile(OpContext &op) { op.output(fn::tile(op.input(0), op.input(1))); }

void concat(OpContext &op) {
  for (size_t i = 0; i < op.numInputs(); ++i)
    op.input(i);
  if (!op.has("axis"))
    return op.fail("attribute `axis` is missing");
  op.output(fn::concat(op.allInputs(), op.integer("axis", 0)));
}

void split(OpContext &op) {
  int64_t axis = op.integer("axis", 0);
  trace::Tensors parts;
  if (trace::Tensor sizes = op.optional(1)) {
    auto known = sizes.knownIntegers();
    if (!known)
      return op.unsupported("the sizes are computed by the model, expected a constant");
    parts = fn::split(op.input(0), *known, axis);
  } else {
    parts = fn::splitEven(op.input(0), op.integer("num_outputs", int64_t(op.numOutputs())), axis);
  }
  for (size_t i = 0; i < parts.size(); ++i)
    op.output(parts[i], i);
}

void slice(OpContext &op) { op.output(fn::slice(op.input(0), op.input(1), op.input(2), op.optional(3), op.optional(4))); }

void pad(OpContext &op) {
  std::string_view mode = op.text("mode", "constant");
  fn::PadMode padMode;
  if (mode == "constant")
    padMode = fn::PadMode::Constant;
  else if (mode == "edge")
    padMode = fn::PadMode::Edge;
  else if (mode == "reflect")
    padMode = fn::PadMode::Reflect;
  else if (mode == "wrap")
    padMode = fn::PadMode::Wrap;
  else
    return op.fail("attribute `mode` is `" + std::string(mode) + "`, expected constant, edge, reflect or wrap");
  op.output(fn::pad(op.input(0), op.input(1), op.optional(2), op.optional(3), padMode));
}

void depthToSpace(OpContext &op) {
  std::string_view mode = op.text("mode", "DCR");
  if (mode != "DCR" && mode != "CRD")
    return op.fail("attribute `mode` is `" + std::string(mode) + "`, expected DCR or CRD");
  op.output(fn::depthToSpace(op.input(0), op.integer("blocksize", 0), mode == "CRD"));
}

void spaceToDepth(OpContext &op) { op.output(fn::spaceToDepth(op.input(0), op.integer("blocksize", 0))); }

void range(OpContext &op) { op.output(fn::range(op.input(0), op.input(1), op.input(2))); }

void eyeLike(OpContext &op) {
  trace::Tensor x = op.input(0);
  std::optional<ElementType> type = elementTypeAttribute(op, "dtype");
  if (x)
    op.output(fn::eyeLike(x, type.value_or(x.type()), op.integer("k", 0)));
}

void trilu(OpContext &op) {
  int64_t k = 0;
  if (trace::Tensor diagonal = op.optional(1)) {
    auto known = diagonal.knownNumbers();
    if (!known || known->size() != 1)
      return op.unsupported("the diagonal `k` is computed by the model, expected a constant");
    k = int64_t((*known)[0]);
  }
  op.output(fn::trilu(op.input(0), op.flag("upper", true), k));
}

void reverseSequence(OpContext &op) {
  op.output(fn::reverseSequence(op.input(0), op.input(1), op.integer("batch_axis", 1), op.integer("time_axis", 0)));
}

} // namespace

std::span<const OpEntry> shapeOps() {
  static constexpr OpEntry entries[] = {
      {"Constant", constant},
      {"ConstantOfShape", constantOfShape},
      {"Shape", shape},
      {"Size", size},
      {"Reshape", reshape},
      {"Flatten", flatten},
      {"Transpose", transpose},
      {"Squeeze", squeeze},
      {"Unsqueeze", unsqueeze},
      {"Expand", expand},
      {"Tile", tile},
      {"Concat", concat},
      {"Split", split},
      {"Slice", slice},
      {"Pad", pad},
      {"DepthToSpace", depthToSpace},
      {"SpaceToDepth", spaceToDepth},
      {"Range", range},
      {"EyeLike", eyeLike},
      {"Trilu", trilu},
      {"ReverseSequence", reverseSequence},
  };
  return entries;
}

} // namespace stator::onnx
