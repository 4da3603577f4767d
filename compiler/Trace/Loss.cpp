// Losses, which exported training and evaluation graphs contain, and the rotation of positions into vectors.
#include "compiler/Trace/ElementwiseSupport.h"

namespace stator::trace::fn {

Tensor negativeLogLikelihood(const Tensor &given, const Tensor &target, const Tensor &weight, LossReduction reduction,
                             std::optional<int64_t> ignore) {
  Tensor x = toFloat(given);
  Call call("negativeLogLikelihood", {x, target}, {weight});
  if (!call || !call.rankAtLeast("the input", x, 2) || !call.rank("the target", target, x.rank() - 1))
    return call.failed();
  Tensor classes = cast(target, ElementType::I64), counts;
  if (ignore) {
    // What is ignored may be no class at all.
    counts = ne(classes, scalarLike(classes, static_cast<double>(*ignore)));
    classes = where(counts, classes, scalarLike(classes, 0));
  }
  Tensor loss = neg(squeeze(gatherElements(x, unsqueeze(classes, {1}), 1), {1}));
  Tensor factor = weight ? gather(cast(weight, x.type()), classes, 0) : Tensor();
  if (counts) {
    factor = factor ? where(counts, factor, scalarLike(factor, 0)) : cast(counts, x.type());
    loss = where(counts, loss, scalarLike(loss, 0));
  }
  if (factor)
    loss = mul(loss, factor);
  if (!call || reduction == LossReduction::None)
    return loss;
  if (reduction == LossReduction::Mean && !factor)
    return reduce(loss, Reduction::Mean, Ints{}, false);
  Tensor sum = reduce(loss, Reduction::Sum, Ints{}, false);
  return reduction == LossReduction::Sum ? sum : div(sum, reduce(factor, Reduction::Sum, Ints{}, false));
}

Tensor rotaryEmbedding(const Tensor &x, const Tensor &cosine, const Tensor &sine, int64_t rotated, bool interleaved) {
  Call call("rotaryEmbedding", {x, cosine, sine});
  if (!call || !call.rank("the input", x, 4) || !call.rank("the cosine", cosine, 3) || !call.rank("the sine", sine, 3))
    return call.failed();
  std::optional<int64_t> width = call.constantSize("the input", x, 3);
  if (!width)
    return call.failed();
  int64_t turned = rotated == 0 ? *width : rotated;
  if (turned < 2 || turned > *width || turned % 2 != 0)
    return call.invalid(llvm::Twine(turned) + " rotated elements of " + llvm::Twine(*width) + ", expected an even number");
  Tensor c = unsqueeze(cast(cosine, x.type()), {1}), s = unsqueeze(cast(sine, x.type()), {1});
  Tensor head = slice(x, Dims{0}, Dims{turned}, {3});
  Ints step{interleaved ? 2 : 1};
  Tensor first = slice(head, Dims{0}, Dims{interleaved ? turned : turned / 2}, {3}, step);
  Tensor second = slice(head, Dims{interleaved ? 1 : turned / 2}, Dims{turned}, {3}, step);
  Tensor real = sub(mul(c, first), mul(s, second)), imaginary = add(mul(s, first), mul(c, second));
  Tensor result;
  if (interleaved) {
    Tensor pairs = concat({unsqueeze(real, {4}), unsqueeze(imaginary, {4})}, 4);
    result = call ? reshape(pairs, head.dims()) : call.failed();
  } else {
    result = concat({real, imaginary}, 3);
  }
  return turned == *width ? result : concat({result, slice(x, Dims{turned}, Dims{*width}, {3})}, 3);
}

} // namespace stator::trace::fn
