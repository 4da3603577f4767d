// Mutations of texts; see the header.
#include "test/fuzz/TextMutator.h"

#include <algorithm>
#include <cctype>
#include <vector>

using namespace stator;

namespace {
enum class TokenKind { Word, Number, Quoted };
struct Token {
  size_t at, size;
  TokenKind kind;
};
} // namespace

static std::vector<Token> tokensOf(const std::string &text) {
  std::vector<Token> tokens;
  auto isWord = [&](size_t at) { return at < text.size() && (std::isalnum(static_cast<unsigned char>(text[at])) || text[at] == '_'); };
  for (size_t at = 0; at < text.size();) {
    size_t start = at;
    if (text[at] == '"') {
      for (++at; at < text.size() && text[at] != '"' && text[at] != '\n'; ++at)
        at += text[at] == '\\';
      tokens.push_back({start, std::min(++at, text.size()) - start, TokenKind::Quoted});
    } else if (isWord(at)) {
      bool isNumber = std::isdigit(static_cast<unsigned char>(text[at]));
      while (isWord(at) || (isNumber && at < text.size() && text[at] == '.'))
        ++at;
      tokens.push_back({start, at - start, isNumber ? TokenKind::Number : TokenKind::Word});
    } else {
      ++at;
    }
  }
  return tokens;
}

static void mutateTokens(std::string &text, std::minstd_rand &random) {
  static const char *const numbers[] = {
      "0",   "1",   "2",          "-1",        "7", "64", "1000000007", "2147483648", "9223372036854775807", "-9223372036854775808",
      "0.5", "inf", "1073741824", "4294967296"};
  std::vector<Token> tokens = tokensOf(text);
  if (tokens.empty())
    return;
  Token target = tokens[random() % tokens.size()];
  if (target.kind == TokenKind::Number && random() % 2 == 0) {
    text.replace(target.at, target.size, numbers[random() % std::size(numbers)]);
    return;
  }
  for (unsigned tries = 0; tries != 50; ++tries)
    if (Token source = tokens[random() % tokens.size()]; source.kind == target.kind && source.at != target.at) {
      text.replace(target.at, target.size, text.substr(source.at, source.size));
      return;
    }
}

void fuzz::mutateText(std::string &text, std::minstd_rand &random) {
  if (random() % 4 != 0)
    return mutateTokens(text, random);
  std::vector<std::string> lines;
  for (size_t start = 0; start <= text.size();) {
    size_t end = std::min(text.find('\n', start), text.size());
    lines.push_back(text.substr(start, end - start));
    start = end + 1;
  }
  auto any = [&] { return lines.begin() + static_cast<ptrdiff_t>(random() % lines.size()); };
  switch (random() % 3) {
  case 0:
    lines.erase(any());
    break;
  case 1: {
    std::string line = *any();
    lines.insert(any(), line);
    break;
  }
  case 2:
    std::iter_swap(any(), any());
    break;
  }
  text.clear();
  for (const std::string &line : lines)
    text += (text.empty() ? "" : "\n") + line;
}
