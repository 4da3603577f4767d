// Attributes: named sizes, ranges of symbols, recipes of derived parameters.
#ifndef STATOR_DIALECTS_GRAPH_GRAPHATTRS_TD
#define STATOR_DIALECTS_GRAPH_GRAPHATTRS_TD

include "dialects/Graph/GraphEnums.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/TensorEncoding.td"

class Graph_Attr<string name, string attrMnemonic, list<Trait> traits = []> : AttrDef<Graph_Dialect, name, traits> {
  let mnemonic = attrMnemonic;
}

def Graph_DimsAttr : Graph_Attr<"Dims", "dims", [DeclareAttrInterfaceMethods<VerifiableTensorEncoding>]> {
  let summary = "a list of sizes, each a canonical expression over named symbols";
  let description = [{
    As a tensor's encoding it names every size of that tensor, constants included; on operations it gives offsets and amounts. Each
    text must be what `DimExpr::str()` prints, so that comparing attributes compares sizes.

    A tensor type has this encoding exactly when one of its sizes is not a constant; `tensorType()` in `Shapes.h` keeps that rule.

    Example: `tensor<?x64xf32, #graph.dims<["N*T", "64"]>>`
  }];
  let parameters = (ins OptionalArrayRefParameter<"::mlir::StringAttr">:$texts);
  let assemblyFormat = "`<` `[` (`]`) : ($texts^ `]`)? `>`";
  let genVerifyDecl = 1;
  let builders = [AttrBuilder<(ins "::llvm::ArrayRef<::stator::DimExpr>":$dims)>,
                  AttrBuilder<(ins "::llvm::ArrayRef<int64_t>":$sizes)>];
  let extraClassDeclaration = [{
    size_t size() const { return getTexts().size(); }
    /// The i-th size as an expression.
    ::stator::DimExpr dim(size_t i) const;
    ::llvm::SmallVector<::stator::DimExpr> dims() const;
    /// The sizes as numbers, when all are constants.
    ::std::optional<::llvm::SmallVector<int64_t>> constants() const;
  }];
}

def Graph_SymbolAttr : Graph_Attr<"Symbol", "symbol"> {
  let summary = "a named size and its range";
  let description = [{
    Both ends are inclusive. A method lists its symbols in `graph.symbols`; a symbol that is not listed has the range 0..2147483647.

    Example: `graph.symbols = [#graph.symbol<"N", 1, 64>]`
  }];
  let parameters = (ins "::mlir::StringAttr":$name, "int64_t":$min, "int64_t":$max);
  let assemblyFormat = "`<` $name `,` $min `,` $max `>`";
  let genVerifyDecl = 1;
}

def Graph_RecipeAttr : Graph_Attr<"Recipe", "recipe"> {
  let summary = "how a derived parameter is made from others";
  let description = [{
    The kinds, what each computes and the shape that it gives are listed in `ParameterRecipes.h`. The bytes are produced when they are
    written, streaming; they never exist in the IR.

    Example: `#graph.recipe<"transpose", [@w], {perm = array<i64: 1, 0>}>`
  }];
  let parameters = (ins "::mlir::StringAttr":$kind, OptionalArrayRefParameter<"::mlir::FlatSymbolRefAttr">:$sources,
                        "::mlir::DictionaryAttr":$options);
  let assemblyFormat = "`<` $kind `,` `[` (`]`) : ($sources^ `]`)? `,` $options `>`";
}

#endif // STATOR_DIALECTS_GRAPH_GRAPHATTRS_TD
