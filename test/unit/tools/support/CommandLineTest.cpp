// DEPS: stator::tools::support
#include "test/unit/Catch.h"

#include "tools/support/CommandLine.h"

#include <fstream>

using namespace stator;
using namespace stator::tools;

namespace {
struct Parsed {
  bool flag = false;
  std::string text, path, word = "a";
  int64_t number = 0;
  double real = 0;
  std::vector<std::string> list, rest, foreign;
  CommandLine line{"tool", "FILE [options]", "Does things."};

  Parsed() {
    line.positional("FILE", &path, "a file");
    line.group("First");
    line.flag("flag", &flag, "a flag");
    line.text("text", "TEXT", &text, "a text");
    line.alias("t", "text");
    line.group("Second");
    line.integer("number", "N", &number, 0, 10, "a number");
    line.real("real", "X", &real, 0, "a real number");
    line.list("list", "A,B", &list, "a list", ',');
    line.choice("word", {"a", "b"}, &word, "one of two");
    line.alias("old-number", "number");
    line.passThrough({"--mlir-"}, &foreign);
    line.hiddenGroup("Developers");
    line.flag("secret", &flag, "not shown");
  }
  std::string parse(std::vector<std::string> arguments) { return line.parseArguments(arguments).message(); }
};
} // namespace

TEST_CASE("options are read in all spellings") {
  Parsed p;
  CHECK(p.parse({"--flag", "--text=x=y", "in.file", "--number", "7", "--real=0.5", "--list=a,b", "--list", "c", "--word=b"}) == "");
  CHECK(p.flag);
  CHECK(p.text == "x=y");
  CHECK(p.path == "in.file");
  CHECK(p.number == 7);
  CHECK(p.real == 0.5);
  CHECK(p.list == std::vector<std::string>{"a", "b", "c"});
  CHECK(p.word == "b");
}

TEST_CASE("short options, aliases, false flags, the end of options") {
  Parsed p;
  CHECK(p.parse({"-tabc", "--old-number=3", "--flag=true", "--flag=false", "--", "--file"}) == "");
  CHECK(p.text == "abc");
  CHECK(p.number == 3);
  CHECK(!p.flag);
  CHECK(p.path == "--file");
  Parsed q;
  CHECK(q.parse({"-t", "abc", "-"}) == "");
  CHECK(q.text == "abc");
  CHECK(q.path == "-");
}

TEST_CASE("foreign options are passed through") {
  Parsed p;
  CHECK(p.parse({"x", "--mlir-print-ir-after-all", "--mlir-timing=1"}) == "");
  CHECK(p.foreign == std::vector<std::string>{"--mlir-print-ir-after-all", "--mlir-timing=1"});
}

TEST_CASE("mistakes are named") {
  auto message = [](std::vector<std::string> arguments) { return Parsed().parse(std::move(arguments)); };
  CHECK(message({}) == "missing argument FILE: a file");
  CHECK(message({"a", "b"}) == "unexpected argument `b`");
  CHECK(message({"a", "--numbr=1"}) == "unknown option `--numbr`, did you mean `--number`?");
  CHECK(message({"a", "--zzzzzzzz"}) == "unknown option `--zzzzzzzz`");
  CHECK(message({"a", "-q"}) == "unknown option `-q`");
  CHECK(message({"a", "--number"}) == "`--number` needs a value: N");
  CHECK(message({"a", "--number=x"}) == "`--number`: `x` is not a whole number");
  CHECK(message({"a", "--number=11"}) == "`--number`: 11 is outside of the range, 0 to 10");
  CHECK(message({"a", "--number=99999999999999999999"}) == "`--number`: `99999999999999999999` does not fit into 64 bits");
  CHECK(message({"a", "--real=1.5x"}) == "`--real`: `1.5x` is not a number");
  CHECK(message({"a", "--real=-1"}).find("is less than 0") != std::string::npos);
  CHECK(message({"a", "--word=c"}) == "`--word`: `c` is not one of a|b");
  CHECK(message({"a", "--flag=perhaps"}) == "`--flag`: `perhaps` is neither true nor false");
  CHECK(message({"a", "--flagfile=/nonexistent"}) == "cannot read the flag file `/nonexistent`");
}

TEST_CASE("flag files hold one argument per line") {
  std::string path = STATOR_BINARY_DIR "/test/flagfile.txt";
  std::ofstream(path) << "# a comment\n\n  --number=4  \n--text=two words\n";
  Parsed p;
  CHECK(p.parse({"x", "--flagfile=" + path}) == "");
  CHECK(p.number == 4);
  CHECK(p.text == "two words");
  std::ofstream(path) << "--flagfile=" << path << "\n";
  CHECK(Parsed().parse({"x", "--flagfile=" + path}).find("nest more than 8 deep") != std::string::npos);
}

TEST_CASE("help is grouped, and hides what is for developers") {
  Parsed p;
  std::string help = p.line.helpText(false);
  CHECK(help.find("usage: tool FILE [options]") != std::string::npos);
  CHECK(help.find("First:") < help.find("Second:"));
  CHECK(help.find("-t, --text=TEXT") != std::string::npos);
  CHECK(help.find("--word=a|b") != std::string::npos);
  CHECK(help.find("secret") == std::string::npos);
  CHECK(help.find("old-number") == std::string::npos);
  CHECK(p.line.helpText(true).find("--secret") != std::string::npos);
}

TEST_CASE("each kind of failure has its exit code") {
  CHECK(exitCodeFor(okStatus()) == 0);
  CHECK(exitCodeFor(invalidFile("")) == 3);
  CHECK(exitCodeFor(notFound("")) == 3);
  CHECK(exitCodeFor(invalidArgument("")) == 4);
  CHECK(exitCodeFor(unsupported("")) == 5);
}
