//===- ArchiveKind.cpp - what a torch file is ------------------------------===//
//
// A file's name says nothing (renamed files keep the root folder of their first name, and .pt is used for everything), so that the kind
// follows from the records alone. What looks like a model but is none is refused with what to do instead.
//
//===----------------------------------------------------------------------===//

#include "compiler/Import/Torch/Archive/Archive.h"
#include "serialization/Base/Utf8.h"

#include <algorithm>
#include <charconv>
#include <set>

namespace stator::torch {

const char *name(ArchiveKind kind) {
  switch (kind) {
  case ArchiveKind::TorchScript:
    return "TorchScript";
  case ArchiveKind::Export:
  case ArchiveKind::ExportPickled:
  case ArchiveKind::ExportLegacy:
    return "torch.export";
  case ArchiveKind::StateDict:
    return "torch.save";
  }
  return "unknown";
}

static Status stateDict(const std::string &what) {
  return unsupported(what + ": this is a state dict or another pickled object, not a program. Export the model in Python, with "
                            "`torch.export.save(torch.export.export(model, inputs), \"model.pt2\")` or with "
                            "`torch.jit.save(torch.jit.trace(model, inputs), \"model.pt\")`");
}

static bool startsWith(std::span<const std::byte> bytes, size_t at, std::string_view text) {
  return at <= bytes.size() && text.size() <= bytes.size() - at &&
         std::equal(text.begin(), text.end(), bytes.begin() + at, [](char c, std::byte b) { return static_cast<std::byte>(c) == b; });
}

Status Archive::refuseForeign() const {
  if (whole.empty())
    return invalidFile("is empty, expected a TorchScript or torch.export file");
  // PROTO with its number: torch.save before 1.6, pickle.dump, joblib.
  if (whole.size() >= 2 && whole[0] == std::byte(0x80) && whole[1] >= std::byte(2) && whole[1] <= std::byte(5))
    return stateDict("is a bare Python pickle, as torch.save wrote before version 1.6");
  if (startsWith(whole, 257, "ustar"))
    return stateDict("is a tar archive, as torch.save wrote before version 0.2");
  if (!startsWith(whole, 0, "PK"))
    return invalidFile("is not a zip file, so neither a TorchScript nor a torch.export file");
  return Status();
}

Status Archive::findRoot() {
  constexpr std::string_view markers[] = {"archive_format", "data.pkl", "constants.pkl", "serialized_exported_program.json"};
  std::set<std::string_view> roots;
  for (const serialization::ZipEntry &entry : zip.entries()) {
    std::string_view path = entry.name;
    size_t slash = path.find('/');
    std::string_view folder = slash == path.npos ? "" : path.substr(0, slash);
    std::string_view rest = slash == path.npos ? path : path.substr(slash + 1);
    if (std::find(std::begin(markers), std::end(markers), rest) != std::end(markers))
      roots.insert(folder);
  }
  if (roots.empty())
    return invalidFile("is a zip file, but neither a TorchScript file (no `data.pkl`) nor a torch.export file (no `archive_format`)");
  if (roots.size() > 1)
    return invalidFile("has two root folders, `" + std::string(*roots.begin()) + "` and `" + std::string(*std::next(roots.begin())) + "`");
  rootFolder = *roots.begin();
  return Status();
}

/// Text without white space at its ends, in one line; messages may show it.
static std::string trimmed(std::span<const std::byte> bytes) {
  std::string_view text(reinterpret_cast<const char *>(bytes.data()), std::min<size_t>(bytes.size(), 40));
  constexpr const char *space = " \t\r\n";
  size_t first = text.find_first_not_of(space);
  if (first == text.npos)
    return "";
  return escapeInvalidUtf8(text.substr(first, text.find_last_not_of(space) + 1 - first));
}

Status Archive::findKind(bool isNested) {
  bool hasData = find("data.pkl"), hasConstants = find("constants.pkl");
  if (find("archive_format")) {
    STATOR_TRY(content, bytes("archive_format"));
    if (std::string format = trimmed(content); format != "pt2")
      return invalidFile("has the archive format `" + format + "`, expected `pt2`");
    if (programs().empty() && !recordsBelow("data/aotinductor/").empty())
      return unsupported("holds compiled code (data/aotinductor/) and no program; save the model with `torch.export.save`");
    if (programs().empty())
      return invalidFile("has no program (`models/NAME.json`)");
    std::vector<const Record *> weights = recordsBelow("data/weights/");
    auto any = [&](std::string_view suffix) {
      return std::any_of(weights.begin(), weights.end(), [&](const Record *record) { return record->name.ends_with(suffix); });
    };
    archiveKind = any(".pt") && !any("_config.json") ? ArchiveKind::ExportPickled : ArchiveKind::Export;
  } else if (find("serialized_exported_program.json")) {
    archiveKind = ArchiveKind::ExportLegacy;
  } else if (hasData && hasConstants) {
    archiveKind = ArchiveKind::TorchScript;
  } else if (hasConstants) {
    return invalidFile("has `constants.pkl` but no `data.pkl`, expected both of a TorchScript file");
  } else {
    archiveKind = ArchiveKind::StateDict;
  }
  bool isStateDict = archiveKind == ArchiveKind::StateDict;
  if (isStateDict && !isNested)
    return stateDict("is a file of torch.save");
  if (!isStateDict && isNested)
    return invalidFile("is a " + std::string(name(archiveKind)) + " file, expected one of torch.save");
  return Status();
}

Status Archive::checkByteOrder() {
  const Record *record = find("byteorder");
  if (!record)
    return Status();
  STATOR_TRY(content, bytes(*record));
  std::string order = trimmed(content);
  if (order == "big")
    return unsupported("was written in big-endian byte order, only little-endian files can be read");
  if (order != "little")
    return invalidFile("has the byte order `" + order + "`, expected `little`");
  return Status();
}

Status Archive::readVersion() {
  const Record *record = find(".data/version");
  if (!record)
    record = find("version");
  std::string text;
  if (record) {
    STATOR_TRY(content, bytes(*record));
    text = trimmed(content);
    int64_t number = 0;
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error == std::errc() && end == text.data() + text.size())
      formatVersion = number;
  }
  if (archiveKind != ArchiveKind::TorchScript)
    return Status();
  // caffe2/serialize/versions.h: what libtorch has read and written up to 2.15. The number stands for the meaning of operators, so that
  // guessing one would give wrong results.
  constexpr int64_t lowest = 1, highest = 10;
  if (!record)
    return invalidFile("has no `version` record, expected a TorchScript file of version 1 to 10");
  if (!formatVersion || *formatVersion < lowest || *formatVersion > highest)
    return unsupported("is a TorchScript file of version `" + text + "`, expected 1 to 10");
  return Status();
}

} // namespace stator::torch
