//===- PackParameters.cpp - weights in kernel layout -----------------------===//
//
// Own contraction kernels read weights in panels (dialects/Target/
// PackedLayouts.h). Packing is a recipe on the parameter: the bytes are written
// once, when the artifact is, and are shared by all methods and CPU levels.
//
//===----------------------------------------------------------------------===//

#include "dialects/Graph/DerivedParameters.h"
#include "dialects/Graph/Shapes.h"
#include "dialects/Target/PackedLayouts.h"
#include "dialects/Target/Strassen.h"
#include "passes/Optimise/FusionFamilies.h"
#include "passes/Optimise/Passes.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace stator::optimise {

#define GEN_PASS_DEF_PACKPARAMETERSPASS
#include "passes/Optimise/Passes.h.inc"

namespace {

class Packer {
public:
  Packer(graph::DerivedParameters &parameters, bool usesStrassen) : parameters(parameters), usesStrassen(usesStrassen) {}

  void pack(graph::DotGeneralOp op) {
    if (!op.getRhsBatch().empty() || op.getRhsPacked())
      return;
    graph::ParameterOp weight = parameters.frozenOrConstant(op.getRhs());
    if (!weight || weight.tensorType().getRank() != 2)
      return;
    ArrayRef<int64_t> shape = weight.tensorType().getShape();
    // As [K, N], or transposed as [N, K].
    bool transposed = op.getRhsContract()[0] == 1;
    int64_t k = shape[transposed ? 1 : 0], n = shape[transposed ? 0 : 1];
    Builder builder(op.getContext());
    SmallVector<NamedAttribute> options;
    if (transposed)
      options.push_back(builder.getNamedAttr("transposed", builder.getUnitAttr()));
    graph::ParameterOp packed;
    if (usesStrassen && weight.tensorType().getElementType().isF32() && op.getLhsBatch().empty() && strassen::pays(rowsOf(op), k, n)) {
      packed = derive(weight, "pack_strassen", options, toVector(strassenPanelsShape(k, n)), strassenPanelsLayout);
      setKernelChoice(op, "own", "by Strassen's algorithm: 7 of 8 multiplications, 1.75 times the weights");
    } else {
      packed = derive(weight, "pack_matmul", options, toVector(matmulPanelsShape({k, n})), matmulPanelsLayout);
    }
    // In packed form the axis lists are those of [K, N].
    op.setRhsContract(ArrayRef<int64_t>{0});
    op.setRhsPacked(n);
    op->setOperand(1, graph::DerivedParameters::read(packed, op));
  }

  /// Both weight tensors, or neither: a kernel reads them in one layout.
  template <typename OpT>
  void packRecurrent(OpT op, int64_t gates) {
    if (op.getWeightsPacked())
      return;
    graph::ParameterOp w = parameters.frozenOrConstant(op.getW()), r = parameters.frozenOrConstant(op.getR());
    if (!w || !r)
      return;
    Builder builder(op.getContext());
    NamedAttribute option = builder.getNamedAttr("gates", builder.getI64IntegerAttr(gates));
    for (auto [index, weight] : {std::pair(1, w), std::pair(2, r)}) {
      ArrayRef<int64_t> shape = weight.tensorType().getShape();
      std::vector<int64_t> source(shape.begin(), shape.end());
      graph::ParameterOp packed = derive(weight, "pack_recurrent", option, toVector(recurrentPanelsShape(source, gates)), recurrentPanelsLayout);
      op->setOperand(index, graph::DerivedParameters::read(packed, op));
    }
    op.setWeightsPacked(true);
  }

  void pack(graph::ConvolutionOp op) {
    if (op.getFilterPacked() || op.getLayout() != graph::TensorLayout::ChannelsLast)
      return;
    auto filterType = cast<RankedTensorType>(op.getFilter().getType());
    if (!filterType.hasStaticShape())
      return;
    SmallVector<int64_t> shape(filterType.getShape());
    graph::ParameterOp filter = parameters.frozenOrConstant(op.getFilter());
    if (!filter) {
      op.removeWinogradAttr();
      OpBuilder builder(op);
      op->setOperand(1, isDepthwise(op) ? packDepthwise(op, builder) : packConvolution(op, builder));
      op.setFilterPacked(true);
      op.setFilterShape(shape);
      return;
    }
    std::vector<int64_t> oihw(shape.begin(), shape.end());
    Builder builder(op.getContext());
    graph::ParameterOp packed;
    if (op.getWinograd())
      packed = derive(filter, "pack_winograd", builder.getNamedAttr("tile", builder.getI64IntegerAttr(*op.getWinograd())),
                      toVector(winogradPanelsShape(oihw, *op.getWinograd())), winogradPanelsLayout);
    else if (isDepthwise(op))
      packed = derive(filter, "pack_depthwise", {}, toVector(depthwiseShape(oihw)), depthwiseLayout);
    else
      packed = derive(filter, "pack_conv", builder.getNamedAttr("groups", builder.getI64IntegerAttr(op.getGroups())),
                      toVector(convPanelsShape(oihw, op.getGroups())), convPanelsLayout);
    op.setFilterPacked(true);
    op.setFilterShape(shape);
    op->setOperand(1, graph::DerivedParameters::read(packed, op));
  }

private:
  /// Rows of the product, 0 if they are not known or do not lie one behind the other.
  static int64_t rowsOf(graph::DotGeneralOp op) {
    auto type = cast<RankedTensorType>(op.getLhs().getType());
    if (!type.hasStaticShape() || op.getLhsContract()[0] != type.getRank() - 1)
      return 0;
    return elementsOf(type.getShape().drop_back());
  }

  template <typename Range>
  static SmallVector<int64_t> toVector(const Range &range) {
    return SmallVector<int64_t>(range.begin(), range.end());
  }

  graph::ParameterOp derive(graph::ParameterOp source, StringRef kind, ArrayRef<NamedAttribute> options, ArrayRef<int64_t> shape,
                            std::string_view layout) {
    auto type = RankedTensorType::get(shape, source.tensorType().getElementType());
    return parameters.derive(source, kind, options, type, StringRef(layout));
  }

  static Value reshape(Value value, ArrayRef<int64_t> shape, OpBuilder &builder) {
    auto type = RankedTensorType::get(shape, cast<RankedTensorType>(value.getType()).getElementType());
    return type == value.getType() ? value : graph::ReshapeOp::create(builder, value.getLoc(), type, value).getResult();
  }

  /// `pack_depthwise` as graph ops, for a filter that is computed or may change between runs.
  static Value packDepthwise(graph::ConvolutionOp op, OpBuilder &builder) {
    ArrayRef<int64_t> shape = cast<RankedTensorType>(op.getFilter().getType()).getShape();
    Value rows = reshape(op.getFilter(), {shape[0], elementsOf(shape.drop_front())}, builder);
    return graph::TransposeOp::create(builder, op.getLoc(), rows, ArrayRef<int64_t>{1, 0}).getResult();
  }

  /// `pack_conv` as graph ops: [groups * Og, Cg, taps] to [groups, panels, taps * Cg, 16].
  static Value packConvolution(graph::ConvolutionOp op, OpBuilder &builder) {
    auto type = cast<RankedTensorType>(op.getFilter().getType());
    ArrayRef<int64_t> shape = type.getShape();
    int64_t groups = op.getGroups(), outputs = shape[0] / groups, channels = shape[1], taps = elementsOf(shape.drop_front(2));
    int64_t panels = panelsOf(outputs), missing = panels * panelColumns - outputs;
    Value value = reshape(op.getFilter(), {groups, outputs, channels, taps}, builder);
    if (missing) {
      Value zero = graph::ConstantOp::create(builder, op.getLoc(),
                                             DenseElementsAttr::get(RankedTensorType::get({}, type.getElementType()),
                                                                    builder.getZeroAttr(type.getElementType())))
                       .getResult();
      auto amounts = [&](int64_t amount) { return graph::DimsAttr::get(op.getContext(), ArrayRef<int64_t>{0, amount, 0, 0}); };
      value = graph::PadOp::create(builder, op.getLoc(), value, zero, amounts(0), amounts(missing), ArrayRef<int64_t>{0, 0, 0, 0})
                  .getResult();
    }
    value = reshape(value, {groups, panels, panelColumns, channels, taps}, builder);
    value = graph::TransposeOp::create(builder, op.getLoc(), value, ArrayRef<int64_t>{0, 1, 4, 3, 2}).getResult();
    return reshape(value, {groups, panels, taps * channels, panelColumns}, builder);
  }

  static int64_t elementsOf(ArrayRef<int64_t> shape) {
    int64_t product = 1;
    for (int64_t size : shape)
      product *= size;
    return product;
  }

  graph::DerivedParameters &parameters;
  const bool usesStrassen;
};

struct PackParametersPass : impl::PackParametersPassBase<PackParametersPass> {
  using PackParametersPassBase::PackParametersPassBase;

  void runOnOperation() override {
    graph::DerivedParameters parameters(getOperation());
    Packer packer(parameters, strassen);
    SmallVector<Operation *> ops;
    getOperation().walk([&](Operation *op) {
      if ((isContraction(op) && chosenKernel(op) == "own") || isa<graph::LstmOp, graph::GruOp, graph::RnnOp>(op))
        ops.push_back(op);
    });
    for (Operation *op : ops)
      llvm::TypeSwitch<Operation *>(op)
          .Case<graph::DotGeneralOp, graph::ConvolutionOp>([&](auto contraction) { packer.pack(contraction); })
          .Case<graph::LstmOp>([&](auto lstm) { packer.packRecurrent(lstm, 4); })
          .Case<graph::GruOp>([&](auto gru) { packer.packRecurrent(gru, 3); })
          .Case<graph::RnnOp>([&](auto rnn) { packer.packRecurrent(rnn, 1); });
    // The reads of unpacked weights are dead now.
    getOperation().walk([](graph::GetParameterOp get) {
      if (get->use_empty())
        get->erase();
    });
    parameters.removeUnused();
  }
};

} // namespace
} // namespace stator::optimise
