//===- Report.cpp - what could not be imported -----------------------------===//

#include "compiler/Import/Torch/Export/Report.h"
#include "compiler/Import/Torch/Export/ProgramReader.h"

namespace stator::torch::exported {

/// More parts than that are not read by anybody.
static constexpr size_t maxParts = 1000;

bool Report::countNode() {
  if (++nodes == maxNodes + 1)
    add("program", unsupported("has more than " + std::to_string(maxNodes) + " nodes when its scans are unrolled"));
  return nodes <= maxNodes;
}

static std::string_view trimmed(std::string_view text) {
  size_t start = text.find_first_not_of(" \t");
  return start == std::string_view::npos ? std::string_view() : text.substr(start, text.find_last_not_of(" \t\r") - start + 1);
}

std::string sourceOf(const Node &node) {
  // Pairs of lines, outermost call first: `File "model.py", line 12, in forward` and the text of that line. The innermost one that is not
  // inside of PyTorch is the user's.
  std::string_view rest = node.stackTrace;
  std::string best;
  bool bestIsOwn = false, isLast = false;
  while (!rest.empty()) {
    size_t end = rest.find('\n');
    std::string_view line = trimmed(rest.substr(0, end));
    rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
    if (line.starts_with("File \"")) {
      std::string_view place = line.substr(6);
      size_t quote = place.find('"');
      bool isOwn = place.find("/torch/") == std::string_view::npos && place.find("\\torch\\") == std::string_view::npos;
      isLast = quote != std::string_view::npos && (isOwn || !bestIsOwn);
      if (isLast) {
        bestIsOwn = isOwn;
        best = shown(place.substr(0, quote)) + shown(place.substr(quote + 1));
      }
    } else if (isLast && !line.empty()) {
      best += ": `" + shown(line) + "`";
      isLast = false;
    }
  }
  return best;
}

std::string placeOf(const Node &node) {
  std::string place = "node `" + shown(node.title()) + "` (" + shown(node.target) + ")";
  std::string source = sourceOf(node);
  return source.empty() ? place : place + ", " + source;
}

void Report::add(const Node &node, const Status &status) {
  // The Builder puts the node's name in front, which the place has.
  std::string message = status.message();
  std::string prefix = std::string(node.title()) + ": ";
  if (message.starts_with(prefix))
    message = message.substr(prefix.size());
  add(placeOf(node), Status(status.code(), std::move(message)));
}

void Report::add(std::string place, const Status &status) {
  if (status.code() != StatusCode::Unsupported)
    code = status.code() == StatusCode::InvalidArgument ? StatusCode::InvalidFile : status.code();
  if (parts.size() < maxParts && seen.emplace(place, status.message()).second)
    parts.push_back({std::move(place), status.message()});
}

Status Report::summary() const {
  if (parts.empty())
    return okStatus();
  std::string text = std::to_string(parts.size()) + (parts.size() == 1 ? " part" : " parts") + " of the program cannot be imported:";
  for (const compiler::UnsupportedPart &part : parts)
    text += "\n  " + part.place + ": " + part.reason;
  return Status(code, std::move(text));
}

} // namespace stator::torch::exported
