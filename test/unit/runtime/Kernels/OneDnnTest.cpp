// DEPS: stator::stator stator::test::runtime
// Library instructions, through the plug-in for oneDNN, against plain loops.
#include "test/unit/Catch.h"

#include "runtime/Kernels/LibraryAbi.h"
#include "stator/Runtime.h"
#include "test/lib/runtime/TestArtifact.h"

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <random>
#include <thread>

using namespace stator;
using serialization::Attribute;
using test::Dims;
using test::TestArtifact;
using test::TestMethod;

static bool havePlugin() { return std::filesystem::exists(STATOR_BINARY_DIR "/lib/libstator_onednn.so"); }
#define REQUIRE_PLUGIN()                                                                                                                   \
  if (!havePlugin())                                                                                                                       \
  STATOR_SKIP("this build has no oneDNN")

static std::vector<float> randomFloats(size_t count, unsigned seed) {
  std::mt19937 engine(seed);
  std::uniform_real_distribution<float> distribution(-1, 1);
  std::vector<float> values(count);
  for (float &value : values)
    value = distribution(engine);
  return values;
}

static Tensor tensorOf(std::vector<int64_t> shape, const std::vector<float> &values) {
  Tensor tensor(ElementType::F32, std::move(shape));
  REQUIRE(tensor.sizeBytes() == values.size() * sizeof(float));
  std::memcpy(tensor.data(), values.data(), tensor.sizeBytes());
  return tensor;
}

static void checkClose(const TensorView &view, const std::vector<float> &expected) {
  REQUIRE(static_cast<size_t>(view.elementCount()) == expected.size());
  float worst = 0;
  for (size_t i = 0; i < expected.size(); ++i)
    worst = std::max(worst, std::fabs(view.data<float>()[i] - expected[i]));
  CHECK(worst < 1e-4f);
}

static Session open(TestArtifact &artifact, const std::string &name, int threads = 2) {
  artifact.manifest.requirements = {"onednn"};
  Result<Module> module = Module::load(artifact.write(name));
  REQUIRE(module.status().message() == "");
  return module.value().session(SessionOptions().threads(threads)).value();
}

static int64_t bits(float value) {
  uint32_t raw;
  std::memcpy(&raw, &value, sizeof(raw));
  return raw;
}

namespace {
struct Matmul {
  int64_t batch, m, n, k;
  bool transposed, batched, bias, relu, constantRhs;

  std::vector<float> reference(const std::vector<float> &a, const std::vector<float> &b, const std::vector<float> &c) const {
    std::vector<float> result(batch * m * n);
    for (int64_t s = 0; s < batch; ++s)
      for (int64_t i = 0; i < m; ++i)
        for (int64_t j = 0; j < n; ++j) {
          double sum = bias ? c[j] : 0;
          const float *rhs = b.data() + (batched ? s * k * n : 0);
          for (int64_t l = 0; l < k; ++l)
            sum += double(a[(s * m + i) * k + l]) * (transposed ? rhs[j * k + l] : rhs[l * n + j]);
          result[(s * m + i) * n + j] = static_cast<float>(relu ? std::max(sum, 0.0) : sum);
        }
    return result;
  }
};
} // namespace

TEST_CASE("matmul agrees with loops in every form") {
  REQUIRE_PLUGIN();
  int number = 0;
  for (Matmul form : {Matmul{1, 3, 5, 7, false, false, false, false, true},
                      {1, 33, 17, 64, false, false, true, true, true},
                      {4, 6, 8, 5, false, false, true, false, true},
                      {4, 6, 8, 5, true, false, true, true, true},
                      {3, 5, 4, 6, false, true, false, false, false},
                      {3, 5, 4, 6, true, true, true, true, false},
                      {2, 1, 100, 50, true, false, false, true, false}}) {
    std::string b = std::to_string(form.batch), n = std::to_string(form.n), k = std::to_string(form.k);
    TestArtifact artifact;
    TestMethod forward;
    forward.symbol("M", 1, 100, 0, 1);
    Dims rhsDims = form.transposed ? Dims{n, k} : Dims{k, n};
    if (form.batched)
      rhsDims.insert(rhsDims.begin(), b);
    std::vector<float> lhsValues = randomFloats(form.batch * form.m * form.k, 1);
    std::vector<float> rhsValues = randomFloats((form.batched ? form.batch : 1) * form.k * form.n, 2), biasValues = randomFloats(form.n, 3);
    uint32_t lhs = forward.input("lhs", ElementType::F32, {b, "M", k}), rhs;
    std::vector<uint64_t> rhsShape;
    for (const std::string &dim : rhsDims)
      rhsShape.push_back(std::stoull(dim));
    if (form.constantRhs)
      rhs = forward.parameter(artifact.parameter("w", rhsShape, rhsValues), ElementType::F32, rhsDims);
    else
      rhs = forward.input("rhs", ElementType::F32, rhsDims);
    std::vector<uint32_t> operands = {lhs, rhs};
    if (form.bias)
      operands.push_back(forward.parameter(artifact.parameter("bias", {static_cast<uint64_t>(form.n)}, biasValues), ElementType::F32, {n}));
    uint32_t y = forward.output("y", ElementType::F32, {b, "M", n});
    forward.add(forward.library("matmul", operands, {y}, {b, "M", n, k},
                                {{"bias", {form.bias}, {}, ""},
                                 {"relu", {form.relu}, {}, ""},
                                 {"rhs_batched", {form.batched}, {}, ""},
                                 {"transpose_rhs", {form.transposed}, {}, ""}}));
    artifact.add(std::move(forward));
    Session session = open(artifact, "matmul" + std::to_string(number++) + ".stator");
    Tensor lhsTensor = tensorOf({form.batch, form.m, form.k}, lhsValues);
    std::vector<TensorView> inputs = {lhsTensor};
    Tensor rhsTensor;
    if (!form.constantRhs) {
      rhsTensor = tensorOf(std::vector<int64_t>(rhsShape.begin(), rhsShape.end()), rhsValues);
      inputs.push_back(rhsTensor);
    }
    for (int round = 0; round < 2; ++round) {
      Result<Outputs> outputs = session.run("forward", inputs);
      REQUIRE(outputs.status().message() == "");
      checkClose(outputs.value()[0], form.reference(lhsValues, rhsValues, biasValues));
    }
  }
}

TEST_CASE("post-operations are applied in order") {
  REQUIRE_PLUGIN();
  TestArtifact artifact;
  TestMethod forward;
  int64_t m = 3, n = 4, k = 5;
  std::vector<float> a = randomFloats(m * k, 1), b = randomFloats(k * n, 2), residual = randomFloats(m * n, 3), scale = randomFloats(n, 4);
  uint32_t lhs = forward.input("lhs", ElementType::F32, {"1", "3", "5"}),
           full = forward.input("residual", ElementType::F32, {"1", "3", "4"});
  uint32_t rhs = forward.parameter(artifact.parameter("w", {5, 4}, b), ElementType::F32, {"5", "4"});
  uint32_t channel = forward.parameter(artifact.parameter("s", {4}, scale), ElementType::F32, {"4"});
  uint32_t y = forward.output("y", ElementType::F32, {"1", "3", "4"});
  std::vector<int64_t> post = {StatorPostOpGeluErf,
                               0,
                               0,
                               0,
                               StatorPostOpMul,
                               StatorPostOpPerChannel,
                               0,
                               0,
                               StatorPostOpAdd,
                               StatorPostOpFull,
                               0,
                               0,
                               StatorPostOpClip,
                               0,
                               bits(-0.5f),
                               bits(0.75f)};
  forward.add(forward.library("matmul", {lhs, rhs, channel, full}, {y}, {"1", "3", "4", "5"}, {{"post_ops", post, {}, ""}}));
  artifact.add(std::move(forward));
  Session session = open(artifact, "post.stator");
  Matmul plain{1, m, n, k, false, false, false, false, true};
  std::vector<float> expected = plain.reference(a, b, {});
  for (size_t i = 0; i < expected.size(); ++i) {
    float x = expected[i];
    x = 0.5f * x * (1 + std::erf(x / std::sqrt(2.f)));
    expected[i] = std::min(std::max(x * scale[i % n] + residual[i], -0.5f), 0.75f);
  }
  Tensor aTensor = tensorOf({1, m, k}, a), residualTensor = tensorOf({1, m, n}, residual);
  Result<Outputs> outputs = session.run("forward", {aTensor, residualTensor});
  REQUIRE(outputs.status().message() == "");
  checkClose(outputs.value()[0], expected);
}

TEST_CASE("each unary post-operation is the right one") {
  REQUIRE_PLUGIN();
  auto sigmoid = [](float x) { return 1 / (1 + std::exp(-x)); };
  struct Unary {
    int kind;
    float parameter;
    std::function<float(float)> function;
  };
  for (const Unary &unary : std::vector<Unary>{
           {StatorPostOpRelu, 0, [](float x) { return std::max(x, 0.f); }},
           {StatorPostOpGeluErf, 0, [](float x) { return 0.5f * x * (1 + std::erf(x / std::sqrt(2.f))); }},
           {StatorPostOpGeluTanh, 0, [](float x) { return 0.5f * x * (1 + std::tanh(0.7978845608f * (x + 0.044715f * x * x * x))); }},
           {StatorPostOpSigmoid, 0, sigmoid},
           {StatorPostOpSilu, 0, [&](float x) { return x * sigmoid(x); }},
           {StatorPostOpTanh, 0, [](float x) { return std::tanh(x); }},
           {StatorPostOpHardSwish, 0, [](float x) { return x * std::min(std::max(x + 3, 0.f), 6.f) / 6; }},
           {StatorPostOpLeakyRelu, 0.25f, [](float x) { return x > 0 ? x : 0.25f * x; }}}) {
    TestArtifact artifact;
    TestMethod forward;
    std::vector<float> a = randomFloats(20, 1), b = randomFloats(20, 2);
    uint32_t lhs = forward.input("lhs", ElementType::F32, {"1", "4", "5"});
    uint32_t rhs = forward.parameter(artifact.parameter("w", {5, 4}, b), ElementType::F32, {"5", "4"});
    uint32_t y = forward.output("y", ElementType::F32, {"1", "4", "4"});
    forward.add(forward.library("matmul", {lhs, rhs}, {y}, {"1", "4", "4", "5"},
                                {{"post_ops", {unary.kind, 0, bits(unary.parameter), 0}, {}, ""}}));
    artifact.add(std::move(forward));
    Session session = open(artifact, "unary.stator");
    std::vector<float> expected = Matmul{1, 4, 4, 5, false, false, false, false, true}.reference(a, b, {});
    for (float &x : expected)
      x = unary.function(x);
    Tensor lhsTensor = tensorOf({1, 4, 5}, a);
    INFO("post-op " << unary.kind);
    checkClose(session.run("forward", {lhsTensor}).value()[0], expected);
  }
}

static std::vector<float> convolve(const std::vector<float> &x, const std::vector<float> &w, const std::vector<float> &bias, int64_t h,
                                   int64_t c, int64_t o, int64_t groups, int64_t stride, int64_t pad, int64_t dilation, int64_t out) {
  // Input [1, h, h, c], filter [o, c / groups, 3, 3], result [1, out, out, o].
  std::vector<float> y(out * out * o);
  int64_t perGroup = c / groups, outPerGroup = o / groups;
  for (int64_t i = 0; i < out; ++i)
    for (int64_t j = 0; j < out; ++j)
      for (int64_t f = 0; f < o; ++f) {
        double sum = bias[f];
        for (int64_t ky = 0; ky < 3; ++ky)
          for (int64_t kx = 0; kx < 3; ++kx)
            for (int64_t l = 0; l < perGroup; ++l) {
              int64_t row = i * stride - pad + ky * dilation, column = j * stride - pad + kx * dilation;
              if (row >= 0 && row < h && column >= 0 && column < h)
                sum += double(x[(row * h + column) * c + f / outPerGroup * perGroup + l]) * w[((f * perGroup + l) * 3 + ky) * 3 + kx];
            }
        y[(i * out + j) * o + f] = static_cast<float>(std::max(sum, 0.0));
      }
  return y;
}

TEST_CASE("convolution agrees with loops, grouped, dilated, in both layouts") {
  REQUIRE_PLUGIN();
  int number = 0;
  for (int64_t groups : {1, 2, 4})
    for (int64_t dilation : {1, 2})
      for (bool channelsLast : {true, false}) {
        int64_t h = 9, c = 4, o = 8, stride = 2, pad = 1, out = (h + 2 * pad - (2 * dilation + 1)) / stride + 1;
        std::vector<float> x = randomFloats(h * h * c, 1), w = randomFloats(o * c / groups * 9, 2), bias = randomFloats(o, 3);
        TestArtifact artifact;
        TestMethod forward;
        auto text = [](int64_t value) { return std::to_string(value); };
        Dims inputDims = {"1", text(h), text(h), text(c)}, filterDims = {text(o), text(c / groups), "3", "3"};
        Dims resultDims = {"1", text(out), text(out), text(o)};
        if (!channelsLast) {
          inputDims = {"1", text(c), text(h), text(h)};
          resultDims = {"1", text(o), text(out), text(out)};
        }
        uint32_t input = forward.input("x", ElementType::F32, inputDims);
        uint32_t filter = forward.parameter(artifact.parameter("w", {static_cast<uint64_t>(o), static_cast<uint64_t>(c / groups), 3, 3}, w),
                                            ElementType::F32, filterDims);
        uint32_t biasBuffer = forward.parameter(artifact.parameter("b", {static_cast<uint64_t>(o)}, bias), ElementType::F32, {text(o)});
        uint32_t y = forward.output("y", ElementType::F32, resultDims);
        Dims sizes = inputDims;
        sizes.insert(sizes.end(), filterDims.begin(), filterDims.end());
        sizes.insert(sizes.end(), resultDims.begin(), resultDims.end());
        forward.add(forward.library("convolution", {input, filter, biasBuffer}, {y}, sizes,
                                    {{"bias", {1}, {}, ""},
                                     {"channels_last", {channelsLast}, {}, ""},
                                     {"dilations", {dilation, dilation}, {}, ""},
                                     {"groups", {groups}, {}, ""},
                                     {"pad_high", {pad, pad}, {}, ""},
                                     {"pad_low", {pad, pad}, {}, ""},
                                     {"relu", {1}, {}, ""},
                                     {"strides", {stride, stride}, {}, ""}}));
        artifact.add(std::move(forward));
        Session session = open(artifact, "conv" + std::to_string(number++) + ".stator");
        std::vector<float> expected = convolve(x, w, bias, h, c, o, groups, stride, pad, dilation, out);
        auto toFirst = [](const std::vector<float> &last, int64_t side, int64_t channels) {
          std::vector<float> first(last.size());
          for (int64_t p = 0; p < side * side; ++p)
            for (int64_t l = 0; l < channels; ++l)
              first[l * side * side + p] = last[p * channels + l];
          return first;
        };
        if (!channelsLast) {
          x = toFirst(x, h, c);
          expected = toFirst(expected, out, o);
        }
        Tensor xTensor = channelsLast ? tensorOf({1, h, h, c}, x) : tensorOf({1, c, h, h}, x);
        Result<Outputs> outputs = session.run("forward", {xTensor});
        REQUIRE(outputs.status().message() == "");
        checkClose(outputs.value()[0], expected);
      }
}

TEST_CASE("descriptions that do not fit are errors") {
  REQUIRE_PLUGIN();
  auto failure = [](const std::string &routine, const Dims &sizes, std::vector<Attribute> options) {
    TestArtifact artifact;
    TestMethod forward;
    uint32_t lhs = forward.input("lhs", ElementType::F32, {"3", "5"}), rhs = forward.input("rhs", ElementType::F32, {"5", "4"});
    uint32_t y = forward.output("y", ElementType::F32, {"3", "4"});
    forward.add(forward.library(routine, {lhs, rhs}, {y}, sizes, std::move(options)));
    artifact.add(std::move(forward));
    Session session = open(artifact, "bad.stator");
    Tensor a = Tensor::zeros(ElementType::F32, {3, 5}), b = Tensor::zeros(ElementType::F32, {5, 4});
    Status status = session.run("forward", {a, b}).status();
    CHECK(status.code() == StatusCode::InvalidFile);
    return status.message();
  };
  CHECK(failure("frobnicate", {}, {}) == "library `onednn`: there is no routine `frobnicate`");
  CHECK(failure("matmul", {"1", "3", "4"}, {}) == "library `onednn`: matmul has 3 sizes, expected batch, M, N and K");
  CHECK(failure("matmul", {"1", "3", "4", "6"}, {}) == "library `onednn`: buffer 0 has 60 bytes, expected 72");
  CHECK(failure("matmul", {"1", "3", "4", "5"}, {{"bias", {1}, {}, ""}}) == "library `onednn`: it has 3 buffers, expected more");
  CHECK(failure("convolution", {"1", "1"}, {}) == "library `onednn`: convolution has 2 sizes, expected those of input, filter and result");
  CHECK(failure("matmul", {"1", "3", "4", "5"}, {{"post_ops", {99, 0, 0, 0}, {}, ""}}) == "library `onednn`: post-op 99 is unknown");
}

TEST_CASE("sessions share packed weights and run concurrently") {
  REQUIRE_PLUGIN();
  TestArtifact artifact;
  TestMethod forward;
  std::vector<float> a = randomFloats(16 * 64, 1), b = randomFloats(64 * 64, 2);
  uint32_t lhs = forward.input("lhs", ElementType::F32, {"1", "16", "64"});
  uint32_t rhs = forward.parameter(artifact.parameter("w", {64, 64}, b), ElementType::F32, {"64", "64"});
  uint32_t y = forward.output("y", ElementType::F32, {"1", "16", "64"});
  forward.add(forward.library("matmul", {lhs, rhs}, {y}, {"1", "16", "64", "64"}, {}));
  artifact.add(std::move(forward));
  artifact.manifest.requirements = {"onednn"};
  Module module = Module::load(artifact.write("shared.stator")).value();
  std::vector<float> expected = Matmul{1, 16, 64, 64, false, false, false, false, true}.reference(a, b, {});
  std::vector<int> good(4);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      Session session = module.session(SessionOptions().threads(1 + t % 2)).value();
      Tensor x(ElementType::F32, {1, 16, 64});
      std::memcpy(x.data(), a.data(), x.sizeBytes());
      for (int i = 0; i < 50; ++i) {
        Result<Outputs> outputs = session.run("forward", {x});
        bool close = outputs.ok();
        for (size_t j = 0; close && j < expected.size(); ++j)
          close = std::fabs(outputs.value()[0].data<float>()[j] - expected[j]) < 1e-4f;
        good[t] += close;
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  CHECK(good == std::vector<int>(4, 50));
}

TEST_CASE("an artifact without requirements does not open the plug-in, and one with them can be refused") {
  REQUIRE_PLUGIN();
  setenv("STATOR_DISABLE_ONEDNN", "1", 1);
  CHECK(Module::load(test::smallArtifact().write("none.stator")).ok());
  TestArtifact artifact = test::smallArtifact();
  artifact.manifest.requirements = {"onednn"};
  std::string path = artifact.write("disabled.stator");
  Status status = Module::load(path).status();
  CHECK(status.code() == StatusCode::Unsupported);
  CHECK(status.message() == "`" + path +
                                "`: the artifact needs the library `onednn`, which STATOR_DISABLE_ONEDNN switches off; compile the "
                                "model with --library=none to do without it");
  setenv("STATOR_DISABLE_ONEDNN", "0", 1);
  CHECK(Module::load(path).ok());
  unsetenv("STATOR_DISABLE_ONEDNN");
}

namespace {
bool isMapped(const std::string &library) {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);)
    if (line.find(library) != std::string::npos)
      return true;
  return false;
}

/// Threads of the runtime's pool.
int poolThreads() {
  int count = 0;
  for (const auto &task : std::filesystem::directory_iterator("/proc/self/task")) {
    std::string name;
    std::getline(std::ifstream(task.path() / "comm") >> std::ws, name);
    count += name == "stator";
  }
  return count;
}
} // namespace

// In a process of its own, where nothing else has loaded anything.
TEST_CASE("threads of a new process", "[.process]") {
  TestArtifact plain;
  uint32_t mirror = plain.kernel("mirror", 3, 1);
  auto makeMethod = [&](TestMethod &forward, uint32_t kernel) {
    uint32_t x = forward.input("x", ElementType::F32, {"256", "256"}), y = forward.output("y", ElementType::F32, {"256", "256"});
    uint32_t twice = forward.arena(ElementType::F32, {"256", "256"}, "0"), turned = forward.arena(ElementType::F32, {"256", "256"}, "262144");
    forward.arenaSize("524288");
    serialization::Instruction step = forward.kernel(kernel, {x}, {twice, turned}, {"65536"});
    step.operations = forward.expression("100000000");
    forward.add(step);
    return std::tuple(x, turned, y);
  };
  TestMethod kernels, mixed;
  auto [x, turned, y] = makeMethod(kernels, mirror);
  kernels.add(kernels.copy(turned, y, "262144"));
  plain.add(std::move(kernels));
  TestArtifact withLibrary;
  uint32_t again = withLibrary.kernel("mirror", 3, 1);
  auto [lhs, rhs, product] = makeMethod(mixed, again);
  mixed.add(mixed.library("matmul", {lhs, rhs}, {product}, {"1", "256", "256", "256"}, {}));
  withLibrary.add(std::move(mixed));
  withLibrary.manifest.requirements = {"onednn"};

  std::vector<float> values = randomFloats(65536, 5), reversed(values.rbegin(), values.rend());
  for (float &value : reversed)
    value *= 2;
  Tensor input = tensorOf({256, 256}, values);

  // Nothing of OpenMP without a library step; threads are the library's own with one. The workers of this kernel meet, so that it gets no
  // more of them than there are CPUs.
  unsetenv("STATOR_NUM_THREADS");
  unsetenv("OMP_NUM_THREADS");
  Session mixedSession = open(withLibrary, "mixed.stator", 3);
  Module plainModule = Module::load(plain.write("plain.stator")).value();
  const int fromPool = std::min(3, plainModule.session(SessionOptions()).value().threads()) - 1;
  if (std::getenv("STATOR_TEST_PLAIN")) {
    Session session = plainModule.session(SessionOptions().threads(3)).value();
    for (int i = 0; i < 50; ++i) {
      Result<Outputs> outputs = session.run("forward", {input});
      REQUIRE(outputs.ok());
      REQUIRE(std::memcmp(outputs.value()[0].data<float>(), reversed.data(), 262144) == 0);
    }
    CHECK(poolThreads() == fromPool);
  }
  std::vector<float> expected = Matmul{1, 256, 256, 256, false, false, false, false, true}.reference(values, reversed, {});
  for (int i = 0; i < 50; ++i) {
    Result<Outputs> outputs = mixedSession.run("forward", {input});
    REQUIRE(outputs.ok());
    bool close = true;
    for (size_t k = 0; k < expected.size(); ++k)
      close = close && std::fabs(outputs.value()[0].data<float>()[k] - expected[k]) < 1e-3f;
    REQUIRE(close);
  }
  CHECK(isMapped("libgomp"));
  CHECK(poolThreads() == (std::getenv("STATOR_TEST_PLAIN") ? fromPool : 0));
}

TEST_CASE("OpenMP is in no process without a library step", "[.process]") {
  TestArtifact plain = test::smallArtifact();
  Module module = Module::load(plain.write("without.stator")).value();
  CHECK(module.session(SessionOptions().threads(3)).value().threads() == 3);
  CHECK_FALSE(isMapped("libgomp"));
  CHECK_FALSE(isMapped("libdnnl"));
}

TEST_CASE("kernels beside library steps use the library's threads, and others load none of it") {
  REQUIRE_PLUGIN();
  std::string self = std::filesystem::read_symlink("/proc/self/exe").string();
  CHECK(std::system((self + " 'threads of a new process' > /dev/null").c_str()) == 0);
  CHECK(std::system(("STATOR_TEST_PLAIN=1 " + self + " 'threads of a new process' > /dev/null").c_str()) == 0);
  CHECK(std::system((self + " 'OpenMP is in no process without a library step' > /dev/null").c_str()) == 0);
}
