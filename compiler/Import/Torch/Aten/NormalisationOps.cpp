// Normalisations. In training mode batch norm normalises by the statistics of the batch and moves the running ones towards them: those
// are written into the buffers, which makes them state of the compiled model.
#include "compiler/Import/Torch/Aten/Compute.h"

#include <limits>

namespace stator::torch {

using fn::Reduction;
using trace::Dims;
using trace::Ints;
using trace::Tensor;

namespace {

/// Arguments of the batch norms, which come in several orders.
struct BatchNormArguments {
  Tensor weight, bias;
  TensorRef mean, variance; // running statistics; null when there are none
  bool isTraining = false;
  Tensor momentum; // rank 0
  double epsilon = 0;
};

struct BatchNorm {
  Tensor result, mean, inverse;        // of the batch, in training
  Tensor runningMean, runningVariance; // afterwards
};

Tensor filled(OpCall &op, const Tensor &like, const trace::Dim &size, double value) {
  return fn::full(op.builder(), like.type(), {size}, value);
}

Tensor inverseDeviation(const Tensor &variance, double epsilon) { return fn::rsqrt(plus(variance, epsilon)); }

/// old + (batch - old) * momentum, in the type of the buffer.
Tensor moved(const Tensor &old, const Tensor &batch, const Tensor &momentum) {
  ElementType type = batch.type();
  Tensor factor = fn::cast(momentum, type), rest = fn::sub(fn::scalarLike(factor, 1), factor);
  return fn::cast(fn::add(fn::mul(fn::cast(old, type), rest), fn::mul(batch, factor)), old.type());
}

/// x in wide floats, with the channels on axis 1.
BatchNorm normaliseBatch(OpCall &op, const Tensor &x, const BatchNormArguments &arguments) {
  BatchNorm norm;
  if (!op.ok())
    return norm;
  if (x.rank() < 2) {
    op.invalid("the input has " + std::to_string(x.rank()) + " dimensions, expected at least 2");
    return norm;
  }
  auto read = [&](const TensorRef &ref) { return ref ? fn::cast(op.context().read(ref), x.type()) : Tensor(); };
  Tensor mean = read(arguments.mean), variance = read(arguments.variance);
  if (arguments.isTraining) {
    Ints axes = axisRange(0, x.rank());
    axes.erase(axes.begin() + 1);
    Tensor centre = fn::reduce(x, Reduction::Mean, axes, /*keepDims=*/true);
    Tensor squares = fn::reduce(fn::square(fn::sub(x, centre)), Reduction::Sum, axes, /*keepDims=*/false);
    Tensor count = countOf(x, axes, x.type()), batchMean = fn::reshape(centre, squares.dims()), batchVariance = fn::div(squares, count);
    if (mean)
      norm.runningMean = moved(op.context().read(arguments.mean), batchMean, arguments.momentum);
    if (variance) // The running variance is the unbiased one.
      norm.runningVariance = moved(op.context().read(arguments.variance), fn::div(squares, plus(count, -1)), arguments.momentum);
    mean = batchMean;
    variance = batchVariance;
    norm.mean = mean;
    norm.inverse = inverseDeviation(variance, arguments.epsilon);
  } else if (!mean || !variance) {
    op.invalid("there are no running statistics outside of training");
    return norm;
  }
  Tensor scale = arguments.weight ? fn::cast(arguments.weight, x.type()) : filled(op, x, x.dim(1), 1);
  Tensor shift = arguments.bias ? fn::cast(arguments.bias, x.type()) : filled(op, x, x.dim(1), 0);
  norm.result = fn::batchNorm(x, scale, shift, mean, variance, arguments.epsilon);
  return norm;
}

void writeRunning(OpCall &op, const BatchNormArguments &arguments, const BatchNorm &norm) {
  if (op.ok() && norm.runningMean)
    op.context().write(arguments.mean, norm.runningMean);
  if (op.ok() && norm.runningVariance)
    op.context().write(arguments.variance, norm.runningVariance);
}

TensorRef refOrNull(OpCall &op, size_t index) { return op.isNone(index) ? nullptr : op.ref(index); }

enum class BatchNormOutputs { One, Three, Four, Five, Six };

/// What native forms return besides the result: the statistics of the batch, empty outside of training; and room for cuDNN.
Value batchNormResults(OpCall &op, const Tensor &result, const BatchNorm &norm, ElementType type, BatchNormOutputs outputs) {
  if (!op.ok())
    return Value::poison();
  Tensor y = fn::cast(result, type);
  if (outputs == BatchNormOutputs::One)
    return op.result(y);
  Tensor none = fn::full(op.builder(), ElementType::F32, {0}, 0);
  trace::Tensors all{y, norm.mean ? norm.mean : none, norm.inverse ? norm.inverse : none};
  if (outputs == BatchNormOutputs::Four || outputs == BatchNormOutputs::Six)
    all.push_back(fn::full(op.builder(), ElementType::U8, {0}, 0));
  if (outputs == BatchNormOutputs::Five || outputs == BatchNormOutputs::Six) {
    all.push_back(norm.runningMean);
    all.push_back(norm.runningVariance);
  }
  return op.results(all);
}

/// Positions of the arguments after (input, weight, bias); kAbsent where an operator has none.
constexpr size_t kAbsent = SIZE_MAX;
struct Layout {
  size_t mean, variance, training, momentum, epsilon;
};

Value batchNormWith(OpCall &op, const Layout &layout, bool isTraining, BatchNormOutputs outputs) {
  Operands x = promoted(op, {0}, Promotion::ToFloat, Precision::Wide);
  BatchNormArguments arguments;
  arguments.weight = op.tensor(1);
  arguments.bias = op.tensor(2);
  if (layout.mean != kAbsent) {
    arguments.mean = refOrNull(op, layout.mean);
    arguments.variance = refOrNull(op, layout.variance);
  }
  arguments.isTraining = layout.training != kAbsent ? op.flag(layout.training) : isTraining;
  arguments.momentum = op.tensor(layout.momentum);
  arguments.epsilon = op.number(layout.epsilon);
  BatchNorm norm = normaliseBatch(op, x[0], arguments);
  if (outputs == BatchNormOutputs::Five || outputs == BatchNormOutputs::Six) {
    if (op.ok() && !arguments.isTraining) { // Functional forms return what they were given.
      norm.runningMean = op.context().read(arguments.mean);
      norm.runningVariance = op.context().read(arguments.variance);
    }
  } else {
    writeRunning(op, arguments, norm);
  }
  return batchNormResults(op, norm.result, norm, x.type, outputs);
}

constexpr Layout kFull{3, 4, 5, 6, 7}, kWithoutStatistics{kAbsent, kAbsent, 3, 4, 5}, kWithoutTraining{3, 4, kAbsent, 5, 6};

Value batchNorm(OpCall &op) { return batchNormWith(op, kFull, false, BatchNormOutputs::One); }
Value nativeBatchNorm(OpCall &op) { return batchNormWith(op, kFull, false, BatchNormOutputs::Three); }
Value functionalBatchNorm(OpCall &op) { return batchNormWith(op, kFull, false, BatchNormOutputs::Five); }
Value cudnnBatchNorm(OpCall &op) { return batchNormWith(op, kFull, false, BatchNormOutputs::Four); }
Value batchNormWithoutStatistics(OpCall &op) { return batchNormWith(op, kWithoutStatistics, false, BatchNormOutputs::Three); }
Value batchNormInEvaluation(OpCall &op) { return batchNormWith(op, kWithoutTraining, false, BatchNormOutputs::Three); }
Value batchNormWithUpdate(OpCall &op) { return batchNormWith(op, kWithoutTraining, true, BatchNormOutputs::Four); }
Value batchNormNoUpdate(OpCall &op) { return batchNormWith(op, kWithoutTraining, false, BatchNormOutputs::Four); }
Value batchNormWithUpdateFunctional(OpCall &op) { return batchNormWith(op, kWithoutTraining, true, BatchNormOutputs::Six); }

/// instance_norm(input, weight, bias, running_mean, running_var, use_input_stats, momentum, eps, cudnn_enabled): the statistics of each
/// sample by itself; the running ones move towards the mean over the samples.
Value instanceNorm(OpCall &op) {
  if (!op.flag(5))
    return batchNorm(op);
  Operands x = promoted(op, {0}, Promotion::ToFloat, Precision::Wide);
  Tensor weight = op.tensor(1), bias = op.tensor(2), momentum = op.tensor(6);
  TensorRef runningMean = refOrNull(op, 3), runningVariance = refOrNull(op, 4);
  double epsilon = op.number(7);
  if (!op.ok())
    return Value::poison();
  if (x[0].rank() < 3)
    return op.invalid("the input has " + std::to_string(x[0].rank()) + " dimensions, expected at least 3");
  if (runningMean && runningVariance) {
    Ints axes = axisRange(2, x[0].rank());
    Tensor centre = fn::reduce(x[0], Reduction::Mean, axes, /*keepDims=*/true);
    Tensor squares = fn::reduce(fn::square(fn::sub(x[0], centre)), Reduction::Sum, axes, /*keepDims=*/false);
    Tensor variance = fn::div(squares, plus(countOf(x[0], axes, x[0].type()), -1));
    Tensor mean = fn::reduce(x[0], Reduction::Mean, axes, /*keepDims=*/false);
    auto overSamples = [](const Tensor &y) { return fn::reduce(y, Reduction::Mean, Ints{0}, false); };
    op.context().write(runningMean, moved(op.context().read(runningMean), overSamples(mean), momentum));
    op.context().write(runningVariance, moved(op.context().read(runningVariance), overSamples(variance), momentum));
  }
  return x.result(op, fn::instanceNorm(x[0], weight, bias, epsilon));
}

/// The first axis of the normalised shape, the last argument's sizes.
int64_t normalisedAxis(OpCall &op, const Tensor &x, size_t index) {
  size_t count = op.dims(index).size();
  if (op.ok() && (count == 0 || static_cast<int64_t>(count) > x.rank()))
    op.invalid("a normalised shape of " + std::to_string(count) + " dimensions for a tensor of rank " + std::to_string(x.rank()));
  return x.rank() - static_cast<int64_t>(count);
}

/// layer_norm(input, normalized_shape, weight, bias, eps, ...)
Value layerNorm(OpCall &op) {
  Operands x = promoted(op, {0}, Promotion::ToFloat, Precision::Wide);
  int64_t axis = normalisedAxis(op, x[0], 1);
  double epsilon = op.number(4);
  return op.ok() ? x.result(op, fn::layerNorm(x[0], op.tensor(2), op.tensor(3), axis, epsilon)) : Value::poison();
}

struct Statistics {
  Tensor mean, inverse;
};

Statistics statisticsOver(const Tensor &x, const Ints &axes, double epsilon, bool keepDims) {
  Tensor mean = fn::reduce(x, Reduction::Mean, axes, /*keepDims=*/true);
  Tensor variance = fn::reduce(fn::square(fn::sub(x, mean)), Reduction::Mean, axes, keepDims);
  return {keepDims ? mean : fn::reshape(mean, variance.dims()), inverseDeviation(variance, epsilon)};
}

Value nativeLayerNorm(OpCall &op) {
  Operands x = promoted(op, {0}, Promotion::ToFloat, Precision::Wide);
  int64_t axis = normalisedAxis(op, x[0], 1);
  double epsilon = op.number(4);
  if (!op.ok())
    return Value::poison();
  Tensor y = fn::layerNorm(x[0], op.tensor(2), op.tensor(3), axis, epsilon);
  Statistics statistics = statisticsOver(x[0], axisRange(axis, x[0].rank()), epsilon, /*keepDims=*/true);
  return op.results({fn::cast(y, x.type), fn::cast(statistics.mean, x.type), fn::cast(statistics.inverse, x.type)});
}

/// group_norm(input, num_groups, weight, bias, eps, ...)
Value groupNorm(OpCall &op) {
  Operands x = promoted(op, {0}, Promotion::ToFloat, Precision::Wide);
  int64_t groups = op.integer(1);
  double epsilon = op.number(4);
  return op.ok() ? x.result(op, fn::groupNorm(x[0], groups, op.tensor(2), op.tensor(3), epsilon)) : Value::poison();
}

/// native_group_norm(input, weight, bias, N, C, HxW, group, eps)
Value nativeGroupNorm(OpCall &op) {
  Operands x = promoted(op, {0}, Promotion::ToFloat, Precision::Wide);
  trace::Dim batch = op.dim(3), channels = op.dim(4), area = op.dim(5);
  int64_t groups = op.integer(6);
  double epsilon = op.number(7);
  if (!op.ok() || groups < 1)
    return op.ok() ? op.invalid(std::to_string(groups) + " groups") : Value::poison();
  Tensor y = fn::groupNorm(x[0], groups, op.tensor(1), op.tensor(2), epsilon);
  Tensor rows = fn::reshape(x[0], {batch, groups, floorDiv(channels * area, groups)});
  Statistics statistics = statisticsOver(rows, {2}, epsilon, /*keepDims=*/false);
  return op.results({fn::cast(y, x.type), fn::cast(statistics.mean, x.type), fn::cast(statistics.inverse, x.type)});
}

double machineEpsilon(ElementType type) {
  switch (type) {
  case ElementType::F64:
    return std::numeric_limits<double>::epsilon();
  case ElementType::F16:
    return 0.0009765625;
  case ElementType::BF16:
    return 0.0078125;
  default:
    return std::numeric_limits<float>::epsilon();
  }
}

/// rms_norm(input, normalized_shape, weight, eps)
template <bool isFused>
Value rmsNorm(OpCall &op) {
  Operands x = promoted(op, {0}, Promotion::ToFloat, Precision::Wide);
  int64_t axis = normalisedAxis(op, x[0], 1);
  double epsilon = op.isNone(3) ? machineEpsilon(x.type) : op.number(3);
  if (!op.ok())
    return Value::poison();
  Tensor y = fn::cast(fn::rmsNorm(x[0], op.tensor(2), axis, epsilon), x.type);
  if (!isFused)
    return op.result(y);
  Tensor inverse = inverseDeviation(fn::reduce(fn::square(x[0]), Reduction::Mean, axisRange(axis, x[0].rank())), epsilon);
  return op.results({y, inverse});
}

/// _weight_norm(v, g, dim): v scaled so that its norm over all dimensions but `dim` is g; dim -1: over all.
template <bool withNorm>
Value weightNorm(OpCall &op) {
  Operands x = promoted(op, {0, 1}, Promotion::ToFloat, Precision::Wide);
  int64_t dim = op.integer(2);
  if (!op.ok())
    return Value::poison();
  Ints axes = axisRange(0, x[0].rank());
  if (dim != -1) {
    int64_t axis = op.axis(2, x[0].rank());
    if (!op.ok())
      return Value::poison();
    axes.erase(axes.begin() + axis);
  }
  Tensor norm = axes.empty() ? fn::abs(x[0]) : fn::reduce(x[0], Reduction::L2, axes, /*keepDims=*/true);
  Tensor weight = fn::cast(fn::mul(x[0], fn::div(x[1], norm)), x.type);
  return withNorm ? op.results({weight, norm}) : op.result(weight);
}

} // namespace

std::span<const OpEntry> normalisationOps() {
  static constexpr OpEntry entries[] = {
      {"batch_norm(Tensor input, Tensor? weight, Tensor? bias, Tensor? running_mean, Tensor? running_var, bool training, float momentum, "
       "float eps, bool cudnn_enabled) -> Tensor",
       batchNorm},
      {"native_batch_norm(Tensor input, Tensor? weight, Tensor? bias, Tensor? running_mean, Tensor? running_var, bool training, "
       "float momentum, float eps) -> (Tensor, Tensor, Tensor)",
       nativeBatchNorm},
      {"_native_batch_norm_legit(Tensor input, Tensor? weight, Tensor? bias, Tensor(a!) running_mean, Tensor(b!) running_var, bool "
       "training, "
       "float momentum, float eps) -> (Tensor, Tensor, Tensor)",
       nativeBatchNorm},
      {"_native_batch_norm_legit.no_stats(Tensor input, Tensor? weight, Tensor? bias, bool training, float momentum, float eps) -> "
       "(Tensor, Tensor, Tensor)",
       batchNormWithoutStatistics},
      {"_native_batch_norm_legit_functional(Tensor input, Tensor? weight, Tensor? bias, Tensor running_mean, Tensor running_var, "
       "bool training, float momentum, float eps) -> (Tensor, Tensor, Tensor, Tensor running_mean_out, Tensor running_var_out)",
       functionalBatchNorm},
      {"_native_batch_norm_legit_no_training(Tensor input, Tensor? weight, Tensor? bias, Tensor running_mean, Tensor running_var, "
       "float momentum, float eps) -> (Tensor, Tensor, Tensor)",
       batchNormInEvaluation},
      {"_batch_norm_with_update(Tensor input, Tensor? weight, Tensor? bias, Tensor(a!) running_mean, Tensor(b!) running_var, "
       "float momentum, float eps) -> (Tensor, Tensor, Tensor, Tensor)",
       batchNormWithUpdate},
      {"_batch_norm_with_update_functional(Tensor input, Tensor? weight, Tensor? bias, Tensor running_mean, Tensor running_var, "
       "float momentum, float eps) -> (Tensor, Tensor, Tensor, Tensor, Tensor running_mean_out, Tensor running_var_out)",
       batchNormWithUpdateFunctional},
      {"_batch_norm_no_update(Tensor input, Tensor? weight, Tensor? bias, Tensor? running_mean, Tensor? running_var, float momentum, "
       "float eps) -> (Tensor, Tensor, Tensor, Tensor)",
       batchNormNoUpdate},
      {"cudnn_batch_norm(Tensor input, Tensor weight, Tensor? bias, Tensor? running_mean, Tensor? running_var, bool training, "
       "float exponential_average_factor, float epsilon) -> (Tensor, Tensor, Tensor, Tensor)",
       cudnnBatchNorm},
      {"instance_norm(Tensor input, Tensor? weight, Tensor? bias, Tensor? running_mean, Tensor? running_var, bool use_input_stats, "
       "float momentum, float eps, bool cudnn_enabled) -> Tensor",
       instanceNorm},
      {"layer_norm(Tensor input, SymInt[] normalized_shape, Tensor? weight=None, Tensor? bias=None, float eps=1e-05, "
       "bool cudnn_enable=True) -> Tensor",
       layerNorm},
      {"native_layer_norm(Tensor input, SymInt[] normalized_shape, Tensor? weight, Tensor? bias, float eps) -> (Tensor, Tensor, Tensor)",
       nativeLayerNorm},
      {"group_norm(Tensor input, int num_groups, Tensor? weight=None, Tensor? bias=None, float eps=1e-05, bool cudnn_enabled=True) -> "
       "Tensor",
       groupNorm},
      {"native_group_norm(Tensor input, Tensor? weight, Tensor? bias, SymInt N, SymInt C, SymInt HxW, int group, float eps) -> "
       "(Tensor, Tensor, Tensor)",
       nativeGroupNorm},
      {"rms_norm(Tensor input, SymInt[] normalized_shape, Tensor? weight=None, float? eps=None) -> Tensor", rmsNorm<false>},
      {"_fused_rms_norm(Tensor input, int[] normalized_shape, Tensor? weight, float? eps) -> (Tensor, Tensor)", rmsNorm<true>},
      {"_weight_norm(Tensor v, Tensor g, int dim=0) -> Tensor", weightNorm<false>},
      {"_weight_norm_interface(Tensor v, Tensor g, int dim=0) -> (Tensor, Tensor)", weightNorm<true>},
  };
  return entries;
}

} // namespace stator::torch
