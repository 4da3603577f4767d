// Writes JSON in the order of the calls: for reports that scripts read. Strings of any bytes come out as valid JSON (what is not UTF-8
// is replaced), numbers round trip, and the same calls give the same text.
#ifndef STATOR_SERIALIZATION_BASE_JSONWRITER_H
#define STATOR_SERIALIZATION_BASE_JSONWRITER_H

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace stator {

class JsonWriter {
public:
  void beginObject() { open('{'); }
  void endObject() { close('}'); }
  void beginArray() { open('['); }
  void endArray() { close(']'); }
  /// The name of the next value of an object.
  void key(std::string_view name);

  void value(std::string_view text);
  void value(const std::string &text) { value(std::string_view(text)); }
  void value(const char *text) { value(std::string_view(text)); }
  void value(bool truth) { raw(truth ? "true" : "false"); }
  /// NaN and infinities become null.
  void value(double number);
  template <std::integral T>
  void value(T number) {
    raw(std::to_string(number));
  }
  void null() { raw("null"); }

  template <typename T>
  void field(std::string_view name, const T &content) {
    key(name);
    value(content);
  }

  /// The text so far, ended by a newline; complete when everything that was begun is ended.
  std::string text() const { return output + "\n"; }

private:
  void open(char bracket);
  void close(char bracket);
  void raw(std::string_view token);
  void separate();
  void newLine();

  std::string output;
  std::vector<bool> hasContent; // For each open bracket.
  bool afterKey = false;
};

} // namespace stator

#endif // STATOR_SERIALIZATION_BASE_JSONWRITER_H
