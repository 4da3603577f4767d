// manifest.pb to Manifest, by protozero: a pass over the mapped bytes without libprotobuf, which a runtime inside of other people's
// programs must not bring along. Each message lists its fields once, with the place that takes the value. protozero throws at damage;
// the exceptions gain the place in the file on their way up and become a Status here. Fields of unknown number or unexpected wire type
// are skipped, as protobuf does.
#include "serialization/Artifact/Manifest.h"

#include <algorithm>
#include <initializer_list>
#include <protozero/pbf_reader.hpp>

using namespace stator;
using namespace stator::serialization;
using protozero::pbf_reader;
using protozero::pbf_wire_type;

namespace {

/// Damage, with the place in front: "methods[0].symbols[1]".
struct Malformed {
  std::string place;
  std::string what;
};

class Parser;

/// A field of a message: what it looks like in the file, and what takes its value.
struct Field {
  uint32_t key; ///< Number and wire type.
  void *target;
  void (*read)(Parser &, pbf_reader &, const Field &);
  const char *name = nullptr;     ///< Of a list of messages, for places in errors.
  const char *required = nullptr; ///< What is missing when it is not there.
};

constexpr uint32_t varint(uint32_t number) { return protozero::tag_and_type(number, pbf_wire_type::varint); }
constexpr uint32_t bytes(uint32_t number) { return protozero::tag_and_type(number, pbf_wire_type::length_delimited); }

template <typename T>
T &targetOf(const Field &field) {
  return *static_cast<T *>(field.target);
}

uint32_t narrow(uint64_t value) {
  if (value > UINT32_MAX)
    throw Malformed{"", "the number " + std::to_string(value) + " exceeds 32 bits"};
  return static_cast<uint32_t>(value);
}

Field field(uint32_t number, std::string &target) {
  return {bytes(number), &target, [](Parser &, pbf_reader &r, const Field &f) { targetOf<std::string>(f) = r.get_string(); }};
}
Field field(uint32_t number, uint32_t &target) {
  return {varint(number), &target, [](Parser &, pbf_reader &r, const Field &f) { targetOf<uint32_t>(f) = narrow(r.get_uint64()); }};
}
Field field(uint32_t number, std::optional<uint32_t> &target) {
  return {varint(number), &target,
          [](Parser &, pbf_reader &r, const Field &f) { targetOf<std::optional<uint32_t>>(f) = narrow(r.get_uint64()); }};
}
Field field(uint32_t number, uint64_t &target) {
  return {varint(number), &target, [](Parser &, pbf_reader &r, const Field &f) { targetOf<uint64_t>(f) = r.get_uint64(); }};
}
Field field(uint32_t number, int64_t &target) {
  return {varint(number), &target, [](Parser &, pbf_reader &r, const Field &f) { targetOf<int64_t>(f) = r.get_sint64(); }};
}
Field field(uint32_t number, bool &target) {
  return {varint(number), &target, [](Parser &, pbf_reader &r, const Field &f) { targetOf<bool>(f) = r.get_bool(); }};
}
Field field(uint32_t number, std::vector<uint32_t> &target) {
  return {bytes(number), &target, [](Parser &, pbf_reader &r, const Field &f) {
            for (uint64_t value : r.get_packed_uint64())
              targetOf<std::vector<uint32_t>>(f).push_back(narrow(value));
          }};
}
Field field(uint32_t number, std::vector<uint64_t> &target) {
  return {bytes(number), &target, [](Parser &, pbf_reader &r, const Field &f) {
            for (uint64_t value : r.get_packed_uint64())
              targetOf<std::vector<uint64_t>>(f).push_back(value);
          }};
}
Field field(uint32_t number, std::vector<int64_t> &target) {
  return {bytes(number), &target, [](Parser &, pbf_reader &r, const Field &f) {
            for (int64_t value : r.get_packed_sint64())
              targetOf<std::vector<int64_t>>(f).push_back(value);
          }};
}
Field field(uint32_t number, std::vector<double> &target) {
  return {bytes(number), &target, [](Parser &, pbf_reader &r, const Field &f) {
            for (double value : r.get_packed_double())
              targetOf<std::vector<double>>(f).push_back(value);
          }};
}
Field field(uint32_t number, ElementType &target) {
  auto read = [](Parser &, pbf_reader &r, const Field &f) {
    uint64_t value = r.get_uint64();
    if (!isElementType(value))
      throw Malformed{"", "element type " + std::to_string(value) + " is not known"};
    targetOf<ElementType>(f) = static_cast<ElementType>(value);
  };
  return {varint(number), &target, read, nullptr, "element type"};
}
Field field(uint32_t number, BufferKind &target) {
  auto read = [](Parser &, pbf_reader &r, const Field &f) {
    uint64_t value = r.get_uint64();
    if (value < 1 || value > 5)
      throw Malformed{"", "buffer kind " + std::to_string(value) + " is not known"};
    targetOf<BufferKind>(f) = static_cast<BufferKind>(value);
  };
  return {varint(number), &target, read, nullptr, "buffer kind"};
}
Field field(uint32_t number, Hash128 &target) {
  auto read = [](Parser &, pbf_reader &r, const Field &f) {
    protozero::data_view view = r.get_view();
    if (view.size() != sizeof(Hash128))
      throw Malformed{"", "a hash of " + std::to_string(view.size()) + " bytes, expected 16"};
    std::copy(view.data(), view.data() + view.size(), reinterpret_cast<char *>(targetOf<Hash128>(f).data()));
  };
  return {bytes(number), &target, read, nullptr, "hash"};
}

class Parser {
public:
  void message(pbf_reader reader, Manifest &m) {
    fields(reader, {field(1, m.formatMajor), field(2, m.formatMinor), field(3, m.producer), list(4, "methods", m.methods),
                    list(5, "plans", m.plans), list(6, "kernels", m.kernels), list(7, "variants", m.variants),
                    list(8, "parameters", m.parameters), strings(9, m.requirements), list(10, "info", m.info)});
  }

private:
  void message(pbf_reader reader, Info &i) { fields(reader, {field(1, i.key), field(2, i.value)}); }
  void message(pbf_reader reader, Method &m) {
    fields(reader, {field(1, m.name), list(2, "symbols", m.symbols), list(3, "expressions", m.expressions), list(4, "inputs", m.inputs),
                    list(5, "outputs", m.outputs), list(6, "guards", m.guards), field(7, m.plan)});
  }
  void message(pbf_reader reader, Symbol &s) {
    fields(reader, {field(1, s.name), field(2, s.min), field(3, s.max), field(4, s.input), field(5, s.axis)});
  }
  void message(pbf_reader reader, Expression &e) { fields(reader, {field(1, e.code), field(2, e.text)}); }
  void message(pbf_reader reader, Value &v) { fields(reader, {field(1, v.name), field(2, v.elementType), field(3, v.dims)}); }
  void message(pbf_reader reader, Guard &g) { fields(reader, {field(1, g.left), field(2, g.right)}); }
  void message(pbf_reader reader, Plan &p) {
    fields(reader, {list(1, "buffers", p.buffers), list(2, "instructions", p.instructions), field(3, p.arenaSize), field(4, p.scratchSize),
                    field(5, p.livePeak)});
  }
  void message(pbf_reader reader, Buffer &b) {
    fields(reader, {field(1, b.kind), field(2, b.index), field(3, b.elementType), field(4, b.dims), field(5, b.size), field(6, b.offset),
                    field(7, b.viewOf)});
  }
  void message(pbf_reader reader, Instruction &i) {
    if (++nesting > kMaxNesting)
      throw Malformed{"", "instructions are nested more than " + std::to_string(kMaxNesting) + " deep"};
    i.kind = InstructionKind{};
    fields(reader,
           {field(1, i.name), field(2, i.family), field(3, i.reason), step(InstructionKind::Kernel, "kernel", i),
            step(InstructionKind::Library, "library", i), step(InstructionKind::Copy, "copy", i), step(InstructionKind::Shape, "shape", i),
            step(InstructionKind::If, "branch", i), step(InstructionKind::Loop, "loop", i), field(10, i.operations), field(11, i.bytes)});
    if (i.kind == InstructionKind{})
      throw Malformed{"", "an instruction of no kind that this version knows"};
    --nesting;
  }
  void message(pbf_reader reader, Attribute &a) {
    fields(reader, {field(1, a.name), field(2, a.integers), field(3, a.numbers), field(4, a.text)});
  }
  void message(pbf_reader reader, Kernel &k) { fields(reader, {field(1, k.name), field(2, k.numBuffers), field(3, k.numSizes), field(4, k.independentParts)}); }
  void message(pbf_reader reader, Variant &v) { fields(reader, {field(1, v.level), field(2, v.requiredFeatures), field(3, v.entry)}); }
  void message(pbf_reader reader, Parameter &p) {
    fields(reader, {field(1, p.name), field(2, p.elementType), field(3, p.dims), field(4, p.layout), field(5, p.entry), field(6, p.offset),
                    field(7, p.size), field(8, p.hash), field(9, p.isMutable), field(10, p.recipe)});
  }

  /// The message of the instruction's own kind.
  void body(pbf_reader reader, Instruction &i) {
    switch (i.kind) {
    case InstructionKind::Kernel:
      return fields(reader, {field(1, i.kernel), field(2, i.buffers), field(3, i.numInputs), field(4, i.sizes)});
    case InstructionKind::Library:
      return fields(reader, {field(1, i.library), field(2, i.routine), list(3, "attributes", i.attributes), field(4, i.buffers),
                             field(5, i.numInputs), field(6, i.sizes)});
    case InstructionKind::Copy:
      return fields(reader, {field(1, i.source), field(2, i.destination), field(3, i.sourceOffset), field(4, i.destinationOffset),
                             field(5, i.copySize)});
    case InstructionKind::Shape:
      return fields(reader, {field(1, i.destination), field(2, i.sizes)});
    case InstructionKind::If:
      return fields(reader, {field(1, i.condition), list(2, "on_true", i.first), list(3, "on_false", i.second)});
    case InstructionKind::Loop:
      return fields(reader, {field(1, i.condition), list(2, "before", i.first), list(3, "body", i.second)});
    }
  }

  template <InstructionKind Kind>
  static void readStep(Parser &parser, pbf_reader &reader, const Field &f) {
    Instruction &instruction = targetOf<Instruction>(f);
    if (instruction.kind != InstructionKind{})
      throw Malformed{"", "an instruction of two kinds"};
    instruction.kind = Kind;
    pbf_reader inner = reader.get_message();
    within(f.name, [&] { parser.body(inner, instruction); });
  }
  static Field step(InstructionKind kind, const char *name, Instruction &instruction) {
    uint32_t key = bytes(static_cast<uint32_t>(kind));
    switch (kind) {
    case InstructionKind::Kernel:
      return {key, &instruction, readStep<InstructionKind::Kernel>, name};
    case InstructionKind::Library:
      return {key, &instruction, readStep<InstructionKind::Library>, name};
    case InstructionKind::Copy:
      return {key, &instruction, readStep<InstructionKind::Copy>, name};
    case InstructionKind::Shape:
      return {key, &instruction, readStep<InstructionKind::Shape>, name};
    case InstructionKind::If:
      return {key, &instruction, readStep<InstructionKind::If>, name};
    case InstructionKind::Loop:
      break;
    }
    return {key, &instruction, readStep<InstructionKind::Loop>, name};
  }

  template <typename T>
  static Field list(uint32_t number, const char *name, std::vector<T> &target) {
    auto read = [](Parser &parser, pbf_reader &reader, const Field &f) {
      std::vector<T> &values = targetOf<std::vector<T>>(f);
      pbf_reader inner = reader.get_message();
      parser.count();
      values.emplace_back();
      within(std::string(f.name) + "[" + std::to_string(values.size() - 1) + "]", [&] { parser.message(inner, values.back()); });
    };
    return {bytes(number), &target, read, name};
  }
  static Field strings(uint32_t number, std::vector<std::string> &target) {
    auto read = [](Parser &parser, pbf_reader &reader, const Field &f) {
      parser.count();
      targetOf<std::vector<std::string>>(f).push_back(reader.get_string());
    };
    return {bytes(number), &target, read};
  }

  void fields(pbf_reader &reader, std::initializer_list<Field> known) {
    uint32_t seen = 0;
    while (reader.next()) {
      uint32_t key = reader.tag_and_type();
      const Field *match = std::find_if(known.begin(), known.end(), [&](const Field &f) { return f.key == key; });
      if (match == known.end()) {
        reader.skip();
        continue;
      }
      seen |= 1u << (match - known.begin());
      match->read(*this, reader, *match);
    }
    for (const Field &f : known)
      if (f.required && !(seen & (1u << (&f - known.begin()))))
        throw Malformed{"", std::string("no ") + f.required};
  }

  template <typename Function>
  static void within(const std::string &place, Function function) {
    try {
      function();
    } catch (Malformed &malformed) {
      malformed.place = malformed.place.empty() ? place : place + "." + malformed.place;
      throw;
    } catch (const protozero::exception &error) {
      throw Malformed{place, error.what()};
    }
  }

  // Empty messages take two bytes in the file and hundreds in memory, hence a budget. A large model has some ten thousand.
  static constexpr size_t kMaxObjects = size_t(1) << 19;
  static constexpr unsigned kMaxNesting = 64;

  void count() {
    if (++objects > kMaxObjects)
      throw Malformed{"", "more than " + std::to_string(kMaxObjects) + " objects"};
  }

  size_t objects = 0;
  unsigned nesting = 0;
};

/// The version alone, which is read before anything that may look different in another version.
std::pair<uint64_t, uint64_t> readVersion(pbf_reader reader) {
  std::pair<uint64_t, uint64_t> version{0, 0};
  while (reader.next()) {
    if (reader.tag_and_type() == varint(1))
      version.first = reader.get_uint64();
    else if (reader.tag_and_type() == varint(2))
      version.second = reader.get_uint64();
    else
      reader.skip();
  }
  return version;
}

} // namespace

Result<Manifest> stator::serialization::parseManifest(std::span<const std::byte> data) {
  try {
    pbf_reader reader(reinterpret_cast<const char *>(data.data()), data.size());
    auto [major, minor] = readVersion(reader);
    if (major != kFormatMajor || minor != kFormatMinor)
      return unsupported("artifact of format " + std::to_string(major) + "." + std::to_string(minor) + ", this build reads format " +
                         std::to_string(kFormatMajor) + "." + std::to_string(kFormatMinor) + "; compile the model again");
    Manifest manifest;
    Parser().message(reader, manifest);
    return manifest;
  } catch (const Malformed &malformed) {
    return invalidFile("manifest is malformed" + (malformed.place.empty() ? "" : " at " + malformed.place) + ": " + malformed.what);
  } catch (const protozero::exception &error) {
    return invalidFile(std::string("manifest is malformed: ") + error.what());
  }
}
