//===- Optimisations.h - what can be switched off, by name -----------------===//
//
// Every optimisation that changes how a model is computed, or where its tensors
// lie, has a name here, and a test that compares its results on and off. A pass
// asks with the name; `stator compile --disable=NAME` answers. The ones that
// change rounding errors by more than the order of sums does are tied to a math
// mode as well.
//
//===----------------------------------------------------------------------===//

#ifndef STATOR_DIALECTS_TARGET_OPTIMISATIONS_H
#define STATOR_DIALECTS_TARGET_OPTIMISATIONS_H

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace stator {

/// In rising order of freedom.
enum class MathMode {
  Exact,   ///< Only algorithms whose rounding error is of the order of the textbook sum's.
  Default, ///< Also Winograd convolutions: at most 5e-6 of the largest output per layer, against double.
  Fast,    ///< Also Strassen products, and approximations that docs/performance.md lists one by one.
};

struct OptimisationInfo {
  std::string_view name;
  /// The first math mode that it is part of.
  MathMode from;
  /// One line without full stop, for --list-optimisations.
  std::string_view does;
};

/// Sorted by name.
std::span<const OptimisationInfo> optimisations();

/// "exact", "default" or "fast".
std::optional<MathMode> parseMathMode(std::string_view text);

/// What one compilation may use.
struct Optimisations {
  MathMode math = MathMode::Default;
  /// Names of the table.
  std::vector<std::string> disabled;

  /// `name` is of the table.
  bool isOn(std::string_view name) const;
};

} // namespace stator

#endif // STATOR_DIALECTS_TARGET_OPTIMISATIONS_H
