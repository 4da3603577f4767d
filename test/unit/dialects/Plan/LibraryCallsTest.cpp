// DEPS: stator::dialects::Plan
// The numbers of post-ops are written by the compiler and read by the runtime's plug-in, which cannot share a header.
#include "unit/Catch.h"

#include "dialects/Plan/LibraryCalls.h"
#include "runtime/Kernels/LibraryAbi.h"

using namespace stator::plan;

TEST_CASE("post-ops have the numbers of the plug-in") {
  CHECK(static_cast<int>(PostOp::Relu) == StatorPostOpRelu);
  CHECK(static_cast<int>(PostOp::GeluErf) == StatorPostOpGeluErf);
  CHECK(static_cast<int>(PostOp::GeluTanh) == StatorPostOpGeluTanh);
  CHECK(static_cast<int>(PostOp::Add) == StatorPostOpAdd);
  CHECK(static_cast<int>(PostOp::Mul) == StatorPostOpMul);
  CHECK(static_cast<int>(PostOp::Sigmoid) == StatorPostOpSigmoid);
  CHECK(static_cast<int>(PostOp::Tanh) == StatorPostOpTanh);
  CHECK(static_cast<int>(PostOpExtent::Scalar) == StatorPostOpScalar);
  CHECK(static_cast<int>(PostOpExtent::PerChannel) == StatorPostOpPerChannel);
  CHECK(static_cast<int>(PostOpExtent::Full) == StatorPostOpFull);
  CHECK(StatorPostOpWords == 4);
}
