// DEPS: stator::tools::runner
#include "test/unit/Catch.h"

#include "tools/support/Comparison.h"
#include "tools/support/ModelRunner.h"

#include <cmath>
#include <cstring>
#include <limits>

using namespace stator;
using namespace stator::tools;

static NamedTensor one(const std::string &text) {
  Result<std::vector<NamedTensor>> tensors = parseTensorArgument(text);
  INFO(text << ": " << tensors.status().message());
  REQUIRE(tensors.ok());
  REQUIRE(tensors->size() == 1);
  return tensors.value()[0];
}

static std::string shown(const std::string &text) {
  NamedTensor tensor = one(text);
  return (tensor.name.empty() ? "" : tensor.name + ": ") + formatTensor(tensor.array, 100);
}

TEST_CASE("tensors are written as on the command line of IREE") {
  CHECK(shown("2x3xf32=1,2,3,4,5,6.5") == "2x3xf32=[1 2 3][4 5 6.5]");
  CHECK(shown("2x3xi32=[[1 2 3][4 5 6]]") == "2x3xi32=[1 2 3][4 5 6]");
  CHECK(shown("2x2xf32=7") == "2x2xf32=[7 7][7 7]");
  CHECK(shown("2x2xf32") == "2x2xf32=[0 0][0 0]");
  CHECK(shown("f64=0.1") == "f64=0.1");
  CHECK(shown("x=3xi64=iota") == "x: 3xi64=[0 1 2]");
  CHECK(shown("i64=9223372036854775807") == "i64=9223372036854775807");
  CHECK(shown("3xi1=true,false,1") == "3xi1=[1 0 1]");
  CHECK(shown("2xui8=255 0") == "2xui8=[255 0]");
  CHECK(shown("0x4xf32") == "0x4xf32=[]");
  CHECK(shown("2xbf16=1.5,-2") == "2xbf16=[1.5 -2]");
  CHECK(shown("3xf16=1,65504,0.1") == "3xf16=[1 65504 0.099975586]");
  CHECK(shown("1x2x2xf32=iota") == "1x2x2xf32=[[0 1][2 3]]");
  CHECK(shown("2xf32=inf,nan") == "2xf32=[inf nan]");
  CHECK(formatTensor(one("10xi32=iota").array, 3) == "10xi32=[0 1 2 ... (7 more elements)");
}

TEST_CASE("pseudo-random tensors depend on the seed only") {
  NpyArray a = one("100xf32=random:1").array, b = one("100xf32=random:1").array, c = one("100xf32=random:2").array;
  CHECK(a.data == b.data);
  CHECK(a.data != c.data);
  for (size_t i = 0; i < 100; ++i)
    CHECK(std::fabs(elementAt(a.type, a.data.data(), i)) <= 1);
  // The same on every machine.
  CHECK(shown("8xi32=random:5") == "8xi32=[0 0 0 1 1 0 1 1]");
}

TEST_CASE("bad tensors are refused with the reason") {
  auto message = [](const std::string &text) {
    Result<std::vector<NamedTensor>> tensors = parseTensorArgument(text);
    REQUIRE(!tensors.ok());
    return tensors.status().message();
  };
  CHECK(message("2x3xf33=1").find("is not [NAME=]SHAPExTYPE[=VALUES]") != std::string::npos);
  CHECK(message("").find("is no type") != std::string::npos);
  CHECK(message("=f32").find("has an empty name") != std::string::npos);
  CHECK(message("2x2xf32=1,2,3") == "`2x2xf32=1,2,3`: 3 values for 2x2xf32, expected 1 or 4");
  CHECK(message("2xf32=a") == "`2xf32=a`: `a` is not a number");
  CHECK(message("i8=300") == "`i8=300`: `300` does not fit into i8");
  CHECK(message("i32=1.5") == "`i32=1.5`: `1.5` is not a whole number");
  CHECK(message("9223372036854775807x9223372036854775807xf32").find("is too large") != std::string::npos);
  CHECK(message("4xf32=randomly").find("is not `random`") != std::string::npos);
  CHECK(parseTensorArgument("@/nonexistent.npy").status().code() == StatusCode::NotFound);
}

TEST_CASE("half precision round trips") {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    uint16_t given = static_cast<uint16_t>(bits), back;
    double value = elementAt(ElementType::F16, &given, 0);
    storeElement(ElementType::F16, &back, 0, value);
    if (!std::isnan(value) && back != given)
      FAIL("bits " << bits << " became " << back);
    value = elementAt(ElementType::BF16, &given, 0);
    storeElement(ElementType::BF16, &back, 0, value);
    if (!std::isnan(value) && back != given)
      FAIL("bf16 bits " << bits << " became " << back);
  }
  uint16_t half;
  storeElement(ElementType::F16, &half, 0, 65519.99);
  CHECK(half == 0x7bff);
  storeElement(ElementType::F16, &half, 0, 65520);
  CHECK(half == 0x7c00);
  storeElement(ElementType::F16, &half, 0, 1 + 0x1p-11); // Half way: to even.
  CHECK(half == 0x3c00);
}

static Comparison compared(const std::string &value, const std::string &reference, const Tolerance &tolerance = Tolerance()) {
  return compareTensors(one(value).array, one(reference).array, tolerance);
}

TEST_CASE("closeness is relative to the largest reference") {
  CHECK(compared("2xf32=100,0.005", "2xf32=100,0").ok());
  CHECK(!compared("2xf32=100,0.02", "2xf32=100,0").ok());
  CHECK(compared("2xf32=1,0.02", "2xf32=1,0", {0.1, 0}).ok());
  Comparison off = compared("2x2xf32=1,2,3,4", "2x2xf32=1,2,3,5");
  CHECK(off.mismatches == 1);
  CHECK(off.maxDifference == 1);
  CHECK(off.worst == 3);
  CHECK(describeComparison(off, {2, 2}) == "1 of 4 elements differ: max |difference| 1 at [1, 1], value 4, expected 5, allowed 0.00051");
}

TEST_CASE("NaN equals NaN, infinity equals itself, and neither is close to a number") {
  CHECK(compared("2xf32=nan,inf", "2xf32=nan,inf").ok());
  CHECK(!compared("f32=nan", "f32=1").ok());
  CHECK(!compared("f32=1", "f32=nan").ok());
  CHECK(!compared("f32=inf", "f32=-inf").ok());
  CHECK(!compared("f32=1", "f32=inf").ok());
  CHECK(compared("0xf32", "0xf32").ok());
}

TEST_CASE("integers must be equal, types and shapes must agree") {
  CHECK(!compared("2xi64=9007199254740993,0", "2xi64=9007199254740992,0").ok());
  CHECK(!compared("i32=1000000", "i32=1000001").ok());
  CHECK(compared("2xf32", "3xf32").problem == "is 2xf32, expected 3xf32");
  CHECK(compared("2xf32", "2xf64").problem == "is 2xf32, expected 2xf64");
  CHECK(compared("2xbf16=1", "2xf32=1").ok());
}

TEST_CASE("inputs find their places") {
  MethodInfo method{"forward",
                    {{"a", ElementType::F32, {{-1, "N", 2, 8}, {3, "3", -1, -1}}},
                     {"b", ElementType::BF16, {{-1, "N", 2, 8}}},
                     {"c", ElementType::I64, {{-1, "2*N", -1, -1}}}},
                    {}};
  ModelOptions options;
  auto shapes = [&](const std::vector<std::string> &inputs, bool mayMakeUp) {
    Result<std::vector<NpyArray>> arrays = arrangeInputs(method, readInputs(inputs).value(), options, mayMakeUp);
    if (!arrays.ok())
      return arrays.status().message();
    std::string text;
    for (const NpyArray &array : *arrays)
      text += typeText(array.type, array.shape) + " ";
    return text;
  };
  CHECK(shapes({"b=4xf32=1", "4x3xf32", "8xi64"}, false) == "4x3xf32 4xbf16 8xi64 ");
  CHECK(shapes({"c=8xi64", "a=4x3xf32"}, true) == "4x3xf32 4xbf16 8xi64 ");
  CHECK(shapes({"4x3xf32", "4xbf16"}, false) == "input `c` ([2*N] i64) is missing: give it by --input");
  CHECK(shapes({"d=f32"}, false) == "method `forward` has no input `d`");
  CHECK(shapes({"a=f32", "a=f32"}, false) == "input `a` is given twice");
  CHECK(shapes({"f32", "f32", "f32", "f32"}, false) == "more inputs are given than the 3 that method `forward` takes");
  CHECK(shapes({}, true).find("the size `2*N` depends on others") != std::string::npos);
  options.dims = {"N=5", "2*N=10"};
  CHECK(shapes({}, true) == "5x3xf32 5xbf16 10xi64 ");
  options.dims = {"N"};
  CHECK(shapes({}, true) == "`--dim`: `N` is not NAME=SIZE");
}
