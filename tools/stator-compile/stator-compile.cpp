//===- stator-compile.cpp - a model file becomes an artifact ---------------===//
//
// Command line, progress and error texts around stator::compiler::compile().
//
//===----------------------------------------------------------------------===//

#include "compiler/Driver.h"
#include "compiler/Options.h"
#include "compiler/Registration.h"
#include "serialization/Base/OutputFile.h"
#include "tools/stator-compile/TimeReport.h"
#include "tools/support/CommandLine.h"
#include "tools/support/CompilerMessages.h"
#include "tools/support/ModelOptions.h"
#include "tools/support/StandardInput.h"

#include "mlir/IR/AsmState.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Support/Timing.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Format.h"

#include <charconv>
#include <csignal>
#include <unistd.h>

using namespace stator;
using namespace stator::tools;

namespace {

struct Settings {
  std::string model;
  compiler::CompileOptions compile;
  int64_t optimisationLevel = 2;
  bool listStages = false;
  bool listOptimisations = false;
  std::string winograd = "auto";
  bool quiet = false;
  bool timeReport = false;
  bool noReproducer = false;
  std::vector<std::string> mlirArguments;
};

/// "500MB": a number and a decimal unit, "B" when there is none.
Status parseBytes(std::string_view text, uint64_t &bytes) {
  static constexpr std::pair<std::string_view, uint64_t> kUnits[] = {
      {"kB", 1000}, {"MB", 1000 * 1000}, {"GB", 1000 * 1000 * 1000}, {"TB", uint64_t(1000) * 1000 * 1000 * 1000}, {"B", 1}, {"", 1}};
  uint64_t number = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  std::string_view unit(end, text.data() + text.size() - end);
  for (const auto &[name, factor] : kUnits)
    if (error == std::errc() && unit == name && !__builtin_mul_overflow(number, factor, &bytes))
      return okStatus();
  return invalidArgument("`" + std::string(text) + "` is not a size, expected for instance 500MB or 2GB");
}

void declare(CommandLine &line, Settings &settings) {
  compiler::CompileOptions &compile = settings.compile;
  line.positional("MODEL", &settings.model,
                  "model.onnx, model.pt (TorchScript), model.pt2 (torch.export), or model.mlir in the graph dialect; - for standard input",
                  /*required=*/false);
  line.group("Output");
  line.text("output", "FILE", &compile.output,
            "the artifact (default: beside the model); with --stop-after, the IR (default: standard output)");
  line.alias("o", "output");
  line.flag("embed-ir", &compile.embedIr, "keep the optimised graph in the artifact, as text without weights");
  line.flag("quiet", &settings.quiet, "no progress and no summary");
  line.group("Model");
  declareModelOptions(line, compile);
  line.group("Code");
  line.integer("opt-level", "0..3", &settings.optimisationLevel, 0, 3, "effort of optimisation (default 2)");
  line.alias("O", "opt-level");
  line.choice("library", {"auto", "none", "onednn"}, &compile.library, "library for contractions (default auto: by cost)");
  line.choice("math", {"default", "exact", "fast"}, &compile.math,
              "how freely sums may be rearranged: exact keeps the rounding error of plain sums, default also allows Winograd "
              "convolutions (5e-6 of the largest output), fast also Strassen products and approximations");
  line.choice("winograd", {"auto", "off"}, &settings.winograd, "Winograd convolutions (default auto: where they pay)");
  line.custom("weights-budget", "SIZE", [&compile](std::string_view text) { return parseBytes(text, compile.weightsBudget.emplace()); },
              "bytes that weights may have, such as 64MB (default: any number); Winograd convolutions that gain least give way");
  line.list("disable", "NAME,...", &compile.disabledOptimisations, "optimisations that are not to be used", ',');
  line.flag("list-optimisations", &settings.listOptimisations, "print the optimisations that --disable knows and end");
  line.list("cpu-levels", "v2,v3,v4", &compile.cpuLevels, "x86-64 feature levels to build kernels for (default all)", ',');
  line.text("mcpu", "host|LEVEL", &compile.processor, "build for one level only: this machine's, or a named one (v2, v3, v4)");
  line.group("Compile time");
  line.text("cache-dir", "DIR", &compile.cacheDir,
            "keep compiled kernels in this folder and take them from there (default: $STATOR_CACHE_DIR; off: no cache)");
  line.custom("cache-size", "SIZE", [&compile](std::string_view text) { return parseBytes(text, compile.cacheBytes); },
              "remove what has not been used for longest above this size: 500MB, 2GB (default 2GB)");
  line.flag("time-report", &settings.timeReport, "print where the time went: stages, passes, kernel families, phases of LLVM");
  line.group("Stages");
  line.flag("list-stages", &settings.listStages, "print the stages of the compiler and end");
  line.text("stop-after", "STAGE", &compile.stopAfter, "end after this stage and print the IR");
  line.text("start-from", "STAGE", &compile.startFrom, "begin with this stage; MODEL is a file of a --dump-ir-dir");
  line.text("dump-ir-dir", "DIR", &compile.dumpIrDir, "write the IR after every stage (numbered files, without weights)");
  line.text("dump-kernels-to", "DIR", &compile.dumpKernelsDir, "write LLVM IR, assembly and objects of the kernels");
  line.hiddenGroup("For developers (and every --mlir-... flag of mlir-opt)");
  line.flag("verify-each", &compile.verifyEach, "verify the IR after every pass (default true)");
  line.flag("no-crash-reproducer", &settings.noReproducer, "do not write FILE.reproducer.mlir when a pass fails");
  line.passThrough({"--mlir-"}, &settings.mlirArguments);
  line.epilogue("Examples:\n  stator compile resnet50.onnx -o resnet50.stator\n"
                "  stator compile bert.onnx -o bert.stator --dim batch=1..32 --library=none\n"
                "  stator compile resnet50.pt -o resnet50.stator --input='?batch[1..64]x3x224x224xf32'\n\n" +
                exitCodeHelp());
}

void printStages() {
  for (const compiler::StageInfo &stage : compiler::stages())
    std::printf("%-14s %s -> %s: %s (verified by: %s)\n", stage.name.c_str(), stage.from.c_str(), stage.to.c_str(), stage.does.c_str(),
                stage.verifiedBy.c_str());
}

void printOptimisations() {
  for (const compiler::OptimisationSummary &optimisation : compiler::optimisations())
    std::printf("%-18s %s%s\n", optimisation.name.c_str(), optimisation.does.c_str(),
                optimisation.math == "exact" ? "" : (" (with --math=" + optimisation.math + (optimisation.math == "fast" ? ")" : " or fast)")).c_str());
}

/// Hands `--mlir-...` to the parser that MLIR registers its flags with.
bool parseMlirArguments(const std::vector<std::string> &arguments) {
  compiler::registerPasses(); // `--mlir-print-ir-after=` names them.
  mlir::registerTransformsPasses();
  mlir::registerMLIRContextCLOptions();
  mlir::registerPassManagerCLOptions();
  mlir::registerDefaultTimingManagerCLOptions();
  mlir::registerAsmPrinterCLOptions();
  std::vector<const char *> argv = {"stator-compile"};
  for (const std::string &argument : arguments) {
    argv.push_back(argument.c_str());
    if (argument.find("print-ir-module-scope") != std::string::npos)
      argv.push_back("--mlir-disable-threading"); // Other threads change the rest of the module while one prints it.
  }
  return llvm::cl::ParseCommandLineOptions(argv.size(), argv.data(), "", &llvm::errs());
}

mlir::LogicalResult configurePasses(mlir::PassManager &passes) {
  mlir::applyDefaultTimingPassManagerCLOptions(passes);
  return mlir::applyPassManagerCLOptions(passes);
}

/// With --stop-after: the IR that there is, to a file or to standard output.
Status writeIr(mlir::ModuleOp module, const std::string &path) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  module.print(stream);
  stream << "\n";
  if (path.empty() || path == "-") {
    std::fwrite(text.data(), 1, text.size(), stdout); // finishOutput() says when that fails.
    return okStatus();
  }
  STATOR_TRY(file, OutputFile::create(path));
  STATOR_RETURN_IF_ERROR(file->write(text.data(), text.size()));
  return file->commit();
}

void printSummary(const compiler::CompileSummary &summary) {
  std::string levels;
  for (const std::string &level : summary.cpuLevels)
    levels += (levels.empty() ? "" : ", ") + level;
  llvm::errs() << summary.output << ": " << formatBytes(summary.artifactBytes) << ", of which weights " << formatBytes(summary.weightBytes)
               << (summary.winogradBytes ? " (" + formatBytes(summary.winogradBytes) + " more by Winograd)" : "")
               << "; " << summary.kernelCalls << " kernel calls (" << summary.kernels << " kernels), " << summary.libraryCalls
               << " library calls; " << (levels.empty() ? "no kernels" : levels) << "\n";
  for (const compiler::MethodMemory &memory : summary.memory) {
    llvm::errs() << "memory of " << memory.method << ": arena of " << formatBytes(memory.arenaBytes) << ", at least "
                 << formatBytes(memory.livePeakBytes) << " live at once";
    if (!memory.sizes.empty())
      llvm::errs() << " (" << memory.arena << " bytes, at " << memory.sizes << ")";
    llvm::errs() << "\n";
  }
  if (summary.usesCache)
    llvm::errs() << "compile cache: " << summary.cacheHits << " of " << summary.cacheHits + summary.cacheMisses << " kernels"
                 << (summary.cacheDamaged ? ", " + std::to_string(summary.cacheDamaged) + " damaged entries replaced" : "") << "\n";
}

int compileModel(Settings &settings) {
  compiler::CompileOptions &options = settings.compile;
  options.optimisationLevel = static_cast<int>(settings.optimisationLevel);
  const compiler::Stage *last = compiler::findStage(options.stopAfter);
  bool writesArtifact = !last || last->id == compiler::StageId::Artifact;
  if (writesArtifact && options.output == "-") {
    std::fprintf(stderr, "stator-compile: error: an artifact is not written to standard output: name a file by -o\n");
    return ExitUsage;
  }
  if (writesArtifact && options.output.empty() && settings.model == "-") {
    std::fprintf(stderr, "stator-compile: error: a model from standard input has no name to derive the artifact's from: name it by -o\n");
    return ExitUsage;
  }
  StandardInput standardInput;
  if (Status status = standardInput.resolve(&settings.model); !status.ok())
    return reportError("stator-compile", status);
  if (writesArtifact && options.output.empty() && !settings.model.empty())
    options.output = replaceExtension(settings.model, ".stator");
  // A pass manager takes one file for this: MLIR's own flag goes first.
  bool hasOwnReproducer = false;
  for (const std::string &argument : settings.mlirArguments)
    hasOwnReproducer |= argument.starts_with("--mlir-pass-pipeline-crash-reproducer");
  if (writesArtifact && !settings.noReproducer && !hasOwnReproducer)
    options.crashReproducer = options.output + ".reproducer.mlir";

  CompilerMessages messages("stator-compile", !settings.quiet && isatty(STDERR_FILENO));
  options.onDiagnostic = [&](const compiler::Diagnostic &diagnostic) { messages.print(diagnostic); };
  options.onProgress = [&](const compiler::Progress &progress) { messages.print(progress); };
  Status written;
  compiler::DriverHooks hooks;
  hooks.configure = configurePasses;
  if (!writesArtifact && (options.dumpIrDir.empty() || !options.output.empty()))
    hooks.onFinished = [&](mlir::ModuleOp module) { written = writeIr(module, options.output); };

  if (Status status = compiler::validate(options); !status.ok()) {
    reportError("stator-compile", status);
    return exitCodeForOptions(status);
  }
  Result<compiler::CompileSummary> summary = compiler::compile(settings.model, options, std::move(hooks));
  messages.endProgress();
  if (!summary.ok())
    return messages.report(summary.status());
  if (!written.ok())
    return reportError("stator-compile", written);
  if (writesArtifact && !settings.quiet)
    printSummary(*summary);
  if (settings.timeReport)
    std::fputs(timeReport(summary->times).c_str(), stderr);
  return finishOutput("stator-compile", ExitOk);
}

} // namespace

int main(int argc, char **argv) {
  // Writing beyond the limit on file sizes is to be an error of the write, also inside the linker.
  std::signal(SIGXFSZ, SIG_IGN);
  Settings settings;
  CommandLine line("stator-compile", "MODEL -o FILE.stator [options]", "Turns a model into one artifact that libstator runs.");
  declare(line, settings);
  if (std::optional<int> code = line.parse(argc, argv))
    return *code;
  if (settings.listStages) {
    printStages();
    return finishOutput("stator-compile", ExitOk);
  }
  if (settings.listOptimisations) {
    printOptimisations();
    return finishOutput("stator-compile", ExitOk);
  }
  if (settings.winograd == "off")
    settings.compile.disabledOptimisations.push_back("winograd");
  if (settings.model.empty()) {
    std::fprintf(stderr, "stator-compile: error: no MODEL is given\nSee `stator-compile --help`.\n");
    return ExitUsage;
  }
  if (!parseMlirArguments(settings.mlirArguments))
    return ExitUsage;
  return compileModel(settings);
}
