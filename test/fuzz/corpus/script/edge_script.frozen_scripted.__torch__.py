class NT(NamedTuple):
  a : Tensor
  b : Tensor
