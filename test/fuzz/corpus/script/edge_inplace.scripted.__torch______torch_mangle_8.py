class Inplace(Module):
  __parameters__ = []
  __buffers__ = []
  training : bool
  _is_full_backward_hook : Optional[bool]
  def forward(s: __torch__.___torch_mangle_8.Inplace,
    x: Tensor) -> Tuple[Tensor, Tensor, Tensor]:
    y = torch.clone(x)
    _0 = torch.slice(torch.slice(y), 1, 1, 3)
    _1 = torch.mul(_0, 2)
    _2 = torch.slice(torch.slice(y), 1, 1, 3)
    _3 = torch.copy_(_2, _1)
    v = torch.view(y, [-1])
    _4 = torch.add_(torch.slice(v, 0, None, None, 3), 1.)
    _5 = torch.tensor([0, -1])
    _6 = torch.select(y, 0, 0)
    _7 = torch.tensor(7., dtype=ops.prim.dtype(_6), device=ops.prim.device(_6))
    _8 = annotate(List[Optional[Tensor]], [_5])
    _9 = torch.index_put_(_6, _8, _7)
    z = torch.t(y)
    _10 = torch.mul_(z, 0.5)
    _11 = torch.masked_fill_(y, torch.gt(y, 3.), -1.)
    w = torch.select(y, 0, 1)
    _12 = torch.copy_(w, torch.select(x, 0, 0))
    _13 = torch.fill_(torch.select(y, 0, 2), 0.25)
    q = torch.contiguous(torch.transpose(y, 0, 1))
    _14 = torch.sub_(q, 1.)
    return (y, q, x)
