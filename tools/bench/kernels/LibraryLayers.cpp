//===- LibraryLayers.cpp - other layers of the benchmark by oneDNN ---------===//

#include "tools/bench/kernels/Cases.h"

#ifdef STATOR_BENCH_ONEDNN
#include "tools/bench/kernels/LibraryPrimitive.h"
#endif

namespace stator::bench {

#ifdef STATOR_BENCH_ONEDNN

using namespace dnnl;

static constexpr auto f32 = memory::data_type::f32;
using Tag = memory::format_tag;

LibraryMaker libraryRecurrent(int64_t gates, int64_t steps, int64_t batch, int64_t hidden) {
  return libraryCall([=](Primitive &primitive, int) {
    const bool isLstm = gates == 4;
    memory::desc x({steps, batch, hidden}, f32, Tag::tnc), y({steps, batch, hidden}, f32, Tag::tnc);
    memory::desc h({1, 1, batch, hidden}, f32, Tag::ldnc), w({1, 1, hidden, gates, hidden}, f32, Tag::any);
    // The GRU that applies its reset gate after the product has a bias more.
    memory::desc bias({1, 1, isLstm ? gates : gates + 1, hidden}, f32, Tag::ldgo);
    const auto kind = prop_kind::forward_inference;
    const auto direction = rnn_direction::unidirectional_left2right;
    memory::desc wLayer, wIteration;
    if (isLstm) {
      lstm_forward::primitive_desc descriptor(lstm_forward::desc(kind, direction, x, h, h, w, w, bias, y, h, h), primitive.device);
      primitive.operation = lstm_forward(descriptor);
      wLayer = descriptor.weights_layer_desc(), wIteration = descriptor.weights_iter_desc();
      primitive.add(DNNL_ARG_SRC_ITER_C, h);
      primitive.add(DNNL_ARG_DST_ITER_C, h);
    } else {
      lbr_gru_forward::primitive_desc descriptor(lbr_gru_forward::desc(kind, direction, x, h, w, w, bias, y, h), primitive.device);
      primitive.operation = lbr_gru_forward(descriptor);
      wLayer = descriptor.weights_layer_desc(), wIteration = descriptor.weights_iter_desc();
    }
    primitive.add(DNNL_ARG_SRC_LAYER, x);
    primitive.add(DNNL_ARG_SRC_ITER, h);
    primitive.add(DNNL_ARG_WEIGHTS_LAYER, wLayer);
    primitive.add(DNNL_ARG_WEIGHTS_ITER, wIteration);
    primitive.weights.clear();
    primitive.add(DNNL_ARG_BIAS, bias);
    primitive.add(DNNL_ARG_DST_LAYER, y);
    primitive.add(DNNL_ARG_DST_ITER, h);
  });
}

LibraryMaker libraryPool(bool isMax, int64_t batch, int64_t size, int64_t channels, int64_t window, int64_t stride, int64_t pad) {
  return libraryCall([=](Primitive &primitive, int) {
    int64_t outputs = (size + 2 * pad - window) / stride + 1;
    memory::desc x({batch, channels, size, size}, f32, Tag::nhwc), y({batch, channels, outputs, outputs}, f32, Tag::nhwc);
    const memory::dims kernel = {window, window}, strides = {stride, stride}, padding = {pad, pad};
    const auto kind = isMax ? algorithm::pooling_max : algorithm::pooling_avg_exclude_padding;
    pooling_forward::primitive_desc descriptor(
        pooling_forward::desc(prop_kind::forward_inference, kind, x, y, strides, kernel, padding, padding), primitive.device);
    primitive.operation = pooling_forward(descriptor);
    primitive.add(DNNL_ARG_SRC, x);
    primitive.add(DNNL_ARG_DST, y);
  });
}

LibraryMaker librarySoftmax(int64_t rows, int64_t width) {
  return libraryCall([=](Primitive &primitive, int) {
    memory::desc x({rows, width}, f32, Tag::ab);
    softmax_forward::primitive_desc descriptor(softmax_forward::desc(prop_kind::forward_inference, x, 1), primitive.device);
    primitive.operation = softmax_forward(descriptor);
    primitive.add(DNNL_ARG_SRC, x);
    primitive.add(DNNL_ARG_DST, x);
  });
}

LibraryMaker libraryLayerNorm(int64_t rows, int64_t width) {
  return libraryCall([=](Primitive &primitive, int) {
    memory::desc x({rows, width}, f32, Tag::ab), scale({width}, f32, Tag::a);
    const auto flags = normalization_flags::use_scale | normalization_flags::use_shift;
    layer_normalization_forward::primitive_desc descriptor(layer_normalization_forward::desc(prop_kind::forward_inference, x, 1e-5f, flags),
                                                           primitive.device);
    primitive.operation = layer_normalization_forward(descriptor);
    primitive.add(DNNL_ARG_SRC, x);
    primitive.add(DNNL_ARG_SCALE, scale);
    primitive.add(DNNL_ARG_SHIFT, scale);
    primitive.add(DNNL_ARG_DST, x);
  });
}

LibraryMaker libraryTranspose(int64_t rows, int64_t width) {
  return libraryCall([=](Primitive &primitive, int) {
    memory::desc x({rows, width}, f32, Tag::ab), y({rows, width}, f32, Tag::ba);
    primitive.operation = reorder(reorder::primitive_desc(primitive.device, x, primitive.device, y));
    primitive.add(DNNL_ARG_FROM, x);
    primitive.add(DNNL_ARG_TO, y);
  });
}

#else

LibraryMaker libraryRecurrent(int64_t, int64_t, int64_t, int64_t) { return {}; }
LibraryMaker libraryPool(bool, int64_t, int64_t, int64_t, int64_t, int64_t, int64_t) { return {}; }
LibraryMaker librarySoftmax(int64_t, int64_t) { return {}; }
LibraryMaker libraryLayerNorm(int64_t, int64_t) { return {}; }
LibraryMaker libraryTranspose(int64_t, int64_t) { return {}; }

#endif

} // namespace stator::bench
