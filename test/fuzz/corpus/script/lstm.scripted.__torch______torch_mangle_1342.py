class LSTMNet(Module):
  __parameters__ = []
  __buffers__ = []
  training : bool
  _is_full_backward_hook : Optional[bool]
  emb : __torch__.torch.nn.modules.sparse.___torch_mangle_1339.Embedding
  rnn : __torch__.torch.nn.modules.rnn.___torch_mangle_1340.LSTM
  fc : __torch__.torch.nn.modules.linear.___torch_mangle_1341.Linear
  def forward(s: __torch__.___torch_mangle_1342.LSTMNet,
    ids: Tensor) -> Tensor:
    rnn = s.rnn
    emb = s.emb
    _0 = (rnn).forward__0((emb).forward(ids, ), None, )
    y, _1, = _0
    fc = s.fc
    _2 = (fc).forward(torch.select(torch.slice(y), 1, -1), )
    return _2
