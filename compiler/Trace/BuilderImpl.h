// The inside of trace::Builder: the module under construction, the tensors handed out, and what is known about sizes. Importers
// use it to reach the MLIR level (values, locations, mapped weights); the functional layer is written on top of it.
//
// A tensor's value is made late. Constants, sizes used as data, and whatever tracing computes from them exist only as *contents*
// until an operation needs them as an operand; then one graph.constant or graph.dim_values is put at the head of the method, where
// it dominates everything. Shape arithmetic of imported models thus never reaches the graph, and costs linear time.
#ifndef STATOR_COMPILER_TRACE_BUILDERIMPL_H
#define STATOR_COMPILER_TRACE_BUILDERIMPL_H

#include "compiler/Trace/Contents.h"
#include "serialization/Base/DimExpr.h"
#include "stator/Trace.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

#include <deque>
#include <map>
#include <set>
#include <utility>

namespace stator::trace {

/// What a Tensor handle points to. Owned by the Builder.
struct TensorNode {
  BuilderImpl *owner = nullptr;
  ElementType type = ElementType::F32;
  llvm::SmallVector<DimExpr, 4> dims;
  mlir::Value value; // null until an operation needs it
  std::optional<Contents> contents;
  std::string parameter;                           // the weight that it is, if it is one
  bool isState = false;                            // whether that weight is mutable
  std::optional<mlir::DenseElementsAttr> constant; // a small constant whose contents are not tracked
};

class BuilderImpl {
public:
  /// With a context and module of its own.
  explicit BuilderImpl(llvm::StringRef methodName);
  /// Adds a method to `module`; context and module are the caller's and outlive the Builder.
  BuilderImpl(mlir::ModuleOp module, llvm::StringRef methodName);
  ~BuilderImpl();
  static BuilderImpl &of(Builder &builder) { return builder.impl(); }

  // The MLIR level.

  mlir::MLIRContext *context() { return module_->getContext(); }
  mlir::ModuleOp module() { return module_; }
  mlir::func::FuncOp method() { return method_; }
  mlir::OpBuilder &ops() { return ops_; }
  /// A NameLoc of the location set last.
  mlir::Location loc() { return loc_; }
  /// The value of a tensor, made now if there was none. Null for an absent tensor, and after an error.
  mlir::Value value(const Tensor &tensor);
  /// The tensor of a value of this method; its type is a ranked tensor of the graph dialect.
  Tensor wrap(mlir::Value value);
  /// Hands the module over (only of a Builder that owns one, after finish()).
  mlir::OwningOpRef<mlir::ModuleOp> takeModule();

  // Parameters.

  /// A weight whose bytes lie in source `source` of the context's ParameterStore, at byte `offset`; checked to be inside. `strides` are
  /// in elements and not negative; empty: row-major. Nothing is copied, save small frozen ones (at most 1024 elements), which become
  /// constants, and booleans that are neither 0 nor 1. Mutable ones are state: their contents are never known.
  /// Two calls with the same name: the second gets a new one, see nameOf().
  Tensor mappedParameter(llvm::StringRef name, ElementType type, llvm::ArrayRef<int64_t> dims, int32_t source, uint64_t offset,
                         llvm::ArrayRef<int64_t> strides = {}, bool isMutable = false);
  Tensor ownedParameter(llvm::StringRef name, ElementType type, llvm::ArrayRef<int64_t> dims, llvm::ArrayRef<char> bytes, bool isMutable);
  Tensor constant(ElementType type, llvm::ArrayRef<int64_t> dims, llvm::ArrayRef<char> bytes);
  /// The parameter that another method of the module has made, by the name that nameOf() gave; absent if there is none (small frozen
  /// parameters become constants, of which each method has its own).
  Tensor sharedParameter(llvm::StringRef name);
  /// The symbol of the parameter that a tensor is; empty for all other tensors.
  llvm::StringRef nameOf(const Tensor &tensor) const { return tensor.node_ ? llvm::StringRef(tensor.node_->parameter) : ""; }
  /// Gives a state its value after the method; the state itself, wherever it is used, stays what it was at entry. `value` is computed in
  /// the method's own block and has the state's type and sizes. Setting a state again replaces what was set before; setting it to
  /// itself changes nothing.
  void setParameter(const Tensor &state, const Tensor &value);

  // Tensors.

  /// A tensor that is only contents; dims are constant and fit them.
  Tensor known(ElementType type, llvm::ArrayRef<int64_t> dims, Contents contents);
  /// Null when not known.
  const Contents *contents(const Tensor &tensor) const {
    return tensor.node_ && tensor.node_->contents ? &*tensor.node_->contents : nullptr;
  }
  llvm::ArrayRef<DimExpr> dims(const Tensor &tensor) const { return tensor.node_->dims; }
  /// What is returned after an error: rank 0, of no further use.
  Tensor poison();
  /// Whether a and b are the same tensor.
  static bool same(const Tensor &a, const Tensor &b) { return a.node_ == b.node_; }

  // Sizes.

  void declareSymbol(llvm::StringRef name, int64_t min, int64_t max);
  /// Applies what has been learnt: replaced symbols, mins and maxes that the ranges decide.
  DimExpr simplify(const DimExpr &expr);
  DimInterval bounds(const DimExpr &expr) { return expr.bounds(ranges_); }
  /// True or false if the ranges decide it.
  std::optional<bool> isEqual(const DimExpr &a, const DimExpr &b);
  std::optional<bool> isLess(const DimExpr &a, const DimExpr &b); // a < b
  /// Whether `expr` is never negative; if need be its symbols' least values are raised for that, up to `most` each: models compute
  /// `T - 1` in the belief that T is at least 1, and a run with less is then refused.
  bool assumeNonNegative(const DimExpr &expr, int64_t most = 2147483647);
  DimExpr min(const DimExpr &a, const DimExpr &b);
  DimExpr max(const DimExpr &a, const DimExpr &b);
  /// See Builder::constrainEqual; returns the common size. `what` names the operation.
  DimExpr requireEqual(DimExpr a, DimExpr b, llvm::StringRef what);
  /// One axis of a broadcast: 1 gives way, else requireEqual.
  DimExpr broadcastDim(const DimExpr &a, const DimExpr &b, llvm::StringRef what);

  // Interface of the method.

  Tensor input(llvm::StringRef name, ElementType type, llvm::ArrayRef<DimExpr> dims);
  void output(llvm::StringRef name, const Tensor &value);
  Status finish();
  bool isFinished() const { return finished_; }

  // Errors.

  void setLocation(llvm::StringRef nodeName);
  const std::string &location() const { return location_; }
  bool ok() const { return status_.ok(); }
  const Status &status() const { return status_; }
  /// Records the first error and returns poison().
  Tensor fail(StatusCode code, const llvm::Twine &message);
  Tensor invalid(const llvm::Twine &message) { return fail(StatusCode::InvalidArgument, message); }
  Tensor unsupported(const llvm::Twine &message) { return fail(StatusCode::Unsupported, message); }
  Builder *builder() { return builder_; }
  /// The error, which the Builder then no longer has: for an importer that notes it and goes on to find the others. Its module is
  /// not to be used any more.
  Status takeError() { return std::exchange(status_, okStatus()); }
  /// To be called before `op` is erased: no tensor may stand for a value in it.
  void forgetValuesIn(mlir::Operation *op);

private:
  friend class Builder;
  void start(llvm::StringRef methodName);
  Tensor add(TensorNode node);
  mlir::Value materialise(TensorNode &node);
  mlir::Value constantAtHead(mlir::OpBuilder &head, mlir::DenseElementsAttr value);
  std::optional<int64_t> checkBytes(llvm::StringRef what, ElementType type, llvm::ArrayRef<int64_t> dims, uint64_t available);
  std::optional<int64_t> checkSpan(llvm::StringRef what, ElementType type, llvm::ArrayRef<int64_t> dims, llvm::ArrayRef<int64_t> strides,
                                   uint64_t available);
  Tensor smallConstant(ElementType type, llvm::ArrayRef<int64_t> dims, llvm::ArrayRef<char> bytes);
  Tensor parameter(llvm::StringRef name, ElementType type, llvm::ArrayRef<int64_t> dims, int32_t source, uint64_t offset,
                   llvm::ArrayRef<int64_t> strides, bool isMutable);
  std::string uniqueParameterName(llvm::StringRef name);
  bool emitSets();
  void replaceSymbol(const std::string &name, const DimExpr &by);
  void rewriteSizes();
  void noteOperators(const DimExpr &expr);
  bool narrow(const std::string &symbol, std::optional<int64_t> lo, std::optional<int64_t> hi);
  bool trySolve(const DimExpr &a, const DimExpr &b);
  bool tryNarrow(const DimExpr &a, const DimExpr &b);

  Builder *builder_ = nullptr;
  std::unique_ptr<mlir::MLIRContext> ownedContext_;
  mlir::OwningOpRef<mlir::ModuleOp> ownedModule_;
  mlir::ModuleOp module_;
  mlir::func::FuncOp method_;
  mlir::OpBuilder ops_;
  mlir::Location loc_;
  std::string location_;
  Status status_;
  bool finished_ = false;

  std::deque<TensorNode> nodes_; // stable addresses
  llvm::DenseMap<mlir::Value, TensorNode *> nodeOf_;
  mlir::Operation *lastAtHead_ = nullptr;                  // constants go behind it, at the head of the method
  llvm::DenseMap<mlir::Attribute, mlir::Value> constants_; // one graph.constant per value
  std::set<std::string> symbolNames_;                      // of the module: parameters and methods
  std::vector<std::pair<Tensor, Tensor>> sets_;            // states and their next values, in the order of the first set

  std::vector<std::string> symbolOrder_;
  std::map<std::string, DimInterval> ranges_;
  std::map<std::string, DimExpr> replaced_;
  bool narrowed_ = false;
  std::set<std::string> insideOperators_; // symbols inside of a min, max or division somewhere: their ranges matter to expressions
  std::vector<std::pair<DimExpr, DimExpr>> guards_;

  std::vector<std::pair<std::string, Tensor>> outputs_;
  std::set<std::string> outputNames_, inputNames_;
};

} // namespace stator::trace

#endif // STATOR_COMPILER_TRACE_BUILDERIMPL_H
