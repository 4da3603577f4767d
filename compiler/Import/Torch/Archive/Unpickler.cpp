//===- Unpickler.cpp - opcodes ---------------------------------------------===//
//
// One switch, one function per kind of opcode. Every number that comes from the file is compared with what is there before it is used.
//
//===----------------------------------------------------------------------===//

#include "compiler/Import/Torch/Archive/Unpickler.h"
#include "compiler/Import/Torch/Archive/PickleOpcodes.h"
#include "serialization/Base/Utf8.h"

#include <bit>
#include <cstring>

namespace stator::torch {

static constexpr size_t kMaxNodes = 3'000'000;

Status Unpickler::failure(StatusCode code, const std::string &message) const {
  const char *name = opcodeName(opcode);
  return Status(code, "record `" + std::string(record) + "`, byte " + std::to_string(opcodeAt) +
                          (name ? std::string(", opcode ") + name : std::string()) + ": " + message);
}

Result<uint64_t> Unpickler::number(unsigned width) {
  if (!has(width))
    return bad("the pickle ends inside of the opcode");
  uint64_t value = 0;
  for (unsigned i = 0; i != width; ++i)
    value |= static_cast<uint64_t>(bytes[at + i]) << (8 * i);
  at += width;
  return value;
}

Result<llvm::StringRef> Unpickler::characters(uint64_t count) {
  if (!has(count))
    return bad("a string of " + std::to_string(count) + " bytes, but only " + std::to_string(bytes.size() - at) + " are left");
  llvm::StringRef text(reinterpret_cast<const char *>(bytes.data()) + at, count);
  at += count;
  for (size_t i = 0; i != text.size();) {
    size_t length = static_cast<unsigned char>(text[i]) < 0x80 ? 1 : utf8Length(std::string_view(text).substr(i));
    if (length == 0)
      return bad("a string is not UTF-8 text");
    i += length;
  }
  return text;
}

Result<llvm::StringRef> Unpickler::line() {
  const void *found = at == bytes.size() ? nullptr : std::memchr(bytes.data() + at, '\n', bytes.size() - at);
  if (!found)
    return bad("the pickle ends inside of a name");
  STATOR_TRY(text, characters(static_cast<uint64_t>(static_cast<const std::byte *>(found) - bytes.data()) - at));
  ++at;
  return text;
}

PickleValue *Unpickler::make(PickleKind kind) {
  ++tree.arena->nodes;
  return new (tree.arena->memory.Allocate<PickleValue>()) PickleValue(kind);
}

PickleValue::Body &Unpickler::bodyOf(PickleValue *value) {
  if (!value->body_)
    value->body_ = &tree.arena->bodies.emplace_back();
  return *value->body_;
}

llvm::StringRef Unpickler::keep(const std::string &text) { return llvm::StringRef(text).copy(tree.arena->memory); }

PickleValue *Unpickler::makeText(PickleKind kind, llvm::StringRef text) {
  PickleValue *value = make(kind);
  value->chars_ = text.data();
  value->integer_ = static_cast<int64_t>(text.size());
  return value;
}

PickleValue *Unpickler::makeTuple(llvm::ArrayRef<PickleValue *> elements) {
  PickleValue *value = make(PickleKind::Tuple);
  if (!elements.empty())
    bodyOf(value).elements.assign(elements.begin(), elements.end());
  return value;
}

PickleValue *Unpickler::makeTensor(const PickledTensor &tensor, PickleKind kind) {
  PickleValue *value = make(kind);
  value->tensor_ = new (tree.arena->memory.Allocate<PickledTensor>()) PickledTensor(tensor);
  return value;
}

Result<Unpickler::Values> Unpickler::pop(size_t count) {
  size_t base = marks.empty() ? 0 : marks.back();
  if (stack.size() - base < count)
    return bad("needs " + std::to_string(count) + " values on the stack, there are " + std::to_string(stack.size() - base));
  Values values(stack.end() - static_cast<ptrdiff_t>(count), stack.end());
  stack.resize(stack.size() - count);
  return values;
}

Result<Unpickler::Values> Unpickler::popToMark() {
  if (marks.empty())
    return bad("needs a MARK, there is none");
  size_t base = marks.back();
  marks.pop_back();
  Values values(stack.begin() + static_cast<ptrdiff_t>(base), stack.end());
  stack.resize(base);
  return values;
}

Result<PickleValue *> Unpickler::top() {
  if (stack.size() == (marks.empty() ? 0 : marks.back()))
    return bad("needs a value on the stack, there is none");
  return stack.back();
}

Status Unpickler::append(PickleValue *list, llvm::ArrayRef<PickleValue *> values) {
  if (!list->is(PickleKind::List))
    return bad(std::string("appends to ") + describe(list->kind()) + ", expected a list");
  std::vector<const PickleValue *> &elements = bodyOf(list).elements;
  elements.insert(elements.end(), values.begin(), values.end());
  return Status();
}

Status Unpickler::setItems(PickleValue *dict, llvm::ArrayRef<PickleValue *> values) {
  if (!dict->is(PickleKind::Dict))
    return bad(std::string("sets items of ") + describe(dict->kind()) + ", expected a dict");
  if (values.size() % 2 != 0)
    return bad("a key without a value");
  std::vector<PickleEntry> &entries = bodyOf(dict).entries;
  for (size_t i = 0; i != values.size(); i += 2) {
    PickleKind kind = values[i]->kind();
    if (kind != PickleKind::String && kind != PickleKind::Int && kind != PickleKind::Float && kind != PickleKind::Bool &&
        kind != PickleKind::Complex)
      return bad(std::string("a dict has ") + describe(kind) + " as a key, expected a string or number");
    entries.emplace_back(values[i], values[i + 1]);
  }
  return Status();
}

/// Opcodes that push one value made from the bytes behind them.
Status Unpickler::readScalar(uint8_t opcode) {
  if (opcode == kBinString || opcode == kShortBinString || opcode == kBinUnicode) {
    STATOR_TRY(length, number(opcode == kShortBinString ? 1 : 4));
    STATOR_TRY(text, characters(length));
    push(makeText(PickleKind::String, text));
    return Status();
  }
  if (opcode == kBinFloat) {
    STATOR_TRY(bits, number(8));
    PickleValue *value = make(PickleKind::Float);
    value->real_ = std::bit_cast<double>(__builtin_bswap64(bits));
    push(value);
    return Status();
  }
  unsigned width = opcode == kBinInt1 ? 1 : opcode == kBinInt2 ? 2 : 4;
  if (opcode == kLong1) {
    STATOR_TRY(length, number(1));
    if (length > 8)
      return bad("an int of " + std::to_string(length) + " bytes, at most 8 are accepted");
    width = static_cast<unsigned>(length);
  }
  STATOR_TRY(bits, number(width));
  bool isSigned = opcode == kBinInt || opcode == kLong1;
  if (isSigned && width != 0 && width != 8 && (bits >> (8 * width - 1)) & 1)
    bits |= ~uint64_t(0) << (8 * width);
  PickleValue *value = make(PickleKind::Int);
  value->integer_ = static_cast<int64_t>(bits);
  push(value);
  return Status();
}

/// Opcodes that fill a list or dict below the values on the stack.
Status Unpickler::changeContainer(uint8_t opcode) {
  Values values;
  if (opcode == kAppends || opcode == kSetItems) {
    STATOR_TRY(marked, popToMark());
    values = std::move(marked);
  } else {
    STATOR_TRY(taken, pop(opcode == kAppend ? 1 : 2));
    values = std::move(taken);
  }
  STATOR_TRY(container, top());
  return opcode == kAppend || opcode == kAppends ? append(container, values) : setItems(container, values);
}

Status Unpickler::step(uint8_t opcode) {
  switch (opcode) {
  case kMark:
    marks.push_back(stack.size());
    return Status();
  case kStop:
    if (stack.size() != 1 || !marks.empty())
      return bad("the pickle ends with " + std::to_string(stack.size()) + " values on the stack, expected 1");
    isStopped = true;
    return Status();
  case kNone:
    push(none);
    return Status();
  case kNewTrue:
    push(yes);
    return Status();
  case kNewFalse:
    push(no);
    return Status();
  case kBinInt:
  case kBinInt1:
  case kBinInt2:
  case kLong1:
  case kBinFloat:
  case kBinString:
  case kShortBinString:
  case kBinUnicode:
    return readScalar(opcode);
  case kEmptyList:
    push(make(PickleKind::List));
    return Status();
  case kEmptyDict:
    push(make(PickleKind::Dict));
    return Status();
  case kEmptyTuple:
    push(makeTuple({}));
    return Status();
  case kTuple1:
  case kTuple2:
  case kTuple3: {
    STATOR_TRY(values, pop(static_cast<size_t>(opcode - kTuple1) + 1));
    push(makeTuple(values));
    return Status();
  }
  case kTuple: {
    STATOR_TRY(values, popToMark());
    push(makeTuple(values));
    return Status();
  }
  case kList: {
    STATOR_TRY(values, popToMark());
    push(make(PickleKind::List));
    return append(stack.back(), values);
  }
  case kDict: {
    STATOR_TRY(values, popToMark());
    push(make(PickleKind::Dict));
    return setItems(stack.back(), values);
  }
  case kAppend:
  case kAppends:
  case kSetItem:
  case kSetItems:
    return changeContainer(opcode);
  case kBinPut:
  case kLongBinPut: {
    STATOR_TRY(index, number(opcode == kBinPut ? 1 : 4));
    STATOR_TRY(value, top());
    memo[static_cast<uint32_t>(index)] = value;
    return Status();
  }
  case kBinGet:
  case kLongBinGet: {
    STATOR_TRY(index, number(opcode == kBinGet ? 1 : 4));
    auto found = memo.find(static_cast<uint32_t>(index));
    if (found == memo.end())
      return bad("nothing was stored under the number " + std::to_string(index));
    push(found->second);
    return Status();
  }
  case kGlobal: {
    STATOR_TRY(module, line());
    STATOR_TRY(name, line());
    return global(module, name);
  }
  case kNewObj:
    return newObject();
  case kBuild:
    return build();
  case kReduce:
    return reduce();
  case kBinPersId:
    return persistentStorage();
  default:
    return bad("the opcode " + std::to_string(opcode) + " is none of those that torch writes");
  }
}

Result<PickleTree> Unpickler::run() {
  none = make(PickleKind::None);
  yes = make(PickleKind::Bool);
  yes->integer_ = 1;
  no = make(PickleKind::Bool);
  while (!isStopped) {
    opcodeAt = at;
    if (at == bytes.size()) {
      opcode = 0;
      return bad("the pickle ends without STOP");
    }
    opcode = static_cast<uint8_t>(bytes[at++]);
    if ((opcode == kProto) != (opcodeAt == 0))
      return bad("expected PROTO at the start of the pickle and nowhere else");
    if (opcode == kProto) {
      STATOR_TRY(version, number(1));
      if (version != 2)
        return failure(StatusCode::Unsupported, "pickle protocol " + std::to_string(version) + ", expected 2");
      continue;
    }
    STATOR_RETURN_IF_ERROR(step(opcode));
    if (tree.arena->nodes > kMaxNodes)
      return failure(StatusCode::ResourceExhausted, "more than " + std::to_string(kMaxNodes) + " values");
  }
  if (at != bytes.size())
    return bad(std::to_string(bytes.size() - at) + " bytes after the end of the pickle");
  tree.rootValue = stack.front();
  STATOR_RETURN_IF_ERROR(PickleChecker::check(tree, record));
  return std::move(tree);
}

} // namespace stator::torch
