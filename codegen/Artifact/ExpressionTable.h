//===- ExpressionTable.h - the size expressions of one method --------------===//
//
// Instructions refer to expressions by number, so that each is stored and, at
// run time, evaluated once per shape.
//
//===----------------------------------------------------------------------===//

#ifndef STATOR_CODEGEN_ARTIFACT_EXPRESSIONTABLE_H
#define STATOR_CODEGEN_ARTIFACT_EXPRESSIONTABLE_H

#include "serialization/Artifact/Manifest.h"
#include "serialization/Base/DimExpr.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace stator::codegen {

class ExpressionTable {
public:
  /// Numbers the symbols by position.
  explicit ExpressionTable(const std::vector<serialization::Symbol> &symbols) {
    for (const serialization::Symbol &symbol : symbols)
      symbolIndex.emplace(symbol.name, static_cast<uint32_t>(symbolIndex.size()));
  }

  /// The number of `expr`. What cannot be expressed sets status() and gives 0.
  uint32_t add(const DimExpr &expr) {
    auto [known, isNew] = indexOf.try_emplace(expr.str(), static_cast<uint32_t>(expressions.size()));
    if (!isNew)
      return known->second;
    Result<std::vector<int64_t>> code = compile(expr, symbolIndex);
    if (!code.ok()) {
      if (firstError.ok())
        firstError = code.status();
      indexOf.erase(known);
      return 0;
    }
    expressions.push_back({*code, expr.str()});
    return known->second;
  }
  /// The number of `expr`, or nothing for what cannot be expressed.
  std::optional<uint32_t> tryAdd(const DimExpr &expr) {
    return expr.isValid() && compile(expr, symbolIndex).ok() ? std::optional<uint32_t>(add(expr)) : std::nullopt;
  }
  std::vector<uint32_t> addAll(const std::vector<DimExpr> &exprs) {
    std::vector<uint32_t> indices;
    for (const DimExpr &expr : exprs)
      indices.push_back(add(expr));
    return indices;
  }

  const Status &status() const { return firstError; }
  std::vector<serialization::Expression> take() { return std::move(expressions); }

private:
  std::map<std::string, uint32_t> symbolIndex;
  std::map<std::string, uint32_t> indexOf;
  std::vector<serialization::Expression> expressions;
  Status firstError;
};

} // namespace stator::codegen

#endif // STATOR_CODEGEN_ARTIFACT_EXPRESSIONTABLE_H
