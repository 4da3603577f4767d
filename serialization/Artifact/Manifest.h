// The manifest of an artifact as plain structs: what the runtime and `stator inspect` work with. It mirrors manifest.proto, where each
// field is explained; docs/format.md has the bytes. parseManifest() checks only that the bytes are a well-formed message of this format
// version; whoever follows an index runs validateManifest() (Validator.h) first.
#ifndef STATOR_SERIALIZATION_ARTIFACT_MANIFEST_H
#define STATOR_SERIALIZATION_ARTIFACT_MANIFEST_H

#include "stator/ElementType.h"
#include "stator/Result.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace stator::serialization {

/// The format version that this build writes and reads. While the major version is 0, only this very version is read.
constexpr uint32_t kFormatMajor = 0;
constexpr uint32_t kFormatMinor = 1;

using Hash128 = std::array<uint8_t, 16>;

struct Info {
  std::string key;
  std::string value;
};

struct Symbol {
  std::string name;
  int64_t min = 0; ///< Inclusive, as is max.
  int64_t max = 0;
  uint32_t input = 0; ///< Its value is the extent of this input's
  uint32_t axis = 0;  ///< axis.
};

struct Expression {
  std::vector<int64_t> code; ///< For evaluatePostfix().
  std::string text;
};

struct Value {
  std::string name;
  ElementType elementType = ElementType::F32;
  std::vector<uint32_t> dims; ///< Expressions.
};

struct Guard {
  uint32_t left = 0;
  uint32_t right = 0;
};

struct Method {
  std::string name;
  std::vector<Symbol> symbols;
  std::vector<Expression> expressions;
  std::vector<Value> inputs;
  std::vector<Value> outputs;
  std::vector<Guard> guards;
  uint32_t plan = 0;
};

enum class BufferKind : uint8_t { Arena = 1, Input = 2, Output = 3, Parameter = 4, State = 5 };

struct Buffer {
  BufferKind kind = BufferKind::Arena;
  uint32_t index = 0; ///< Of the input, output or parameter.
  ElementType elementType = ElementType::F32;
  std::vector<uint32_t> dims;     ///< Expressions.
  uint32_t size = 0;              ///< Expression: bytes.
  uint32_t offset = 0;            ///< Expression: bytes from the start of the arena, input, output, parameter or state.
  std::optional<uint32_t> viewOf; ///< For people; a view is complete in itself.
};

struct Attribute {
  std::string name;
  std::vector<int64_t> integers;
  std::vector<double> numbers;
  std::string text;
};

enum class InstructionKind : uint8_t { Kernel = 4, Library = 5, Copy = 6, Shape = 7, If = 8, Loop = 9 };

/// One step. The fields after `reason` are used as the kind says.
struct Instruction {
  InstructionKind kind = InstructionKind::Kernel;
  std::string name;   ///< Source operators.
  std::string family; ///< "matmul", "map", ...
  std::string reason; ///< Why this kernel or library.
  std::optional<uint32_t> operations; ///< Expression: arithmetic operations of one execution; for people.
  std::optional<uint32_t> bytes;      ///< Expression: bytes of operands and results, each once; for people.

  uint32_t kernel = 0;               ///< Kernel: index into Manifest::kernels.
  std::string library;               ///< Library.
  std::string routine;               ///< Library.
  std::vector<Attribute> attributes; ///< Library.
  std::vector<uint32_t> buffers;     ///< Kernel, Library: inputs, then outputs.
  uint32_t numInputs = 0;            ///< Kernel, Library.
  std::vector<uint32_t> sizes;       ///< Kernel, Library: expressions. Shape: the values.

  uint32_t source = 0;            ///< Copy: buffer.
  uint32_t destination = 0;       ///< Copy, Shape: buffer.
  uint32_t sourceOffset = 0;      ///< Copy: expression, bytes.
  uint32_t destinationOffset = 0; ///< Copy: expression, bytes.
  uint32_t copySize = 0;          ///< Copy: expression, bytes.

  uint32_t condition = 0;          ///< If, Loop: buffer of one i1.
  std::vector<Instruction> first;  ///< If: when true. Loop: before the condition is read.
  std::vector<Instruction> second; ///< If: when false. Loop: the body.
};

struct Plan {
  std::vector<Buffer> buffers;
  std::vector<Instruction> instructions;
  uint32_t arenaSize = 0;   ///< Expression: bytes.
  uint32_t scratchSize = 0; ///< Expression: bytes for each worker.
  uint64_t livePeak = 0;    ///< Bytes; 0 when not known.
};

struct Kernel {
  std::string name; ///< The symbol is kKernelSymbolPrefix + name.
  uint32_t numBuffers = 0;
  uint32_t numSizes = 0;
  bool independentParts = false; ///< It never calls the barrier.
};
constexpr char kKernelSymbolPrefix[] = "stator_k_";

struct Variant {
  std::string level;
  uint64_t requiredFeatures = 0; ///< serialization/Base/CpuFeatures.h.
  std::string entry;
};

struct Parameter {
  std::string name;
  ElementType elementType = ElementType::F32;
  std::vector<uint64_t> dims;
  std::string layout;
  std::string entry;
  uint64_t offset = 0;
  uint64_t size = 0;
  Hash128 hash{};
  bool isMutable = false;
  std::string recipe;
};

struct Manifest {
  uint32_t formatMajor = kFormatMajor;
  uint32_t formatMinor = kFormatMinor;
  std::string producer;
  std::vector<Method> methods;
  std::vector<Plan> plans;
  std::vector<Kernel> kernels;
  std::vector<Variant> variants; ///< From the most demanding to the least.
  std::vector<Parameter> parameters;
  std::vector<std::string> requirements;
  std::vector<Info> info;
};

/// Reads the bytes of `manifest.pb`. InvalidFile for damage, Unsupported for another format version, both named. Memory is bounded by a
/// small multiple of the input; nesting of instructions by 16.
Result<Manifest> parseManifest(std::span<const std::byte> bytes);

} // namespace stator::serialization

#endif // STATOR_SERIALIZATION_ARTIFACT_MANIFEST_H
