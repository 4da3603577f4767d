//===- LaneEvaluator.h - the value of a tensor at some lanes ---------------===//
//
// Fusion by demand. A kernel function is a DAG of linalg operations on tensors;
// the only elements that must exist in memory are those of its operands and
// results. To write a vector of results the emitter asks for the value of the
// result tensor at these indices; the evaluator answers by asking the same of
// the operands, down to loads, and clones the scalar bodies on vectors on the
// way. Producers are thereby computed in the consumer's loop, whatever the
// indexing maps: a broadcast becomes a splat, a transpose a strided access, a
// padded or sliced read an index computation.
//
// An index is the same for all lanes, or consecutive, or arbitrary per lane
// (LaneValue). That distinction is carried through index arithmetic, and
// decides between a scalar load, a vector load and a gather.
//
// Values are emitted in the outermost scope in which everything that they
// depend on exists, and remembered there: what does not change in a loop is
// computed before it. A scope is a loop body (class Scope).
//
// Reductions are evaluated in place too: at uniform indices with vectors along
// the reduced dim, at lane-dependent indices with one accumulator per lane.
//
//===----------------------------------------------------------------------===//

#ifndef STATOR_PASSES_KERNEL_LANEEVALUATOR_H
#define STATOR_PASSES_KERNEL_LANEEVALUATOR_H

#include "passes/Kernel/KernelBuilder.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"

#include <functional>
#include <map>

namespace stator::kernel {

/// One value per lane. `value` is a scalar (then lane i has value + i * stride) or a vector (then stride is 0).
struct LaneValue {
  mlir::Value value;
  int64_t stride = 0;

  static LaneValue uniform(mlir::Value scalar) { return {scalar, 0}; }
  static LaneValue consecutive(mlir::Value first) { return {first, 1}; }
  bool isVector() const { return mlir::isa<mlir::VectorType>(value.getType()); }
  bool isUniform() const { return stride == 0 && !isVector(); }
};
using LaneValues = llvm::SmallVector<LaneValue, 4>;

/// Whether `op` becomes a polynomial (some dozen instructions) rather than an instruction or two.
bool isTranscendental(mlir::Operation *op);

class LaneEvaluator {
public:
  using Value = mlir::Value;
  using Values = KernelBuilder::Values;
  /// Computes the elements of a tensor at the given indices, as a scalar (uniform) or a vector of lanes() lanes.
  using Leaf = std::function<Value(llvm::ArrayRef<LaneValue> at)>;

  /// Function arguments are read from the kernel's operand buffers.
  LaneEvaluator(KernelBuilder &builder, mlir::func::FuncOp source);

  KernelBuilder &builder() { return k; }
  unsigned lanes() const { return scopes.back().lanes; }
  Value mask() const { return scopes.back().mask; }

  /// Declares that the builder now stands in a new block, typically a loop's body, in which vectors have `lanes` lanes and lanes
  /// outside `mask` (if given) are neither read nor written. Scopes nest like the blocks that they stand for.
  class Scope {
  public:
    explicit Scope(LaneEvaluator &evaluator, unsigned lanes = 1, Value mask = {});
    ~Scope();
    Scope(const Scope &) = delete;

  private:
    LaneEvaluator &evaluator;
  };

  /// Overrides how a tensor's elements are obtained, for values that another emitter holds in registers.
  void bind(Value tensor, Leaf leaf) { leaves[tensor] = std::move(leaf); }

  /// Keeps the elements of `tensor` in memory from their first computation on: they are stored at `base` when computed and, after
  /// markStored(), loaded from there. The first `ignoredLeadingDims` indices do not contribute to the address.
  void keep(Value tensor, Value base, unsigned ignoredLeadingDims);
  void markStored(Value tensor);

  /// The elements at `at`: a scalar if they are the same for all lanes, else a vector.
  Value evaluate(Value tensor, llvm::ArrayRef<LaneValue> at);
  /// The same, always with lanes() lanes.
  Value evaluateVector(Value tensor, llvm::ArrayRef<LaneValue> at);
  /// Writes `value` to element `at` of a tensor at `base`, which has the pitch of that buffer; uniform `at` writes one element.
  void store(Value value, Value base, mlir::RankedTensorType type, llvm::ArrayRef<LaneValue> at);
  /// Reads from a tensor at `base`, likewise.
  Value load(Value base, mlir::RankedTensorType type, llvm::ArrayRef<LaneValue> at);

  /// Runs `body` for all indices of [begin, end): as wide vectors of `widening` registers, then as vectors, then a tail.
  /// `length` is the static length of the range, if known.
  void forLanes(Value begin, Value end, std::optional<int64_t> length, unsigned widening, llvm::function_ref<void(LaneValue index)> body);

  // Arithmetic on lane values, hoisted.
  LaneValue add(LaneValue a, LaneValue b);
  LaneValue sub(LaneValue a, LaneValue b);
  LaneValue mul(LaneValue a, LaneValue b);
  /// Scalar if uniform, else a vector.
  Value materialise(LaneValue value);

private:
  struct ScopeData {
    mlir::Block *block;
    unsigned lanes;
    Value mask;
    std::map<std::vector<const void *>, LaneValue> known;
  };
  struct Kept {
    Value base;
    unsigned ignoredLeadingDims;
    bool isStored = false;
  };
  using Environment = llvm::DenseMap<Value, LaneValue>;

  unsigned depthOf(Value value) const;
  unsigned depthOf(llvm::ArrayRef<Value> values) const;
  /// Emits at the outermost scope where `operands` exist, but not outside scope `least`.
  Value hoisted(llvm::ArrayRef<Value> operands, llvm::function_ref<Value()> emit, unsigned least = 0);
  Value splat(Value value);

  LaneValue lookUpOrCompute(Value tensor, llvm::ArrayRef<LaneValue> at);
  LaneValue compute(Value tensor, llvm::ArrayRef<LaneValue> at);
  LaneValue computeGeneric(mlir::linalg::GenericOp op, mlir::OpResult result, llvm::ArrayRef<LaneValue> at);
  LaneValue computeConstant(mlir::arith::ConstantOp op, llvm::ArrayRef<LaneValue> at);
  /// Computes the body at a point of the iteration space; `accumulator` stands for the element of the init operand.
  LaneValue computeBody(mlir::linalg::GenericOp op, llvm::ArrayRef<LaneValue> point, Value accumulator);
  LaneValue computeBodyOp(mlir::Operation *op, llvm::ArrayRef<LaneValue> point, Environment &environment);
  LaneValue cloneOnLanes(mlir::Operation *op, llvm::ArrayRef<LaneValue> operands);
  LaneValue offsetOf(Value base, mlir::RankedTensorType type, llvm::ArrayRef<LaneValue> at, unsigned ignoredLeadingDims = 0);

  // LaneEvaluatorReduction.cpp
  LaneValue computeReduction(mlir::linalg::GenericOp op, LaneValues point);
  Value reduceAlongLanes(mlir::linalg::GenericOp op, LaneValues point, llvm::ArrayRef<unsigned> dims, Value initial);
  Values reduceVectorDim(mlir::linalg::GenericOp op, LaneValues point, unsigned dim, unsigned unroll, Values accumulators);
  Values reduceRest(mlir::linalg::GenericOp op, LaneValues point, unsigned dim, Value begin, Value end, Values accumulators);
  Values reduceKnownRest(mlir::linalg::GenericOp op, LaneValues point, unsigned dim, Value begin, int64_t length, Values accumulators);
  Values overDims(llvm::ArrayRef<unsigned> dims, llvm::ArrayRef<Value> sizes, LaneValues &point, Values carried,
                  llvm::function_ref<Values(Values)> body);
  Value combine(mlir::linalg::GenericOp op, Value a, Value b);
  Values loopSizes(mlir::linalg::GenericOp op);

  KernelBuilder &k;
  mlir::func::FuncOp source;
  llvm::SmallVector<ScopeData> scopes;
  llvm::DenseMap<Value, Leaf> leaves;
  llvm::DenseMap<Value, Kept> kept;
  llvm::DenseMap<mlir::Operation *, Value> constantPointers;
};

} // namespace stator::kernel

#endif // STATOR_PASSES_KERNEL_LANEEVALUATOR_H
