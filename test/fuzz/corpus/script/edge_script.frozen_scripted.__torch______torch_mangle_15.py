class Scripted(Module):
  __parameters__ = []
  __buffers__ = ["cnt", ]
  cnt : Tensor
  def forward(s: __torch__.___torch_mangle_15.Scripted,
    x: Tensor,
    opts: Dict[str, int],
    pair: Tuple[int, float],
    maybe: Optional[List[int]]=None) -> Tuple[__torch__.NT, Dict[str, Tensor], int]:
    _0 = uninitialized(Tensor)
    _1 = uninitialized(int)
    _2 = uninitialized(bool)
    acc = annotate(List[Tensor], [])
    _3 = torch.linear(x, CONSTANTS.c0, CONSTANTS.c1)
    _4 = torch.append(acc, torch.mul(_3, 2))
    _5 = torch.linear(x, CONSTANTS.c2, CONSTANTS.c3)
    _6 = torch.append(acc, torch.mul(_5, 2))
    k = (pair)[0]
    x0 = x
    k0 = k
    _7 = torch.gt(k, 0)
    while _7:
      k1 = torch.sub(k0, 1)
      if torch.eq(k1, 2):
        _8, _9, _10, _11, _12, _13, _14 = True, torch.gt(k1, 0), x0, k1, _2, _0, _1
      else:
        _15 = torch.eq(k1, 0)
        if _15:
          _16, _17, _18, _19, _20, _21 = False, x0, k1, _2, _0, _1
        else:
          x1 = torch.add(x0, (pair)[1])
          _16, _17, _18, _19, _20, _21 = _2, _0, _1, torch.gt(k1, 0), x1, k1
        _8, _9, _10, _11, _12, _13, _14 = _15, _16, _17, _18, _19, _20, _21
      if _8:
        _22, _23, _24 = _9, _10, _11
      else:
        _22, _23, _24 = _12, _13, _14
      _7, x0, k0 = _22, _23, _24
    x2 = torch.mul(x0, 2)
    if torch.__is__(maybe, None):
      maybe0 = [0, 1]
    else:
      maybe0 = unchecked_cast(List[int], maybe)
    _25 = torch.len(maybe0)
    x3 = x2
    for _26 in range(_25):
      i = maybe0[_26]
      x3 = torch.roll(x3, [i], [0])
    cnt = s.cnt
    s.cnt = torch.add_(cnt, 1)
    if torch.gt(_25, 1):
      _27 = annotate(List[int], [])
      for _28 in range(_25):
        i0 = maybe0[_28]
        _29 = torch.append(_27, i0)
      t = torch.sum(_27)
    else:
      t = 0
    _30 = __torch__.NT(x3, torch.sum(torch.stack(acc), [0]))
    _31 = annotate(Dict[str, Tensor], {})
    for _32 in range(ops.prim.min([2, torch.len(acc)])):
      n = (["p", "q"])[_32]
      a = acc[_32]
      torch._set_item(_31, n, a)
    _33 = torch.add(t, torch.get(opts, "z", 5))
    return (_30, _31, _33)
