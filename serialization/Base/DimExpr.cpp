// Sums and products of symbolic sizes: building canonical polynomials. Divisions and minima are in DimExprDivide.cpp and
// DimExprMinMax.cpp, texts in DimExprText.cpp, numbers in DimExprEvaluate.cpp.
#include "serialization/Base/DimPolynomial.h"

#include <algorithm>
#include <set>

using namespace stator;

static const char kOverflow[] = "a coefficient exceeds 64 bits";

DimExpr DimExpr::invalid(std::string reason) {
  auto polynomial = std::make_shared<DimPolynomial>();
  polynomial->invalidReason = std::move(reason);
  return DimExprAccess::wrap(std::move(polynomial));
}

bool DimExpr::isValid() const { return !polynomial || polynomial->invalidReason.empty(); }

Status DimExpr::status() const {
  return isValid() ? Status() : invalidArgument("size expression is invalid: " + polynomial->invalidReason);
}

int stator::compareMonomials(const std::vector<DimAtomPtr> &a, const std::vector<DimAtomPtr> &b) {
  if (a.size() != b.size())
    return a.size() > b.size() ? -1 : 1;
  for (size_t i = 0; i != a.size(); ++i)
    if (int order = a[i] == b[i] ? 0 : a[i]->text.compare(b[i]->text))
      return order;
  return 0;
}

std::vector<DimTerm> stator::termsOf(const DimExpr &e) {
  if (const DimPolynomial *polynomial = DimExprAccess::polynomial(e))
    return polynomial->terms;
  if (*e.constant() == 0)
    return {};
  return {DimTerm{*e.constant(), {}}};
}

DimExpr stator::fromTerms(std::vector<DimTerm> terms) {
  std::sort(terms.begin(), terms.end(), [](const DimTerm &a, const DimTerm &b) { return compareMonomials(a.factors, b.factors) < 0; });
  std::vector<DimTerm> merged;
  for (DimTerm &term : terms) {
    if (merged.empty() || compareMonomials(merged.back().factors, term.factors) != 0) {
      merged.push_back(std::move(term));
      continue;
    }
    if (__builtin_add_overflow(merged.back().coefficient, term.coefficient, &merged.back().coefficient))
      return DimExpr::invalid(kOverflow);
  }
  std::erase_if(merged, [](const DimTerm &term) { return term.coefficient == 0; });
  if (merged.empty())
    return DimExpr(0);
  if (merged.size() == 1 && merged.front().factors.empty())
    return DimExpr(merged.front().coefficient);

  auto polynomial = std::make_shared<DimPolynomial>();
  for (const DimTerm &term : merged) {
    polynomial->weight += 1;
    if (term.factors.size() > kMaxDimDegree)
      return DimExpr::invalid("a product has more than " + std::to_string(kMaxDimDegree) + " factors");
    for (const DimAtomPtr &atom : term.factors) {
      polynomial->weight += atom->weight;
      polynomial->depth = std::max(polynomial->depth, atom->depth);
    }
    if (polynomial->weight > kMaxDimWeight)
      return DimExpr::invalid("it has more than " + std::to_string(kMaxDimWeight) + " parts");
  }
  polynomial->terms = std::move(merged);
  return DimExprAccess::wrap(std::move(polynomial));
}

DimAtomPtr stator::asAtom(const DimExpr &e) {
  const DimPolynomial *polynomial = DimExprAccess::polynomial(e);
  if (!polynomial || polynomial->terms.size() != 1)
    return nullptr;
  const DimTerm &term = polynomial->terms.front();
  return term.coefficient == 1 && term.factors.size() == 1 ? term.factors.front() : nullptr;
}

DimExpr DimExpr::symbol(std::string_view name) {
  if (name.empty())
    return invalid("a symbol has an empty name");
  auto atom = std::make_shared<DimAtom>();
  atom->kind = DimAtomKind::Symbol;
  atom->name = name;
  atom->text = symbolText(name);
  atom->range.lo = 0;
  return fromTerms({DimTerm{1, {std::move(atom)}}});
}

const char *stator::functionName(DimAtomKind kind) {
  switch (kind) {
  case DimAtomKind::Symbol:
    return "symbol";
  case DimAtomKind::FloorDiv:
    return "floordiv";
  case DimAtomKind::CeilDiv:
    return "ceildiv";
  case DimAtomKind::Mod:
    return "mod";
  case DimAtomKind::Min:
    return "min";
  case DimAtomKind::Max:
    return "max";
  }
  return "unknown";
}

DimExpr stator::fromAtom(DimAtomKind kind, std::vector<DimExpr> arguments) {
  auto atom = std::make_shared<DimAtom>();
  atom->kind = kind;
  atom->text = std::string(functionName(kind)) + "(";
  bool first = true;
  for (const DimExpr &argument : arguments) {
    if (!argument.isValid())
      return argument;
    const DimPolynomial *polynomial = DimExprAccess::polynomial(argument);
    atom->weight += polynomial ? polynomial->weight : 1;
    atom->depth = std::max(atom->depth, polynomial ? polynomial->depth + 1 : 1);
    if (atom->weight > kMaxDimWeight)
      return DimExpr::invalid("it has more than " + std::to_string(kMaxDimWeight) + " parts");
    if (atom->depth > kMaxDimDepth)
      return DimExpr::invalid("it is nested more than " + std::to_string(kMaxDimDepth) + " deep");
    atom->text += (first ? "" : ", ") + argument.str();
    first = false;
  }
  atom->text += ")";
  atom->arguments = std::move(arguments);
  atom->range = boundsOfAtom(*atom, nullptr);
  if (atom->range.lo && atom->range.lo == atom->range.hi)
    return DimExpr(*atom->range.lo);
  return fromTerms({DimTerm{1, {std::move(atom)}}});
}

std::optional<std::string> DimExpr::asSymbol() const {
  DimAtomPtr atom = asAtom(*this);
  return atom && atom->kind == DimAtomKind::Symbol ? std::optional(atom->name) : std::nullopt;
}

static void collectSymbols(const DimExpr &e, std::set<std::string> &names) {
  const DimPolynomial *polynomial = DimExprAccess::polynomial(e);
  if (!polynomial)
    return;
  for (const DimTerm &term : polynomial->terms)
    for (const DimAtomPtr &atom : term.factors) {
      if (atom->kind == DimAtomKind::Symbol)
        names.insert(atom->name);
      for (const DimExpr &argument : atom->arguments)
        collectSymbols(argument, names);
    }
}

std::vector<std::string> DimExpr::symbols() const {
  std::set<std::string> names;
  collectSymbols(*this, names);
  return {names.begin(), names.end()};
}

DimExpr stator::operator+(const DimExpr &a, const DimExpr &b) {
  if (!a.polynomial && !b.polynomial) {
    int64_t sum;
    return __builtin_add_overflow(a.value, b.value, &sum) ? DimExpr::invalid(kOverflow) : DimExpr(sum);
  }
  if (!a.isValid() || !b.isValid())
    return a.isValid() ? b : a;
  std::vector<DimTerm> terms = termsOf(a);
  for (DimTerm &term : termsOf(b))
    terms.push_back(std::move(term));
  return fromTerms(std::move(terms));
}

DimExpr stator::operator-(const DimExpr &a, const DimExpr &b) {
  if (!a.polynomial && !b.polynomial) {
    int64_t difference;
    return __builtin_sub_overflow(a.value, b.value, &difference) ? DimExpr::invalid(kOverflow) : DimExpr(difference);
  }
  return a + b * DimExpr(-1);
}

DimExpr stator::operator*(const DimExpr &a, const DimExpr &b) {
  if (!a.polynomial && !b.polynomial) {
    int64_t product;
    return __builtin_mul_overflow(a.value, b.value, &product) ? DimExpr::invalid(kOverflow) : DimExpr(product);
  }
  if (!a.isValid() || !b.isValid())
    return a.isValid() ? b : a;
  std::vector<DimTerm> left = termsOf(a), right = termsOf(b), terms;
  if (left.size() * right.size() > kMaxDimWeight)
    return DimExpr::invalid("a product has more than " + std::to_string(kMaxDimWeight) + " terms");
  for (const DimTerm &x : left)
    for (const DimTerm &y : right) {
      DimTerm term;
      if (__builtin_mul_overflow(x.coefficient, y.coefficient, &term.coefficient))
        return DimExpr::invalid(kOverflow);
      std::merge(x.factors.begin(), x.factors.end(), y.factors.begin(), y.factors.end(), std::back_inserter(term.factors),
                 [](const DimAtomPtr &p, const DimAtomPtr &q) { return p->text < q->text; });
      terms.push_back(std::move(term));
    }
  return fromTerms(std::move(terms));
}

size_t DimExpr::hash() const { return polynomial ? std::hash<std::string>()(str()) : std::hash<int64_t>()(value); }

bool stator::operator==(const DimExpr &a, const DimExpr &b) {
  if (a.polynomial == b.polynomial)
    return a.value == b.value || a.polynomial;
  if (!a.polynomial || !b.polynomial)
    return false;
  if (a.polynomial->invalidReason != b.polynomial->invalidReason || a.polynomial->terms.size() != b.polynomial->terms.size())
    return false;
  for (size_t i = 0; i != a.polynomial->terms.size(); ++i) {
    const DimTerm &x = a.polynomial->terms[i], &y = b.polynomial->terms[i];
    if (x.coefficient != y.coefficient || compareMonomials(x.factors, y.factors) != 0)
      return false;
  }
  return true;
}

bool stator::operator<(const DimExpr &a, const DimExpr &b) {
  if (!a.polynomial || !b.polynomial)
    return a.polynomial ? false : b.polynomial ? true : a.value < b.value;
  return a.polynomial != b.polynomial && a.str() < b.str();
}
