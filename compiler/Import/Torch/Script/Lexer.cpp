//===- Lexer.cpp - tokens of TorchScript source -----------------------------===//

#include "compiler/Import/Torch/Script/Lexer.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/ConvertUTF.h"

namespace stator::torch::script {

/// Blocks in blocks. What torch prints nests as deeply as chains of elif in the original are long.
static constexpr size_t maxIndents = 256;

uint32_t SourceFile::lineNumber(uint32_t offset) const {
  if (lineStarts.empty()) {
    lineStarts.push_back(0);
    for (size_t at = text.find('\n'); at != std::string::npos; at = text.find('\n', at + 1))
      lineStarts.push_back(uint32_t(at + 1));
  }
  return uint32_t(llvm::upper_bound(lineStarts, offset) - lineStarts.begin());
}

std::string SourceFile::place(uint32_t offset) const {
  uint32_t number = lineNumber(offset);
  return path + ":" + std::to_string(number) + ":" + std::to_string(offset - lineStarts[number - 1] + 1);
}

std::string SourceFile::line(uint32_t offset) const {
  constexpr size_t longest = 160;
  uint32_t number = lineNumber(offset);
  llvm::StringRef content = llvm::StringRef(text).drop_front(lineStarts[number - 1]).split('\n').first.trim();
  std::string shown = content.take_front(longest).str();
  // No half of a character at the cut.
  while (shown.size() < content.size() && !shown.empty() && (shown.back() & 0x80))
    shown.pop_back();
  return path + ":" + std::to_string(number) + ": " + shown + (shown.size() < content.size() ? "..." : "");
}

Lexer::Lexer(const SourceFile &file) : file(file), text(file.text) {
  const auto *begin = reinterpret_cast<const llvm::UTF8 *>(text.data()), *end = begin + text.size(), *at = begin;
  if (text.size() > UINT32_MAX / 2)
    fail(0, "has " + std::to_string(text.size()) + " bytes, which is too many for source text");
  else if (!llvm::isLegalUTF8String(&at, end))
    fail(uint32_t(at - begin), "is not UTF-8");
}

void Lexer::fail(uint32_t offset, const std::string &message) {
  if (error.ok())
    error = invalidFile(file.place(offset) + ": " + message);
}

Token Lexer::make(TokenKind kind, size_t start) { return {kind, uint32_t(start), text.slice(start, position)}; }

Token Lexer::startOfLine() {
  for (;;) {
    size_t start = position;
    while (position < text.size() && text[position] == ' ')
      ++position;
    unsigned indent = position - start;
    if (position < text.size() && text[position] == '\r')
      ++position;
    if (position < text.size() && text[position] == '#')
      position = std::min(text.find('\n', position), text.size());
    if (position < text.size() && text[position] == '\n') {
      ++position;
      continue;
    }
    if (position == text.size())
      indent = 0;
    atLineStart = false;
    if (indent > indents.back()) {
      if (indents.size() == maxIndents) {
        fail(uint32_t(position), "blocks are nested more than " + std::to_string(maxIndents) + " deep");
        return make(TokenKind::Error, position);
      }
      indents.push_back(indent);
      return make(TokenKind::Indent, position);
    }
    while (indent < indents.back()) {
      indents.pop_back();
      ++pendingDedents;
    }
    if (indent != indents.back()) {
      fail(uint32_t(position), "the indentation is that of no block around it");
      return make(TokenKind::Error, position);
    }
    return make(TokenKind::Newline, position);
  }
}

Token Lexer::next() {
  if (!error.ok())
    return make(TokenKind::Error, position);
  if (atLineStart) {
    Token token = startOfLine();
    if (token.kind != TokenKind::Newline)
      return token;
  }
  if (pendingDedents) {
    --pendingDedents;
    return make(TokenKind::Dedent, position);
  }
  while (position < text.size()) {
    char c = text[position];
    if (c == ' ' || c == '\t' || c == '\r' || (c == '\n' && brackets))
      ++position;
    else if (c == '#')
      position = std::min(text.find('\n', position), text.size());
    else
      break;
  }
  size_t start = position;
  if (position == text.size()) {
    if (isAtEnd)
      return make(TokenKind::End, start);
    // Ends the last line and the blocks around it, whether or not the file has a newline there.
    isAtEnd = true;
    atLineStart = true;
    return make(TokenKind::Newline, start);
  }
  char c = text[position];
  if (c == '\n') {
    ++position;
    atLineStart = true;
    return make(TokenKind::Newline, start);
  }
  if (llvm::isAlpha(c) || c == '_' || (c & 0x80)) {
    while (position < text.size() && (llvm::isAlnum(text[position]) || text[position] == '_' || (text[position] & 0x80)))
      ++position;
    return make(TokenKind::Name, start);
  }
  if (llvm::isDigit(c) || (c == '.' && position + 1 < text.size() && llvm::isDigit(text[position + 1])))
    return number();
  if (c == '"' || c == '\'')
    return string();
  ++position;
  if (c == '-' && position < text.size() && text[position] == '>') {
    ++position;
    return make(TokenKind::Symbol, start);
  }
  if (c == '(' || c == '[' || c == '{') {
    ++brackets;
  } else if (c == ')' || c == ']' || c == '}') {
    if (brackets)
      --brackets;
  } else if (!llvm::StringRef(".,:=-^").contains(c)) {
    fail(uint32_t(start), llvm::isPrint(c)
                              ? std::string("`") + c + "` is no part of TorchScript's printed form"
                              : "byte " + std::to_string(unsigned(static_cast<unsigned char>(c))) + " is no part of TorchScript");
    return make(TokenKind::Error, start);
  }
  return make(TokenKind::Symbol, start);
}

Token Lexer::number() {
  size_t start = position;
  bool isFloat = false;
  auto digits = [&] {
    while (position < text.size() && llvm::isDigit(text[position]))
      ++position;
  };
  digits();
  if (position < text.size() && text[position] == '.') {
    isFloat = true;
    ++position;
    digits();
  }
  if (position < text.size() && (text[position] == 'e' || text[position] == 'E')) {
    isFloat = true;
    ++position;
    if (position < text.size() && (text[position] == '+' || text[position] == '-'))
      ++position;
    digits();
  }
  if (position < text.size() && text[position] == 'j') {
    fail(uint32_t(start), "complex numbers are not supported");
    return make(TokenKind::Error, start);
  }
  if (position < text.size() && (llvm::isAlpha(text[position]) || text[position] == '_')) {
    fail(uint32_t(start), "a number ends in a letter");
    return make(TokenKind::Error, start);
  }
  return make(isFloat ? TokenKind::Float : TokenKind::Int, start);
}

Token Lexer::string() {
  size_t start = position;
  char quote = text[position++];
  while (position < text.size() && text[position] != quote && text[position] != '\n')
    position += text[position] == '\\' ? 2 : 1;
  if (position >= text.size() || text[position] != quote) {
    position = std::min(position, text.size());
    fail(uint32_t(start), "a string does not end on its line");
    return make(TokenKind::Error, start);
  }
  ++position;
  return make(TokenKind::String, start);
}

bool unquote(llvm::StringRef token, std::string &value) {
  llvm::StringRef content = token.drop_front().drop_back();
  value.clear();
  for (size_t i = 0; i < content.size(); ++i) {
    if (content[i] != '\\') {
      value += content[i];
      continue;
    }
    if (++i == content.size())
      return false;
    char c = content[i];
    llvm::StringRef simple = "abfnrtv\\'\"", meaning = "\a\b\f\n\r\t\v\\'\"";
    size_t index = simple.find(c);
    unsigned code = 0;
    if (index != llvm::StringRef::npos) {
      value += meaning[index];
    } else if (c == 'x' && i + 2 < content.size() && !content.substr(i + 1, 2).getAsInteger(16, code)) {
      value += char(code);
      i += 2;
    } else if (c >= '0' && c <= '7') {
      // One to three octal digits: how torch prints bytes that are not ASCII.
      size_t count = 1;
      while (count < 3 && i + count < content.size() && content[i + count] >= '0' && content[i + count] <= '7')
        ++count;
      if (content.substr(i, count).getAsInteger(8, code) || code > 255)
        return false;
      value += char(code);
      i += count - 1;
    } else {
      return false;
    }
  }
  return true;
}

} // namespace stator::torch::script
