//===- BuiltinStrings.cpp - strings -------------------------------------------===//
//
// Messages, names of modes, keys: always known at compile time. Case and classes
// of characters are those of ASCII, as in TorchScript.
//
//===----------------------------------------------------------------------===//

#include "compiler/Import/Torch/Script/Builtins.h"

#include "llvm/ADT/StringExtras.h"

#include <algorithm>

namespace stator::torch::script {

namespace {

bool areStrings(BuiltinCall &call, size_t least, size_t most) {
  return call.size() >= least && call.size() <= most && llvm::all_of(call.arguments, [](const Value &value) { return value.isString(); });
}

/// "{}" in turn.
std::optional<Value> format(BuiltinCall &call) {
  if (call.size() < 1 || !call[0].isString())
    return std::nullopt;
  llvm::StringRef pattern = call[0].asString();
  std::string text;
  size_t next = 1;
  while (!pattern.empty()) {
    size_t at = pattern.find("{}");
    text += pattern.take_front(at);
    if (at == llvm::StringRef::npos)
      break;
    if (next >= call.size())
      return call.evaluator.raise("too few arguments for the format string " + call[0].asString());
    text += textOf(call[next++]);
    pattern = pattern.drop_front(at + 2);
  }
  return Value::string(std::move(text));
}

/// `"%s of %d" % (a, b)`.
std::optional<Value> percentFormat(BuiltinCall &call) {
  if (call.size() < 1 || !call[0].isString())
    return std::nullopt;
  Values values;
  for (size_t i = 1; i < call.size(); ++i) {
    if (call[i].isTuple())
      values.insert(values.end(), call[i].asTuple().items.begin(), call[i].asTuple().items.end());
    else
      values.push_back(call[i]);
  }
  llvm::StringRef pattern = call[0].asString();
  std::string text;
  size_t next = 0;
  for (size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] != '%' || i + 1 == pattern.size()) {
      text += pattern[i];
      continue;
    }
    if (pattern[++i] == '%') {
      text += '%';
      continue;
    }
    if (next >= values.size())
      return call.evaluator.raise("too few arguments for the format string " + call[0].asString());
    text += textOf(values[next++]);
  }
  return Value::string(std::move(text));
}

std::optional<Value> str(BuiltinCall &call) { return call.size() == 1 ? std::optional(Value::string(textOf(call[0]))) : std::nullopt; }

std::optional<Value> join(BuiltinCall &call) {
  if (call.size() != 2 || !call[0].isString() || !call[1].items())
    return std::nullopt;
  std::string text;
  const Values &items = *call[1].items();
  for (size_t i = 0; i < items.size(); ++i) {
    if (!items[i].isString())
      return call.evaluator.raise("join(): an element is " + items[i].typeName() + ", expected str");
    text += (i ? call[0].asString() : std::string()) + items[i].asString();
    if (text.size() > (1u << 24))
      return call.evaluator.fail(StatusCode::ResourceExhausted, "a string grows beyond 16 MiB");
  }
  return Value::string(std::move(text));
}

/// find and rfind, with the bounds that slices have.
template <bool isLast>
std::optional<Value> find(BuiltinCall &call) {
  if (call.size() < 2 || !call[0].isString() || !call[1].isString())
    return std::nullopt;
  const std::string &text = call[0].asString();
  int64_t size = int64_t(text.size());
  int64_t start = call.given(2, "start").knownInt().value_or(0), end = call.given(3, "end").knownInt().value_or(size);
  start = std::clamp<int64_t>(start < 0 ? start + size : start, 0, size);
  end = std::clamp<int64_t>(end < 0 ? end + size : end, 0, size);
  if (end < start)
    return Value::integer(-1);
  llvm::StringRef part = llvm::StringRef(text).slice(size_t(start), size_t(end));
  size_t at = isLast ? part.rfind(call[1].asString()) : part.find(call[1].asString());
  return Value::integer(at == llvm::StringRef::npos ? -1 : int64_t(at) + start);
}

std::optional<Value> startsWith(BuiltinCall &call) {
  if (!areStrings(call, 2, 2))
    return std::nullopt;
  return Value::boolean(llvm::StringRef(call[0].asString()).starts_with(call[1].asString()));
}
std::optional<Value> endsWith(BuiltinCall &call) {
  if (!areStrings(call, 2, 2))
    return std::nullopt;
  return Value::boolean(llvm::StringRef(call[0].asString()).ends_with(call[1].asString()));
}

std::optional<Value> replace(BuiltinCall &call) {
  if (call.size() < 3 || !call[0].isString() || !call[1].isString() || !call[2].isString())
    return std::nullopt;
  std::string text = call[0].asString();
  const std::string &old = call[1].asString(), &with = call[2].asString();
  if (old.empty())
    return call.evaluator.unsupported("replace() of an empty string is not supported");
  int64_t most = call.given(3, "max").knownInt().value_or(-1);
  for (size_t at = text.find(old); at != std::string::npos && most != 0 && text.size() < (1u << 24);
       at = text.find(old, at + with.size()), --most)
    text.replace(at, old.size(), with);
  return Value::string(std::move(text));
}

std::optional<Value> split(BuiltinCall &call) {
  if (call.size() < 1 || !call[0].isString())
    return std::nullopt;
  llvm::StringRef text = call[0].asString();
  Value separator = call.given(1, "separator");
  int64_t most = call.given(2, "max").knownInt().value_or(-1);
  Values parts;
  if (separator.isNone()) {
    text = text.trim();
    while (!text.empty()) {
      size_t at = most >= 0 && int64_t(parts.size()) >= most ? llvm::StringRef::npos : text.find_first_of(" \t\n\v\f\r");
      parts.push_back(Value::string(text.take_front(at).str()));
      text = at == llvm::StringRef::npos ? llvm::StringRef() : text.drop_front(at).ltrim();
    }
    return Value::list(std::move(parts));
  }
  if (!separator.isString() || separator.asString().empty())
    return call.evaluator.raise("empty separator");
  for (;;) {
    size_t at = most >= 0 && int64_t(parts.size()) >= most ? llvm::StringRef::npos : text.find(separator.asString());
    parts.push_back(Value::string(text.take_front(at).str()));
    if (at == llvm::StringRef::npos)
      return Value::list(std::move(parts));
    text = text.drop_front(at + separator.asString().size());
  }
}

enum class Side { Left, Right, Both };
template <Side side>
std::optional<Value> strip(BuiltinCall &call) {
  if (!areStrings(call, 1, 2))
    return std::nullopt;
  llvm::StringRef text = call[0].asString(), characters = call.size() > 1 ? llvm::StringRef(call[1].asString()) : " \t\n\v\f\r";
  if (side != Side::Right)
    text = text.ltrim(characters);
  if (side != Side::Left)
    text = text.rtrim(characters);
  return Value::string(text.str());
}

template <char (*function)(char)>
std::optional<Value> mapped(BuiltinCall &call) {
  if (!areStrings(call, 1, 1))
    return std::nullopt;
  std::string text = call[0].asString();
  std::transform(text.begin(), text.end(), text.begin(), function);
  return Value::string(std::move(text));
}
char lower(char c) { return llvm::toLower(c); }
char upper(char c) { return llvm::toUpper(c); }

template <bool (*predicate)(char)>
std::optional<Value> consistsOf(BuiltinCall &call) {
  if (!areStrings(call, 1, 1))
    return std::nullopt;
  return Value::boolean(!call[0].asString().empty() && llvm::all_of(call[0].asString(), predicate));
}
bool isDigit(char c) { return llvm::isDigit(c); }
bool isAlpha(char c) { return llvm::isAlpha(c); }
bool isAlnum(char c) { return llvm::isAlnum(c); }
bool isSpace(char c) { return llvm::isSpace(c); }

std::optional<Value> ord(BuiltinCall &call) {
  if (!areStrings(call, 1, 1) || call[0].asString().size() != 1)
    return std::nullopt;
  return Value::integer(static_cast<unsigned char>(call[0].asString()[0]));
}
std::optional<Value> chr(BuiltinCall &call) {
  std::optional<int64_t> number = call.size() == 1 ? call[0].knownInt() : std::nullopt;
  if (!number || *number < 0 || *number > 255)
    return std::nullopt;
  return Value::string(std::string(1, char(*number)));
}

} // namespace

llvm::ArrayRef<BuiltinEntry> stringBuiltins() {
  static const BuiltinEntry entries[] = {
      {"format", format},
      {"percentFormat", percentFormat},
      {"str", str},
      {"word.str", str},
      {"join", join},
      {"find", find<false>},
      {"rfind", find<true>},
      {"startswith", startsWith},
      {"endswith", endsWith},
      {"replace", replace},
      {"split", split},
      {"strip", strip<Side::Both>},
      {"lstrip", strip<Side::Left>},
      {"rstrip", strip<Side::Right>},
      {"lower", mapped<lower>},
      {"upper", mapped<upper>},
      {"isdigit", consistsOf<isDigit>},
      {"isalpha", consistsOf<isAlpha>},
      {"isalnum", consistsOf<isAlnum>},
      {"isspace", consistsOf<isSpace>},
      {"ord", ord},
      {"chr", chr},
      {"word.ord", ord},
      {"word.chr", chr},
  };
  return entries;
}

} // namespace stator::torch::script
