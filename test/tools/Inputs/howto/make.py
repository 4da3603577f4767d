"""Makes the models that the commands of docs/howto/compile-a-pytorch-model.md are run with. Needs torch (1.13 made those that are here)."""
from typing import Tuple

import numpy
import torch
from torch import nn


class Image(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 4, 3, stride=2, padding=1)
        self.fc = nn.Linear(4, 5)

    def forward(self, image):
        return self.fc(torch.relu(self.conv(image)).mean([2, 3]))


class Options(nn.Module):
    def forward(self, x, rate: int, mode: str, pair: Tuple[int, float]):
        if mode == "fast":
            return x * pair[1] + rate // pair[0]
        return x - rate


class Vad(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(512, 3)
        self.register_buffer("context", torch.zeros(1, 3))

    def forward(self, x, sr: int):
        if sr != 16000:
            raise ValueError("only 16000 Hz")
        self.context.copy_(0.5 * self.context + torch.tanh(self.fc(x)))
        return self.context.sum(1)

    @torch.jit.export
    def reset_states(self):
        self.context.zero_()


torch.manual_seed(1)
for name, model in {"image": Image(), "options": Options(), "vad": Vad()}.items():
    torch.jit.script(model.eval()).save(f"{name}.pt")
numpy.save("image.npy", numpy.linspace(-1, 1, 3 * 16 * 16, dtype=numpy.float32).reshape(1, 3, 16, 16))
numpy.save("chunk.npy", numpy.linspace(-1, 1, 512, dtype=numpy.float32).reshape(1, 512))
