"""Makes kinds.pt, which has inputs, outputs and methods of every kind, and unsupported.pt and unsupported.pt2, which hold operators that Stator does not have. Needs torch (1.13 made what is here) and, as the
argument, a .pt2 file with `torch.ops.aten.mul.Tensor` and `torch.ops.aten.add.Tensor`, in which those are renamed."""
import sys
import warnings
import zipfile
from typing import Dict, List, Optional, Tuple

import torch
from torch import nn


class Unsupported(nn.Module):
    def forward(self, x, scale: float = 2.0):
        y = torch.cholesky(x) * scale
        if x.dim() == 2:
            y = torch.lu_solve(y, x, torch.zeros([4], dtype=torch.int32))
        return torch.relu(y)


class Kinds(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("total", torch.zeros(2))

    def forward(self, x, n: int, opts: Dict[str, torch.Tensor], pair: Tuple[torch.Tensor, Optional[torch.Tensor]], axes: List[int], mode: str = "sum",
                scale: float = 1.0):
        warnings.warn("axes are not checked")
        b = pair[1]
        y = x * scale + pair[0] + n
        if b is not None:
            y = y - b
        if mode == "sum":
            out = y.sum(axes)
        elif mode == "mean":
            out = y.mean(axes)
        else:
            raise ValueError("no such mode: " + mode)
        self.total += opts["bias"]
        return {"out": out, "parts": y}, (self.total + 1, x.size(0), None)

    @torch.jit.export
    def step(self, x):
        self.total += x.sum()
        return self.total * 2


torch.jit.script(Kinds().eval()).save("kinds.pt")
torch.jit.script(Unsupported().eval()).save("unsupported.pt")
with zipfile.ZipFile(sys.argv[1]) as source, zipfile.ZipFile("unsupported.pt2", "w") as target:
    for name in source.namelist():
        if "sample_inputs" in name:
            continue
        content = source.read(name).replace(b"torch.ops.aten.mul.Tensor", b"torch.ops.mylib.mul.Tensor")
        target.writestr(name, content.replace(b"torch.ops.aten.add.Tensor", b"torch.ops.mylib.add.Tensor"))
