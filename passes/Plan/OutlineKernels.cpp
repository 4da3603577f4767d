//===- OutlineKernels.cpp - fusion regions become kernel functions ---------===//
//
// A model repeats itself: the twelve blocks of a transformer contain the same
// dozen fusions. Kernels are therefore functions that several instructions
// share. Two fusions share one when their bodies print the same text after the
// method's symbols have been renamed by order of appearance, which needs no
// notion of equality but the printer's and cannot depend on hash order. Names
// are the family and a hash of that text: a kernel has the same name in every
// model, by which a compile cache finds its object again.
//
// Renaming keeps expressions ("s0*s1", "floordiv(s0 - 1, 2) + 1") instead of
// giving every expression a symbol of its own: operations in a kernel still
// infer their types, and a kernel computes a few integers at its entry.
//
//===----------------------------------------------------------------------===//

#include "passes/Plan/KernelSymbols.h"
#include "passes/Plan/Passes.h"

#include "dialects/Graph/Shapes.h"
#include "dialects/Plan/LibraryCalls.h"

#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/xxhash.h"

namespace stator::plan {
#define GEN_PASS_DEF_PLANOUTLINEKERNELSPASS
#include "passes/Plan/Passes.h.inc"
} // namespace stator::plan

using namespace mlir;
using namespace stator;
using namespace stator::plan;

namespace {

/// Names the operations that a fusion came from: the distinct locations' names, or else the operations themselves.
std::string labelOf(graph::FusionOp fusion) {
  llvm::SetVector<StringRef> names;
  fusion->getRegion(0).walk([&](Operation *op) {
    op->getLoc()->walk([&](Location loc) {
      if (auto name = dyn_cast<NameLoc>(loc)) {
        names.insert(name.getName());
        return WalkResult::interrupt(); // The outermost name; those below it are its parts.
      }
      return WalkResult::advance();
    });
  });
  bool fromOps = names.empty();
  if (fromOps)
    fusion->getRegion(0).walk([&](Operation *op) {
      if (!op->hasTrait<OpTrait::IsTerminator>())
        names.insert(op->getName().stripDialect());
    });
  constexpr size_t kMaxNames = 4;
  std::string label = llvm::join(names.getArrayRef().take_front(kMaxNames), fromOps ? "+" : ", ");
  if (names.size() > kMaxNames)
    label += ", ... (" + std::to_string(names.size()) + ")";
  return label;
}

/// Whether a kernel of this fusion makes each element of its result once, and reads whatever has the result's shape no earlier than that
/// and only at the same position. Element-wise work does. So do convolutions behind their sums, which stay in registers until they are
/// complete; matrix products may set partial sums aside in the result.
bool writesEachElementOnce(graph::FusionOp fusion) {
  if (fusion->getNumResults() != 1) // One could be complete before another reads its operands.
    return false;
  if (fusion.getFamily() == "map")
    return true;
  if (fusion.getFamily() != "conv" && fusion.getFamily() != "depthwise")
    return false;
  return llvm::range_size(fusion.getBody().front().getOps<graph::ConvolutionOp>()) == 1;
}

/// Operands that are read only at the position that is being written: every path from them leads through element-wise operations to the
/// result, and their shape is the result's. A scatter leaves its input as it is, save for the updates.
SmallVector<int64_t> operandsReadInPlace(graph::FusionOp fusion) {
  SmallVector<int64_t> operands;
  Operation &first = fusion.getBody().front().front();
  if (isa<graph::ScatterElementsOp, graph::ScatterNdOp>(first))
    if (auto argument = dyn_cast<BlockArgument>(first.getOperand(0)); argument && argument.hasOneUse())
      return {static_cast<int64_t>(argument.getArgNumber())};
  if (!writesEachElementOnce(fusion))
    return operands;
  auto shapeOf = [](Type type) { return graph::dimsOf(cast<RankedTensorType>(type)); };
  SmallVector<DimExpr> loopShape = shapeOf(fusion->getResult(0).getType());
  for (BlockArgument argument : fusion->getRegion(0).getArguments()) {
    if (shapeOf(argument.getType()) != loopShape)
      continue;
    llvm::SetVector<Operation *> users;
    users.insert(argument.user_begin(), argument.user_end());
    bool inPlace = true;
    for (size_t i = 0; i < users.size() && inPlace; ++i) {
      Operation *user = users[i];
      if (user->hasTrait<OpTrait::IsTerminator>())
        continue;
      inPlace = graph::isElementwise(user);
      for (Value result : user->getResults())
        users.insert(result.user_begin(), result.user_end());
    }
    if (inPlace)
      operands.push_back(argument.getArgNumber());
  }
  return operands;
}

class OutlineKernels : public plan::impl::PlanOutlineKernelsPassBase<OutlineKernels> {
  void runOnOperation() override {
    auto module = getOperation();
    kernels = module.lookupSymbol<ModuleOp>(kKernelModuleName);
    if (!kernels) {
      OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
      kernels = ModuleOp::create(builder, module.getLoc(), kKernelModuleName);
    }
    for (auto function : llvm::to_vector(module.getOps<func::FuncOp>())) {
      SmallVector<graph::FusionOp> fusions;
      function.walk([&](graph::FusionOp fusion) { fusions.push_back(fusion); });
      for (graph::FusionOp fusion : fusions) {
        bool isOwn = fusion.getKernel() == "own";
        if (failed(isOwn ? outline(function, fusion) : callLibrary(fusion)))
          return signalPassFailure();
      }
    }
  }

  LogicalResult outline(func::FuncOp method, graph::FusionOp fusion) {
    MLIRContext *context = &getContext();
    SmallVector<int64_t> inPlace = operandsReadInPlace(fusion);
    std::string label = labelOf(fusion);
    KernelSymbols symbols(method);
    symbols.collect(fusion);

    // The function stands alone while it is built, so that its text can be compared before it gets a name.
    OpBuilder builder(context);
    auto type = FunctionType::get(context, fusion->getOperandTypes(), fusion->getResultTypes());
    OwningOpRef<func::FuncOp> function = func::FuncOp::create(builder, fusion.getLoc(), "kernel", type);
    function.get()->setAttr(kFamilyAttrName, fusion.getFamilyAttr());
    IRMapping mapping;
    fusion->getRegion(0).cloneInto(&function->getBody(), mapping);
    Operation *yield = function->getBody().front().getTerminator();
    builder.setInsertionPoint(yield);
    func::ReturnOp::create(builder, yield->getLoc(), yield->getOperands());
    yield->erase();
    symbols.renameIn(*function);
    function.get()->setAttr(graph::kSymbolsAttr, symbols.localSymbols());

    std::string text;
    llvm::raw_string_ostream stream(text);
    // Flags of the command line may shorten constants in what people read; here every bit counts.
    function.get()->print(stream, OpPrintingFlags().elideLargeElementsAttrs(INT64_MAX).elideLargeResourceString(INT64_MAX));
    auto [known, isNew] = nameOfText.try_emplace(text);
    if (isNew) {
      std::string hash = llvm::utohexstr(llvm::xxh3_64bits(text), /*LowerCase=*/true, /*Width=*/16).substr(0, 8);
      std::string name = (fusion.getFamily() + "_" + hash).str();
      for (unsigned i = 2; !names.insert(name).second; ++i)
        name = (fusion.getFamily() + "_" + hash + "_" + Twine(i)).str();
      known->second = name;
      function->setName(known->second);
      kernels.push_back(function.release());
      ++numKernels;
    }
    builder.setInsertionPoint(fusion);
    auto kernel = SymbolRefAttr::get(context, kKernelModuleName, {FlatSymbolRefAttr::get(context, known->second)});
    auto call = CallOp::create(builder, fusion.getLoc(), fusion->getResultTypes(), kernel, fusion->getOperands(), symbols.sizes(),
                               fusion.getFamilyAttr(), builder.getStringAttr(label), builder.getStringAttr(fusion.getReason()),
                               inPlace.empty() ? nullptr : builder.getDenseI64ArrayAttr(inPlace));
    fusion->replaceAllUsesWith(call);
    fusion->erase();
    ++numCalls;
    return success();
  }

  LogicalResult callLibrary(graph::FusionOp fusion) {
    StringRef library = fusion.getKernel();
    llvm::Expected<LibraryCallDescription> description = describeLibraryCall(fusion, library);
    if (!description)
      return fusion.emitOpError() << "cannot be a call of `" << library << "`: " << llvm::toString(description.takeError());
    OpBuilder builder(fusion);
    SmallVector<Value> operands;
    for (Value operand : description->operands) {
      if (auto argument = dyn_cast<BlockArgument>(operand))
        operands.push_back(fusion->getOperand(argument.getArgNumber()));
      else
        operands.push_back(builder.clone(*operand.getDefiningOp())->getResult(0)); // A constant.
    }
    auto call = LibraryCallOp::create(builder, fusion.getLoc(), fusion->getResultTypes(), builder.getStringAttr(library),
                                      builder.getStringAttr(description->routine), operands, description->options,
                                      graph::DimsAttr::get(&getContext(), ArrayRef<DimExpr>(description->sizes)), fusion.getFamilyAttr(),
                                      builder.getStringAttr(labelOf(fusion)), builder.getStringAttr(fusion.getReason()));
    fusion->replaceAllUsesWith(call);
    fusion->erase();
    ++numLibraryCalls;
    return success();
  }

  ModuleOp kernels;
  /// Text of a kernel function to its name. Only looked up, never iterated.
  llvm::StringMap<std::string> nameOfText;
  llvm::StringSet<> names;
};

} // namespace
