// The values of PyTorch programs while they are imported: what a variable of TorchScript or an argument of a torch.export node holds.
// Tensors are symbolic; everything else is known now wherever it depends on constants and sizes only. A number that depends on the
// elements of a tensor (`x.item()`) is *data*: a rank-0 tensor in the place of the number, so that one code handles both.
//
// Ownership: a Value is a cheap handle. Lists, dicts and objects are shared and mutable as in Python; tuples and strings do not change.
#ifndef STATOR_COMPILER_IMPORT_TORCH_ATEN_VALUE_H
#define STATOR_COMPILER_IMPORT_TORCH_ATEN_VALUE_H

#include "stator/Trace.h"

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace stator::torch {

class TensorView;
/// A PyTorch tensor; see Tensor.h. Never null inside a Value.
using TensorRef = std::shared_ptr<TensorView>;

class Value;
using Values = std::vector<Value>;

/// An `int`: a number, an expression over sizes, or data (then `data` is a rank-0 i64 tensor and `dim` means nothing).
struct IntValue {
  trace::Dim dim;
  trace::Tensor data = {};
};
/// A `float`: a number or data (a rank-0 f64 tensor).
struct FloatValue {
  double number = 0;
  trace::Tensor data = {};
};
/// A `bool`: known or data (a rank-0 i1 tensor).
struct BoolValue {
  bool known = false;
  trace::Tensor data = {};
};
struct ListObject {
  Values items;
};
struct TupleObject {
  Values items;
  /// Of a NamedTuple, as many as items; else empty.
  std::vector<std::string> fields = {};
  /// Its type's name, for people.
  std::string typeName = {};
};
struct DictObject {
  /// In the order of insertion; keys are int, float, bool or str.
  std::vector<std::pair<Value, Value>> items;
};
struct DeviceValue {
  std::string name; // "cpu"
};
/// Stands for a result that could not be computed; the reason has been reported. Operations on it give it again, in silence.
struct PoisonValue {};
/// `uninitialized(T)`: never read in a correct program; merged with any value it gives that value.
struct UninitializedValue {};

/// Instances of classes, modules, enums; the TorchScript front-end derives its own.
class Object {
public:
  virtual ~Object() = default;
  virtual std::string typeName() const = 0;
};

class Value {
public:
  using Variant = std::variant<std::monostate, TensorRef, IntValue, FloatValue, BoolValue, std::string, std::shared_ptr<ListObject>,
                               std::shared_ptr<const TupleObject>, std::shared_ptr<DictObject>, std::shared_ptr<Object>, DeviceValue,
                               UninitializedValue, PoisonValue>;

  Value() = default; // None
  static Value none() { return {}; }
  static Value poison() { return Value(PoisonValue{}); }
  static Value uninitialized() { return Value(UninitializedValue{}); }
  static Value tensor(TensorRef tensor) { return Value(Variant(std::move(tensor))); }
  static Value integer(int64_t number) { return Value(IntValue{trace::Dim(number)}); }
  static Value integer(trace::Dim dim) { return Value(IntValue{std::move(dim)}); }
  static Value real(double number) { return Value(FloatValue{number}); }
  static Value boolean(bool known) { return Value(BoolValue{known}); }
  static Value string(std::string text) { return Value(Variant(std::move(text))); }
  static Value list(Values items) { return Value(std::make_shared<ListObject>(ListObject{std::move(items)})); }
  static Value tuple(Values items) { return Value(std::make_shared<const TupleObject>(TupleObject{std::move(items)})); }
  static Value namedTuple(Values items, std::vector<std::string> fields, std::string typeName) {
    return Value(std::make_shared<const TupleObject>(TupleObject{std::move(items), std::move(fields), std::move(typeName)}));
  }
  static Value dict(std::vector<std::pair<Value, Value>> items = {}) {
    return Value(std::make_shared<DictObject>(DictObject{std::move(items)}));
  }
  /// Data of the type that the scalar's kind has: i64, f64, i1, rank 0.
  static Value dataInteger(trace::Tensor data) { return Value(IntValue{trace::Dim(0), std::move(data)}); }
  static Value dataReal(trace::Tensor data) { return Value(FloatValue{0, std::move(data)}); }
  static Value dataBoolean(trace::Tensor data) { return Value(BoolValue{false, std::move(data)}); }

  Value(IntValue value) : variant_(std::move(value)) {}
  Value(FloatValue value) : variant_(std::move(value)) {}
  Value(BoolValue value) : variant_(std::move(value)) {}
  Value(DeviceValue value) : variant_(std::move(value)) {}
  Value(PoisonValue value) : variant_(value) {}
  Value(UninitializedValue value) : variant_(value) {}
  Value(std::shared_ptr<ListObject> list) : variant_(std::move(list)) {}
  Value(std::shared_ptr<const TupleObject> tuple) : variant_(std::move(tuple)) {}
  Value(std::shared_ptr<DictObject> dict) : variant_(std::move(dict)) {}
  Value(std::shared_ptr<Object> object) : variant_(std::move(object)) {}
  explicit Value(Variant variant) : variant_(std::move(variant)) {}

  bool isNone() const { return std::holds_alternative<std::monostate>(variant_); }
  bool isPoison() const { return std::holds_alternative<PoisonValue>(variant_); }
  bool isUninitialized() const { return std::holds_alternative<UninitializedValue>(variant_); }
  bool isTensor() const { return std::holds_alternative<TensorRef>(variant_); }
  bool isInt() const { return std::holds_alternative<IntValue>(variant_); }
  bool isFloat() const { return std::holds_alternative<FloatValue>(variant_); }
  bool isBool() const { return std::holds_alternative<BoolValue>(variant_); }
  /// int, float or bool.
  bool isScalar() const { return isInt() || isFloat() || isBool(); }
  bool isString() const { return std::holds_alternative<std::string>(variant_); }
  bool isList() const { return std::holds_alternative<std::shared_ptr<ListObject>>(variant_); }
  bool isTuple() const { return std::holds_alternative<std::shared_ptr<const TupleObject>>(variant_); }
  bool isDict() const { return std::holds_alternative<std::shared_ptr<DictObject>>(variant_); }
  bool isObject() const { return std::holds_alternative<std::shared_ptr<Object>>(variant_); }
  bool isDevice() const { return std::holds_alternative<DeviceValue>(variant_); }

  // Each presumes the kind.

  const TensorRef &asTensor() const { return std::get<TensorRef>(variant_); }
  const IntValue &asInt() const { return std::get<IntValue>(variant_); }
  const FloatValue &asFloat() const { return std::get<FloatValue>(variant_); }
  const BoolValue &asBool() const { return std::get<BoolValue>(variant_); }
  const std::string &asString() const { return std::get<std::string>(variant_); }
  ListObject &asList() const { return *std::get<std::shared_ptr<ListObject>>(variant_); }
  const TupleObject &asTuple() const { return *std::get<std::shared_ptr<const TupleObject>>(variant_); }
  DictObject &asDict() const { return *std::get<std::shared_ptr<DictObject>>(variant_); }
  const std::shared_ptr<Object> &asObject() const { return std::get<std::shared_ptr<Object>>(variant_); }
  const DeviceValue &asDevice() const { return std::get<DeviceValue>(variant_); }
  const Variant &variant() const { return variant_; }

  /// The number of an int that is neither data nor an expression; nothing for anything else.
  std::optional<int64_t> knownInt() const;
  /// The number of an int or a float (or 0 and 1 of a bool) that is known.
  std::optional<double> knownNumber() const;
  std::optional<bool> knownBool() const;
  /// Whether a scalar is data.
  bool isData() const;
  /// The items of a list or a tuple; null for anything else.
  const Values *items() const;

  /// "Tensor", "int", "List[Tensor]", "None"...: for messages.
  std::string typeName() const;

private:
  Variant variant_;
};

/// Whether two known values are equal as Python sees it (1 == 1.0 == True); nothing when that depends on data. Tensors are equal to
/// nothing but themselves.
std::optional<bool> equalValues(const Value &a, const Value &b);

} // namespace stator::torch

#endif // STATOR_COMPILER_IMPORT_TORCH_ATEN_VALUE_H
