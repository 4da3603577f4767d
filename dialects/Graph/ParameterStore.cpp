// See ParameterStore.h.
#include "dialects/Graph/ParameterStore.h"

namespace stator::graph {

int ParameterStore::addMapped(std::shared_ptr<MappedFile> file, std::string path) {
  std::lock_guard<std::mutex> lock(mutex);
  for (size_t i = 0; i < sources.size(); ++i)
    if (sources[i].file == file)
      return int(i);
  sources.push_back({std::move(file), std::move(path), nullptr});
  return int(sources.size()) - 1;
}

int ParameterStore::addOwned(std::vector<std::byte> bytes) {
  auto owned = std::make_shared<const std::vector<std::byte>>(std::move(bytes));
  std::lock_guard<std::mutex> lock(mutex);
  sources.push_back({nullptr, "", std::move(owned)});
  return int(sources.size()) - 1;
}

std::optional<std::span<const std::byte>> ParameterStore::find(int source) const {
  std::lock_guard<std::mutex> lock(mutex);
  if (source < 0 || size_t(source) >= sources.size())
    return std::nullopt;
  const Source &found = sources[source];
  return found.file ? found.file->bytes() : std::span<const std::byte>(*found.owned);
}

std::span<const std::byte> ParameterStore::bytes(int source) const { return find(source).value_or(std::span<const std::byte>()); }

std::string ParameterStore::path(int source) const {
  std::lock_guard<std::mutex> lock(mutex);
  return source >= 0 && size_t(source) < sources.size() ? sources[source].path : std::string();
}

int ParameterStore::count() const {
  std::lock_guard<std::mutex> lock(mutex);
  return int(sources.size());
}

} // namespace stator::graph
