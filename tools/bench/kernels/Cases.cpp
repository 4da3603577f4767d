//===- Cases.cpp - what the kernel benchmark times -------------------------===//

#include "tools/bench/kernels/Cases.h"

namespace stator::bench {

static KernelCase matmulCase(std::string name, int64_t rows, int64_t depth, int64_t columns, bool isSymbolic = false) {
  KernelCase c;
  c.name = std::move(name);
  c.isMatmul = true;
  c.rows = rows;
  c.depth = depth;
  c.columns = columns;
  c.isSymbolic = isSymbolic;
  return c;
}

static KernelCase convolutionCase(std::string name, int64_t size, int64_t channels, int64_t outputs, int64_t taps, int64_t stride = 1,
                                  int64_t groups = 1, bool isSymbolic = false) {
  KernelCase c;
  c.name = std::move(name);
  c.size = size;
  c.channels = channels;
  c.outputs = outputs;
  c.taps = taps;
  c.stride = stride;
  c.pad = taps / 2;
  c.groups = groups;
  c.isSymbolic = isSymbolic;
  return c;
}

static KernelCase winogradCase(int64_t tile, KernelCase c) {
  c.winograd = tile;
  c.name = "winograd F" + std::to_string(tile) + c.name.substr(c.name.find(' ', 5));
  return c;
}

static KernelCase dilatedCase(KernelCase c, int64_t dilation) {
  c.dilation = dilation;
  c.pad *= dilation;
  return c;
}

static KernelCase with(KernelCase c, KernelCase::Epilogue epilogue) {
  c.epilogue = epilogue;
  c.name += epilogue == KernelCase::BiasRelu ? " relu" : " gelu";
  return c;
}

static std::vector<Benchmark> benchmarksOf(const std::vector<KernelCase> &cases) {
  std::vector<Benchmark> benchmarks;
  for (const KernelCase &c : cases)
    benchmarks.push_back(benchmarkOf(c));
  return benchmarks;
}

std::vector<Benchmark> contractionCases() {
  return benchmarksOf({
      matmulCase("matmul 128x768x768", 128, 768, 768),
      matmulCase("matmul 384x3072x768", 384, 3072, 768),
      matmulCase("matmul 384x768x3072", 384, 768, 3072),
      matmulCase("matmul 1024x1024x1024", 1024, 1024, 1024),
      matmulCase("matmul Mx768x768, M=128", 128, 768, 768, true),
      matmulCase("matmul Mx768x768, M=121", 121, 768, 768, true),
      matmulCase("matmul 1x3072x768", 1, 3072, 768),
      matmulCase("matmul 1x768x3072", 1, 768, 3072),
      matmulCase("matmul Mx768x3072, M=1", 1, 768, 3072, true),
      matmulCase("matmul 8x768x768", 8, 768, 768),
      with(matmulCase("matmul 128x768x768", 128, 768, 768), KernelCase::BiasRelu),
      with(matmulCase("matmul 128x384x1536", 128, 384, 1536), KernelCase::BiasGelu),
      with(matmulCase("matmul Mx384x1536, M=128", 128, 384, 1536, true), KernelCase::BiasGelu),
      convolutionCase("conv 3x3 64->64 @56", 56, 64, 64, 3),
      with(convolutionCase("conv 3x3 64->64 @56", 56, 64, 64, 3), KernelCase::BiasRelu),
      convolutionCase("conv 3x3 128->128 @28", 28, 128, 128, 3),
      convolutionCase("conv 3x3 256->256 @14", 14, 256, 256, 3),
      convolutionCase("conv 3x3 512->512 @7", 7, 512, 512, 3),
      convolutionCase("conv 3x3 64->64 @HxW=56", 56, 64, 64, 3, 1, 1, true),
      convolutionCase("conv 3x3s2 128->128 @56", 56, 128, 128, 3, 2),
      convolutionCase("conv 1x1 64->256 @56", 56, 64, 256, 1),
      with(convolutionCase("conv 1x1 64->256 @56", 56, 64, 256, 1), KernelCase::BiasRelu),
      convolutionCase("conv 1x1 512->128 @28", 28, 512, 128, 1),
      convolutionCase("conv 1x1 16->96 @112", 112, 16, 96, 1),
      convolutionCase("conv 1x1 64->128 @256", 256, 64, 128, 1),
      convolutionCase("conv 3x3 32->32 @256", 256, 32, 32, 3),
      convolutionCase("conv 3x3 256->256 @64", 64, 256, 256, 3),
      convolutionCase("conv 1x1 2048->512 @7", 7, 2048, 512, 1),
      convolutionCase("conv 1x1s2 256->512 @56", 56, 256, 512, 1, 2),
      convolutionCase("conv 7x7s2 3->64 @224", 224, 3, 64, 7, 2),
      convolutionCase("conv 3x3s2 3->32 @224", 224, 3, 32, 3, 2),
      convolutionCase("depthwise 3x3 144 @56", 56, 144, 144, 3, 1, 144),
      with(convolutionCase("depthwise 3x3 144 @56", 56, 144, 144, 3, 1, 144), KernelCase::BiasRelu),
      convolutionCase("depthwise 3x3s2 144 @56", 56, 144, 144, 3, 2, 144),
      convolutionCase("depthwise 3x3 576 @14", 14, 576, 576, 3, 1, 576),
      convolutionCase("depthwise 5x5 240 @28", 28, 240, 240, 5, 1, 240),
      convolutionCase("depthwise 3x3 960 @7", 7, 960, 960, 3, 1, 960),
      convolutionCase("depthwise 3x3 144 @HxW=56", 56, 144, 144, 3, 1, 144, true),
      matmulCase("matmul 4x768x768", 4, 768, 768),
      matmulCase("matmul 16x768x3072", 16, 768, 3072),
      matmulCase("matmul 32x784x1024", 32, 784, 1024),
      matmulCase("matmul 197x768x2304", 197, 768, 2304),
      matmulCase("matmul 1x768x50257", 1, 768, 50257),
      convolutionCase("conv 3x3 g32 128->128 @56", 56, 128, 128, 3, 1, 32),
      convolutionCase("conv 3x3 g2 64->64 @28", 28, 64, 64, 3, 1, 2),
      dilatedCase(convolutionCase("conv 3x3 dilated 2 64->64 @28", 28, 64, 64, 3), 2),
      convolutionCase("conv 3x3 128->32 @28", 28, 128, 32, 3),
      convolutionCase("depthwise 5x5s2 120 @28", 28, 120, 120, 5, 2, 120),
      winogradCase(4, convolutionCase("conv 3x3 64->64 @56", 56, 64, 64, 3)),
      winogradCase(4, with(convolutionCase("conv 3x3 64->64 @56", 56, 64, 64, 3), KernelCase::BiasRelu)),
      winogradCase(4, convolutionCase("conv 3x3 128->128 @28", 28, 128, 128, 3)),
      winogradCase(4, convolutionCase("conv 3x3 256->256 @14", 14, 256, 256, 3)),
      winogradCase(4, convolutionCase("conv 3x3 128->32 @28", 28, 128, 32, 3)),
      winogradCase(4, convolutionCase("conv 3x3 32->32 @256", 256, 32, 32, 3)),
      winogradCase(2, convolutionCase("conv 3x3 512->512 @7", 7, 512, 512, 3)),
  });
}

std::vector<Benchmark> costCases() {
  std::vector<KernelCase> cases;
  for (int64_t rows : {1, 8, 64, 256, 1024})
    for (auto [depth, columns] : {std::pair<int64_t, int64_t>{256, 256}, {768, 768}, {768, 3072}, {3072, 768}})
      cases.push_back(matmulCase("matmul", rows, depth, columns));
  for (auto [size, channels, outputs] : {std::tuple<int64_t, int64_t, int64_t>{112, 16, 96},
                                         {56, 24, 144},
                                         {56, 64, 256},
                                         {56, 256, 64},
                                         {28, 192, 32},
                                         {28, 128, 512},
                                         {14, 256, 1024},
                                         {14, 1024, 256},
                                         {7, 960, 160},
                                         {7, 512, 2048}})
    cases.push_back(convolutionCase("conv1x1", size, channels, outputs, 1));
  for (auto [size, channels, outputs] : {std::tuple<int64_t, int64_t, int64_t>{224, 32, 32},
                                         {112, 64, 64},
                                         {56, 64, 64},
                                         {56, 128, 32},
                                         {28, 128, 128},
                                         {14, 256, 256},
                                         {14, 128, 32},
                                         {7, 512, 512}})
    cases.push_back(convolutionCase("conv", size, channels, outputs, 3));
  for (auto [size, channels, outputs] : {std::tuple<int64_t, int64_t, int64_t>{224, 3, 32}, {56, 64, 128}, {28, 128, 256}, {14, 256, 512}})
    cases.push_back(convolutionCase("conv", size, channels, outputs, 3, 2));
  cases.push_back(convolutionCase("conv", 224, 3, 64, 7, 2));
  cases.push_back(convolutionCase("conv", 56, 128, 128, 3, 1, 32));
  for (auto [size, channels] : {std::pair<int64_t, int64_t>{112, 32}, {56, 144}, {28, 240}, {14, 576}, {7, 960}})
    for (int64_t taps : {3, 5})
      for (int64_t stride : {1, 2})
        cases.push_back(convolutionCase("depthwise", size, channels, channels, taps, stride, channels));
  for (KernelCase &c : cases)
    if (c.isMatmul)
      c.name += " " + std::to_string(c.rows) + "x" + std::to_string(c.depth) + "x" + std::to_string(c.columns);
    else
      c.name += " " + std::to_string(c.channels) + "->" + std::to_string(c.outputs) + " @" + std::to_string(c.size) + " k" +
                std::to_string(c.taps) + " s" + std::to_string(c.stride) + " g" + std::to_string(c.groups);
  return benchmarksOf(cases);
}

} // namespace stator::bench
