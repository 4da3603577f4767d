// The graph stage: what an importer leaves is checked, simplified and folded. The pipeline runs the passes in this order.
#ifndef STATOR_PASSES_GRAPH_PASSES_TD
#define STATOR_PASSES_GRAPH_PASSES_TD

include "mlir/Pass/PassBase.td"

def VerifyImportedPass : Pass<"graph-verify-imported", "::mlir::ModuleOp"> {
  let summary = "Checks what importers and the tracing API promise";
  let description = [{
    The module has at least one public method; each method has one block, named arguments and results, sound symbol ranges and guards;
    every op is of the graph dialect; no fusion regions and no packed weights yet.
  }];
}

def FoldParameterTransformsPass : Pass<"graph-fold-parameter-transforms", "::mlir::ModuleOp"> {
  let summary = "Turns transposes, reshapes and conversions of weights into recipes";
  let description = [{
    `transpose(get_parameter @w)` reads a derived parameter whose recipe transposes. The bytes are produced while the artifact is
    written; nothing is left to do at run time. Mutable parameters are left alone.
  }];
  let statistics = [Statistic<"numFolded", "num-folded", "Ops that became recipes">];
}

def FoldConstantsPass : Pass<"graph-fold-constants", "::mlir::ModuleOp"> {
  let summary = "Evaluates ops whose operands are constants or frozen weights";
  let description = [{
    The reference interpreter computes the value. A result of up to 1024 elements becomes a constant, a larger one a parameter that owns
    its bytes; one of more than `max-elements` elements stays an op, as do ops with symbolic results. Broadcasts and iotas are evaluated
    only where something else is folded through them: kernels compute them for less than it costs to read them. Transposes, reshapes and
    conversions of weights are left to graph-fold-parameter-transforms, which needs no memory for them.
  }];
  let options = [Option<"maxElements", "max-elements", "int64_t", "4194304", "Largest result that is folded">];
  let statistics = [Statistic<"numFolded", "num-folded", "Ops replaced by constants">];
}

def FoldBatchNormPass : Pass<"graph-fold-batch-norm", "::mlir::ModuleOp"> {
  let summary = "Folds a batch normalisation into the convolution before it";
  let description = [{
    With frozen statistics, `batch_norm(convolution(x, w) [+ b])` is a convolution with scaled filters and another bias. The filter is
    scaled by a recipe; the vectors are computed now, in double. A convolution whose result is used elsewhere is kept.
  }];
  let statistics = [Statistic<"numFolded", "num-folded", "Batch normalisations folded">];
}

def RecogniseCompositesPass : Pass<"graph-recognise-composites", "::mlir::func::FuncOp"> {
  let summary = "Finds GELU, softmax, layer norm and RMS norm written with simpler ops";
  let description = [{
    Exporters write these out. A composite has a fused kernel and a stable gradient, so the written-out form is replaced where it computes
    the same up to rounding.
  }];
  let statistics = [Statistic<"numRecognised", "num-recognised", "Composites found">];
}

def RecogniseAttentionPass : Pass<"graph-recognise-attention", "::mlir::func::FuncOp"> {
  let summary = "Finds scaled dot-product attention";
  let description = [{
    Two batched products around a softmax, with an optional scale and an optional mask, become `graph.attention`, which is kept as one
    region. A mask that selects anything but minus infinity is left as it is.
  }];
}

def VerifyGraphPass : Pass<"graph-verify", "::mlir::ModuleOp"> {
  let summary = "Checks the contract between graph and the stages after it";
  let description = [{
    As graph-verify-imported, and every parameter that is read exists with the type that is read, every recipe is known, and nothing is
    left that only folding could have removed.
  }];
}

#endif // STATOR_PASSES_GRAPH_PASSES_TD
