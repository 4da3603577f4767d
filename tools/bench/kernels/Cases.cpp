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

static KernelCase with(KernelCase c, KernelCase::Epilogue epilogue) {
  c.epilogue = epilogue;
  c.name += epilogue == KernelCase::BiasRelu ? " relu" : " gelu";
  return c;
}

std::vector<KernelCase> kernelCases() {
  return {
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
  };
}

} // namespace stator::bench
