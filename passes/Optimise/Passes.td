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

def ChooseKernelsPass : Pass<"optimise-choose-kernels", "::mlir::func::FuncOp"> {
  let summary = "Picks an own kernel or a library call for each contraction";
  let description = [{
    `none` and `onednn` force the choice where it is possible; `auto` asks the cost table of dialects/Target. The choice and its reason
    travel with the op into its fusion, the artifact and `stator inspect`.
  }];
  let options = [Option<"library", "library", "std::string", "\"auto\"", "none, onednn or auto">];
}

def PackParametersPass : Pass<"optimise-pack-parameters", "::mlir::ModuleOp"> {
  let summary = "Stores the weights of own contraction kernels in kernel layout";
  let description = [{
    Adds a derived parameter with a packing recipe for each weight that an own kernel reads and makes the op use it. Mutable parameters
    keep their layout. Parameters that nothing uses any more are removed.
  }];
}

def FormFusionsPass : Pass<"optimise-form-fusions", "::mlir::func::FuncOp"> {
  let summary = "Puts every op into a fusion region";
  let description = [{
    Contractions take their element-wise epilogues, row-wise reductions and normalisations what surrounds them, and the rest becomes
    element-wise maps and single-op regions. Ops that the plan executes itself stay outside.
  }];
}

def VerifyFusedPass : Pass<"optimise-verify", "::mlir::func::FuncOp"> {
  let summary = "Checks the contract between optimise and plan";
  let description = [{
    Every op of a method is inside a fusion region or is executed by the plan; every region has a known family, and a contraction family
    has exactly one contraction.
  }];
}

#endif // STATOR_PASSES_OPTIMISE_PASSES_TD
