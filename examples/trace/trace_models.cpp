// Writes three models as C++, without any model file, and compiles each to one artifact: a perceptron for vectors, a small
// convolutional network for images, and a running mean that remembers what it has seen. The weights are made up; a real program would
// read them from somewhere.
//
//   trace-models FOLDER          writes FOLDER/mlp.stator, FOLDER/cnn.stator and FOLDER/mean.stator
#include "stator/Compiler.h"
#include "stator/Trace.h"

#include <cmath>
#include <iostream>
#include <string>
#include <vector>

namespace fn = stator::trace::fn;
using stator::ElementType;
using stator::trace::Builder;
using stator::trace::Dim;
using stator::trace::Ints;
using stator::trace::Tensor;

namespace {

/// A weight of this shape: small numbers that differ.
Tensor weight(Builder &builder, const std::string &name, const Ints &dims) {
  int64_t count = 1, fanIn = 1;
  for (size_t axis = 0; axis < dims.size(); ++axis) {
    count *= dims[axis];
    fanIn *= axis > 0 ? dims[axis] : 1;
  }
  std::vector<float> values(static_cast<size_t>(count));
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<float>(std::sin(1.7 * static_cast<double>(i) + 0.3) / std::sqrt(static_cast<double>(fanIn)));
  return builder.parameter(name, ElementType::F32, dims, values.data(), values.size() * sizeof(float));
}

/// Three dense layers. The number of rows is a symbol: one artifact serves every batch from 1 to 256.
void traceMlp(Builder &builder) {
  Dim batch = builder.symbol("batch", 1, 256);
  Tensor x = builder.input("x", ElementType::F32, {batch, 64});
  Tensor hidden = fn::gelu(fn::linear(x, weight(builder, "fc1.weight", {128, 64}), weight(builder, "fc1.bias", {128})));
  hidden = fn::layerNorm(hidden, weight(builder, "norm.weight", {128}), weight(builder, "norm.bias", {128}));
  hidden = fn::relu(fn::linear(hidden, weight(builder, "fc2.weight", {128, 128}), weight(builder, "fc2.bias", {128})));
  Tensor logits = fn::linear(hidden, weight(builder, "fc3.weight", {10, 128}), {});
  builder.output("probabilities", fn::softmax(logits));
}

/// Two convolutions with a residual connection, pooling, and a classifier. Batch, height and width are symbols.
void traceCnn(Builder &builder) {
  Dim batch = builder.symbol("batch", 1, 64), height = builder.symbol("height", 8, 512), width = builder.symbol("width", 8, 512);
  Tensor x = builder.input("image", ElementType::F32, {batch, 3, height, width});
  fn::ConvOptions same;
  same.autoPad = fn::AutoPad::SameUpper;
  Tensor y = fn::relu(fn::conv(x, weight(builder, "conv1.weight", {16, 3, 3, 3}), weight(builder, "conv1.bias", {16}), same));
  y = y + fn::relu(fn::conv(y, weight(builder, "conv2.weight", {16, 16, 3, 3}), weight(builder, "conv2.bias", {16}), same));
  fn::PoolOptions pool;
  pool.kernel = {2, 2};
  pool.strides = {2, 2};
  y = fn::flatten(fn::globalAvgPool(fn::maxPool(y, pool)));
  builder.output("logits", fn::linear(y, weight(builder, "fc.weight", {10, 16}), weight(builder, "fc.bias", {10})));
}

/// The mean of all rows so far. A session keeps the states `sum` and `count` from call to call; a second method, "forget", which has
/// neither inputs nor outputs, sets them back.
void traceMean(Builder &builder) {
  float zero[8] = {};
  int64_t none = 0;
  Tensor x = builder.input("x", ElementType::F32, {builder.symbol("rows", 1, 1024), 8});
  Tensor sum = builder.state("sum", ElementType::F32, {8}, zero, sizeof(zero));
  Tensor count = builder.state("count", ElementType::I64, {}, &none, sizeof(none));
  // What is set is there in the next call; `sum` and `count` themselves stay what they were at entry.
  Tensor newSum = sum + fn::reduce(x, fn::Reduction::Sum, {0}, /*keepDims=*/false), newCount = count + builder.fromDim(x.dim(0));
  builder.setState(sum, newSum);
  builder.setState(count, newCount);
  builder.output("mean", newSum / fn::cast(newCount, ElementType::F32));
  builder.finish();

  Builder forget(builder, "forget");
  forget.setState(forget.shared("sum"), fn::full(forget, ElementType::F32, {8}, 0));
  forget.setState(forget.shared("count"), forget.scalarInt(ElementType::I64, 0));
  if (!forget.finish().ok())
    builder.fail(forget.status().code(), forget.status().message());
}

bool compileModel(void (*trace)(Builder &), const std::string &path) {
  Builder builder; // one method, "forward"
  trace(builder);
  // Errors stay in the builder; compile() reports them, and checks the graph.
  stator::compiler::CompileOptions options;
  options.output = path;
  auto summary = stator::compiler::compile(builder, options);
  if (!summary.ok()) {
    std::cerr << "trace-models: " << path << ": " << summary.status().message() << "\n";
    return false;
  }
  std::cout << path << ": " << summary->artifactBytes << " bytes, " << summary->kernels << " kernels\n";
  return true;
}

} // namespace

int main(int argc, char **argv) {
  if (argc != 2) {
    std::cerr << "usage: trace-models FOLDER\n";
    return 2;
  }
  std::string folder = argv[1];
  bool isOk = compileModel(traceMlp, folder + "/mlp.stator") && compileModel(traceCnn, folder + "/cnn.stator") &&
              compileModel(traceMean, folder + "/mean.stator");
  return isOk ? 0 : 1;
}
