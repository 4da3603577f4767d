class Scripted(Module):
  __parameters__ = []
  __buffers__ = ["cnt", ]
  cnt : Tensor
  training : bool
  _is_full_backward_hook : Optional[bool]
  names : List[str]
  table : Dict[str, int]
  c : __torch__.Color
  l : __torch__.torch.nn.modules.container.ModuleDict
  def forward(s: __torch__.Scripted,
    x: Tensor,
    opts: Dict[str, int],
    pair: Tuple[int, float],
    maybe: Optional[List[int]]=None) -> Tuple[__torch__.NT, Dict[str, Tensor], int]:
    _0 = uninitialized(Tensor)
    _1 = uninitialized(int)
    _2 = uninitialized(bool)
    acc = annotate(List[Tensor], [])
    l = s.l
    p = l.p
    q = l.q
    _3 = (p).forward(x, )
    table = s.table
    _4 = torch.append(acc, torch.mul(_3, table["k"]))
    _5 = (q).forward(x, )
    table0 = s.table
    _6 = torch.append(acc, torch.mul(_5, table0["k"]))
    k = (pair)[0]
    x0 = x
    k0 = k
    _7 = torch.gt(k, 0)
    while _7:
      k1 = torch.sub(k0, 1)
      if torch.eq(k1, 2):
        _8, _9, _10, _11, _12, _13, _14 = True, torch.gt(k1, 0), x0, k1, _2, _0, _1
      else:
        if torch.eq(k1, 0):
          _15, _16, _17, _18, _19, _20, _21 = True, False, x0, k1, _2, _0, _1
        else:
          x1 = torch.add(x0, (pair)[1])
          _15, _16, _17, _18, _19, _20, _21 = False, _2, _0, _1, torch.gt(k1, 0), x1, k1
        _8, _9, _10, _11, _12, _13, _14 = _15, _16, _17, _18, _19, _20, _21
      if _8:
        _22, _23, _24 = _9, _10, _11
      else:
        _22, _23, _24 = _12, _13, _14
      _7, x0, k0 = _22, _23, _24
    c = s.c
    if torch.eq(c, __torch__.Color.GREEN):
      x2 = torch.mul(x0, 2)
    else:
      x2 = x0
    if torch.__is__(maybe, None):
      maybe0 = [0, 1]
    else:
      maybe0 = unchecked_cast(List[int], maybe)
    x3 = x2
    for _25 in range(torch.len(maybe0)):
      i = maybe0[_25]
      x3 = torch.roll(x3, [i], [0])
    cnt = s.cnt
    s.cnt = torch.add_(cnt, 1)
    maybe1 = unchecked_cast(List[int], maybe0)
    if torch.gt(torch.len(maybe1), 1):
      maybe2 = unchecked_cast(List[int], maybe1)
      _26 = annotate(List[int], [])
      for _27 in range(torch.len(maybe2)):
        i0 = maybe2[_27]
        _28 = torch.append(_26, i0)
      t = torch.sum(_26)
    else:
      t = 0
    _29 = __torch__.NT(x3, torch.sum(torch.stack(acc), [0]))
    _30 = annotate(Dict[str, Tensor], {})
    names = s.names
    _31 = ops.prim.min([torch.len(names), torch.len(acc)])
    for _32 in range(_31):
      n = names[_32]
      a = acc[_32]
      torch._set_item(_30, n, a)
    _33 = torch.add(t, torch.get(opts, "z", 5))
    return (_29, _30, _33)
class Color(Enum):
  RED = 1
  GREEN = 2
class NT(NamedTuple):
  a : Tensor
  b : Tensor
