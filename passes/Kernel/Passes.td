// The kernel stage: functions on tensors become vector code in the LLVM dialect. The pipeline runs them in this order.
#ifndef STATOR_PASSES_KERNEL_PASSES_TD
#define STATOR_PASSES_KERNEL_PASSES_TD

include "mlir/Pass/PassBase.td"

class Kernel_LevelPass<string argument> : Pass<argument, "::mlir::ModuleOp"> {
  let options = [
    Option<"vectorBits", "vector-bits", "unsigned", "512", "width of the vectors: 128, 256 or 512">,
    Option<"vectorRegisters", "vector-registers", "unsigned", "32", "vector registers of the processor">,
  ];
}

def GraphToLinalgPass : Pass<"kernel-graph-to-linalg", "::mlir::ModuleOp"> {
  let summary = "Writes the ops of kernel functions as linalg.generic";
  let description = [{
    Accepts functions as plan-outline-kernels makes them. Composites are decomposed; every op but the contractions and those that have
    an emitter of their own (concat, constant pad, scatter, cumulative, top_k) becomes linalg.generic with arith and math in its body.
    Broadcasts and transposes are indexing maps; other access is linalg.index and tensor.extract. Results are written into `ub.poison`,
    since kernels have no tensors in memory but operands and results; the init operand of a reduction is a linalg.fill.

    In functions that become linalg altogether, sizes that are the constant 1 are dropped from all types. `ui8` becomes `i8`.

    Before: `%y = graph.relu %x : (tensor<1x64xf32>) -> tensor<1x64xf32>`; after: a linalg.generic on `tensor<64xf32>` with
    `arith.maximumf` in its body.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect", "::mlir::math::MathDialect",
                           "::mlir::tensor::TensorDialect", "::mlir::ub::UBDialect"];
}

def CollapseDimsPass : Pass<"kernel-collapse-dims", "::mlir::ModuleOp"> {
  let summary = "Merges neighbouring dims that every op of a kernel walks together";
  let description = [{
    Fewer and longer loops: an element-wise function of `tensor<?x8x8x64xf32>` becomes one of `tensor<?xf32>`, with the product of the
    sizes. Operands and results are dense, so this changes no data. Dims that a body asks for by linalg.index stay.
  }];
  let dependentDialects = ["::mlir::linalg::LinalgDialect", "::mlir::ub::UBDialect"];
}

def ContractionsPass : Kernel_LevelPass<"kernel-contractions"> {
  let summary = "Emits the kernels that hold a matrix product, a convolution, a recurrent layer or attention";
  let description = [{
    Afterwards those functions take the two pointers of the kernel ABI and consist of loops, vectors and memory accesses; the linalg ops
    around the contraction have become its epilogue.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect", "::mlir::arith::ArithDialect", "::mlir::math::MathDialect", "::mlir::scf::SCFDialect",
                           "::mlir::vector::VectorDialect"];
}

def VectorisePass : Kernel_LevelPass<"kernel-vectorise"> {
  let summary = "Emits all other kernels as loops over vectors";
  let description = [{
    Each function on tensors is replaced by one of the kernel ABI (serialization/Base/KernelAbi.h): a share of the work per worker,
    vector main loops with masked tails, producers computed inside of their consumers' loops. Worker scratch, where needed, is recorded
    as `stator.scratch`.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect", "::mlir::arith::ArithDialect", "::mlir::math::MathDialect", "::mlir::scf::SCFDialect",
                           "::mlir::vector::VectorDialect"];
}

def ExpandMathPass : Pass<"kernel-expand-math", "::mlir::ModuleOp"> {
  let summary = "Writes transcendental functions as vector polynomials";
  let description = [{
    Afterwards no operation needs a library function: what is left of the math dialect are square roots, rounding, magnitudes and signs,
    for which the processors have instructions, and `math.fma` has become a multiply-add that fuses where the processor can.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}

def ToLLVMPass : Pass<"kernel-to-llvm", "::mlir::ModuleOp"> {
  let summary = "Lowers loops, vectors and arithmetic to the LLVM dialect";
  let dependentDialects = ["::mlir::LLVM::LLVMDialect", "::mlir::cf::ControlFlowDialect"];
}

def VerifyKernelPass : Pass<"kernel-verify", "::mlir::ModuleOp"> {
  let summary = "Checks the contract between the kernel stage and code generation";
  let description = [{
    The module holds functions and constant data of the LLVM dialect and nothing else; functions have the signature of the kernel ABI,
    allocate nothing, and call nothing but the barrier, through its pointer.
  }];
}

#endif // STATOR_PASSES_KERNEL_PASSES_TD
