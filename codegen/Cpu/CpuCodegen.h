//===- CpuCodegen.h - LLVM dialect to one shared object per CPU level ------===//
//
// Kernels leave MLIR here: a module in the LLVM dialect becomes LLVM IR, is
// optimised and compiled for one feature level and linked in process into a
// self-contained shared object. The object has no dependency and no undefined
// symbol, so the loader can map it from inside the artifact.
//
// Only the first step reads the MLIR module. What comes after takes most of the
// time and touches nothing shared, so a caller may run it on other threads while
// it lowers the next level.
//
//===----------------------------------------------------------------------===//

#ifndef STATOR_CODEGEN_CPU_CPUCODEGEN_H
#define STATOR_CODEGEN_CPU_CPUCODEGEN_H

#include "dialects/Target/CpuLevel.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace stator::codegen {

struct CpuCodegenOptions {
  /// 0..3: 0 only what correctness needs, 2 the default.
  unsigned optimisationLevel = 2;
  /// When not empty, `<stem>.ll` (optimised), `<stem>.s` and `<stem>.so` are written there.
  std::string dumpStem;
  /// When not empty, overrides the level's processor ("znver4") ...
  std::string processor;
  /// ... and adds target features ("+avx512bf16").
  std::string extraFeatures;
};

struct KernelLibrary {
  std::string level;
  uint32_t requiredFeatures = 0;
  /// The bytes of an ELF shared object.
  std::vector<char> sharedObject;
  /// Exported functions in module order.
  std::vector<std::string> symbols;
};

/// Kernels of one level on their way from LLVM IR to a shared object. Owns all that it needs.
class KernelCompilation {
public:
  /// Translates every public `llvm.func` of `module`, which is not changed and not used any more afterwards.
  /// Not thread-safe within one MLIR context.
  static llvm::Expected<KernelCompilation> translate(mlir::ModuleOp module, const CpuLevel &level, const CpuCodegenOptions &options);
  /// The rest of the work; to be called once, from any thread. The same module and options give the same bytes.
  llvm::Expected<KernelLibrary> compile();

  KernelCompilation(KernelCompilation &&);
  ~KernelCompilation();

private:
  struct State;
  explicit KernelCompilation(std::unique_ptr<State> state);
  std::unique_ptr<State> state;
};

/// Both steps. Thread-safe when each call has a module of its own context.
llvm::Expected<KernelLibrary> compileKernels(mlir::ModuleOp module, const CpuLevel &level, const CpuCodegenOptions &options = {});

} // namespace stator::codegen

#endif // STATOR_CODEGEN_CPU_CPUCODEGEN_H
