// Tracing of branches and bodies.
#include "compiler/Import/Torch/Aten/Regions.h"

namespace stator::torch {

static void readAll(Context &context, const Value &value, Reads &reads) {
  if (value.isTensor())
    reads[value.asTensor().get()] = {context.readUncertain(value.asTensor()), value.asTensor()->storage()->isUncertain};
  if (const Values *items = value.items())
    for (const Value &item : *items)
      readAll(context, item, reads);
  if (value.isDict())
    for (const auto &[key, item] : value.asDict().items)
      readAll(context, item, reads);
}

Region traceRegion(Context &context, const std::function<Values()> &run) {
  Region region;
  context.enterScope();
  region.values = run();
  if (context.builder().ok())
    for (const Value &value : region.values)
      readAll(context, value, region.reads);
  region.scope = context.leaveScope(region.finals);
  return region;
}

Value wrapLike(Context &context, const Value &model, const trace::Tensor &result) {
  if (model.isInt())
    return Value::dataInteger(result);
  if (model.isFloat())
    return Value::dataReal(result);
  return model.isBool() ? Value::dataBoolean(result) : Value::tensor(context.make(result));
}

void Sharing::note(const Value &result, const Value &value, const Region &region) {
  if (!result.isTensor() || !value.isTensor())
    return;
  const std::shared_ptr<Storage> &made = result.asTensor()->storage(), &given = value.asTensor()->storage();
  if (auto read = region.reads.find(value.asTensor().get()); read != region.reads.end() && read->second.isUncertain)
    context.markUncertain(made);
  if (given->scope < region.scope.id)
    return context.mayShare(made, given);
  for (const std::weak_ptr<Storage> &other : std::vector(given->mayShare))
    if (std::shared_ptr<Storage> outside = other.lock(); outside && outside->scope < region.scope.id)
      context.mayShare(made, outside);
  for (const auto &[storage, owner, twin] : notes)
    if (storage == given && owner == &region)
      context.mayShare(made, twin);
  notes.emplace_back(given, &region, made);
}

} // namespace stator::torch
