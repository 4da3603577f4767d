// The optimise stage: from a verified graph to fusion regions with a kernel each. The pipeline runs them in this order.
#ifndef STATOR_PASSES_OPTIMISE_PASSES_TD
#define STATOR_PASSES_OPTIMISE_PASSES_TD

include "mlir/Pass/PassBase.td"

def DecomposePass : Pass<"optimise-decompose", "::mlir::func::FuncOp"> {
  let summary = "Writes composites that no kernel takes as simpler ops";
  let description = [{
    batch_norm always; layer_norm, rms_norm, softmax and log_softmax when their axis is not the last one; attention with
    symbolic head sizes, as two contractions around a softmax; gelu stays, since kernels evaluate it as one function.
  }];
}

def CausalMasksPass : Pass<"optimise-causal-masks", "::mlir::func::FuncOp"> {
  let summary = "Turns triangular attention masks into causal attention";
  let description = [{
    A constant, a frozen parameter or a comparison of two counters that allows position `i` to attend to `0 .. i + offset` becomes the
    flag `causal`, with an offset where it is not 0. A mask that allows everything goes away.
  }];
}

def NormaliseContractionsPass : Pass<"optimise-normalise-contractions", "::mlir::func::FuncOp"> {
  let summary = "Brings dot_general into the form that kernels take";
  let description = [{
    Afterwards one axis is contracted and the right side has one axis of columns; several are merged by reshapes. Transposes in front
    of a product are absorbed into its axis lists, since kernels read through strides.
  }];
}

def ChannelsLastPass : Pass<"optimise-channels-last", "::mlir::func::FuncOp"> {
  let summary = "Gives convolutions and pools the layout with channels last";
  let description = [{
    Kernels vectorise over channels and read a pixel's channels as one run. Each op is surrounded by a pair of transposes, which
    optimise-sink-transposes then cancels against those of its neighbours.
  }];
}

def SinkTransposesPass : Pass<"optimise-sink-transposes", "::mlir::func::FuncOp"> {
  let summary = "Moves transposes down until they cancel";
  let description = [{
    Past element-wise ops, broadcasts, concat, pad, slice, resize and reductions. What only moves axes of size 1 becomes a reshape.
  }];
}

def PhaseConvolutionsPass : Pass<"optimise-phase-convolutions", "::mlir::ModuleOp"> {
  let summary = "Computes transposed convolutions phase by phase, without zeros between pixels";
  let description = [{
    A convolution of stride 1 over an input padded with `interior` zeros, with a frozen filter of at least that many taps, becomes one
    convolution of the input itself per phase of the output positions; the filters are slices (recipes), the results are interleaved by
    concatenations. Epilogues that are the same for every pixel move to the phases.
  }];
}

def PoolFirstPass : Pass<"optimise-pool-first", "::mlir::func::FuncOp"> {
  let summary = "Averages pixels before a convolution of one tap instead of after it";
  let description = [{
    Both are linear and change places where the average needs no padding and leaves at most half of the pixels.
  }];
}

def MergeMatmulsPass : Pass<"optimise-merge-matmuls", "::mlir::ModuleOp"> {
  let summary = "Makes one product of those that give an attention its queries, keys and values";
  let description = [{
    Products of one left side with frozen matrices, with or without a bias, of which only attention needs the results. The matrices and
    biases are joined by recipes; the results become slices.
  }];
}

def ChooseAlgorithmsPass : Pass<"optimise-choose-algorithms", "::mlir::ModuleOp"> {
  let summary = "Picks direct or Winograd for each 3x3 convolution";
  let description = [{
    For convolutions with frozen f32 filters of 3x3 taps and stride 1 the times of the direct algorithm, F(2x2, 3x3) and F(4x4, 3x3) are
    estimated, and the least becomes the op's `winograd`. Such an op has an own kernel. The estimates are of one class of processors,
    whatever the compiling machine is. With a budget for packed weights, the layers that gain least per additional byte give way first.
  }];
  let options = [Option<"weightsBudget", "weights-budget", "int64_t", "-1", "bytes that packed weights may have; -1: any number">];
}

def ChooseKernelsPass : Pass<"optimise-choose-kernels", "::mlir::func::FuncOp"> {
  let summary = "Picks an own kernel or a library call for each contraction";
  let description = [{
    `none` and `onednn` force the choice where it is possible; `auto` asks the cost table of dialects/Target. The choice and its reason
    travel with the op into its fusion, the artifact and `stator inspect`.
  }];
  let options = [
    Option<"library", "library", "std::string", "\"auto\"", "none, onednn or auto">,
    Option<"level", "level", "std::string", "\"x86-64-v4\"", "the CPU level whose measured costs decide">
  ];
}

def PackParametersPass : Pass<"optimise-pack-parameters", "::mlir::ModuleOp"> {
  let summary = "Stores the weights of own contraction kernels in kernel layout";
  let description = [{
    Adds a derived parameter with a packing recipe for each weight that an own kernel reads and makes the op use it. Mutable parameters
    keep their layout. Parameters that nothing uses any more are removed.
  }];
  let options = [Option<"strassen", "strassen", "bool", "false", "pack weights for Strassen's algorithm where it pays">];
}

def FormBlocksPass : Pass<"optimise-form-blocks", "::mlir::func::FuncOp"> {
  let summary = "Puts expand, depthwise and project convolutions of mobile networks into one region";
  let description = [{
    Where the tensors between them are larger than a cache keeps. The region computes by rows of the image; see
    passes/Kernel/FusedBlockKernel.cpp.
  }];
  let options = [
    Option<"expandBytes", "expand-bytes", "int64_t", "589824",
           "bytes of the first tensor between convolutions from which it is not stored">,
    Option<"projectBytes", "project-bytes", "int64_t", "262144", "bytes of a filtered tensor behind an expansion from which it is not stored">
  ];
}

def FormAttentionPass : Pass<"optimise-form-attention", "::mlir::func::FuncOp"> {
  let summary = "Puts attention and the views around it into one region";
  let description = [{
    Slices, reshapes, transposes and concatenations of keys or values in front of an attention, and the transpose behind it, become part
    of its region: the kernel reads and writes rows where they lie.
  }];
}

def FormGatesPass : Pass<"optimise-form-gates", "::mlir::func::FuncOp"> {
  let summary = "Puts the gates of squeeze-and-excite into regions";
  let description = [{
    A mean over an image, two products over one pixel and the element-wise ops between them: one kernel in place of five to seven.
  }];
}

def FormFusionsPass : Pass<"optimise-form-fusions", "::mlir::func::FuncOp"> {
  let summary = "Puts every op into a fusion region";
  let description = [{
    Contractions take their element-wise epilogues, row-wise reductions and normalisations what surrounds them, and the rest becomes
    element-wise maps and single-op regions. Ops that the plan executes itself stay outside. So do concatenations whose parts are
    computed where they belong and slices that are read where they are; they are marked `plan.pitched`.
  }];
  let options = [
    Option<"pitchedViews", "pitched-views", "bool", "true", "leave concatenations and slices to the plan where kernels can work with rows that lie apart">
  ];
}

def VerifyFusedPass : Pass<"optimise-verify", "::mlir::func::FuncOp"> {
  let summary = "Checks the contract between optimise and plan";
  let description = [{
    Every op of a method is inside a fusion region or is executed by the plan; every region has a known family, and a contraction family
    has exactly one contraction.
  }];
}

#endif // STATOR_PASSES_OPTIMISE_PASSES_TD
