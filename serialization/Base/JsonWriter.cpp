// JSON text, two spaces per level; see the header.
#include "serialization/Base/JsonWriter.h"

#include "serialization/Base/Utf8.h"

#include <charconv>
#include <cmath>
#include <cstdio>

using namespace stator;

void JsonWriter::newLine() {
  output += '\n';
  output.append(hasContent.size() * 2, ' ');
}

void JsonWriter::separate() {
  if (afterKey) {
    afterKey = false;
    return;
  }
  if (hasContent.empty())
    return;
  if (hasContent.back())
    output += ',';
  hasContent.back() = true;
  newLine();
}

void JsonWriter::open(char bracket) {
  separate();
  output += bracket;
  hasContent.push_back(false);
}

void JsonWriter::close(char bracket) {
  bool wasEmpty = !hasContent.back();
  hasContent.pop_back();
  if (!wasEmpty)
    newLine();
  output += bracket;
}

void JsonWriter::raw(std::string_view token) {
  separate();
  output += token;
}

static void appendString(std::string &output, std::string_view text) {
  output += '"';
  while (!text.empty()) {
    char c = text.front();
    size_t length = utf8Length(text);
    if (c == '"' || c == '\\') {
      output += '\\';
      output += c;
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      char escape[8];
      std::snprintf(escape, sizeof escape, "\\u%04x", static_cast<unsigned>(c));
      output += escape;
    } else if (length == 0) {
      output += "\\ufffd";
      length = 1;
    } else {
      output += text.substr(0, length);
    }
    text.remove_prefix(length);
  }
  output += '"';
}

void JsonWriter::key(std::string_view name) {
  separate();
  appendString(output, name);
  output += ": ";
  afterKey = true;
}

void JsonWriter::value(std::string_view text) {
  separate();
  appendString(output, text);
}

void JsonWriter::value(double number) {
  if (!std::isfinite(number))
    return null();
  char digits[32];
  auto [end, failure] = std::to_chars(digits, digits + sizeof digits, number);
  raw(std::string_view(digits, static_cast<size_t>(end - digits)));
}
