//===- InputOptions.cpp - the grammar of --input, --dim and --const --------===//
//
// Names come from models and may hold anything; shapes come from people, and an
// `x` may be part of a size's name. Both are told apart by reading the text in
// the one way in which all of it makes sense. Every error repeats the text that
// was given and says what was expected.
//
//===----------------------------------------------------------------------===//

#include "compiler/Options.h"
#include "serialization/Numpy/Npy.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringRef.h"

#include <limits>
#include <set>

using namespace stator;
using namespace stator::compiler;
using llvm::StringRef;

static constexpr int64_t kMostSize = std::numeric_limits<int32_t>::max();

static StringRef toRef(std::string_view text) { return StringRef(text.data(), text.size()); }

static std::optional<int64_t> parseNumber(StringRef text) {
  int64_t value;
  if (text.empty() || !llvm::all_of(text, llvm::isDigit) || text.getAsInteger(10, value))
    return std::nullopt;
  return value;
}

static bool isNameChar(char c) { return llvm::isAlnum(c) || c == '_'; }

/// "MIN..MAX" or "MIN..": an error text, or empty.
static std::string parseRange(StringRef text, int64_t &min, int64_t &max) {
  size_t dots = text.find("..");
  if (dots == StringRef::npos)
    return "`" + text.str() + "` is not a range";
  StringRef high = text.drop_front(dots + 2);
  std::optional<int64_t> first = parseNumber(text.take_front(dots));
  std::optional<int64_t> last = high.empty() ? std::optional<int64_t>(kMostSize) : parseNumber(high);
  if (!first || !last)
    return "a bound is not a number";
  if (*first > *last)
    return "the lower bound is above the upper one";
  min = *first;
  max = *last;
  return "";
}

namespace {

/// `1x?h[32..1024]x?wxf32`. A name ends at the first `x` after which the rest can be read.
class ShapeParser {
public:
  ShapeParser(StringRef text, InputSpec &spec) : text(text), spec(spec) {}

  bool parse(size_t start);
  const std::string &error() const { return problem; }

private:
  bool fail(size_t where, const llvm::Twine &why) {
    // The one that got farthest is what the user meant.
    if (problem.empty() || where > problemAt) {
      problem = why.str();
      problemAt = where;
    }
    dead.insert(where);
    return false;
  }
  /// The size that ends before `end`, then what follows.
  bool parseRest(DimSpec dim, size_t end);
  bool parseSymbol(size_t start);

  StringRef text;
  InputSpec &spec;
  std::set<size_t> dead; ///< Places where no reading succeeds: keeps the search linear.
  std::string problem;
  size_t problemAt = 0;
};

} // namespace

bool ShapeParser::parseRest(DimSpec dim, size_t end) {
  spec.dims.push_back(std::move(dim));
  if (end == text.size() || parse(end + 1))
    return true;
  spec.dims.pop_back();
  return false;
}

/// `boxesx4xf33` is meant as more than one name, whatever is wrong with the rest of it.
static bool holdsSizes(StringRef name) {
  StringRef rest = name.split('x').second;
  return llvm::any_of(rest, llvm::isDigit);
}

bool ShapeParser::parseSymbol(size_t start) {
  StringRef rest = text.drop_front(start + 1);
  StringRef word = rest.take_while(isNameChar);
  if (!word.empty() && llvm::isDigit(word[0]))
    return fail(start, "`?" + word + "` is no size: a name begins with a letter");
  size_t after = start + 1 + word.size();
  if (after < text.size() && text[after] == '[') {
    size_t close = text.find(']', after);
    if (close == StringRef::npos)
      return fail(start, "the range after `?" + word + "` has no end");
    DimSpec dim{word.empty() ? DimSpec::Kind::FromModel : DimSpec::Kind::Symbol, 0, word.str()};
    int64_t min = 0, max = 0;
    if (std::string why = parseRange(text.slice(after + 1, close), min, max); !why.empty())
      return fail(start, "size `" + text.slice(start, close + 1) + "`: " + why);
    dim.min = min;
    dim.max = max;
    if (close + 1 < text.size() && text[close + 1] != 'x')
      return fail(start, "`" + text.drop_front(close + 1) + "` follows a range");
    return parseRest(dim, close + 1);
  }
  for (size_t length = 0; length <= word.size(); ++length) {
    size_t end = start + 1 + length;
    bool isEnd = length == word.size() ? end == text.size() : word[length] == 'x';
    if (!isEnd)
      continue;
    StringRef name = word.take_front(length);
    if (holdsSizes(name))
      break;
    if (parseRest({name.empty() ? DimSpec::Kind::FromModel : DimSpec::Kind::Symbol, 0, name.str()}, end))
      return true;
  }
  return fail(start, "`" + text.drop_front(start) + "` is not a size");
}

bool ShapeParser::parse(size_t start) {
  if (dead.count(start))
    return false;
  if (start < text.size() && text[start] == '?')
    return parseSymbol(start);
  size_t end = std::min(text.find('x', start), text.size());
  StringRef word = text.slice(start, end);
  if (std::optional<int64_t> number = parseNumber(word))
    return parseRest({DimSpec::Kind::Number, *number, ""}, end) || fail(start, "");
  if (!word.empty() && llvm::isUpper(word[0]) && llvm::all_of(word, isNameChar))
    return parseRest({DimSpec::Kind::Symbol, 0, word.str()}, end) || fail(start, "");
  bool isLast = end == text.size();
  if (auto type = isLast ? parseElementType(word.str()) : std::nullopt) {
    spec.type = *type;
    return true;
  }
  if (word.empty())
    return fail(start, isLast && start ? "the element type is missing after the last `x`"
                                       : "a size is missing before `x`; a scalar is only its type");
  return fail(start, "`" + word + (isLast ? "` is neither a size nor an element type" : "` is not a size"));
}

/// "[NAME=]@FILE": the name and the file; nothing when the text gives no file.
static std::optional<std::pair<StringRef, StringRef>> splitFile(StringRef text) {
  if (text.starts_with("@"))
    return std::pair(StringRef(), text.drop_front());
  // A name may hold `=`, and so may a path, which comes after the first `=@`.
  size_t at = text.find("=@");
  if (at == StringRef::npos)
    return std::nullopt;
  return std::pair(text.take_front(at), text.drop_front(at + 2));
}

static void describeArray(const serialization::NpyArray &array, InputSpec &spec) {
  spec.type = array.type;
  for (int64_t size : array.shape)
    spec.dims.push_back({DimSpec::Kind::Number, size, ""});
}

Result<InputSpec> compiler::parseInputSpec(std::string_view given) {
  StringRef text = toRef(given);
  auto refuse = [&](const llvm::Twine &why) {
    return invalidArgument(
        ("input `" + text + "`: " + why + ", expected [NAME=]SHAPExTYPE such as x=1x3x224x224xf32, or [NAME=]@FILE.npy").str());
  };
  InputSpec spec;
  spec.text = text.str();
  if (auto file = splitFile(text)) {
    spec.name = file->first.str();
    if (spec.name.empty() && !text.starts_with("@"))
      return refuse("the name is empty");
    if (file->second.empty())
      return refuse("no file is given");
    Result<serialization::NpyArray> array = serialization::readNpy(file->second.str());
    if (!array.ok())
      return array.status().withContext(("input `" + text + "`").str());
    describeArray(*array, spec);
    return spec;
  }
  // A name may hold anything, `=` too; a shape holds none.
  StringRef shape = text;
  if (size_t equals = text.rfind('='); equals != StringRef::npos) {
    spec.name = text.take_front(equals).str();
    shape = text.drop_front(equals + 1);
    if (spec.name.empty())
      return refuse("the name is empty");
  }
  if (shape.empty())
    return refuse("no shape is given");
  ShapeParser parser(shape, spec);
  if (!parser.parse(0))
    return refuse(parser.error());
  if (!spec.type && spec.name.empty())
    return refuse("neither a name nor an element type is given");
  return spec;
}

Result<SymbolSpec> compiler::parseSymbolSpec(std::string_view given) {
  StringRef text = toRef(given);
  auto [name, value] = text.rsplit('=');
  auto refuse = [&](StringRef why) {
    return invalidArgument(("dim `" + text + "`: " + why + ", expected NAME=VALUE or NAME=MIN..MAX").str());
  };
  if (name.empty() || name.size() == text.size())
    return refuse("no name is given");
  SymbolSpec spec;
  spec.name = name.str();
  if (value.contains("..")) {
    if (std::string why = parseRange(value, spec.min, spec.max); !why.empty())
      return refuse(why);
    return spec;
  }
  std::optional<int64_t> number = parseNumber(value);
  if (!number)
    return refuse("the value is not a number");
  spec.min = spec.max = *number;
  return spec;
}

/// Whether the text is only numbers and truth values, brackets and commas around them: then `=` before it can be part of a name.
static bool isElementList(StringRef text) {
  for (StringRef element : llvm::split(text, ',')) {
    element = element.trim(" \t[]()");
    double value;
    if (!element.empty() && !element.equals_insensitive("true") && !element.equals_insensitive("false") && element.getAsDouble(value))
      return false;
  }
  return true;
}

Result<ConstantSpec> compiler::parseConstantSpec(std::string_view given) {
  StringRef text = toRef(given);
  auto refuse = [&](StringRef why) {
    return invalidArgument(("const `" + text + "`: " + why + ", expected NAME=VALUE or NAME=@FILE.npy").str());
  };
  ConstantSpec spec;
  if (auto file = splitFile(text); file && !text.starts_with("@")) {
    if (file->first.empty())
      return refuse("no name is given");
    if (file->second.empty())
      return refuse("no file is given");
    spec.name = file->first.str();
    spec.file = file->second.str();
    return spec;
  }
  auto [name, values] = text.rsplit('=');
  if (name.size() != text.size() && !isElementList(values))
    std::tie(name, values) = text.split('=');
  if (name.empty() || name.size() == text.size())
    return refuse("no name is given");
  spec.name = name.str();
  spec.text = values.str();
  for (StringRef rest = values;;) {
    rest = rest.ltrim(", \t[]");
    if (rest.empty())
      return spec;
    StringRef element = rest.take_until([](char c) { return StringRef(", \t[]").contains(c); });
    spec.elements.push_back(element.str());
    rest = rest.drop_front(element.size());
  }
}

static std::string describe(const SymbolSpec &spec) {
  return spec.min == spec.max ? std::to_string(spec.min) : std::to_string(spec.min) + ".." + std::to_string(spec.max);
}

/// A value wins over a range that allows it; everything else has to agree.
static Status addSymbol(std::vector<SymbolSpec> &symbols, const SymbolSpec &spec) {
  auto known = llvm::find_if(symbols, [&](const SymbolSpec &other) { return other.name == spec.name; });
  if (known == symbols.end()) {
    symbols.push_back(spec);
    return okStatus();
  }
  bool isSame = known->min == spec.min && known->max == spec.max;
  bool narrows = spec.min == spec.max && known->min <= spec.min && spec.min <= known->max;
  bool isNarrowed = known->min == known->max && spec.min <= known->min && known->min <= spec.max;
  if (!isSame && !narrows && !isNarrowed)
    return invalidArgument("size `" + spec.name + "` is given as " + describe(*known) + " and as " + describe(spec));
  if (narrows)
    *known = spec;
  return okStatus();
}

/// "@FILE.npz" stands for one spec per array, by the arrays' names.
static Status addArrays(StringRef text, std::vector<InputSpec> &inputs) {
  Result<std::vector<serialization::NamedNpyArray>> arrays = serialization::readNpz(text.drop_front().str());
  if (!arrays.ok())
    return arrays.status().withContext(("input `" + text + "`").str());
  for (const serialization::NamedNpyArray &array : *arrays) {
    InputSpec spec;
    spec.name = array.name;
    spec.text = text.str();
    describeArray(array.array, spec);
    inputs.push_back(std::move(spec));
  }
  return okStatus();
}

Result<ImportOptions> compiler::importOptionsOf(const CompileOptions &options) {
  ImportOptions out;
  for (const std::string &text : options.inputs) {
    if (StringRef(text).starts_with("@") && StringRef(text).ends_with(".npz")) {
      STATOR_RETURN_IF_ERROR(addArrays(text, out.inputs));
      continue;
    }
    STATOR_TRY(spec, parseInputSpec(text));
    out.inputs.push_back(std::move(spec));
  }
  for (const InputSpec &spec : out.inputs)
    for (const DimSpec &dim : spec.dims)
      if (dim.kind == DimSpec::Kind::Symbol && dim.min)
        STATOR_RETURN_IF_ERROR(addSymbol(out.symbols, {dim.symbol, *dim.min, *dim.max}));
  for (const std::string &text : options.dims) {
    STATOR_TRY(spec, parseSymbolSpec(text));
    STATOR_RETURN_IF_ERROR(addSymbol(out.symbols, spec));
  }
  std::set<std::string> constants;
  for (const std::string &text : options.constants) {
    STATOR_TRY(spec, parseConstantSpec(text));
    if (!constants.insert(spec.name).second)
      return invalidArgument("two --const options are for `" + spec.name + "`");
    out.constants.push_back(std::move(spec));
  }
  for (const std::string &method : options.methods) {
    if (method.empty())
      return invalidArgument("a --method has no name");
    if (!llvm::is_contained(out.methods, method))
      out.methods.push_back(method);
  }
  return out;
}
