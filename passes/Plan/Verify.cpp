//===- Verify.cpp - the contract between the planner and everything below --===//
//
// Written against the text of the contract (PlanBase.td), not against the
// passes: it computes lives and overlaps itself and knows only one exception,
// kernels that work in place. Overlap with symbols is checked at chosen sizes,
// since an inequality of polynomials cannot be decided in general: the smallest
// and the nominal sizes, and uneven ones that catch a missing round-up.
//
//===----------------------------------------------------------------------===//

#include "passes/Plan/InPlace.h"
#include "passes/Plan/Passes.h"

#include "dialects/Graph/Shapes.h"

#include "mlir/IR/AttrTypeSubElements.h"
#include "llvm/ADT/SmallBitVector.h"

namespace stator::plan {
#define GEN_PASS_DEF_PLANVERIFYPASS
#include "passes/Plan/Passes.h.inc"
} // namespace stator::plan

using namespace mlir;
using namespace stator;
using namespace stator::plan;

namespace {

/// Checks one method.
class MethodVerifier {
public:
  MethodVerifier(MethodOp method, SymbolTableCollection &symbols) : method(method), symbols(symbols), liveness(method) {}

  LogicalResult verify() {
    llvm::SmallBitVector written(liveness.buffers().size());
    for (auto [i, buffer] : llvm::enumerate(liveness.buffers())) {
      BufferKind kind = buffer.declaration().getKind();
      if (kind == BufferKind::arena && !buffer.declaration().getOffset())
        return buffer.declaration().emitOpError("has no offset in the arena");
      if (failed(verifyParameter(buffer.declaration())))
        return failure();
      if (kind == BufferKind::input || kind == BufferKind::parameter || kind == BufferKind::state)
        written.set(i);
    }
    if (failed(verifyAccesses(method.getBody().front(), written)))
      return failure();
    for (auto [i, buffer] : llvm::enumerate(liveness.buffers()))
      if (buffer.declaration().getKind() == BufferKind::output && !written[i])
        return buffer.declaration().emitOpError("is an output that no instruction writes");
    return verifyOverlaps();
  }

private:
  LogicalResult verifyParameter(BufferOp buffer) {
    FlatSymbolRefAttr name = buffer.getParameterAttr();
    if (!name)
      return success();
    auto parameter = symbols.lookupNearestSymbolFrom<graph::ParameterOp>(method->getParentOp(), name);
    if (!parameter)
      return buffer.emitOpError() << "names " << name << ", which is not a `graph.parameter`";
    bool isState = buffer.getKind() == BufferKind::state;
    if (parameter.getIsMutable() == isState && parameter.getType() == buffer.getTensorType())
      return success();
    auto diagnostic = buffer.emitOpError();
    if (parameter.getIsMutable() != isState)
      diagnostic << "of kind `" << stringifyBufferKind(buffer.getKind()) << "` names " << name << ", which is "
                 << (isState ? "frozen" : "mutable");
    else
      diagnostic << "has the type " << buffer.getTensorType() << ", expected that of the parameter, " << parameter.getType();
    diagnostic.attachNote(parameter.getLoc()) << "declared here";
    return failure();
  }

  LogicalResult verifyAccesses(Block &block, llvm::SmallBitVector &written) {
    for (Operation &op : block) {
      if (isa<BufferOp, ViewOp>(op))
        continue;
      auto read = [&](Value value) -> LogicalResult {
        BufferOp declaration = resolveBuffer(value).declaration;
        if (written[liveness.indexOf(declaration)])
          return success();
        auto diagnostic = op.emitOpError("reads a buffer that nothing has written");
        diagnostic.attachNote(declaration.getLoc()) << "declared here, with type " << declaration.getTensorType();
        return failure();
      };
      BufferAccesses accesses = accessesOf(&op);
      if (!isa<LoopOp>(op))
        for (Value value : accesses.reads)
          if (failed(read(value)))
            return failure();
      for (Value value : accesses.writes) {
        BufferOp declaration = resolveBuffer(value).declaration;
        if (declaration.getKind() == BufferKind::input || declaration.getKind() == BufferKind::parameter)
          return op.emitOpError() << "writes to a buffer of kind `" << stringifyBufferKind(declaration.getKind()) << "`";
        written.set(liveness.indexOf(declaration));
      }
      if (auto kernel = dyn_cast<KernelOp>(op))
        if (failed(verifyTypes(kernel)))
          return failure();
      if (auto branch = dyn_cast<IfOp>(op)) {
        llvm::SmallBitVector onTrue = written, onFalse = written;
        if (failed(verifyAccesses(branch.getOnTrue().front(), onTrue)) || failed(verifyAccesses(branch.getOnFalse().front(), onFalse)))
          return failure();
        written = onTrue & onFalse;
      } else if (auto loop = dyn_cast<LoopOp>(op)) {
        // The body may run zero times, so what it writes counts for nothing behind the loop.
        if (failed(verifyAccesses(loop.getBefore().front(), written)) || failed(read(loop.getCondition())))
          return failure();
        llvm::SmallBitVector inBody = written;
        if (failed(verifyAccesses(loop.getBody().front(), inBody)))
          return failure();
      }
    }
    return success();
  }

  /// The kernel's types with its symbols replaced by this call's sizes are the buffers' types.
  LogicalResult verifyTypes(KernelOp kernel) {
    auto function = dyn_cast_or_null<func::FuncOp>(symbols.lookupNearestSymbolFrom(kernel, kernel.getKernel()));
    if (!function)
      return success(); // Lowered: no types to compare.
    std::map<std::string, DimExpr> values;
    if (auto locals = function->getAttrOfType<ArrayAttr>(graph::kSymbolsAttr))
      for (auto [symbol, value] : llvm::zip(locals.getAsRange<graph::SymbolAttr>(), kernel.getSizes().dims()))
        values[symbol.getName().str()] = value;
    auto verifySide = [&](StringRef side, TypeRange types, ValueRange buffers) -> LogicalResult {
      for (auto [i, type, buffer] : llvm::enumerate(types, buffers)) {
        SmallVector<DimExpr> dims = graph::dimsOf(cast<RankedTensorType>(type));
        for (DimExpr &dim : dims)
          dim = dim.substitute(values);
        RankedTensorType expected = graph::tensorType(dims, cast<RankedTensorType>(type).getElementType());
        size_t number = i + (side == "input" ? 0 : function.getNumArguments());
        if (pitchOf(buffer) != graph::pitchOfBuffer(function, number))
          return kernel.emitOpError() << side << " " << i << " has rows at another distance than the kernel was made for";
        if (expected == tensorTypeOf(buffer))
          continue;
        auto diagnostic = kernel.emitOpError() << side << " " << i << " is " << tensorTypeOf(buffer) << ", the kernel expects " << expected;
        diagnostic.attachNote(function.getLoc()) << "kernel defined here";
        return failure();
      }
      return success();
    };
    if (failed(verifySide("input", function.getArgumentTypes(), kernel.getInputs())))
      return failure();
    return verifySide("output", function.getResultTypes(), kernel.getOutputs());
  }

  LogicalResult verifyOverlaps() {
    // Buffers that share bytes on purpose, together with all that joined them before.
    SmallVector<size_t> ownerOf(liveness.buffers().size());
    for (auto [i, owner] : llvm::enumerate(ownerOf))
      owner = i;
    method.walk([&](KernelOp kernel) {
      for (auto [operand, result] : inPlaceCandidates(kernel, liveness))
        if (liveness.buffers()[operand].declaration().getOffset() == liveness.buffers()[result].declaration().getOffset())
          ownerOf[result] = ownerOf[operand];
    });

    SymbolRanges ranges = symbolRangesOf(method);
    for (const auto &point : samplePoints(ranges))
      if (failed(verifyOverlapsAt(point, ownerOf)))
        return failure();
    return success();
  }

  static std::vector<std::map<std::string, int64_t>> samplePoints(const SymbolRanges &ranges) {
    std::map<std::string, int64_t> smallest, uneven;
    int64_t next = 3;
    for (const auto &[name, range] : ranges) {
      int64_t lo = range.lo.value_or(0), hi = range.hi.value_or(INT64_MAX);
      smallest[name] = lo;
      uneven[name] = std::clamp<int64_t>(next, lo, std::max(lo, hi));
      next += 4;
    }
    if (ranges.empty())
      return {smallest};
    return {smallest, nominalSymbols(ranges), uneven};
  }

  LogicalResult verifyOverlapsAt(const std::map<std::string, int64_t> &point, ArrayRef<size_t> ownerOf) {
    struct Range {
      size_t buffer;
      int64_t begin, end;
    };
    // No call has such sizes: the runtime refuses them.
    for (const LiveBuffer &buffer : liveness.buffers())
      for (const DimExpr &dim : graph::dimsOf(buffer.declaration().getTensorType()))
        if (Result<int64_t> size = dim.evaluate(point); size.ok() && *size < 0)
          return success();
    SmallVector<Range> arena;
    Result<int64_t> arenaSize = exprOf(method.getArenaSize().value_or("0")).evaluate(point);
    for (auto [i, buffer] : llvm::enumerate(liveness.buffers())) {
      BufferOp declaration = buffer.declaration();
      if (declaration.getKind() != BufferKind::arena || !buffer.isAccessed())
        continue;
      Result<int64_t> begin = exprOf(*declaration.getOffset()).evaluate(point);
      Result<int64_t> size = sizeBytesOf(declaration.getTensorType()).evaluate(point);
      if (!begin.ok() || !size.ok() || !arenaSize.ok())
        continue; // Overflows at this point: the runtime refuses such sizes.
      if (*begin % kArenaAlignment != 0)
        return declaration.emitOpError() << "starts at byte " << *begin << ", expected a multiple of " << kArenaAlignment;
      if (*begin < 0 || *begin + *size > *arenaSize)
        return declaration.emitOpError() << "ends at byte " << *begin + *size << " of an arena of " << *arenaSize;
      if (*size > 0)
        arena.push_back({i, *begin, *begin + *size});
    }
    llvm::sort(arena, [](const Range &a, const Range &b) { return std::tie(a.begin, a.buffer) < std::tie(b.begin, b.buffer); });
    for (size_t i = 0; i < arena.size(); ++i)
      for (size_t j = i + 1; j < arena.size() && arena[j].begin < arena[i].end; ++j) {
        const LiveBuffer &a = liveness.buffers()[arena[i].buffer], &b = liveness.buffers()[arena[j].buffer];
        bool share = ownerOf[arena[i].buffer] == ownerOf[arena[j].buffer] && (a.last == b.first || b.last == a.first);
        if (!a.overlaps(b) || share)
          continue;
        BufferOp second = b.declaration();
        auto diagnostic = second.emitOpError() << "shares bytes " << arena[j].begin << " to " << std::min(arena[i].end, arena[j].end)
                                               << " with a buffer that is alive at the same time";
        BufferOp first = a.declaration();
        diagnostic.attachNote(first.getLoc()) << "the other buffer, of type " << first.getTensorType();
        return failure();
      }
    return success();
  }

  MethodOp method;
  SymbolTableCollection &symbols;
  BufferLiveness liveness;
};

class Verify : public plan::impl::PlanVerifyPassBase<Verify> {
  void runOnOperation() override {
    SymbolTableCollection symbols;
    WalkResult result = getOperation().walk<WalkOrder::PreOrder>([&](Operation *op) -> WalkResult {
      if (auto method = dyn_cast<MethodOp>(op))
        return failed(MethodVerifier(method, symbols).verify()) ? WalkResult::interrupt() : WalkResult::skip();
      if (isa<CallOp, LibraryCallOp>(op))
        return op->emitOpError("is left on tensors after the plan stage"), WalkResult::interrupt();
      if (isa<func::FuncOp>(op)) {
        auto parent = dyn_cast_or_null<ModuleOp>(op->getParentOp());
        if (!parent || parent.getSymName() != kKernelModuleName)
          return op->emitOpError("is a method that has no plan"), WalkResult::interrupt();
        return WalkResult::skip();
      }
      return WalkResult::advance();
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }
};

} // namespace
