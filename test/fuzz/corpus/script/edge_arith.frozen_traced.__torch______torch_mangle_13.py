class Arith(Module):
  __parameters__ = []
  __buffers__ = []
  def forward(self: __torch__.___torch_mangle_13.Arith,
    a: Tensor,
    b: Tensor,
    x: Tensor) -> Tuple[Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor]:
    _0 = torch.floor_divide(a, b)
    _1 = torch.remainder(a, b)
    _2 = torch.fmod(a, b)
    _3 = torch.div(a, b, rounding_mode="trunc")
    _4 = torch.div(a, b)
    _5 = torch.mul(a, CONSTANTS.c0)
    _6 = torch.add(a, b, alpha=3)
    _7 = torch.rsub(x, 1., 2.)
    _8 = torch.round(x)
    _9 = torch.clamp(x, -1.)
    _10 = torch.full_like(x, nan, dtype=6, layout=0, device=torch.device("cpu"), pin_memory=False)
    _11 = torch.max(x, _10)
    _12 = torch.to(x, 3)
    _13 = torch.sign(x)
    _14 = torch.pow(a, 2)
    _15 = torch.argmax(x, -1)
    _16 = torch.softmax(torch.mul(x, CONSTANTS.c1), -1)
    _17 = torch.logsumexp(torch.mul(x, CONSTANTS.c2), [-1])
    _18 = torch.var(x, [-1], False)
    _19 = torch.sum(torch.gt(a, 0), [-1])
    _20 = torch.mean(torch.to(a, 6))
    _21 = torch.__or__(torch.__lshift__(a, 1), torch.__and__(b, 3))
    _22 = (_0, _1, _2, _3, _4, _5, _6, _7, _8, _9, _11, _12, _13, _14, _15, _16, _17, _18, _19, _20, _21)
    return _22
