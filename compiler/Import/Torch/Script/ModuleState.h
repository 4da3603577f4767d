//===- ModuleState.h - the objects of an archive while a method is traced ----===//
//
// Modules, their attributes and tensors as Values of one method. Objects are
// made when something asks for them; a scripted ResNet has thousands of
// attributes, of which `forward` reads a tenth.
//
// Methods may write what the archive holds. Tensors that are written are found
// afterwards: if one was not planned to be, the plan (ModuleSource.h) is
// extended and everything is traced again. The same holds for attributes that
// are set to something else (`self.count = self.count + 1`) if a later call can
// see it, that is, if some method reads the attribute before setting it: such an
// attribute becomes a *cell*, state of its own.
//
//===----------------------------------------------------------------------===//

#ifndef STATOR_COMPILER_IMPORT_TORCH_SCRIPT_MODULESTATE_H
#define STATOR_COMPILER_IMPORT_TORCH_SCRIPT_MODULESTATE_H

#include "compiler/Import/Torch/Aten/Context.h"
#include "compiler/Import/Torch/Script/ModuleSource.h"
#include "compiler/Import/Torch/Script/Objects.h"

namespace stator::torch::script {

class ModuleState {
public:
  ModuleState(ModuleSource &source, Program &program, Context &context) : source(source), program(program), context(context) {}

  Result<Value> root() { return convert(source.root(), /*isConstant=*/false); }
  /// `CONSTANTS.cN`. Numbers as tensors take part in type promotion as Python numbers do.
  Result<Value> constant(uint64_t index);
  Result<Value> convert(const PickleValue &value, bool isConstant);
  /// The only value that stands for the member.
  Value enumMember(const ClassDef *definition, const std::string &name, Value value);

  /// The attribute's record, loaded; null when the archive does not have it. Reads are noted by read().
  Result<Attribute *> find(Instance &object, const std::string &name);
  Result<Value> read(Instance &object, const std::string &name, Attribute &attribute);
  /// The reason when it cannot be kept.
  Status set(Instance &object, const std::string &name, Value value);
  /// Before control flow that depends on data: from here on, branches read and write attributes that are kept in their cells.
  void flushCells();
  /// A list or dict has been changed in place; true if it is an attribute of the archive's.
  bool noteMutation(const void *container);
  /// Of a tensor that may still be empty (see StatePlan::lateShapes): whether it is, as a bool that is data; null for all others.
  const Value *isStillEmpty(const TensorRef &tensor);
  /// What to do about an operator that is given such a tensor: nothing, a warning, or why it cannot be done.
  Status useOf(const TensorRef &tensor, std::string &warning) const;
  bool requiresGrad(const TensorRef &tensor) const { return withGrad.count(tensor->storage().get()) != 0; }

  /// At the end of a method: hands the new values to the graph. True when the plan was extended, so that all has to be traced again.
  Result<bool> finish();
  /// The same for the attributes that methods together set and read.
  static bool extendPlan(StatePlan &plan, const std::vector<const ModuleState *> &methods);

  /// Attributes by path: set to something else, and read before being set.
  std::map<std::string, Instance *> changed;
  std::set<std::string> readAtEntry;
  /// Something was written in a branch that is not known to be taken, and needs a cell that it does not have yet.
  bool needsRestart = false;

private:
  struct Made {
    ParameterInfo *info;
    trace::Tensor parameter;
    TensorRef tensor;
  };
  Result<TensorRef> load(ParameterInfo &info);
  Status makeCell(Attribute &attribute, const std::string &key);
  trace::Tensor makeState(const std::string &name, ElementType type, const std::vector<int64_t> &dims, const std::vector<char> &bytes);
  Status makeLateCell(Attribute &attribute, const std::string &key, const StatePlan::Shape &shape);
  Status setLate(Attribute &attribute, const std::string &key, Value value);
  /// Notes the shape that an empty tensor gets; true when that is possible.
  bool learnShape(const Attribute &attribute, const std::string &key, const Value &value);
  Status finishAttribute(Attribute &attribute, const std::string &key);
  static bool isNumber(const Value &value) { return value.isScalar(); }

  ModuleSource &source;
  Program &program;
  Context &context;
  /// In the order in which they were asked for, which is that of the graph.
  std::vector<Made> tensors;
  std::map<const ParameterInfo *, size_t> tensorIndex;
  std::map<const PickleValue *, Value> objects;
  std::map<std::pair<const ClassDef *, std::string>, Value> members;
  std::set<const Storage *> withGrad;
  /// Which attribute a list or dict of the archive belongs to.
  std::map<const void *, std::string> containers;
  std::map<std::string, Attribute *> touched;
  std::map<std::string, trace::Tensor> cellParameters;
  /// Tensors that were read out of cells; writing one would be lost.
  struct Copy {
    TensorRef tensor;
    std::string key;
    std::optional<Value> isEmpty;
  };
  std::vector<Copy> copies;
  std::map<const TensorView *, size_t> copyOf;
  /// Attributes whose length the method has asked for.
  std::set<std::string> asked;
};

} // namespace stator::torch::script

#endif // STATOR_COMPILER_IMPORT_TORCH_SCRIPT_MODULESTATE_H
