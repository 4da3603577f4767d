//===- PickleOpcodes.h - the opcodes that are read -------------------------===//
//
// Those that torch's C++ pickler writes, and of Python's pickler, protocol 2, what torch.save needs for dicts of tensors. See pickletools
// in Python's library for what each does. Private to this folder.
//
//===----------------------------------------------------------------------===//

#ifndef STATOR_COMPILER_IMPORT_TORCH_ARCHIVE_PICKLEOPCODES_H
#define STATOR_COMPILER_IMPORT_TORCH_ARCHIVE_PICKLEOPCODES_H

#include <cstdint>

namespace stator::torch {

enum Opcode : uint8_t {
  kMark = '(',
  kStop = '.',
  kBinInt = 'J',
  kBinInt1 = 'K',
  kBinInt2 = 'M',
  kNone = 'N',
  kBinPersId = 'Q',
  kReduce = 'R',
  kBinString = 'T',
  kShortBinString = 'U',
  kBinUnicode = 'X',
  kEmptyList = ']',
  kAppend = 'a',
  kBuild = 'b',
  kGlobal = 'c',
  kDict = 'd',
  kAppends = 'e',
  kBinGet = 'h',
  kLongBinGet = 'j',
  kList = 'l',
  kBinPut = 'q',
  kLongBinPut = 'r',
  kSetItem = 's',
  kTuple = 't',
  kSetItems = 'u',
  kEmptyDict = '}',
  kBinFloat = 'G',
  kEmptyTuple = ')',
  kProto = 0x80,
  kNewObj = 0x81,
  kTuple1 = 0x85,
  kTuple2 = 0x86,
  kTuple3 = 0x87,
  kNewTrue = 0x88,
  kNewFalse = 0x89,
  kLong1 = 0x8a,
};

/// As pickletools calls it; null for opcodes that are not read.
inline const char *opcodeName(uint8_t opcode) {
  switch (opcode) {
  case kMark:
    return "MARK";
  case kStop:
    return "STOP";
  case kBinInt:
    return "BININT";
  case kBinInt1:
    return "BININT1";
  case kBinInt2:
    return "BININT2";
  case kNone:
    return "NONE";
  case kBinPersId:
    return "BINPERSID";
  case kReduce:
    return "REDUCE";
  case kBinString:
    return "BINSTRING";
  case kShortBinString:
    return "SHORT_BINSTRING";
  case kBinUnicode:
    return "BINUNICODE";
  case kEmptyList:
    return "EMPTY_LIST";
  case kAppend:
    return "APPEND";
  case kBuild:
    return "BUILD";
  case kGlobal:
    return "GLOBAL";
  case kDict:
    return "DICT";
  case kAppends:
    return "APPENDS";
  case kBinGet:
    return "BINGET";
  case kLongBinGet:
    return "LONG_BINGET";
  case kList:
    return "LIST";
  case kBinPut:
    return "BINPUT";
  case kLongBinPut:
    return "LONG_BINPUT";
  case kSetItem:
    return "SETITEM";
  case kTuple:
    return "TUPLE";
  case kSetItems:
    return "SETITEMS";
  case kEmptyDict:
    return "EMPTY_DICT";
  case kBinFloat:
    return "BINFLOAT";
  case kEmptyTuple:
    return "EMPTY_TUPLE";
  case kProto:
    return "PROTO";
  case kNewObj:
    return "NEWOBJ";
  case kTuple1:
    return "TUPLE1";
  case kTuple2:
    return "TUPLE2";
  case kTuple3:
    return "TUPLE3";
  case kNewTrue:
    return "NEWTRUE";
  case kNewFalse:
    return "NEWFALSE";
  case kLong1:
    return "LONG1";
  default:
    return nullptr;
  }
}

} // namespace stator::torch

#endif // STATOR_COMPILER_IMPORT_TORCH_ARCHIVE_PICKLEOPCODES_H
