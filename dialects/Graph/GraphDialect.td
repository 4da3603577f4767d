// The dialect itself: what it models and what its neighbours may rely on.
#ifndef STATOR_DIALECTS_GRAPH_GRAPHDIALECT_TD
#define STATOR_DIALECTS_GRAPH_GRAPHDIALECT_TD

include "mlir/IR/OpBase.td"

def Graph_Dialect : Dialect {
  let name = "graph";
  let cppNamespace = "::stator::graph";
  let summary = "a model as pure operations on tensors with named sizes";
  let description = [{
    What importers and the tracing API produce, what graph transforms rewrite, and what fusion regions are formed from.

    **Values** are ranked tensors of `f64 f32 f16 bf16 i64 i32 i16 i8 ui8 i1`. The rank is always known. A tensor whose sizes are all
    known has a plain type; otherwise the type carries `#graph.dims`, which names *every* size by a canonical expression, so that two
    sizes are equal exactly when their texts are, and equal shapes are equal types.

    **Methods** are `func.func`s. Each argument and result may carry `graph.name`; the function carries `graph.symbols` (the ranges of
    the named sizes) and `graph.guards` (pairs of size expressions that must be equal when the method runs).

    **Parameters** are symbols (`graph.parameter`) whose bytes stay outside the IR, in the `ParameterStore` that the dialect owns.

    **Element-wise operations want equal types.** Broadcasting, type promotion, negative axes and the padding conventions of the
    front-ends are resolved by the layer that builds the graph; nothing in here repeats them.

    Integer arithmetic wraps; integer division by zero gives 0 and never traps. Float to integer conversion saturates, NaN gives 0.
    Maxima and minima propagate NaN.
  }];
  let dependentDialects = ["::mlir::func::FuncDialect"];
  let useDefaultAttributePrinterParser = 1;
  let hasConstantMaterializer = 1;
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
  let hasRegionResultAttrVerify = 1;
  let extraClassDeclaration = [{
    /// The bytes of all parameters of this context; see ParameterStore.h.
    ::stator::graph::ParameterStore &parameters() { return *parameterStore; }

  private:
    void registerOperations();
    void registerAttributes();
    /// Shared, so that a `ParameterStore` needs no complete type here.
    ::std::shared_ptr<::stator::graph::ParameterStore> parameterStore;

  public:
  }];
}

#endif // STATOR_DIALECTS_GRAPH_GRAPHDIALECT_TD
