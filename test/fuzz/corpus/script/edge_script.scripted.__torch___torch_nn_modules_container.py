class ModuleDict(Module):
  __parameters__ = []
  __buffers__ = []
  training : bool
  _is_full_backward_hook : NoneType
  p : __torch__.torch.nn.modules.linear.___torch_mangle_14.Linear
  q : __torch__.torch.nn.modules.linear.___torch_mangle_14.Linear
  def __len__(self: __torch__.torch.nn.modules.container.ModuleDict) -> int:
    return 2
  def __contains__(self: __torch__.torch.nn.modules.container.ModuleDict,
    key: str) -> bool:
    return torch.__contains__(["p", "q"], key)
