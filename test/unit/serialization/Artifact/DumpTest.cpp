// DEPS: stator::serialization::Artifact stator::serialization::ArtifactWriter
// What `stator inspect` shows of the sample artifact, whole as text and in its structure as JSON.
#include "serialization/Artifact/Dump.h"
#include "test/unit/Catch.h"
#include "test/unit/serialization/SampleArtifact.h"

using namespace stator;
using namespace stator::serialization;
using namespace stator::test;

static const char kExpected[] = R"(artifact  PATH, SIZE bytes
format    0.1, written by stator 0.1.0
requires  onednn
model     sample

method forward
  input   x        f32[N, 4]
  output  y        f32[N, 2]
  output  shape    i64[2]
  symbol  N        1 to 64, axis 0 of x
  guard   0        equals 0
  state   counter  i64[]  written by steps 5, 8
  memory: arena of 8*N + 64 (72 to 576) bytes, live at once 72; scratch of 0 bytes per worker
  steps: 10 (2 copy, 1 if, 3 kernel, 1 loop, 2 onednn, 1 shape)
    0    matmul  linear_0a1b2c3d  fc1, relu  x, weight, bias -> %3  own kernel is faster for K < 64
    1    matmul  onednn:matmul    fc2        x, weight -> %3
    2    copy    copy             identity   %3 -> y
    3    shape   shape            shape      N, 2 -> shape
    4    if      if               if         on %4
      5  kernel  step_4e5f6071    count      -> counter
    else
      6  matmul  onednn:matmul    fc2        x, weight -> %3
    7    loop    loop             while      on %4
      8  kernel  step_4e5f6071    count      -> counter
    do
      9  copy    copy             identity   %3 -> y
  buffers: 9
    0  input      x        f32[N, 4]  16*N bytes
    1  parameter  weight   f32[4, 2]  32 bytes
    2  parameter  bias     f32[2]     8 bytes
    3  arena      %3       f32[N, 2]  8*N bytes   at 64
    4  arena      %4       i1[]       1 bytes     at 0
    5  output     y        f32[N, 2]  8*N bytes
    6  output     shape    i64[2]     16 bytes
    7  state      counter  i64[]      8 bytes
    8  input      x        f32[4]     16 bytes           view of 0

kernels: 2
  x86-64-v3  9 bytes  kernels/x86-64-v3/kernels.so  needs x86-64-v3
  x86-64-v2  9 bytes  kernels/x86-64-v2/kernels.so  needs x86-64-v2

parameters: 4, 80 bytes, stored in 40 bytes
  weight   f32[4, 2]  panels     frozen   32 bytes  weights/blob0+0   25e7c9b3  pack(fc1.weight)
  bias     f32[2]     row-major  frozen   8 bytes   weights/blob0+64  e1e4432a
  tied     f32[2, 4]  row-major  frozen   32 bytes  weights/blob0+0   25e7c9b3
  counter  i64[]      row-major  mutable  8 bytes   weights/blob0+64  e1e4432a
)";

static std::string replaced(std::string text, const std::string &from, const std::string &to) {
  size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

TEST_CASE("an artifact as text") {
  TemporaryFolder folder;
  std::string path = folder.path("sample.stator");
  REQUIRE(writeSampleArtifact(path).ok());
  ArtifactReader reader = *ArtifactReader::open(path);
  std::string expected = replaced(replaced(kExpected, "PATH", path), "SIZE", "4,883");
  DumpOptions options;
  options.entries = false;
  CHECK(dumpText(reader, options) == expected);

  DumpOptions least{false, false, false, true};
  std::string text = dumpText(reader, least);
  CHECK(text.find("fc1, relu") == std::string::npos);
  CHECK(text.find("view of") == std::string::npos);
  CHECK(text.find("pack(") == std::string::npos);
  CHECK(text.ends_with(R"(
entries
  manifest.pb                   at 64    1,119 bytes
  weights/blob0                 at 4096  72 bytes
  kernels/x86-64-v3/kernels.so  at 4288  9 bytes
  kernels/x86-64-v2/kernels.so  at 4416  9 bytes
  meta/note                     at 4480  5 bytes
)"));
}

TEST_CASE("an artifact as JSON") {
  TemporaryFolder folder;
  std::string path = folder.path("sample.stator");
  REQUIRE(writeSampleArtifact(path).ok());
  std::string json = dumpJson(*ArtifactReader::open(path));
  // Layout is JsonWriter's matter: look at the content without it.
  std::string content;
  for (char c : json)
    if (c != '\n' && c != ' ')
      content += c;
  for (const char *part : {
           R"("format":"0.1","producer":"stator0.1.0","requirements":["onednn"],"info":{"model":"sample"})",
           R"("inputs":[{"name":"x","type":"f32","dims":["N","4"]}])",
           R"("symbols":[{"name":"N","min":1,"max":64,"input":"x","axis":0}],"guards":[["0","0"]])",
           R"("state":[{"parameter":"counter","read":false,"written_by_steps":[5,8]}])",
           R"("arena_bytes":{"expression":"8*N+64","min":72,"max":576})",
           R"({"kind":"input","name":"x","type":"f32","dims":["4"],"size_bytes":"16","offset_bytes":"0","view_of":0})",
           R"("kernel":"linear_0a1b2c3d","inputs":[0,1,2],"outputs":[3],"sizes":["N"])",
           R"("routine":"matmul","attributes":{"relu":1,"scales":[0.5,2],"kind":"plain"})",
           R"("source_offset_bytes":"0","destination_offset_bytes":"0","size_bytes":"8*N")",
           R"("destination":6,"values":["N","2"])",
           R"("condition":4,"on_true":[{"kind":"kernel","name":"count")",
           R"("condition":4,"before":[{"kind":"kernel","name":"count")",
           R"("kernels":["linear_0a1b2c3d","step_4e5f6071"])",
           R"("level":"x86-64-v3","required_features":"x86-64-v3","entry":"kernels/x86-64-v3/kernels.so","size_bytes":9)",
           R"("offset_bytes":64,"size_bytes":8,"xxh3_128":"e1e4432a62217fe4cfd50c61c8bb98c1","recipe":""})",
           R"({"name":"weights/blob0","offset_bytes":4096,"size_bytes":72})",
       }) {
    INFO(part);
    CHECK(content.find(part) != std::string::npos);
  }
}

TEST_CASE("names from a file cannot control a terminal") {
  TemporaryFolder folder;
  std::string path = folder.path("sample.stator");
  ArtifactWriter writer;
  Parameter parameter;
  parameter.name = "evil\x1b[2J\nname";
  static const float zero = 0;
  REQUIRE(writer.addParameter(parameter, std::as_bytes(std::span(&zero, 1))).ok());
  Manifest manifest;
  manifest.producer = "\x1b]0;title\x07";
  REQUIRE(writer.write(path, manifest).ok());
  std::string text = dumpText(*ArtifactReader::open(path));
  CHECK(text.find('\x1b') == std::string::npos);
  CHECK(text.find("evil?[2J name") != std::string::npos);
  CHECK(dumpJson(*ArtifactReader::open(path)).find("evil\\u001b[2J\\u000aname") != std::string::npos);
}
