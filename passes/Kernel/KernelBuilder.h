//===- KernelBuilder.h - emitting the body of one kernel -------------------===//
//
// A kernel starts as a function on tensors and ends as
// `void k(const StatorKernelArgs *, const StatorWorkerContext *)` (see
// serialization/Base/KernelAbi.h). This class is the pen for everything in
// between: it creates the function, reads buffers and sizes, splits work over
// the workers, and writes loops and vector accesses. It knows nothing about
// operators; EmitX files and the contraction emitters are written with it.
//
// Conventions of emitted code:
//  - every index, size and loop variable is an i64 and counts elements;
//  - vectors have `lanes` lanes whatever the element type; one lane is written
//    as a plain scalar (never vector<1xT>), so the same emitter also produces
//    the scalar tail;
//  - *storage types* are a tensor's element types, *compute types* are what
//    values in registers have: f16 and bf16 are computed as f32, ui8 as i8 (the
//    operation carries the signedness), i1 is stored as a byte that is 0 or 1;
//  - arith and math operations are used on registers, llvm.* only for memory.
//
//===----------------------------------------------------------------------===//

#ifndef STATOR_PASSES_KERNEL_KERNELBUILDER_H
#define STATOR_PASSES_KERNEL_KERNELBUILDER_H

#include "dialects/Graph/Pitch.h"
#include "passes/Kernel/KernelOptions.h"
#include "serialization/Base/DimExpr.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "llvm/ADT/DenseMap.h"

#include <map>

namespace stator::kernel {

class KernelBuilder : public mlir::ImplicitLocOpBuilder {
public:
  using Value = mlir::Value;
  using Values = llvm::SmallVector<Value, 4>;

  /// Creates `func.func @<name of source>(%args: !llvm.ptr, %context: !llvm.ptr)` before `source`, takes over its discardable
  /// attributes and stands at the start of its body. `source` stays readable until finish().
  KernelBuilder(mlir::func::FuncOp source, const KernelOptions &options);

  /// Ends the body, records the scratch bytes and erases the source function.
  mlir::func::FuncOp finish();

  const KernelOptions &options() const { return kernelOptions; }
  unsigned lanes() const { return kernelOptions.lanes(); }

  // --- What the kernel is given. All of these are emitted once, in the entry block.
  Value operand(unsigned index) { return buffer(index); }
  Value result(unsigned index) { return buffer(numOperands + index); }
  Value buffer(unsigned index);
  /// The value of an expression over the local symbols s0, s1, ...
  Value size(const DimExpr &expression);
  /// The sizes of a tensor's dims.
  Values sizes(mlir::RankedTensorType type);
  /// Dense row-major strides, in elements.
  Values strides(mlir::RankedTensorType type);
  /// Strides of a tensor at `base`: those of its pitch if that is a buffer which has one (dialects/Graph/Pitch.h), else dense ones.
  llvm::SmallVector<DimExpr> stridesOf(mlir::RankedTensorType type, Value base) const;
  Value worker();
  Value workers();
  /// Reserves `bytes` of this worker's scratch, 64-byte aligned; contents are undefined at entry.
  Value scratch(const DimExpr &bytes);

  // --- Constants, one per function.
  Value i64(int64_t value);
  Value constant(mlir::TypedAttr value);
  /// A number of compute type `type` (scalar or vector, float or integer).
  Value number(mlir::Type type, double value);
  Value integer(mlir::Type type, int64_t value);
  Value zero(mlir::Type type) { return integer(type, 0); }
  /// The address of constant data in the kernel library: the elements of `data` in storage form, row-major.
  Value constantData(mlir::DenseElementsAttr data);
  /// <0, 1, ..., lanes-1> as i64 lanes.
  Value step(unsigned lanes);

  // --- Index arithmetic on non-negative i64 (scalars or vectors of one length); folds constants.
  Value add(Value a, Value b);
  Value sub(Value a, Value b);
  Value mul(Value a, Value b);
  Value div(Value a, Value b); // b > 0
  Value rem(Value a, Value b); // b > 0
  Value ceilDiv(Value a, Value b);
  Value min(Value a, Value b);
  Value max(Value a, Value b);
  Value product(llvm::ArrayRef<Value> values);
  Value compare(mlir::arith::CmpIPredicate predicate, Value a, Value b);
  Value less(Value a, Value b) { return compare(mlir::arith::CmpIPredicate::slt, a, b); }
  Value select(Value condition, Value onTrue, Value onFalse);
  /// sum of indices[i] * strides[i]
  Value linearise(llvm::ArrayRef<Value> indices, llvm::ArrayRef<Value> strides);

  // --- Control.
  void loop(Value begin, Value end, Value step, llvm::function_ref<void(Value index)> body);
  /// A loop with carried values; `body` returns the next ones.
  Values loop(Value begin, Value end, Value step, mlir::ValueRange initial,
              llvm::function_ref<Values(Value index, mlir::ValueRange carried)> body);
  /// Runs `body` while `condition` holds of the carried values.
  Values whileLoop(mlir::ValueRange initial, llvm::function_ref<Value(mlir::ValueRange carried)> condition,
                   llvm::function_ref<Values(mlir::ValueRange carried)> body);
  void when(Value condition, llvm::function_ref<void()> then);
  void ifElse(Value condition, llvm::function_ref<void()> then, llvm::function_ref<void()> otherwise);
  Values ifElse(Value condition, mlir::TypeRange types, llvm::function_ref<Values()> then, llvm::function_ref<Values()> otherwise);

  struct Range {
    Value begin, end;
  };
  /// This worker's share of [0, count): contiguous, balanced, boundaries at multiples of `granule`.
  /// What is computed for an index never depends on the split, so results do not depend on the number of workers.
  Range split(Value count, int64_t granule = 1);
  /// Runs `body` for the elements `range` of the index space `sizes`, in row-major order.
  void walk(Range range, llvm::ArrayRef<Value> sizes, llvm::function_ref<void(llvm::ArrayRef<Value> indices)> body);
  /// Runs `body` for this worker's share of the index space `sizes`, in row-major order. No work if a size is 0.
  void parallel(llvm::ArrayRef<Value> sizes, llvm::function_ref<void(llvm::ArrayRef<Value> indices)> body);
  /// From here on there is work only if `condition` holds.
  void requireForWork(Value condition);
  /// All workers meet here; what was written before is visible after. Must be reached by every worker.
  void barrier();

  // --- Types.
  static mlir::Type computeType(mlir::Type storage);
  /// `type` for one lane, else vector<lanes x type>.
  static mlir::Type laneType(mlir::Type type, unsigned lanes);
  static unsigned lanesOf(Value value);
  static mlir::Type elementType(Value value);
  /// Bytes of one stored element.
  static int64_t byteSize(mlir::Type storage);

  // --- Memory. Addresses are `base + index * byteSize(storage)`; alignment is that of the element.
  Value address(Value base, Value index, mlir::Type storage);
  /// `lanes` consecutive elements, widened to the compute type. Lanes whose mask is false are not read and become 0.
  Value load(Value base, Value index, mlir::Type storage, unsigned lanes = 1, Value mask = {});
  /// Stores all lanes of `value` (a compute type), rounded to the storage type.
  void store(Value value, Value base, Value index, mlir::Type storage, Value mask = {});
  /// Asks for the cache line at `base` + `bytes`, which will be read soon. Any address may be given.
  void prefetch(Value base, Value bytes);
  /// One element per lane: `indices` is vector<lanes x i64>.
  Value gather(Value base, Value indices, mlir::Type storage, Value mask = {});
  void scatter(Value value, Value base, Value indices, mlir::Type storage, Value mask = {});
  Value splat(Value scalar, unsigned lanes);
  Value loadSplat(Value base, Value index, mlir::Type storage, unsigned lanes) { return splat(load(base, index, storage), lanes); }
  /// Lane i is true iff i < remaining (an i64; may be negative or larger than lanes).
  Value maskBelow(Value remaining, unsigned lanes);

  // --- Registers.
  /// a * b + c; fused where the processor can.
  Value fma(Value a, Value b, Value c);
  /// Combines the lanes pairwise, halves first (a fixed order), into a scalar.
  Value reduceLanes(Value vector, llvm::function_ref<Value(Value, Value)> combine);
  /// Between compute and storage representation, without memory.
  Value widen(Value raw, mlir::Type storage);
  Value narrow(Value value, mlir::Type storage);
  /// The type in which elements lie in memory: i8 for i1 and ui8, i16 for bf16 (and for f16 without hardware support).
  mlir::Type memoryType(mlir::Type storage);

private:
  /// Values of the entry block are created on demand but must dominate every use: while this lives, the builder stands behind the
  /// previous one of them, at the head of the entry block.
  class InPrologue {
  public:
    explicit InPrologue(KernelBuilder &builder);
    ~InPrologue();

  private:
    KernelBuilder &builder;
    mlir::OpBuilder::InsertPoint saved;
  };

  Value halfToFloat(Value bits);
  Value floatToHalf(Value value);
  Value emitPostfix(llvm::ArrayRef<int64_t> code);

  KernelOptions kernelOptions;
  mlir::func::FuncOp source, function;
  unsigned numOperands = 0, numConstantData = 0;
  mlir::Operation *lastOfPrologue = nullptr;
  llvm::SmallVector<Value> buffers;
  llvm::DenseMap<Value, graph::Pitch> pitches;
  llvm::DenseMap<int64_t, Value> symbols;
  std::map<std::string, Value> sizeOf;
  llvm::DenseMap<mlir::Attribute, Value> constants;
  Value sizesBase, workerIndex, workerCount, scratchBase, workCondition;
  DimExpr scratchBytes;
};

} // namespace stator::kernel

#endif // STATOR_PASSES_KERNEL_KERNELBUILDER_H
