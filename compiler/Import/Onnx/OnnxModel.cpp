//===- OnnxModel.cpp - reading the protobuf wire format of ONNX ------------===//
//
// protozero walks the bytes and throws on a malformed message; this file is
// the edge where that becomes a Status. Depth is bounded by a counter because
// graphs nest through attributes.
//
//===----------------------------------------------------------------------===//

#include "compiler/Import/Onnx/OnnxModel.h"

#include <protozero/pbf_message.hpp>
#include <protozero/pbf_reader.hpp>

#include <stdexcept>

namespace stator::onnx {

namespace {

using protozero::pbf_wire_type;

/// Each level of graphs is three messages deep (graph, node, attribute).
constexpr int maxGraphDepth = 64;

struct FormatError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// protozero takes it for granted that a field has the wire type that is asked for; a file may say otherwise.
class Reader : public protozero::pbf_reader {
public:
  using pbf_reader::pbf_reader;
  Reader(const pbf_reader &other) : pbf_reader(other) {}

  int64_t get_int64() { return need(pbf_wire_type::varint).pbf_reader::get_int64(); }
  int32_t get_int32() { return need(pbf_wire_type::varint).pbf_reader::get_int32(); }
  uint64_t get_uint64() { return need(pbf_wire_type::varint).pbf_reader::get_uint64(); }
  float get_float() { return need(pbf_wire_type::fixed32).pbf_reader::get_float(); }
  double get_double() { return need(pbf_wire_type::fixed64).pbf_reader::get_double(); }
  protozero::data_view get_view() { return need(pbf_wire_type::length_delimited).pbf_reader::get_view(); }
  Reader get_message() { return need(pbf_wire_type::length_delimited).pbf_reader::get_message(); }

private:
  Reader &need(pbf_wire_type type) {
    if (wire_type() != type)
      throw FormatError("not a well-formed ONNX file (field " + std::to_string(tag()) + " has a wrong wire type)");
    return *this;
  }
};

std::string_view viewOf(const protozero::data_view &data) { return {data.data(), data.size()}; }

class Parser {
public:
  Model model(Reader message) {
    Model result;
    bool hasGraph = false;
    while (message.next())
      switch (message.tag()) {
      case 1: result.irVersion = message.get_int64(); break;
      case 2: result.producerName = viewOf(message.get_view()); break;
      case 3: result.producerVersion = viewOf(message.get_view()); break;
      case 7:
        if (hasGraph)
          throw FormatError("the model has two graphs");
        hasGraph = true;
        graph(message.get_message(), result.graph, 0);
        break;
      case 8: result.operatorSets.push_back(operatorSet(message.get_message())); break;
      case 25: result.functions.push_back(function(message.get_message())); break;
      default: message.skip();
      }
    if (!hasGraph)
      throw FormatError("the model has no graph");
    return result;
  }

private:
  OperatorSet operatorSet(Reader message) {
    OperatorSet result;
    while (message.next())
      switch (message.tag()) {
      case 1: result.domain = viewOf(message.get_view()); break;
      case 2: result.version = message.get_int64(); break;
      default: message.skip();
      }
    return result;
  }

  void graph(Reader message, Graph &result, int depth) {
    if (depth > maxGraphDepth)
      throw FormatError("graphs are nested more than " + std::to_string(maxGraphDepth) + " deep");
    while (message.next())
      switch (message.tag()) {
      case 1: result.nodes.push_back(node(message.get_message(), depth)); break;
      case 2: result.name = viewOf(message.get_view()); break;
      case 5: result.initializers.push_back(tensor(message.get_message())); break;
      case 11: result.inputs.push_back(valueInfo(message.get_message())); break;
      case 12: result.outputs.push_back(valueInfo(message.get_message())); break;
      case 15: result.sparseInitializers.push_back(sparseName(message.get_message())); break;
      default: message.skip();
      }
  }

  Function function(Reader message) {
    Function result;
    while (message.next())
      switch (message.tag()) {
      case 1: result.name = viewOf(message.get_view()); break;
      case 4: result.inputs.push_back(viewOf(message.get_view())); break;
      case 5: result.outputs.push_back(viewOf(message.get_view())); break;
      case 6: result.attributes.push_back(viewOf(message.get_view())); break;
      case 7: result.nodes.push_back(node(message.get_message(), 0)); break;
      case 9: result.operatorSets.push_back(operatorSet(message.get_message())); break;
      case 10: result.domain = viewOf(message.get_view()); break;
      case 11: result.attributeDefaults.push_back(attribute(message.get_message(), 0)); break;
      case 13: result.overload = viewOf(message.get_view()); break;
      default: message.skip();
      }
    return result;
  }

  Node node(Reader message, int depth) {
    Node result;
    while (message.next())
      switch (message.tag()) {
      case 1: result.inputs.push_back(viewOf(message.get_view())); break;
      case 2: result.outputs.push_back(viewOf(message.get_view())); break;
      case 3: result.name = viewOf(message.get_view()); break;
      case 4: result.opType = viewOf(message.get_view()); break;
      case 5: result.attributes.push_back(attribute(message.get_message(), depth)); break;
      case 7: result.domain = viewOf(message.get_view()); break;
      case 8: result.overload = viewOf(message.get_view()); break;
      default: message.skip();
      }
    return result;
  }

  Attribute attribute(Reader message, int depth) {
    Attribute result;
    while (message.next())
      switch (message.tag()) {
      case 1: result.name = viewOf(message.get_view()); break;
      case 2: result.floatValue = message.get_float(); break;
      case 3: result.intValue = message.get_int64(); break;
      case 4: result.stringValue = viewOf(message.get_view()); break;
      case 5: result.tensor = tensor(message.get_message()); break;
      case 6:
        result.graph = std::make_shared<Graph>();
        graph(message.get_message(), *result.graph, depth + 1);
        break;
      case 7: floats(message, result.floats); break;
      case 8: int64s(message, result.ints); break;
      case 9: result.strings.push_back(viewOf(message.get_view())); break;
      case 20: result.type = AttributeType(message.get_int32()); break;
      case 21: result.reference = viewOf(message.get_view()); break;
      default: message.skip();
      }
    return result;
  }

  Tensor tensor(Reader message) {
    Tensor result;
    while (message.next())
      switch (message.tag()) {
      case 1: int64s(message, result.dims); break;
      case 2: result.dataType = message.get_int32(); break;
      case 4: floats(message, result.floatData); break;
      case 5: int32s(message, result.int32Data); break;
      case 6: result.hasStrings = true, message.skip(); break;
      case 7: int64s(message, result.int64Data); break;
      case 8: result.name = viewOf(message.get_view()); break;
      case 9: {
        protozero::data_view raw = message.get_view();
        result.rawData = std::as_bytes(std::span(raw.data(), raw.size()));
        break;
      }
      case 10: doubles(message, result.doubleData); break;
      case 11: uint64s(message, result.uint64Data); break;
      case 13: result.externalData.push_back(stringEntry(message.get_message())); break;
      case 14: result.isExternal = message.get_int32() == 1; break;
      default: message.skip();
      }
    return result;
  }

  std::pair<std::string_view, std::string_view> stringEntry(Reader message) {
    std::pair<std::string_view, std::string_view> result;
    while (message.next())
      switch (message.tag()) {
      case 1: result.first = viewOf(message.get_view()); break;
      case 2: result.second = viewOf(message.get_view()); break;
      default: message.skip();
      }
    return result;
  }

  std::string_view sparseName(Reader message) {
    std::string_view result;
    while (message.next())
      if (message.tag() == 1)
        result = tensor(message.get_message()).name;
      else
        message.skip();
    return result;
  }

  ValueInfo valueInfo(Reader message) {
    ValueInfo result;
    while (message.next())
      switch (message.tag()) {
      case 1: result.name = viewOf(message.get_view()); break;
      case 2: type(message.get_message(), result); break;
      default: message.skip();
      }
    return result;
  }

  void type(Reader message, ValueInfo &result) {
    while (message.next())
      switch (message.tag()) {
      case 1: result.kind = "tensor", tensorType(message.get_message(), result); break;
      case 4: result.kind = "sequence", message.skip(); break;
      case 5: result.kind = "map", message.skip(); break;
      case 8: result.kind = "sparse tensor", message.skip(); break;
      case 9: result.kind = "optional", message.skip(); break;
      default: message.skip();
      }
  }

  void tensorType(Reader message, ValueInfo &result) {
    while (message.next())
      switch (message.tag()) {
      case 1: result.elementType = message.get_int32(); break;
      case 2: result.hasShape = true, shape(message.get_message(), result); break;
      default: message.skip();
      }
  }

  void shape(Reader message, ValueInfo &result) {
    while (message.next())
      if (message.tag() == 1)
        result.shape.push_back(dimension(message.get_message()));
      else
        message.skip();
  }

  Dimension dimension(Reader message) {
    Dimension result;
    while (message.next())
      switch (message.tag()) {
      case 1: result.value = message.get_int64(); break;
      case 2: result.parameter = viewOf(message.get_view()); break;
      default: message.skip();
      }
    return result;
  }

  // Repeated numbers come packed or one by one; a reader has to take both.
  static bool isPacked(const Reader &message) { return message.wire_type() == pbf_wire_type::length_delimited; }

  static void floats(Reader &message, std::vector<float> &into) {
    if (!isPacked(message))
      return into.push_back(message.get_float());
    for (float value : message.get_packed_float())
      into.push_back(value);
  }
  static void doubles(Reader &message, std::vector<double> &into) {
    if (!isPacked(message))
      return into.push_back(message.get_double());
    for (double value : message.get_packed_double())
      into.push_back(value);
  }
  static void int32s(Reader &message, std::vector<int32_t> &into) {
    if (!isPacked(message))
      return into.push_back(message.get_int32());
    for (int32_t value : message.get_packed_int32())
      into.push_back(value);
  }
  static void int64s(Reader &message, std::vector<int64_t> &into) {
    if (!isPacked(message))
      return into.push_back(message.get_int64());
    for (int64_t value : message.get_packed_int64())
      into.push_back(value);
  }
  static void uint64s(Reader &message, std::vector<uint64_t> &into) {
    if (!isPacked(message))
      return into.push_back(message.get_uint64());
    for (uint64_t value : message.get_packed_uint64())
      into.push_back(value);
  }
};

constexpr std::pair<DataType, std::string_view> typeNames[] = {
    {DataType::Float, "float"},         {DataType::Uint8, "uint8"},          {DataType::Int8, "int8"},
    {DataType::Uint16, "uint16"},       {DataType::Int16, "int16"},          {DataType::Int32, "int32"},
    {DataType::Int64, "int64"},         {DataType::String, "string"},        {DataType::Bool, "bool"},
    {DataType::Float16, "float16"},     {DataType::Double, "double"},        {DataType::Uint32, "uint32"},
    {DataType::Uint64, "uint64"},       {DataType::Complex64, "complex64"},  {DataType::Complex128, "complex128"},
    {DataType::BFloat16, "bfloat16"},   {DataType(17), "float8e4m3fn"},      {DataType(18), "float8e4m3fnuz"},
    {DataType(19), "float8e5m2"},       {DataType(20), "float8e5m2fnuz"},    {DataType(21), "uint4"},
    {DataType(22), "int4"},             {DataType(23), "float4e2m1"},        {DataType(24), "float8e8m0"},
    {DataType(25), "uint2"},            {DataType(26), "int2"}};

} // namespace

std::string nameOf(int32_t dataType) {
  for (auto [type, name] : typeNames)
    if (int32_t(type) == dataType)
      return std::string(name);
  return "data type " + std::to_string(dataType);
}

Result<ElementType> elementTypeOf(int32_t dataType) {
  switch (DataType(dataType)) {
  case DataType::Float: return ElementType::F32;
  case DataType::Double: return ElementType::F64;
  case DataType::Float16: return ElementType::F16;
  case DataType::BFloat16: return ElementType::BF16;
  case DataType::Int64: return ElementType::I64;
  case DataType::Int32: return ElementType::I32;
  case DataType::Int16: return ElementType::I16;
  case DataType::Int8: return ElementType::I8;
  case DataType::Uint8: return ElementType::U8;
  case DataType::Bool: return ElementType::I1;
  default: break;
  }
  bool known = false;
  for (auto [type, name] : typeNames)
    known |= int32_t(type) == dataType;
  if (!known)
    return Status(StatusCode::InvalidFile, "unknown " + nameOf(dataType));
  return Status(StatusCode::Unsupported, "element type `" + nameOf(dataType) + "` is not supported");
}

const Attribute *Node::find(std::string_view attribute) const {
  for (const Attribute &candidate : attributes)
    if (candidate.name == attribute)
      return &candidate;
  return nullptr;
}

Result<Model> parseModel(std::span<const std::byte> bytes) {
  try {
    Reader message(reinterpret_cast<const char *>(bytes.data()), bytes.size());
    return Parser().model(message);
  } catch (const FormatError &error) {
    return Status(StatusCode::InvalidFile, error.what());
  } catch (const protozero::exception &error) {
    return Status(StatusCode::InvalidFile, std::string("not a well-formed ONNX file (") + error.what() + ")");
  } catch (const std::bad_alloc &) {
    return Status(StatusCode::ResourceExhausted, "the model does not fit into memory");
  } catch (const std::exception &error) {
    return Status(StatusCode::InvalidFile, std::string("not a well-formed ONNX file (") + error.what() + ")");
  }
}

} // namespace stator::onnx
