// The compiler as a library: from a model (a file, or a graph traced in C++) to one artifact, `model.stator`.
//
//   stator::compiler::CompileOptions options;
//   options.output = "digits.stator";
//   auto summary = stator::compiler::compile("digits.onnx", options);
//   if (!summary.ok()) ... summary.status().message() ...
//
// Ownership: options and results are plain values; a Builder given to compile() stays the caller's, but its graph is used up.
// Lifetime:  nothing outlives the call.
// Threads:   calls are independent of each other; each may use several threads. Callbacks come from the calling thread.
// Failure:   a Status says what is wrong with the model, the options or the output file; there is no partial output file.
#ifndef STATOR_COMPILER_H
#define STATOR_COMPILER_H

#include "stator/Result.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace stator::trace {
class Builder;
}

namespace stator::compiler {

/// Something that the compiler has to say about the model.
struct Diagnostic {
  enum class Severity { Error, Warning, Remark, Note } severity = Severity::Error;
  /// "model.onnx: node `conv1` (Conv)", a place in a text file, or empty.
  std::string place;
  std::string message;
};

/// The compiler has begun a step: stage `stage`, which is `number` of `total`, and within it `detail` (a level, a parameter), if any.
struct Progress {
  std::string stage;
  unsigned number = 0;
  unsigned total = 0;
  std::string detail;
};

struct CompileOptions {
  /// Path of the artifact. May be empty when `stopAfter` names a stage before `artifact`.
  std::string output;
  /// "onnx", "pt" (TorchScript), "pt2" (torch.export) or "mlir"; empty: told from the content of the file.
  std::string inputType;
  /// 0 to 3: how hard the backend tries. The stages before it always do all they can.
  int optimisationLevel = 2;
  /// "none": own kernels only; "onednn": oneDNN for every contraction that it can do; "auto": by cost.
  std::string library = "auto";
  /// How freely sums may be rearranged: "exact" keeps the order of magnitude of the rounding error, "default" also allows Winograd
  /// convolutions (at most 5e-6 of a layer's largest output), "fast" also Strassen products and documented approximations.
  std::string math = "default";
  /// Bytes that weights may have in all, as the artifact stores them; without, any number. Winograd convolutions have larger filters than
  /// direct ones, so with a budget those that gain least time per byte are done without. Weights that no choice makes smaller may exceed it.
  std::optional<uint64_t> weightsBudget;
  /// Names of optimisations() that are not to be used.
  std::vector<std::string> disabledOptimisations;
  /// Names such as "x86-64-v3" or "v3"; empty: all levels.
  std::vector<std::string> cpuLevels;
  /// Instead of the levels: "host" (this machine's best) or one of their names; then only that one is built.
  std::string processor;
  /// "[NAME=]SHAPExTYPE", for instance "x=1x3x224x224xf32", "?batch[1..64]x3x?h[32..1024]x?wxf32", or "[NAME=]@FILE.npy" for the shape and
  /// type of that array. TorchScript files do not hold the shapes of inputs, so there every tensor input needs one.
  std::vector<std::string> inputs;
  /// "NAME=VALUE" fixes a named size, "NAME=MIN..MAX" gives its range.
  std::vector<std::string> dims;
  /// "NAME=VALUE" or "NAME=@FILE.npy": the input becomes a constant of the model, for instance a shape or a list of axes, which must be
  /// known at compile time. For a tensor VALUE is numbers separated by commas (one fills the shape); for other inputs of TorchScript it is
  /// a literal of Python: 3, True, None, "text", [1, 2], {"a": 1}.
  std::vector<std::string> constants;
  /// The methods of the model that become methods of the artifact; empty: "forward". They share parameters and state.
  std::vector<std::string> methods;
  /// A folder in which compiled kernels are kept, for this and other compilations of any model; several processes may use it at once.
  /// Empty: what the environment variable STATOR_CACHE_DIR says, else none; "off": none. Results are the same with and without.
  std::string cacheDir;
  /// Above this size the entries that have not been used for the longest time are removed.
  uint64_t cacheBytes = uint64_t(2) << 30;
  /// Keeps the optimised graph in the artifact, as text without weights.
  bool embedIr = false;

  /// Names of stages; empty: all of them.
  std::string startFrom;
  std::string stopAfter;
  /// A folder for the IR after every stage, from which `startFrom` can resume. Empty: none.
  std::string dumpIrDir;
  /// A folder for each level's LLVM IR, assembly and object. Empty: none.
  std::string dumpKernelsDir;
  /// Verifies the IR after every pass, not only after every stage.
  bool verifyEach = true;
  /// Where a failing pass leaves a reproducer; empty: nowhere.
  std::string crashReproducer;

  std::function<void(const Diagnostic &)> onDiagnostic;
  std::function<void(const Progress &)> onProgress;
};

/// Time that a part of the compilation took. Parts of different groups overlap.
struct TimeEntry {
  /// "stage": from start to end; all others, in sums over all threads: "pass" ("STAGE: PASS"), "codegen" (its phases), "kernel family"
  /// ("FAMILY: lower", "FAMILY: compile"), "kernel" ("NAME (LEVEL)").
  std::string group;
  std::string name;
  double seconds = 0;
  unsigned count = 0;
};

/// The memory for intermediate values of one method.
struct MethodMemory {
  std::string method;
  /// An expression of the method's sizes: "4014080", "1024*N".
  std::string arena;
  /// Its value, and the largest sum of bytes alive at the same time, below which no arrangement can go.
  uint64_t arenaBytes = 0, livePeakBytes = 0;
  /// The sizes that the values are for: "N=128"; empty when they depend on none.
  std::string sizes;
};

struct CompileSummary {
  std::string output;
  uint64_t artifactBytes = 0;
  uint64_t weightBytes = 0;
  /// Of these, what direct convolutions would not need beside Winograd ones.
  uint64_t winogradBytes = 0;
  unsigned methods = 0;
  unsigned kernels = 0;
  unsigned kernelCalls = 0;
  unsigned libraryCalls = 0;
  std::vector<std::string> cpuLevels;
  std::vector<MethodMemory> memory;
  /// Whether there was a compile cache, and how many kernels (counted once for each level) came from it. Dumps of kernels pass it by.
  bool usesCache = false;
  unsigned cacheHits = 0;
  unsigned cacheMisses = 0;
  /// Entries that were found damaged; they count as misses.
  unsigned cacheDamaged = 0;
  /// Group by group, in each the longest first.
  std::vector<TimeEntry> times;
};

/// Compiles the file `path`.
Result<CompileSummary> compile(const std::string &path, const CompileOptions &options);
/// Compiles a traced model with all methods of its module; calls finish() on it if nobody has.
Result<CompileSummary> compile(trace::Builder &model, const CompileOptions &options);

/// A part of a model that cannot be compiled.
struct UnsupportedPart {
  std::string place;
  std::string reason;
};
struct SupportReport {
  std::vector<UnsupportedPart> unsupported;
  /// Operators of the source and how often each occurs, sorted by name.
  std::vector<std::pair<std::string, unsigned>> operators;
  /// After a successful import and optimisation: what each fusion became.
  unsigned ownKernels = 0;
  unsigned libraryCalls = 0;
  /// The same by kind: "matmul, own kernel" or "matmul, onednn", and how often, sorted by name.
  std::vector<std::pair<std::string, unsigned>> kernelKinds;
  bool isSupported() const { return unsupported.empty(); }
};

/// Says for the whole model whether compile() could do it, without generating code. A Status only when the file cannot be read.
Result<SupportReport> check(const std::string &path, const CompileOptions &options);

/// One line of the table of stages.
struct StageInfo {
  std::string name;
  std::string from;
  std::string to;
  std::string does;
  std::string verifiedBy;
};
std::vector<StageInfo> stages();

/// An optimisation that CompileOptions::disabledOptimisations can name.
struct OptimisationSummary {
  std::string name;
  /// The first math mode that it is part of.
  std::string math;
  std::string does;
};
std::vector<OptimisationSummary> optimisations();

/// "stator 0.1.0 (LLVM 22.1.8)".
std::string versionText();

} // namespace stator::compiler

#endif // STATOR_COMPILER_H
