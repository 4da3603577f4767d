//===- ChooseAlgorithms.cpp - direct or Winograd, per convolution ----------===//
//
// F(4x4, 3x3) needs a quarter of the multiplications of a direct convolution,
// F(2x2) 4/9; but tiles hang over the border of small images, transforms cost
// time in proportion to channels instead of their product, and transformed
// weights are 4 and 1.78 times as large, which counts where weights come from
// memory. So times are estimated, for one class of processors (vectors of 512
// bits, two multiply-adds per cycle, and bandwidths that go with that), whatever
// the compiling machine is: the same model always gives the same artifact.
//
// A budget for weights is kept by steps back (4x4 to 2x2 or direct, 2x2 to
// direct), the one that loses least time per byte first.
//
//===----------------------------------------------------------------------===//

#include "dialects/Graph/DerivedParameters.h"
#include "dialects/Graph/Shapes.h"
#include "dialects/Target/PackedLayouts.h"
#include "passes/Optimise/FusionFamilies.h"
#include "passes/Optimise/Passes.h"

#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace stator::optimise {

#define GEN_PASS_DEF_CHOOSEALGORITHMSPASS
#include "passes/Optimise/Passes.h.inc"

namespace {

// What the estimates are made of, in microseconds, bytes and operations.
constexpr double kOperations = 240e3; // that products reach per microsecond and core; 90 % of the peak
constexpr double kBandwidth[] = {30e3, 45e3}; // of memory, read by one and by two cores
constexpr double kInputVector[] = {0.010, 0.055}; // transform of a tile of 16 channels: F(2x2), F(4x4)
constexpr double kOutputVector[] = {0.010, 0.040};
/// Weights of a model up to this size are taken to stay in the last cache.
constexpr int64_t kCachedWeights = 16 << 20;
/// Winograd has to be estimated this much faster.
constexpr double kMargin = 0.95;
/// Below, a product has too few steps to pay for loading and storing its tile.
constexpr int64_t kLeastChannels = 16;

/// One convolution and what it may become.
struct Layer {
  graph::ConvolutionOp op;
  /// Choice 0 is direct, 1 is F(2x2), 2 is F(4x4).
  double time[3] = {};
  int64_t bytes[3] = {};
  unsigned chosen = 0;

  unsigned best() const { return time[2] <= time[1] ? 2 : 1; }
};

int64_t tileOf(unsigned choice) { return 2 * choice; }

/// Empty if Winograd can be used, else why not.
std::string whyDirect(graph::ConvolutionOp op, graph::DerivedParameters &parameters) {
  SmallVector<int64_t> filter = op.filterShape();
  RankedTensorType type = op.getType();
  if (!type.getElementType().isF32())
    return "Winograd is f32 only";
  if (op.getLayout() != graph::TensorLayout::ChannelsLast || op.getFilterPacked())
    return "Winograd takes channels last and a plain filter";
  auto constant = op.getFilter().getDefiningOp<graph::ConstantOp>();
  if (!constant && !parameters.frozen(op.getFilter()))
    return "Winograd needs the filter at compile time";
  if (filter[0] < kLeastChannels || filter[1] < kLeastChannels)
    return llvm::formatv("Winograd needs {0} channels", kLeastChannels);
  SmallVector<DimExpr> dims = graph::dimsOf(type);
  if (!dims[1].isConstant() || !dims[2].isConstant())
    return "Winograd is chosen for images of known size only";
  if (dims[1].isConstant(0) || dims[2].isConstant(0))
    return "no output";
  return "";
}

/// A 3x3 convolution without stride, dilation and groups over two axes.
bool isCandidate(graph::ConvolutionOp op) {
  auto areOnes = [](ArrayRef<int64_t> list) { return llvm::all_of(list, [](int64_t value) { return value == 1; }); };
  SmallVector<int64_t> filter = op.filterShape();
  return filter.size() == 4 && filter[2] == 3 && filter[3] == 3 && areOnes(op.getStrides()) && areOnes(op.getDilations()) &&
         op.getGroups() == 1;
}

/// Taps of one axis that lie inside of the input, summed over its outputs.
int64_t insideTaps(int64_t input, int64_t output, int64_t padLow) {
  int64_t count = 0;
  for (int64_t tap = 0; tap < 3; ++tap) {
    int64_t first = std::max<int64_t>(0, padLow - tap), last = std::min(output, input + padLow - tap);
    count += std::max<int64_t>(0, last - first);
  }
  return count;
}

/// `work`: microseconds on one core. The sum over one core and, weighted so that both count alike, two.
double timeOf(double work, int64_t weightBytes, bool fromMemory) {
  double time = 0;
  for (unsigned cores = 1; cores <= 2; ++cores)
    time += std::max(work, fromMemory ? cores * weightBytes / kBandwidth[cores - 1] : 0);
  return time / 2;
}

Layer estimate(graph::ConvolutionOp op, bool fromMemory) {
  SmallVector<int64_t> filter = op.filterShape();
  SmallVector<DimExpr> in = graph::dimsOf(op.getInput().getType()), out = graph::dimsOf(op.getType());
  int64_t outputs = filter[0], channels = filter[1], height = *out[1].constant(), width = *out[2].constant();
  double images = out[0].constant().value_or(1);
  Layer layer{op};
  std::vector<int64_t> oihw(filter.begin(), filter.end());
  auto direct = convPanelsShape(oihw, 1);
  layer.bytes[0] = direct[1] * direct[2] * direct[3] * 4;
  // An input of unknown height cannot have an output of known height.
  double taps = double(insideTaps(*in[1].constant(), height, op.getPadLow()[0])) * insideTaps(*in[2].constant(), width, op.getPadLow()[1]);
  layer.time[0] = timeOf(images * 2 * taps * channels * outputs / kOperations, layer.bytes[0], fromMemory);
  for (unsigned choice = 1; choice <= 2; ++choice) {
    int64_t tile = tileOf(choice);
    auto shape = winogradPanelsShape(oihw, tile);
    layer.bytes[choice] = shape[0] * shape[1] * shape[2] * shape[3] * 4;
    double tiles = images * ((height + tile - 1) / tile) * ((width + tile - 1) / tile);
    double products = 2.0 * tiles * shape[1] * channels * outputs / kOperations;
    double transforms = tiles * (panelsOf(channels) * kInputVector[choice - 1] + panelsOf(outputs) * kOutputVector[choice - 1]);
    layer.time[choice] = timeOf(products + transforms, layer.bytes[choice], fromMemory);
  }
  return layer;
}

struct ChooseAlgorithmsPass : impl::ChooseAlgorithmsPassBase<ChooseAlgorithmsPass> {
  using ChooseAlgorithmsPassBase::ChooseAlgorithmsPassBase;

  void runOnOperation() override {
    graph::DerivedParameters parameters(getOperation());
    int64_t plainBytes = bytesOfParameters();
    SmallVector<Layer> layers;
    getOperation().walk([&](graph::ConvolutionOp op) {
      if (!isCandidate(op))
        return;
      if (std::string reason = whyDirect(op, parameters); !reason.empty())
        return setAlgorithmNote(op, "direct: " + reason);
      layers.push_back(estimate(op, plainBytes > kCachedWeights));
      Layer &layer = layers.back();
      if (op.getFilter().getDefiningOp<graph::ConstantOp>()) // Becomes a parameter when it is packed.
        plainBytes += layer.bytes[0];
      if (layer.time[layer.best()] < kMargin * layer.time[0])
        layer.chosen = layer.best();
      else
        setAlgorithmNote(op, llvm::formatv("direct: Winograd F({0}x{0}) is estimated at {1:P0} of its time", tileOf(layer.best()),
                                           layer.time[layer.best()] / layer.time[0])
                                 .str());
    });
    if (weightsBudget >= 0)
      keepBudget(layers, plainBytes);
    for (Layer &layer : layers) {
      if (layer.chosen == 0)
        continue;
      layer.op.setWinograd(tileOf(layer.chosen));
      std::string reason = llvm::formatv("Winograd F({0}x{0}), estimated at {1:P0} of the direct time", tileOf(layer.chosen),
                                         layer.time[layer.chosen] / layer.time[0]);
      setKernelChoice(layer.op, "own", reason);
    }
  }

private:
  /// Of the parameters that the methods read, as they are.
  int64_t bytesOfParameters() {
    SymbolTable symbols(getOperation());
    llvm::StringSet<> seen;
    int64_t total = 0;
    getOperation().walk([&](graph::GetParameterOp get) {
      auto parameter = symbols.lookup<graph::ParameterOp>(get.getParameter());
      if (parameter && seen.insert(parameter.getSymName()).second)
        total += graph::staticByteSize(parameter.tensorType()).value_or(0);
    });
    return total;
  }

  void keepBudget(MutableArrayRef<Layer> layers, int64_t plainBytes) {
    int64_t total = plainBytes;
    for (Layer &layer : layers)
      total += layer.bytes[layer.chosen] - layer.bytes[0];
    while (total > weightsBudget) {
      Layer *least = nullptr;
      unsigned next = 0;
      double leastLoss = 0;
      for (Layer &layer : layers)
        for (unsigned to = 0; to < layer.chosen; ++to) {
          double loss = (layer.time[to] - layer.time[layer.chosen]) / double(layer.bytes[layer.chosen] - layer.bytes[to]);
          // A step to an algorithm that is no better than direct is none.
          if ((to != 0 && layer.time[to] >= kMargin * layer.time[0]) || (least && loss >= leastLoss))
            continue;
          least = &layer;
          next = to;
          leastLoss = loss;
        }
      if (!least)
        return; // All are direct.
      total -= least->bytes[least->chosen] - least->bytes[next];
      least->chosen = next;
      if (next == 0)
        setAlgorithmNote(least->op, "direct: Winograd weights exceed the budget");
    }
  }
};

} // namespace
} // namespace stator::optimise
