//===- ControlFlowOps.cpp - ONNX If, Loop and Scan -------------------------===//
//
// A condition that is known while tracing leaves only the branch taken. A loop
// whose number of iterations is known and small is unrolled, which also gives
// its scan outputs static shapes; any other loop becomes a graph.while and has
// none, because their size would depend on data.
//
//===----------------------------------------------------------------------===//

#include "compiler/Import/Onnx/GraphImporter.h"
#include "compiler/Import/Onnx/OpContext.h"

namespace stator::onnx {

namespace fn = trace::fn;

namespace {

/// Longer loops stay loops: unrolling them would make the graph too large.
constexpr int64_t maxUnrolledIterations = 256;

void ifOp(OpContext &op) {
  const Graph *onTrue = op.graph("then_branch"), *onFalse = op.graph("else_branch");
  if (!onTrue || !onFalse)
    return;
  GraphImporter &importer = op.importer();
  trace::Tensors values = fn::ifThenElse(
      op.input(0), [&] { return importer.importSubgraph(*onTrue, {}); }, [&] { return importer.importSubgraph(*onFalse, {}); });
  for (size_t i = 0; i < values.size(); ++i)
    op.output(values[i], i);
}

std::optional<int64_t> knownScalar(const trace::Tensor &tensor) {
  auto known = tensor ? tensor.knownNumbers() : std::nullopt;
  return known && known->size() == 1 ? std::optional(int64_t((*known)[0])) : std::nullopt;
}

/// The body takes (iteration, condition, carried...) and gives (condition, carried..., scanned...).
void loop(OpContext &op) {
  const Graph *body = op.graph("body");
  if (!body)
    return;
  trace::Builder &builder = op.builder();
  trace::Tensor tripCount = op.optional(0), condition = op.optional(1);
  trace::Tensors carried;
  for (size_t i = 2; i < op.numInputs(); ++i)
    carried.push_back(op.input(i));
  if (body->outputs.size() < carried.size() + 1)
    return op.fail("its body has " + std::to_string(body->outputs.size()) + " outputs, expected at least " + std::to_string(carried.size() + 1));
  size_t scanned = body->outputs.size() - 1 - carried.size();
  std::optional<int64_t> trips = knownScalar(tripCount);

  auto iterate = [&](const trace::Tensor &iteration, const trace::Tensors &values) {
    trace::Tensors arguments = {iteration, condition ? condition : builder.scalarInt(ElementType::I1, 1)};
    arguments.insert(arguments.end(), values.begin(), values.end());
    return op.importer().importSubgraph(*body, arguments);
  };

  std::optional<int64_t> enters = condition ? knownScalar(condition) : std::optional<int64_t>(1);
  if (trips && *trips <= maxUnrolledIterations && enters) {
    std::vector<trace::Tensors> scans(scanned);
    bool unrolled = true;
    trace::Tensors values = carried;
    for (int64_t i = 0; i < *trips && *enters != 0 && builder.ok(); ++i) {
      trace::Tensors results = iterate(builder.scalarInt(ElementType::I64, i), values);
      if (!builder.ok())
        return;
      values.assign(results.begin() + 1, results.begin() + 1 + carried.size());
      for (size_t scan = 0; scan < scanned; ++scan)
        scans[scan].push_back(results[1 + carried.size() + scan]);
      enters = knownScalar(results[0]);
      if (!enters) {
        unrolled = false;
        break;
      }
    }
    if (unrolled) {
      for (size_t i = 0; i < values.size(); ++i)
        op.output(values[i], i);
      for (size_t scan = 0; scan < scanned; ++scan) {
        if (scans[scan].empty())
          return op.unsupported("a scan output of a loop without iterations is not supported");
        op.output(fn::stack(scans[scan], 0), values.size() + scan);
      }
      return;
    }
  }
  if (scanned)
    return op.unsupported("scan outputs of a loop whose number of iterations is computed by the model are not supported");

  // State: iteration number, condition, carried values.
  trace::Tensors initial = {builder.scalarInt(ElementType::I64, 0), condition ? condition : builder.scalarInt(ElementType::I1, 1)};
  initial.insert(initial.end(), carried.begin(), carried.end());
  auto goesOn = [&](const trace::Tensors &state) {
    return tripCount ? fn::logicalAnd(state[1], fn::lt(state[0], tripCount)) : state[1];
  };
  auto next = [&](const trace::Tensors &state) {
    trace::Tensors results = op.importer().importSubgraph(*body, state);
    trace::Tensors following = {fn::add(state[0], builder.scalarInt(ElementType::I64, 1))};
    following.insert(following.end(), results.begin(), results.end());
    return following;
  };
  trace::Tensors values = fn::whileLoop(initial, goesOn, next);
  for (size_t i = 2; i < values.size(); ++i)
    op.output(values[i], i - 2);
}

/// The body takes (state..., slices...) and gives (state..., slices...). The length must be a number, and the loop is unrolled.
void scan(OpContext &op) {
  const Graph *body = op.graph("body");
  if (!body)
    return;
  if (op.opset() < 9)
    return op.unsupported("Scan before opset 9 is not supported");
  int64_t scanInputs = op.integer("num_scan_inputs", 0), states = int64_t(op.numInputs()) - scanInputs;
  if (scanInputs < 1 || states < 0)
    return op.fail("attribute `num_scan_inputs` is " + std::to_string(scanInputs) + " with " + std::to_string(op.numInputs()) + " inputs");
  auto inputAxes = op.integers("scan_input_axes").value_or(trace::Ints(scanInputs, 0));
  auto inputDirections = op.integers("scan_input_directions").value_or(trace::Ints(scanInputs, 0));
  int64_t scanOutputs = int64_t(body->outputs.size()) - states;
  if (scanOutputs < 0 || int64_t(inputAxes.size()) != scanInputs || int64_t(inputDirections.size()) != scanInputs)
    return op.fail("its attributes do not agree with the inputs and outputs of the body");
  auto outputAxes = op.integers("scan_output_axes").value_or(trace::Ints(scanOutputs, 0));
  auto outputDirections = op.integers("scan_output_directions").value_or(trace::Ints(scanOutputs, 0));
  if (int64_t(outputAxes.size()) != scanOutputs || int64_t(outputDirections.size()) != scanOutputs)
    return op.fail("its attributes do not agree with the outputs of the body");

  trace::Dim length = op.input(states).dim(inputAxes[0]);
  if (!length.isConstant() || length.constant() > maxUnrolledIterations || length.constant() < 1)
    return op.unsupported("a scan of length " + length.str() + " is not supported, expected a number from 1 to " + std::to_string(maxUnrolledIterations));
  trace::Tensors state;
  for (int64_t i = 0; i < states; ++i)
    state.push_back(op.input(i));
  std::vector<trace::Tensors> collected(scanOutputs);
  for (int64_t step = 0; step < length.constant() && op.builder().ok(); ++step) {
    trace::Tensors arguments = state;
    for (int64_t i = 0; i < scanInputs; ++i) {
      int64_t position = inputDirections[i] ? length.constant() - 1 - step : step;
      trace::Tensor slice = fn::slice(op.input(states + i), {position}, {position + 1}, {inputAxes[i]});
      arguments.push_back(fn::squeeze(slice, {inputAxes[i]}));
    }
    trace::Tensors results = op.importer().importSubgraph(*body, arguments);
    if (!op.builder().ok())
      return;
    state.assign(results.begin(), results.begin() + states);
    for (int64_t i = 0; i < scanOutputs; ++i)
      collected[i].insert(outputDirections[i] ? collected[i].begin() : collected[i].end(), results[states + i]);
  }
  for (int64_t i = 0; i < states; ++i)
    op.output(state[i], i);
  for (int64_t i = 0; i < scanOutputs; ++i)
    op.output(fn::stack(collected[i], outputAxes[i]), states + i);
}

} // namespace

std::span<const OpEntry> controlFlowOps() {
  static constexpr OpEntry entries[] = {{"If", ifOp}, {"Loop", loop}, {"Scan", scan}};
  return entries;
}

} // namespace stator::onnx
