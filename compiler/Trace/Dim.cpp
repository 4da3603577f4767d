// Dim: DimExpr behind an installed header. Plain numbers, the usual case, need no allocation.
#include "serialization/Base/DimExpr.h"
#include "stator/Trace.h"

namespace stator::trace {

Dim::Dim(const DimExpr &expr) : value_(0) {
  if (std::optional<int64_t> constant = expr.constant())
    value_ = *constant;
  else
    expr_ = std::make_shared<const DimExpr>(expr);
}

Dim Dim::symbol(std::string_view name) { return Dim(DimExpr::symbol(name)); }

Result<Dim> Dim::parse(std::string_view text) {
  STATOR_TRY(expr, DimExpr::parse(text));
  return Dim(expr);
}

std::string Dim::str() const { return expr().str(); }
DimExpr Dim::expr() const { return expr_ ? *expr_ : DimExpr(value_); }

Dim operator+(const Dim &a, const Dim &b) { return Dim(a.expr() + b.expr()); }
Dim operator-(const Dim &a, const Dim &b) { return Dim(a.expr() - b.expr()); }
Dim operator*(const Dim &a, const Dim &b) { return Dim(a.expr() * b.expr()); }
Dim floorDiv(const Dim &a, const Dim &b) { return Dim(a.expr().floorDiv(b.expr())); }
Dim ceilDiv(const Dim &a, const Dim &b) { return Dim(a.expr().ceilDiv(b.expr())); }
Dim mod(const Dim &a, const Dim &b) { return Dim(a.expr().mod(b.expr())); }
Dim min(const Dim &a, const Dim &b) { return Dim(a.expr().min(b.expr())); }
Dim max(const Dim &a, const Dim &b) { return Dim(a.expr().max(b.expr())); }
bool operator==(const Dim &a, const Dim &b) { return a.expr() == b.expr(); }

} // namespace stator::trace
