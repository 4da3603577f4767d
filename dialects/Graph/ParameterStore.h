// The bytes of parameters. Weights are far larger than the IR, so they stay where they are: in mapped source files, or in buffers that
// a transform computed. A `graph.parameter` refers to them by number.
//
// Ownership: the dialect of a context owns one store; it holds every file and buffer until the context goes. Lifetime: what bytes()
// returns is valid as long. Threads: all functions may be called at once. Failure: an unknown number has no bytes.
#ifndef STATOR_DIALECTS_GRAPH_PARAMETERSTORE_H
#define STATOR_DIALECTS_GRAPH_PARAMETERSTORE_H

#include "serialization/Base/MappedFile.h"

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace mlir {
class MLIRContext;
} // namespace mlir

namespace stator::graph {

class ParameterStore {
public:
  /// Adds a mapped file, shown to people as `path`; returns its number. The same mapping added twice has one number.
  int addMapped(std::shared_ptr<MappedFile> file, std::string path);
  int addOwned(std::vector<std::byte> bytes);

  /// Nothing for a number that was not given out.
  std::optional<std::span<const std::byte>> find(int source) const;
  /// The bytes of a known number; empty for an unknown one.
  std::span<const std::byte> bytes(int source) const;
  /// The path of a mapped file; empty for owned bytes.
  std::string path(int source) const;
  /// How many numbers were given out: 0 .. count - 1.
  int count() const;

private:
  struct Source {
    std::shared_ptr<MappedFile> file;
    std::string path;
    std::shared_ptr<const std::vector<std::byte>> owned;
  };
  mutable std::mutex mutex;
  std::vector<Source> sources;
};

/// The store of a context, which must have the graph dialect loaded.
ParameterStore &parametersOf(mlir::MLIRContext *context);

} // namespace stator::graph

#endif // STATOR_DIALECTS_GRAPH_PARAMETERSTORE_H
