//===- SymbolicFunctions.h - arithmetic on sizes read from text ------------===//
//
// The functions that a size may be made of, with what each computes, and the
// cursor over a text that the grammars of SymbolicText.h share. Numbers are
// kept as quotients of polynomials, so that a size that went through floating
// point and back, as `CeilToInt(IntTrueDiv(s0, Integer(2)))`, is exact again.
//
//===----------------------------------------------------------------------===//

#ifndef STATOR_COMPILER_IMPORT_TORCH_EXPORT_SYMBOLICFUNCTIONS_H
#define STATOR_COMPILER_IMPORT_TORCH_EXPORT_SYMBOLICFUNCTIONS_H

#include "compiler/Import/Torch/Export/SymbolicText.h"

#include <optional>
#include <string>
#include <vector>

namespace stator::torch::exported {

using SymbolicValues = std::vector<SymbolicValue>;

struct SymbolicFunction {
  std::string_view name;
  size_t least, most; // arguments
  SymbolicValue (*apply)(const SymbolicValues &args);
};

constexpr size_t maxSymbolicTextBytes = size_t(1) << 16, maxSymbolicDepth = 64, maxSymbolicArguments = 4096;

/// Null when sizes are not made of it.
const SymbolicFunction *findSymbolicFunction(std::string_view name);

SymbolicValue symbolicInteger(DimExpr value);
SymbolicValue symbolicNumber(double value);
SymbolicValue unknownSymbolic(SymbolicValue::Kind kind);
SymbolicValue symbolicSum(const SymbolicValue &a, const SymbolicValue &b);
SymbolicValue symbolicProduct(const SymbolicValue &a, const SymbolicValue &b);
SymbolicValue symbolicQuotient(const SymbolicValue &a, const SymbolicValue &b);
SymbolicValue symbolicPower(const SymbolicValue &base, const SymbolicValue &exponent);

/// A place in a text, and the first error.
class SymbolicCursor {
public:
  explicit SymbolicCursor(std::string_view text) : text(text) {}

  bool ok() const { return status.ok(); }
  SymbolicValue fail(const std::string &why);
  bool accept(std::string_view token);
  /// The next character that is not blank, or '\0'.
  char next();
  std::string_view name();
  SymbolicValue literal();
  /// 'text', without escapes.
  std::optional<std::string_view> quoted();

  std::string_view text;
  size_t at = 0;
  size_t depth = 0;
  Status status;

private:
  void skipBlanks();
};

bool isSymbolName(std::string_view name);

} // namespace stator::torch::exported

#endif // STATOR_COMPILER_IMPORT_TORCH_EXPORT_SYMBOLICFUNCTIONS_H
