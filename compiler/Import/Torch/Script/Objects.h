//===- Objects.h - instances, enum members and functions as values -----------===//

#ifndef STATOR_COMPILER_IMPORT_TORCH_SCRIPT_OBJECTS_H
#define STATOR_COMPILER_IMPORT_TORCH_SCRIPT_OBJECTS_H

#include "compiler/Import/Torch/Archive/Pickle.h"
#include "compiler/Import/Torch/Aten/Value.h"
#include "compiler/Import/Torch/Script/Ast.h"

namespace stator::torch::script {

/// What a method has done with an attribute so far.
struct Attribute {
  /// What it holds now; nothing while only `cell` knows, because a branch wrote it that may not be taken.
  std::optional<Value> value;
  /// What it held at entry of the method.
  Value initial;
  /// Of an attribute that keeps its value from call to call: memory of rank 0 or of the tensor's shape.
  TensorRef cell;
  /// Of a tensor that is empty at first and gets its shape in a call: whether it is still empty.
  TensorRef isEmpty;
  bool isLoaded = false;
  bool wasReadAtEntry = false;
  bool wasWritten = false;
};

/// An object with attributes: a module or an object of another class.
class Instance : public Object {
public:
  Instance(const ClassDef *definition, std::string path, const PickleValue *source)
      : definition(definition), path(std::move(path)), source(source) {}
  std::string typeName() const override { return definition->name().str(); }
  /// Whether it is part of the archive, not made by the method.
  bool isPersistent() const { return source != nullptr; }

  const ClassDef *definition;
  /// "layer1.0.conv1"; empty for the module itself.
  std::string path;
  const PickleValue *source;
  llvm::StringMap<Attribute> attributes;
};

/// One per member of an enum class.
class EnumMember : public Object {
public:
  EnumMember(const ClassDef *definition, std::string name, Value value)
      : definition(definition), name(std::move(name)), value(std::move(value)) {}
  std::string typeName() const override { return definition->name().str(); }

  const ClassDef *definition;
  std::string name;
  Value value;
};

/// `_0 = __torch__.torch.nn.functional.relu`.
class FunctionObject : public Object {
public:
  explicit FunctionObject(Function *function) : function(function) {}
  std::string typeName() const override { return "function"; }

  Function *function;
};

/// A function in a function.
class ClosureObject : public Object {
public:
  explicit ClosureObject(Stmt *definition) : definition(definition) {}
  std::string typeName() const override { return "function"; }

  Stmt *definition;
};

/// A class by its name, as in `T.__new__(T)`.
class ClassObject : public Object {
public:
  explicit ClassObject(ClassDef *definition) : definition(definition) {}
  std::string typeName() const override { return "class"; }

  ClassDef *definition;
};

/// Null when the value is not an object of that kind.
template <typename T>
T *objectIn(const Value &value) {
  return value.isObject() ? dynamic_cast<T *>(value.asObject().get()) : nullptr;
}

} // namespace stator::torch::script

#endif // STATOR_COMPILER_IMPORT_TORCH_SCRIPT_OBJECTS_H
