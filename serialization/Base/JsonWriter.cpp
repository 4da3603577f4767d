// JSON text, two spaces per level; see the header.
#include "serialization/Base/JsonWriter.h"

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

/// The length of the UTF-8 sequence at the start of `text`, 0 if it is none.
static size_t utf8Length(std::string_view text) {
  unsigned char first = static_cast<unsigned char>(text[0]);
  size_t length = first < 0x80                    ? 1
                  : first >= 0xc2 && first < 0xe0 ? 2
                  : first >= 0xe0 && first < 0xf0 ? 3
                  : first >= 0xf0 && first < 0xf5 ? 4
                                                  : 0;
  if (length == 0 || length > text.size())
    return 0;
  for (size_t i = 1; i < length; ++i)
    if ((static_cast<unsigned char>(text[i]) & 0xc0) != 0x80)
      return 0;
  unsigned char second = length > 1 ? static_cast<unsigned char>(text[1]) : 0;
  // Longer than need be, a surrogate, or beyond the last code point.
  if ((first == 0xe0 && second < 0xa0) || (first == 0xed && second >= 0xa0) || (first == 0xf0 && second < 0x90) ||
      (first == 0xf4 && second >= 0x90))
    return 0;
  return length;
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
