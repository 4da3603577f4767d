// The two routines: descriptions become primitives.
#include "runtime/Kernels/OneDnn/Step.h"

using dnnl::memory;
using Tag = dnnl::memory::format_tag;

namespace stator::runtime::onednn {

static constexpr auto kF32 = memory::data_type::f32;

std::unique_ptr<Step> Step::createMatmul(Context &context, StepReader &reader) {
  if (reader.sizeCount() != 4)
    throw InvalidStep("matmul has " + std::to_string(reader.sizeCount()) + " sizes, expected batch, M, N and K");
  memory::dims sizes = reader.takeSizes(4);
  int64_t batch = sizes[0], m = sizes[1], n = sizes[2], k = sizes[3];
  bool rhsBatched = reader.number("rhs_batched") != 0, transposed = reader.number("transpose_rhs") != 0;
  bool hasBias = reader.number("bias") != 0;

  // One right-hand side for all batches: they are rows of one larger product, which oneDNN runs faster.
  if (!rhsBatched) {
    m *= batch;
    batch = 1;
  }
  bool flat = batch == 1;
  memory::dims lhsDims = {m, k}, rhsDims = {k, n}, resultDims = {m, n}, biasDims = {1, n};
  if (!flat) {
    for (memory::dims *dims : {&lhsDims, &rhsDims, &resultDims})
      dims->insert(dims->begin(), batch);
    biasDims = {1, 1, n};
  }
  Tag plainTag = flat ? Tag::ab : Tag::abc, rhsTag = !transposed ? plainTag : flat ? Tag::ba : Tag::acb;
  reader.requireBuffer(0, lhsDims);
  reader.requireBuffer(1, rhsDims);
  memory::desc lhs(lhsDims, kF32, plainTag), rhs(rhsDims, kF32, rhsTag), result(resultDims, kF32, plainTag), bias(biasDims, kF32, plainTag);
  const void *constant = reader.constant(1);
  memory::desc wanted = constant ? memory::desc(rhsDims, kF32, Tag::any) : rhs;

  std::unique_ptr<Step> step(new Step(context));
  size_t next = 2;
  if (hasBias) {
    reader.requireBuffer(next, {n});
    step->bind(DNNL_ARG_BIAS, next++, bias);
  }
  dnnl::primitive_attr attributes = step->attributes(reader, resultDims, flat ? 1 : 2, plainTag, next);
  reader.requireBuffer(next, resultDims);
  auto description = hasBias ? dnnl::matmul::primitive_desc({lhs, wanted, bias, result}, attributes, context.engine)
                             : dnnl::matmul::primitive_desc({lhs, wanted, result}, attributes, context.engine);
  step->bind(DNNL_ARG_SRC, 0, lhs);
  step->bindWeights(1, rhs, description.weights_desc(), constant);
  step->bind(DNNL_ARG_DST, next, result);
  step->primitive = dnnl::matmul(description);
  step->finish(description);
  return step;
}

// Plain layouts by number of spatial axes, 1 to 3.
static constexpr Tag kChannelsFirst[] = {Tag::ncw, Tag::nchw, Tag::ncdhw};
static constexpr Tag kChannelsLast[] = {Tag::nwc, Tag::nhwc, Tag::ndhwc};
static constexpr Tag kFilter[] = {Tag::oiw, Tag::oihw, Tag::oidhw};
static constexpr Tag kGroupedFilter[] = {Tag::goiw, Tag::goihw, Tag::goidhw};

// oneDNN names dimensions in the order N, C, spatial, whatever the layout.
static memory::dims logicalDims(memory::dims stored, bool channelsLast) {
  if (channelsLast) {
    int64_t channels = stored.back();
    stored.pop_back();
    stored.insert(stored.begin() + 1, channels);
  }
  return stored;
}

static memory::dims spatialOption(const StepReader &reader, const char *name, size_t axes) {
  std::span<const int64_t> values = reader.list(name);
  if (values.size() != axes)
    throw InvalidStep("option `" + std::string(name) + "` has " + std::to_string(values.size()) + " numbers, expected " +
                      std::to_string(axes));
  return memory::dims(values.begin(), values.end());
}

std::unique_ptr<Step> Step::createConvolution(Context &context, StepReader &reader) {
  if (reader.sizeCount() % 3 || reader.sizeCount() < 9 || reader.sizeCount() > 15)
    throw InvalidStep("convolution has " + std::to_string(reader.sizeCount()) + " sizes, expected those of input, filter and result");
  size_t rank = reader.sizeCount() / 3, axes = rank - 2;
  bool channelsLast = reader.number("channels_last") != 0, hasBias = reader.number("bias") != 0;
  int64_t groups = reader.number("groups") > 1 ? reader.number("groups") : 1;
  memory::dims inputStored = reader.takeSizes(rank), filterStored = reader.takeSizes(rank), resultStored = reader.takeSizes(rank);
  reader.requireBuffer(0, inputStored);
  reader.requireBuffer(1, filterStored);
  memory::dims inputDims = logicalDims(inputStored, channelsLast), resultDims = logicalDims(resultStored, channelsLast);
  memory::dims filterDims = filterStored;
  if (groups > 1) {
    if (filterStored[0] % groups)
      throw InvalidStep(std::to_string(filterStored[0]) + " output channels do not divide into " + std::to_string(groups) + " groups");
    filterDims[0] /= groups;
    filterDims.insert(filterDims.begin(), groups);
  }
  Tag tag = (channelsLast ? kChannelsLast : kChannelsFirst)[axes - 1];
  Tag filterTag = (groups > 1 ? kGroupedFilter : kFilter)[axes - 1];
  memory::dims strides = spatialOption(reader, "strides", axes), dilations = spatialOption(reader, "dilations", axes);
  memory::dims padLow = spatialOption(reader, "pad_low", axes), padHigh = spatialOption(reader, "pad_high", axes);
  for (int64_t &dilation : dilations)
    --dilation; // oneDNN counts the skipped elements.

  memory::desc input(inputDims, kF32, tag), filter(filterDims, kF32, filterTag), result(resultDims, kF32, tag);
  memory::desc bias({filterStored[0]}, kF32, Tag::x);
  const void *constant = reader.constant(1);
  memory::desc wanted = constant ? memory::desc(filterDims, kF32, Tag::any) : filter;

  std::unique_ptr<Step> step(new Step(context));
  size_t next = 2;
  if (hasBias) {
    reader.requireBuffer(next, {filterStored[0]});
    step->bind(DNNL_ARG_BIAS, next++, bias);
  }
  dnnl::primitive_attr attributes = step->attributes(reader, resultDims, 1, tag, next);
  reader.requireBuffer(next, resultDims);
  constexpr auto kind = dnnl::prop_kind::forward_inference;
  constexpr auto algorithm = dnnl::algorithm::convolution_direct;
  using Description = dnnl::convolution_forward::primitive_desc;
  auto description =
      hasBias ? Description({kind, algorithm, input, wanted, bias, result, strides, dilations, padLow, padHigh}, attributes, context.engine)
              : Description({kind, algorithm, input, wanted, result, strides, dilations, padLow, padHigh}, attributes, context.engine);
  step->bind(DNNL_ARG_SRC, 0, input);
  step->bindWeights(1, filter, description.weights_desc(), constant);
  step->bind(DNNL_ARG_DST, next, result);
  step->primitive = dnnl::convolution_forward(description);
  step->finish(description);
  return step;
}

} // namespace stator::runtime::onednn
