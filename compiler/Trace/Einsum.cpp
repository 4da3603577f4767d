// Einstein summation as a chain of dot_general. Each operand is first reduced to distinct labels: diagonals are taken of repeated
// ones, axes of size 1 that meet larger ones are dropped (they broadcast), labels that nobody else wants are summed. Then operands are
// contracted from left to right, which is what front-ends expect; they order operands themselves if they care.
#include "compiler/Trace/ElementwiseSupport.h"

#include <map>

namespace stator::trace {

namespace {

/// Labels are characters; the axes under an ellipsis are numbered from the right, as negative labels.
using Labels = llvm::SmallVector<int, 8>;

struct Equation {
  std::vector<Labels> inputs;
  Labels output;
};

struct Term {
  Tensor tensor;
  Labels labels;
};

bool contains(const Labels &labels, int label) { return llvm::is_contained(labels, label); }

/// One side of a comma: letters, at most one "..." which stands for `ellipsis` axes.
std::optional<Labels> parseTerm(const Call &call, llvm::StringRef text, int64_t ellipsis) {
  Labels labels;
  bool seen = false;
  while (!text.empty()) {
    if (text.consume_front("...")) {
      if (seen) {
        call.invalid("two ellipses in one term");
        return std::nullopt;
      }
      seen = true;
      for (int64_t i = ellipsis; i > 0; --i)
        labels.push_back(-static_cast<int>(i));
      continue;
    }
    char letter = text.front();
    text = text.drop_front();
    if (letter == ' ')
      continue;
    if (!llvm::isAlpha(letter)) {
      call.invalid("the character `" + llvm::Twine(letter) + "` in the equation, expected a letter");
      return std::nullopt;
    }
    labels.push_back(letter);
  }
  return labels;
}

std::optional<Equation> parseEquation(const Call &call, llvm::StringRef text, llvm::ArrayRef<Tensor> operands) {
  Equation equation;
  auto [left, right] = text.split("->");
  bool isExplicit = text.contains("->");
  llvm::SmallVector<llvm::StringRef> terms;
  left.split(terms, ',');
  if (terms.size() != operands.size()) {
    call.invalid("the equation has " + llvm::Twine(terms.size()) + " terms for " + llvm::Twine(operands.size()) + " operands");
    return std::nullopt;
  }
  int64_t widest = 0;
  for (size_t i = 0; i < terms.size(); ++i) {
    int64_t letters = llvm::count_if(terms[i], [](char c) { return llvm::isAlpha(c); });
    int64_t ellipsis = terms[i].contains("...") ? operands[i].rank() - letters : 0;
    std::optional<Labels> labels = parseTerm(call, terms[i], std::max<int64_t>(ellipsis, 0));
    if (!labels)
      return std::nullopt;
    if (static_cast<int64_t>(labels->size()) != operands[i].rank()) {
      call.invalid("operand " + llvm::Twine(i) + " has rank " + llvm::Twine(operands[i].rank()) + ", the equation gives it " +
                   llvm::Twine(labels->size()) + " axes");
      return std::nullopt;
    }
    widest = std::max(widest, ellipsis);
    equation.inputs.push_back(*labels);
  }
  if (isExplicit) {
    std::optional<Labels> labels = parseTerm(call, right, widest);
    if (!labels)
      return std::nullopt;
    equation.output = *labels;
  } else {
    std::map<int, int> uses;
    for (const Labels &labels : equation.inputs)
      for (int label : labels)
        ++uses[label];
    // Ordered: the ellipsis first, then letters that occur once.
    for (auto [label, count] : uses)
      if (label < 0 || count == 1)
        equation.output.push_back(label);
  }
  for (size_t i = 0; i < equation.output.size(); ++i) {
    int label = equation.output[i];
    bool isKnown = llvm::any_of(equation.inputs, [&](const Labels &labels) { return contains(labels, label); });
    if (!isKnown || llvm::is_contained(llvm::ArrayRef<int>(equation.output).take_front(i), label)) {
      call.invalid("an output label is not in the operands, or twice in the output");
      return std::nullopt;
    }
  }
  return equation;
}

/// Sums over one axis, or drops it when its size is 1.
void removeAxis(Term &term, size_t index) {
  Tensor &x = term.tensor;
  x = x.dim(static_cast<int64_t>(index)) == Dim(1) ? fn::squeeze(x, {static_cast<int64_t>(index)})
                                                   : fn::reduce(x, fn::Reduction::Sum, {static_cast<int64_t>(index)}, /*keepDims=*/false);
  term.labels.erase(term.labels.begin() + index);
}

/// Axes i < j of one label: [.., n, .., n, ..] becomes [.., n] by reading the flattened pair with stride n + 1.
bool takeDiagonal(const Call &call, Term &term, size_t i, size_t j) {
  if (!requireEqualSizes(*call, "einsum", term.tensor, i, term.tensor, j))
    return false;
  std::optional<int64_t> size = call.constantSize("an operand with a repeated label", term.tensor, i);
  if (!size)
    return false;
  Ints order;
  Labels labels;
  for (size_t axis = 0; axis < term.labels.size(); ++axis)
    if (axis != i && axis != j) {
      order.push_back(axis);
      labels.push_back(term.labels[axis]);
    }
  labels.push_back(term.labels[i]);
  int64_t last = static_cast<int64_t>(order.size());
  order.push_back(i);
  order.push_back(j);
  Tensor x = fn::transpose(term.tensor, order);
  Sizes dims = sizesOf(x);
  dims.pop_back();
  dims.back() = DimExpr(*size) * DimExpr(*size);
  x = reshapeTo(*call, x, dims);
  term.tensor = fn::slice(x, Dims{0}, Dims{Dim(dims.back())}, {last}, {*size + 1});
  term.labels = labels;
  return bool(call);
}

} // namespace

namespace fn {

Tensor einsum(std::string_view text, const Tensors &operands) {
  Call call("einsum", operands);
  if (!call)
    return call.failed();
  std::optional<Equation> equation = parseEquation(call, text, operands);
  if (!equation)
    return call.failed();
  ElementType type = operands[0].type();
  for (const Tensor &operand : operands)
    type = promote(type, operand.type());

  std::vector<Term> terms;
  for (size_t i = 0; i < operands.size(); ++i) {
    Term term{cast(operands[i], type), equation->inputs[i]};
    for (size_t a = 0; a < term.labels.size(); ++a)
      for (size_t b = a + 1; b < term.labels.size(); ++b)
        if (term.labels[a] == term.labels[b]) {
          if (!takeDiagonal(call, term, a, b))
            return call.failed();
          a = static_cast<size_t>(-1); // the axes have moved: look again from the first
          break;
        }
    terms.push_back(term);
  }

  // Axes of size 1 broadcast: where another operand has the label with another size, the label is dropped here.
  std::map<int, bool> isLarge;
  for (const Term &term : terms)
    for (size_t i = 0; i < term.labels.size(); ++i)
      isLarge[term.labels[i]] |= !call->dims(term.tensor)[i].isConstant(1);
  for (Term &term : terms)
    for (size_t i = term.labels.size(); i-- > 0 && call;)
      if (isLarge[term.labels[i]] && call->dims(term.tensor)[i].isConstant(1))
        removeAxis(term, i);

  auto isWantedAfter = [&](int label, size_t next) {
    if (contains(equation->output, label))
      return true;
    for (size_t i = next; i < terms.size(); ++i)
      if (contains(terms[i].labels, label))
        return true;
    return false;
  };
  for (size_t t = 0; t < terms.size(); ++t)
    for (size_t i = terms[t].labels.size(); i-- > 0 && call;) {
      int label = terms[t].labels[i];
      bool isAlone = !contains(equation->output, label);
      for (size_t u = 0; u < terms.size(); ++u)
        isAlone &= u == t || !contains(terms[u].labels, label);
      if (isAlone)
        removeAxis(terms[t], i);
    }

  Term result = terms[0];
  for (size_t t = 1; t < terms.size() && call; ++t) {
    Term &next = terms[t];
    Axes batchX, batchY, contractX, contractY;
    Labels batch, labels;
    for (size_t i = 0; i < result.labels.size(); ++i) {
      auto found = llvm::find(next.labels, result.labels[i]);
      if (found == next.labels.end())
        continue;
      int64_t j = found - next.labels.begin();
      if (!requireEqualSizes(*call, "einsum", result.tensor, i, next.tensor, j))
        return call.failed();
      bool isBatch = isWantedAfter(result.labels[i], t + 1);
      (isBatch ? batchX : contractX).push_back(i);
      (isBatch ? batchY : contractY).push_back(j);
      if (isBatch)
        batch.push_back(result.labels[i]);
    }
    labels = batch;
    for (int label : result.labels)
      if (!contains(next.labels, label))
        labels.push_back(label);
    for (int label : next.labels)
      if (!contains(result.labels, label))
        labels.push_back(label);
    result.tensor = emit(*call, "graph.dot_general", {result.tensor, next.tensor},
                         Attributes(*call)
                             .ints("lhs_batch", batchX)
                             .ints("rhs_batch", batchY)
                             .ints("lhs_contract", contractX)
                             .ints("rhs_contract", contractY));
    result.labels = labels;
  }
  if (!call)
    return call.failed();
  Ints order;
  for (int label : equation->output) {
    auto found = llvm::find(result.labels, label);
    if (found == result.labels.end())
      return call.invalid("an output label is not in the operands");
    order.push_back(found - result.labels.begin());
  }
  return transpose(result.tensor, order);
}

} // namespace fn
} // namespace stator::trace
