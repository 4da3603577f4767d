// Constants, and parameters: the tensors that a model owns, and how a method changes them.
#ifndef STATOR_DIALECTS_GRAPH_GRAPHSTATE_TD
#define STATOR_DIALECTS_GRAPH_GRAPHSTATE_TD

include "dialects/Graph/GraphBase.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/IR/SymbolInterfaces.td"

def Graph_ConstantOp : Graph_InferredOp<"constant", [ConstantLike]> {
  let summary = "a small tensor written in the IR";
  let description = [{
    For at most 1024 elements (a splat counts as one); larger tensors are parameters, whose bytes stay outside the IR.

    Example: `%c = graph.constant dense<[1.0, 2.0]> : tensor<2xf32>`
  }];
  let arguments = (ins ElementsAttr:$value);
  let results = (outs Graph_Tensor:$result);
  let assemblyFormat = "attr-dict $value";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Graph_ParameterOp : Graph_Op<"parameter", [Symbol, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "a tensor that belongs to the model";
  let description = [{
    A symbol in the module, of a type without unknown sizes. Its bytes are little-endian elements, either

    - in the context's `ParameterStore`: number `source`, from byte `offset` on, row-major unless `strides` (in elements) says otherwise; or
    - made by a `recipe` from other parameters when they are written (`ParameterRecipes.h`).

    `is_mutable` parameters are state: kept between runs and never folded, packed or transformed. `layout` names a storage order that
    kernels know, such as `matmul_panels16`, when the shape alone does not tell.

    Example: `graph.parameter @fc.weight : tensor<10x64xf32> {source = 0 : i32, offset = 4096 : i64}`
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, TypeAttrOf<Graph_Tensor>:$type, OptionalAttr<I32Attr>:$source,
                   OptionalAttr<I64Attr>:$offset, OptionalAttr<DenseI64ArrayAttr>:$strides, OptionalAttr<Graph_RecipeAttr>:$recipe,
                   UnitAttr:$is_mutable, OptionalAttr<StrAttr>:$layout);
  let assemblyFormat = "$sym_name `:` $type attr-dict";
  let builders = [
    OpBuilder<(ins "::llvm::StringRef":$name, "::mlir::RankedTensorType":$type, "int32_t":$source, "int64_t":$offset)>,
    OpBuilder<(ins "::llvm::StringRef":$name, "::mlir::RankedTensorType":$type, "::stator::graph::RecipeAttr":$recipe)>
  ];
  let extraClassDeclaration = [{
    ::mlir::RankedTensorType tensorType() { return ::llvm::cast<::mlir::RankedTensorType>(getType()); }
  }];
  let hasVerifier = 1;
}

def Graph_GetParameterOp : Graph_Op<"get_parameter", [Pure, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "the value of a parameter";
  let description = [{
    Has the type of the `graph.parameter` that it names. For a mutable parameter it is the value at entry of the method, wherever the op
    stands: `graph.set_parameter` takes effect behind everything.

    Example: `%w = graph.get_parameter @fc.weight : tensor<10x64xf32>`
  }];
  let arguments = (ins FlatSymbolRefAttr:$parameter);
  let results = (outs Graph_Tensor:$result);
  let assemblyFormat = "$parameter attr-dict `:` type($result)";
  let builders = [OpBuilder<(ins "::stator::graph::ParameterOp":$parameter)>];
}

def Graph_SetParameterOp : Graph_Op<"set_parameter", [MemoryEffects<[MemWrite]>, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "the value of a state after the method";
  let description = [{
    Stands at the end of a method, before the terminator, and gives a mutable parameter the value that the next call of any method of the
    module reads. All of a method's sets take effect at once, after all reads: two of them may exchange two states. A parameter is set at
    most once.

    Example: `graph.set_parameter @cache, %next : tensor<4x8xf32>`
  }];
  let arguments = (ins FlatSymbolRefAttr:$parameter, Graph_Tensor:$value);
  let assemblyFormat = "$parameter `,` $value attr-dict `:` type($value)";
  let hasVerifier = 1;
}

#endif // STATOR_DIALECTS_GRAPH_GRAPHSTATE_TD
