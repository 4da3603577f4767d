#!/usr/bin/env python3
"""Exports the benchmark suite to ONNX: classifiers, U-Net, transformers, LSTM, MLP, at batch 1 and 8.

    tools/bench/make_models.py DIR [--only resnet18,mlp] [--batch 1,8]

Needs an environment with `pip install torch torchvision transformers onnx onnxscript`. Writes NAME_bN.onnx (opset 18, fixed sizes) and
NAME_bN.npz with inputs in_0, ... and torch's outputs out_0, ..., which compare_peers.py reads. Weights are random with a fixed seed: speed
does not depend on them, and nothing has to be downloaded. The whole suite takes 4 GB.
"""
import argparse
import pathlib
import sys

VISION = ("resnet18", "resnet50", "mobilenet_v2", "mobilenet_v3_large", "efficientnet_b0", "densenet121", "vit_b_16")
MODELS = [*VISION, "unet", "minilm", "gpt2_prefill", "gpt2_decode", "lstm", "mlp"]
BATCH_ONE_ONLY = ("unet", "gpt2_decode")  # As they are served.

LAYERS, HEADS, WIDTH, VOCABULARY, POSITIONS = 12, 12, 768, 50257, 1024  # GPT-2 small
PAST = 256


def define(torch):
    """The models that no package has, as module classes."""
    nn, functional = torch.nn, torch.nn.functional

    class Attention(nn.Module):
        def __init__(self):
            super().__init__()
            self.qkv, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)

        def forward(self, x, cache):
            batch, length, _ = x.shape
            heads = lambda t: t.view(batch, length, HEADS, WIDTH // HEADS).transpose(1, 2)
            query, key, value = map(heads, self.qkv(x).chunk(3, dim=-1))
            if cache:
                key, value = torch.cat((cache[0], key), 2), torch.cat((cache[1], value), 2)
            mixed = functional.scaled_dot_product_attention(query, key, value, is_causal=not cache)
            return self.out(mixed.transpose(1, 2).reshape(batch, length, WIDTH)), key, value

    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.norm1, self.attention, self.norm2 = nn.LayerNorm(WIDTH), Attention(), nn.LayerNorm(WIDTH)
            self.feed = nn.Sequential(nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(approximate="tanh"), nn.Linear(4 * WIDTH, WIDTH))

        def forward(self, x, cache):
            mixed, key, value = self.attention(self.norm1(x), cache)
            x = x + mixed
            return x + self.feed(self.norm2(x)), key, value

    class Gpt2(nn.Module):
        """Prefill: ids to logits. Decode: one id and the cache of each layer, to logits and the longer caches."""

        def __init__(self, decodes):
            super().__init__()
            self.decodes = decodes
            self.tokens, self.positions = nn.Embedding(VOCABULARY, WIDTH), nn.Embedding(POSITIONS, WIDTH)
            self.blocks, self.norm = nn.ModuleList(Block() for _ in range(LAYERS)), nn.LayerNorm(WIDTH)
            for weight in self.parameters():
                if weight.dim() == 2:
                    nn.init.normal_(weight, std=0.02)

        def forward(self, ids, *caches):
            start, caches_out = PAST if self.decodes else 0, []
            x = self.tokens(ids) + self.positions.weight[start : start + ids.shape[1]]
            for index, block in enumerate(self.blocks):
                x, key, value = block(x, caches[2 * index : 2 * index + 2])
                caches_out += [key, value]
            logits = functional.linear(self.norm(x), self.tokens.weight)
            return (logits, *caches_out) if self.decodes else logits

    class UNet(nn.Module):
        """Four levels of two 3x3 convolutions; nearest upsampling; skips are concatenated."""

        def __init__(self, widths=(32, 64, 128, 256)):
            super().__init__()
            self.encoders = nn.ModuleList(self.level(i, o) for i, o in zip((3,) + widths, widths))
            self.decoders = nn.ModuleList(self.level(i + o, o) for i, o in zip(widths[:0:-1], widths[-2::-1]))
            self.head = nn.Conv2d(widths[0], 2, 1)

        @staticmethod
        def level(inputs, outputs):
            step = lambda i: (nn.Conv2d(i, outputs, 3, padding=1, bias=False), nn.BatchNorm2d(outputs), nn.ReLU())
            return nn.Sequential(*step(inputs), *step(outputs))

        def forward(self, x):
            skips = []
            for encoder in self.encoders:
                x = encoder(functional.max_pool2d(x, 2) if skips else x)
                skips.append(x)
            for decoder, skip in zip(self.decoders, skips[-2::-1]):
                x = decoder(torch.cat((functional.interpolate(x, scale_factor=2.0, mode="nearest"), skip), 1))
            return self.head(x)

    class MiniLm(nn.Module):
        """BERT with the sizes of MiniLM-L6, to the last hidden state."""

        def __init__(self):
            super().__init__()
            from transformers import BertConfig, BertModel

            self.bert = BertModel(BertConfig(hidden_size=384, num_hidden_layers=6, num_attention_heads=12, intermediate_size=1536,
                                             attn_implementation="sdpa"), add_pooling_layer=False)

        def forward(self, ids, mask):
            return self.bert(input_ids=ids, attention_mask=mask).last_hidden_state

    class Lstm(nn.Module):
        def __init__(self):
            super().__init__()
            self.lstm = nn.LSTM(512, 512, num_layers=2)

        def forward(self, x):
            return self.lstm(x)[0]

    def mlp():
        return nn.Sequential(nn.Linear(784, 1024), nn.ReLU(), nn.Linear(1024, 1024), nn.ReLU(), nn.Linear(1024, 10))

    return {"unet": UNet, "minilm": MiniLm, "lstm": Lstm, "mlp": mlp, "gpt2_prefill": lambda: Gpt2(False), "gpt2_decode": lambda: Gpt2(True)}


def build(torch, name, batch):
    """Module, inputs, input names, output names."""
    torch.manual_seed(0)
    outputs = ["y"]
    if name in VISION:
        import torchvision

        module, inputs, names = getattr(torchvision.models, name)(weights=None), (torch.randn(batch, 3, 224, 224),), ["x"]
        if name == "vit_b_16":
            torch.nn.init.normal_(module.heads.head.weight, std=0.02)  # Zero by default, and then so were the output.
    else:
        module = define(torch)[name]()
        if name == "unet":
            inputs, names = (torch.randn(batch, 3, 256, 256),), ["x"]
        elif name == "mlp":
            inputs, names = (torch.randn(batch, 784),), ["x"]
        elif name == "lstm":
            inputs, names = (torch.randn(64, batch, 512),), ["x"]
        elif name == "minilm":
            mask = torch.ones(batch, 128, dtype=torch.int64)
            mask[:, 120:] = 0
            inputs, names = (torch.randint(0, 30522, (batch, 128)), mask), ["ids", "mask"]
        elif name == "gpt2_prefill":
            inputs, names = (torch.randint(0, VOCABULARY, (batch, 128)),), ["ids"]
        else:
            caches = [torch.randn(batch, HEADS, PAST, WIDTH // HEADS) * 0.5 for _ in range(2 * LAYERS)]
            inputs, names = (torch.randint(0, VOCABULARY, (batch, 1)), *caches), ["ids"]
            names += [f"past_{kind}{layer}" for layer in range(LAYERS) for kind in "kv"]
            outputs += [f"present_{kind}{layer}" for layer in range(LAYERS) for kind in "kv"]
    for part in module.modules():  # Fresh statistics would make a normalisation that does nothing.
        if isinstance(part, torch.nn.BatchNorm2d):
            part.running_mean.normal_(0, 0.1)
            part.running_var.uniform_(0.7, 1.3)
            part.weight.data.uniform_(0.8, 1.2)
            part.bias.data.normal_(0, 0.1)
    return module.eval().requires_grad_(False), inputs, names, outputs


def export(torch, name, batch, folder):
    import numpy

    module, inputs, names, outputs = build(torch, name, batch)
    path = folder / f"{name}_b{batch}.onnx"
    with torch.no_grad():
        expected = module(*inputs)
        torch.onnx.export(module, inputs, str(path), input_names=names, output_names=outputs, opset_version=18, dynamo=False)
    expected = expected if isinstance(expected, tuple) else (expected,)
    arrays = {f"in_{i}": tensor.numpy() for i, tensor in enumerate(inputs)}
    arrays |= {f"out_{i}": tensor.numpy() for i, tensor in enumerate(expected)}
    numpy.savez(path.with_suffix(".npz"), **arrays)
    print(path, flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0], epilog="\n".join(__doc__.splitlines()[2:]),
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path, metavar="DIR")
    parser.add_argument("--only", default=",".join(MODELS), metavar="NAME,...", help="of " + ", ".join(MODELS))
    parser.add_argument("--batch", default="1,8", metavar="N,...", help="default 1,8")
    options = parser.parse_args()
    names = options.only.split(",")
    for name in names:
        if name not in MODELS:
            parser.error(f"unknown model `{name}`, expected one of {', '.join(MODELS)}")
    try:
        batches = [int(batch) for batch in options.batch.split(",")]
    except ValueError:
        parser.error(f"`{options.batch}` is not a list of numbers")
    try:
        import torch
    except ImportError:
        print("make_models.py: error: this needs torch: pip install torch torchvision transformers onnx onnxscript", file=sys.stderr)
        sys.exit(3)
    options.folder.mkdir(parents=True, exist_ok=True)
    for name in names:
        for batch in batches:
            if batch == 1 or name not in BATCH_ONE_ONLY:
                export(torch, name, batch, options.folder)


if __name__ == "__main__":
    main()
