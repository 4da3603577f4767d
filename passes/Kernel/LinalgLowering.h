//===- LinalgLowering.h - writing graph ops as linalg.generic --------------===//
//
// What the families of the graph-to-linalg pass share. Each family's file turns
// an op into one or a few linalg.generic over *axes of the original op*; this
// class hides that axes of size 1 may have been dropped from the types, how an
// access becomes an indexing map or a tensor.extract, and that half-precision
// elements are computed as f32.
//
//===----------------------------------------------------------------------===//

#ifndef STATOR_PASSES_KERNEL_LINALGLOWERING_H
#define STATOR_PASSES_KERNEL_LINALGLOWERING_H

#include "dialects/Graph/GraphOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace stator::kernel {

class LinalgLowering {
public:
  using Value = mlir::Value;
  using Type = mlir::RankedTensorType;

  /// Lowers into a new function that stands before `source`.
  LinalgLowering(mlir::func::FuncOp source, bool dropsUnitAxes);
  bool keepsUnitAxes() const { return !dropsUnitAxes; }
  /// Lowers the body and replaces the source function.
  mlir::LogicalResult run();

  /// Scalar code of one element.
  class Body;
  using BodyBuilder = llvm::function_ref<Value(Body &body, mlir::ValueRange elements)>;
  /// An input of an element-wise loop: axis i of `tensor` (an original value) runs with axis `axes[i]` of the result.
  struct Input {
    Value tensor;
    llvm::SmallVector<int64_t> axes;
  };

  // The building blocks. Each returns a lowered value of (lowered) `type`.

  /// An input all of whose axes are the result's.
  static Input same(Value tensor);
  Value elementwise(Type type, llvm::ArrayRef<Input> inputs, BodyBuilder body);
  /// A reduction over `axes` of a space whose other axes are those of `type`, in order, and which has the axes of `inputs`.
  /// Elements combine by `combine` starting from `initial`.
  Value reduction(Type type, llvm::ArrayRef<DimExpr> space, llvm::ArrayRef<int64_t> axes, mlir::TypedAttr initial,
                  llvm::ArrayRef<Input> inputs, BodyBuilder element,
                  llvm::function_ref<Value(Body &body, Value accumulator, Value element)> combine);

  /// The lowered form of an original value.
  Value get(Value original) const { return lowered.lookup(original); }
  void set(Value original, Value value) { lowered[original] = value; }
  /// The type that an original type is lowered to.
  Type convert(Type type) const;

  mlir::ImplicitLocOpBuilder b;

private:
  friend class Body;
  mlir::LogicalResult lower(mlir::Operation *op);
  /// For each axis its number without the dropped ones, or -1.
  llvm::SmallVector<int64_t> keptAxes(llvm::ArrayRef<DimExpr> dims) const;
  mlir::AffineMap mapOf(const Input &input, llvm::ArrayRef<DimExpr> space) const;
  Value lookUp(Value original);

  mlir::func::FuncOp source, function;
  bool dropsUnitAxes;
  llvm::DenseMap<Value, Value> lowered;
  /// Where values that a body captures are made; the builder itself stands in the body then.
  mlir::OpBuilder::InsertPoint beforeOp;
};

/// Scalar code inside of a linalg body.
class LinalgLowering::Body : public mlir::ImplicitLocOpBuilder {
public:
  Body(mlir::Location location, mlir::OpBuilder &builder, LinalgLowering &lowering, llvm::ArrayRef<int64_t> kept);

  /// This element's position along an axis of the original loop space (index type).
  Value index(int64_t axis);
  /// A size (index type).
  Value size(const DimExpr &expr);
  /// An element of an original tensor at the given positions along its axes, widened. `needsElements`: a tensor without elements can
  /// be asked for one, and the kernel must not run then.
  Value extract(Value tensor, llvm::ArrayRef<Value> indices, bool needsElements = false);

  Value indexConstant(int64_t value);
  /// A number of scalar type `type`.
  Value number(mlir::Type type, double value);
  Value integer(mlir::Type type, int64_t value);
  Value add(Value a, Value b), sub(Value a, Value b), mul(Value a, Value b);
  Value min(Value a, Value b), max(Value a, Value b); // signed integers
  /// The larger (smaller) of floats for an accumulation: NaN propagates, the order of zeros is not kept, which saves instructions.
  Value accumulateExtremum(bool isMax, Value accumulator, Value element);
  /// Limits an index to [0, size), where size is at least 1.
  Value clamp(Value index, Value size);
  Value less(Value a, Value b), select(Value condition, Value a, Value b);
  Value toIndex(Value integer), toInteger(Value index, mlir::Type type);
  /// f16 and bf16 as f32; everything else as it is.
  Value widen(Value element);
  /// Back to an element of `type`.
  Value narrow(Value value, mlir::Type type);

private:
  LinalgLowering &lowering;
  llvm::SmallVector<int64_t> kept;
};

/// Marks a tensor.extract whose tensor must have elements.
inline constexpr llvm::StringLiteral needsElementsAttr = "kernel.needs_elements";

/// The type in which elements of `storage` are computed: f32 for halves, signless integers.
mlir::Type scalarType(mlir::Type storage);

/// Whether lowerGelu() takes `op`; others are decomposed.
bool isLoweredWhole(graph::GeluOp op);

// The families. Each returns null, without a diagnostic, for an op of another family.
mlir::Value lowerElementwise(LinalgLowering &lowering, mlir::Operation *op);
mlir::Value lowerConvert(LinalgLowering &lowering, graph::ConvertOp op);
mlir::Value lowerGelu(LinalgLowering &lowering, graph::GeluOp op);
mlir::Value lowerShape(LinalgLowering &lowering, mlir::Operation *op);
mlir::Value lowerIndexing(LinalgLowering &lowering, mlir::Operation *op);
mlir::Value lowerReduction(LinalgLowering &lowering, mlir::Operation *op);
mlir::Value lowerPool(LinalgLowering &lowering, graph::PoolOp op);
mlir::Value lowerResize(LinalgLowering &lowering, graph::ResizeOp op);

} // namespace stator::kernel

#endif // STATOR_PASSES_KERNEL_LINALGLOWERING_H
