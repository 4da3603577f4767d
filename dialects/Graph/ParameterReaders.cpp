// See ParameterReaders.h.
#include "dialects/Graph/ParameterReaders.h"

#include "dialects/Graph/NumberFormats.h"
#include "dialects/Graph/ParameterStore.h"

using namespace mlir;

namespace stator::graph {

ParameterReader::ParameterReader(RankedTensorType type)
    : tensorType(type), count(*staticElementCount(type)), bytes(byteSize(elementTypeOf(type.getElementType()))) {}

namespace {

/// Elements are copied in pieces of this many where a reader computes with them.
constexpr int64_t kBlock = 256;

template <typename T>
void copyStrided(const char *from, int64_t stride, int64_t n, char *out) {
  for (int64_t i = 0; i < n; ++i)
    std::memcpy(out + i * sizeof(T), from + i * stride * int64_t(sizeof(T)), sizeof(T));
}

class StoredReader : public ParameterReader {
public:
  StoredReader(RankedTensorType type, const char *data) : ParameterReader(type), data(data) {}

  void read(int64_t first, int64_t stride, int64_t n, char *out) const override {
    const char *from = data + first * elementBytes();
    if (stride == 1) {
      std::memcpy(out, from, size_t(n) * elementBytes());
      return;
    }
    switch (elementBytes()) {
    case 1:
      return copyStrided<uint8_t>(from, stride, n, out);
    case 2:
      return copyStrided<uint16_t>(from, stride, n, out);
    case 4:
      return copyStrided<uint32_t>(from, stride, n, out);
    default:
      return copyStrided<uint64_t>(from, stride, n, out);
    }
  }

private:
  const char *data;
};

class ReshapedReader : public ParameterReader {
public:
  ReshapedReader(RankedTensorType type, std::unique_ptr<ParameterReader> source) : ParameterReader(type), source(std::move(source)) {}
  void read(int64_t first, int64_t stride, int64_t n, char *out) const override { source->read(first, stride, n, out); }

private:
  std::unique_ptr<ParameterReader> source;
};

class RowReader : public ParameterReader {
public:
  RowReader(RankedTensorType type, std::unique_ptr<ParameterReader> source, std::function<SourceRow(int64_t)> rowOf)
      : ParameterReader(type), source(std::move(source)), rowOf(std::move(rowOf)), width(type.getRank() ? type.getShape().back() : 1) {}

  void read(int64_t first, int64_t stride, int64_t n, char *out) const override {
    while (n > 0) {
      int64_t column = first % width;
      int64_t taken = std::min(n, (width - column + stride - 1) / stride);
      SourceRow row = rowOf(first / width);
      int64_t present = column < row.count ? std::min(taken, (row.count - column + stride - 1) / stride) : 0;
      if (present)
        source->read(row.first + column * row.stride, row.stride * stride, present, out);
      std::memset(out + present * elementBytes(), 0, size_t(taken - present) * elementBytes());
      out += taken * elementBytes();
      first += taken * stride;
      n -= taken;
    }
  }

private:
  std::unique_ptr<ParameterReader> source;
  std::function<SourceRow(int64_t)> rowOf;
  int64_t width;
};

/// Strides of either sign, element by element: readers know steps upwards only.
class ElementReader : public ParameterReader {
public:
  ElementReader(RankedTensorType type, std::unique_ptr<ParameterReader> source, int64_t offset, ArrayRef<int64_t> strides)
      : ParameterReader(type), source(std::move(source)), offset(offset), strides(strides) {}

  void read(int64_t first, int64_t stride, int64_t n, char *out) const override {
    ArrayRef<int64_t> sizes = type().getShape();
    for (; n > 0; --n, first += stride, out += elementBytes()) {
      int64_t place = offset, rest = first;
      for (size_t axis = sizes.size(); axis-- > 0; rest /= sizes[axis])
        place += rest % sizes[axis] * strides[axis];
      source->read(place, 1, 1, out);
    }
  }

private:
  std::unique_ptr<ParameterReader> source;
  int64_t offset;
  SmallVector<int64_t> strides;
};

class ConvertedReader : public ParameterReader {
public:
  ConvertedReader(RankedTensorType type, std::unique_ptr<ParameterReader> source)
      : ParameterReader(type), source(std::move(source)), from(elementTypeOf(this->source->type().getElementType())),
        to(elementTypeOf(type.getElementType())) {}

  void read(int64_t first, int64_t stride, int64_t n, char *out) const override {
    char block[kBlock * 8];
    for (int64_t done = 0; done < n; done += kBlock) {
      int64_t taken = std::min(kBlock, n - done);
      source->read(first + done * stride, stride, taken, block);
      for (int64_t i = 0; i < taken; ++i)
        convertElement(from, block + i * byteSize(from), to, out + (done + i) * byteSize(to));
    }
  }

private:
  std::unique_ptr<ParameterReader> source;
  ElementType from, to;
};

class ScaledReader : public ParameterReader {
public:
  ScaledReader(RankedTensorType type, std::unique_ptr<ParameterReader> source, std::vector<double> scale, int64_t inner)
      : ParameterReader(type), source(std::move(source)), scale(std::move(scale)), inner(inner) {}

  void read(int64_t first, int64_t stride, int64_t n, char *out) const override {
    source->read(first, stride, n, out);
    ElementType element = elementTypeOf(type().getElementType());
    for (int64_t i = 0; i < n; ++i, out += elementBytes())
      storeDouble(element, out, loadDouble(element, out) * scale[(first + i * stride) / inner % int64_t(scale.size())]);
  }

private:
  std::unique_ptr<ParameterReader> source;
  std::vector<double> scale;
  int64_t inner;
};

/// The bytes from the first to the last element; nothing on overflow.
std::optional<int64_t> spannedBytes(RankedTensorType type, std::optional<ArrayRef<int64_t>> strides) {
  int64_t bytes = byteSize(elementTypeOf(type.getElementType()));
  if (!strides)
    return staticByteSize(type);
  if (*staticElementCount(type) == 0)
    return 0;
  int64_t last = 0, step = 0, total = 0;
  for (auto [size, stride] : llvm::zip_equal(type.getShape(), *strides))
    if (__builtin_mul_overflow(size - 1, stride, &step) || __builtin_add_overflow(last, step, &last))
      return std::nullopt;
  if (__builtin_add_overflow(last, 1, &last) || __builtin_mul_overflow(last, bytes, &total))
    return std::nullopt;
  return total;
}

/// The first byte of a stored parameter, or a diagnostic.
FailureOr<const char *> locate(ParameterOp parameter) {
  int source = int(*parameter.getSource());
  std::optional<std::span<const std::byte>> bytes = parametersOf(parameter.getContext()).find(source);
  if (!bytes)
    return parameter.emitOpError() << "has its bytes in source " << source << ", which is not loaded";
  int64_t available = bytes->size(), offset = *parameter.getOffset();
  std::optional<int64_t> needed = spannedBytes(parameter.tensorType(), parameter.getStrides());
  if (!needed || offset < 0 || offset > available || *needed > available - offset)
    return parameter.emitOpError() << "lies outside of its source of " << available << " bytes: " << (needed ? *needed : -1)
                                   << " bytes from offset " << offset << " on";
  return reinterpret_cast<const char *>(bytes->data()) + offset;
}

} // namespace

FailureOr<std::unique_ptr<ParameterReader>> openStored(ParameterOp parameter) {
  FailureOr<const char *> data = locate(parameter);
  if (failed(data))
    return failure();
  RankedTensorType type = parameter.tensorType();
  if (!parameter.getStrides())
    return std::unique_ptr<ParameterReader>(std::make_unique<StoredReader>(type, *data));
  // The elements as they lie, of which the parameter is a strided part; the reader of the whole is only asked for what exists.
  auto whole = std::make_unique<StoredReader>(type, *data);
  return openStrided(type, std::move(whole), 0, *parameter.getStrides());
}

std::optional<ArrayRef<char>> storedBytes(ParameterOp parameter) {
  if (parameter.getRecipe() || parameter.getStrides())
    return std::nullopt;
  std::optional<std::span<const std::byte>> bytes = parametersOf(parameter.getContext()).find(int(*parameter.getSource()));
  std::optional<int64_t> size = staticByteSize(parameter.tensorType());
  int64_t offset = *parameter.getOffset();
  if (!bytes || !size || offset < 0 || offset > int64_t(bytes->size()) || *size > int64_t(bytes->size()) - offset)
    return std::nullopt;
  return ArrayRef<char>(reinterpret_cast<const char *>(bytes->data()) + offset, size_t(*size));
}

std::unique_ptr<ParameterReader> openReshaped(RankedTensorType type, std::unique_ptr<ParameterReader> source) {
  return std::make_unique<ReshapedReader>(type, std::move(source));
}

std::unique_ptr<ParameterReader> openRows(RankedTensorType type, std::unique_ptr<ParameterReader> source,
                                          std::function<SourceRow(int64_t)> rowOf) {
  return std::make_unique<RowReader>(type, std::move(source), std::move(rowOf));
}

std::unique_ptr<ParameterReader> openStrided(RankedTensorType type, std::unique_ptr<ParameterReader> source, int64_t offset,
                                             ArrayRef<int64_t> strides) {
  if (strides.empty())
    return openRows(type, std::move(source), [=](int64_t) -> SourceRow { return {offset, 1, 1}; });
  if (llvm::any_of(strides, [](int64_t stride) { return stride < 0; }))
    return std::make_unique<ElementReader>(type, std::move(source), offset, strides);
  SmallVector<int64_t> sizes(type.getShape().drop_back()), outer(strides.drop_back());
  int64_t width = type.getShape().back(), step = strides.back();
  return openRows(type, std::move(source), [=](int64_t row) -> SourceRow {
    int64_t first = offset;
    for (size_t axis = sizes.size(); axis-- > 0; row /= sizes[axis])
      first += row % sizes[axis] * outer[axis];
    return {first, step, width};
  });
}

std::unique_ptr<ParameterReader> openConverted(RankedTensorType type, std::unique_ptr<ParameterReader> source) {
  return std::make_unique<ConvertedReader>(type, std::move(source));
}

std::unique_ptr<ParameterReader> openScaled(RankedTensorType type, std::unique_ptr<ParameterReader> source, const ParameterReader &scale,
                                            int64_t inner) {
  ElementType element = elementTypeOf(scale.type().getElementType());
  std::vector<char> bytes(scale.elementCount() * scale.elementBytes());
  if (!bytes.empty())
    scale.read(0, 1, scale.elementCount(), bytes.data());
  std::vector<double> factors;
  for (int64_t i = 0; i < scale.elementCount(); ++i)
    factors.push_back(loadDouble(element, bytes.data() + i * scale.elementBytes()));
  return std::make_unique<ScaledReader>(type, std::move(source), std::move(factors), inner);
}

namespace {

class JoinedReader : public ParameterReader {
public:
  JoinedReader(RankedTensorType type, std::unique_ptr<ParameterReader> first, std::unique_ptr<ParameterReader> second, int64_t firstRow,
               int64_t secondRow)
      : ParameterReader(type), sources{std::move(first), std::move(second)}, rows{firstRow, secondRow} {}

  void read(int64_t first, int64_t stride, int64_t n, char *out) const override {
    while (n > 0) {
      int64_t both = rows[0] + rows[1], outer = first / both, inside = first % both;
      int which = inside >= rows[0];
      int64_t start = which ? inside - rows[0] : inside;
      // As far as the run of this source goes.
      int64_t count = std::min(n, (rows[which] - start + stride - 1) / stride);
      sources[which]->read(outer * rows[which] + start, stride, count, out);
      first += count * stride;
      out += count * elementBytes();
      n -= count;
    }
  }

private:
  std::unique_ptr<ParameterReader> sources[2];
  int64_t rows[2];
};

} // namespace

std::unique_ptr<ParameterReader> openJoined(RankedTensorType type, std::unique_ptr<ParameterReader> first,
                                            std::unique_ptr<ParameterReader> second, int64_t firstRow, int64_t secondRow) {
  return std::make_unique<JoinedReader>(type, std::move(first), std::move(second), firstRow, secondRow);
}

} // namespace stator::graph
