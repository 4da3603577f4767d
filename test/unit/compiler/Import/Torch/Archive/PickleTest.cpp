// DEPS: stator::compiler::Import::Torch::Archive
// Pickles: every kind of value that torch writes, and every reason to refuse one.
#include "compiler/Import/Torch/Archive/Pickle.h"
#include "test/unit/compiler/Import/Torch/Archive/ArchiveSample.h"

using namespace stator;
using namespace stator::test;
using namespace stator::test::pickle;
using namespace stator::torch;

/// The tree of a pickle that lives as long as the tree.
struct Sample {
  std::string bytes;
  PickleTree tree;
  explicit Sample(const std::string &body) : bytes(whole(body)), tree(*unpickle(bytesOf(bytes), "data.pkl")) {}
  const PickleValue &root() const { return tree.root(); }
};

static std::string errorOf(const std::string &bytes) {
  Result<PickleTree> tree = unpickle(bytesOf(bytes), "data.pkl");
  return tree.ok() ? "" : tree.status().message();
}
static std::string error(const std::string &body) { return errorOf(whole(body)); }

/// "record `data.pkl`, byte 2, opcode X: ..." without the place.
static std::string reason(const std::string &body) {
  std::string message = error(body);
  size_t colon = message.find(": ");
  return colon == message.npos ? message : message.substr(colon + 2);
}

TEST_CASE("plain values", "[pickle]") {
  Sample sample("(NK\x07M" + number(0x1234, 2) + integer(-5) + "\x88\x89" + "G" + std::string("\x3f\xf8\0\0\0\0\0\0", 8) +
                text("h\xc3\xa4") + "U" + number(2, 1) + "ab" + "T" + number(1, 4) + "c" + "\x8a\x08" + number(uint64_t(1) << 40, 8) +
                "\x8a\x01\xff" + std::string("\x8a\x00", 2) + "t");
  llvm::ArrayRef<const PickleValue *> values = sample.root().elements();
  REQUIRE(sample.root().is(PickleKind::Tuple));
  REQUIRE(values.size() == 13);
  CHECK(values[0]->is(PickleKind::None));
  CHECK(values[1]->integer() == 7);
  CHECK(values[2]->integer() == 0x1234);
  CHECK(values[3]->integer() == -5);
  CHECK(values[4]->boolean());
  CHECK((values[5]->is(PickleKind::Bool) && !values[5]->boolean()));
  CHECK(values[6]->real() == 1.5);
  CHECK(values[7]->text() == "h\xc3\xa4");
  CHECK(values[8]->text() == "ab");
  CHECK(values[9]->text() == "c");
  CHECK(values[10]->integer() == int64_t(1) << 40);
  CHECK(values[11]->integer() == -1);
  CHECK((values[12]->is(PickleKind::Int) && values[12]->integer() == 0));
  // Asked for what they are not, values give nothing.
  CHECK(values[1]->text().empty());
  CHECK(values[7]->integer() == 0);
  CHECK(values[7]->elements().empty());
  CHECK(values[7]->entries().empty());
  CHECK(values[7]->content() == nullptr);
  CHECK(values[7]->tensor() == nullptr);
  CHECK(values[1]->real() == 0);
}

TEST_CASE("containers keep their order and their type", "[pickle]") {
  Sample sample("(](K\x01K\x02"
                "eK\x03"
                "a}(" +
                text("b") + "K\x01" + text("a") + "Nu" + text("k") + "Ns" +
                "(K\x05"
                "l(K\x06"
                "Nd)\x85t");
  llvm::ArrayRef<const PickleValue *> values = sample.root().elements();
  REQUIRE(values.size() == 5);
  CHECK(values[0]->elements().size() == 3);
  CHECK(values[0]->elements()[2]->integer() == 3);
  REQUIRE(values[1]->entries().size() == 3);
  CHECK(values[1]->entries()[0].first->text() == "b");
  CHECK(values[1]->entries()[1].first->text() == "a");
  CHECK(values[1]->find("b")->integer() == 1);
  CHECK(values[1]->find("c") == nullptr);
  CHECK(values[2]->elements().size() == 1);
  CHECK(values[3]->entries()[0].first->integer() == 6);
  CHECK(values[4]->elements()[0]->is(PickleKind::Tuple));

  Sample tagged(global("torch.jit._pickle", "restore_type_tag") + "(}(" + text("a") + "K\x01u" + text("Dict[str, int]") + "tR");
  CHECK(tagged.root().typeTag() == "Dict[str, int]");
  CHECK(tagged.root().find("a")->integer() == 1);
  Sample ints(global("torch.jit._pickle", "build_intlist") + "(](K\x01K\x02"
                                                             "etR");
  CHECK(ints.root().typeTag() == "List[int]");
  CHECK(ints.root().elements().size() == 2);
  Sample bools(global("torch.jit._pickle", "build_boollist") + "(](\x88"
                                                               "etR");
  CHECK(bools.root().typeTag() == "List[bool]");
  Sample floats(global("torch.jit._pickle", "build_doublelist") + "(]tR");
  CHECK(floats.root().typeTag() == "List[float]");
  Sample tensors(global("torch.jit._pickle", "build_tensorlist") + "(](" + tensor(storage("LongStorage", "3", 6), 1, {2}, {3}) + "etR");
  CHECK(tensors.root().typeTag() == "List[Tensor]");
  Sample ordered(global("collections", "OrderedDict") + ")R(" + text("x") + "K\x01u}(" + text("_metadata") + "Nub");
  // BUILD of an OrderedDict: its attributes are of no use.
  CHECK(error(global("collections", "OrderedDict") + ")R}b").empty());
}

TEST_CASE("objects, enumerations, devices, complex numbers", "[pickle]") {
  std::string moduleClass = global("__torch__.net.___torch_mangle_3", "Linear");
  Sample module(moduleClass + ")\x81}(" + text("training") + "\x89" + text("bias") + "N" + "ub");
  CHECK(module.root().is(PickleKind::Object));
  CHECK(module.root().text() == "__torch__.net.___torch_mangle_3.Linear");
  REQUIRE(module.root().attribute("bias"));
  CHECK(module.root().attribute("bias")->is(PickleKind::None));
  CHECK(module.root().attribute("weight") == nullptr);
  Sample empty(moduleClass + ")\x81");
  CHECK(empty.root().content() == nullptr);
  CHECK(empty.root().attribute("x") == nullptr);
  Sample member(global("__torch__", "Color") + "K\x02R");
  CHECK(member.root().is(PickleKind::Enum));
  CHECK(member.root().text() == "__torch__.Color");
  CHECK(member.root().content()->integer() == 2);
  CHECK(Sample(global("torch", "device") + text("cuda:1") + "\x85R").root().text() == "cuda:1");
  CHECK(Sample(global("torch", "device") + text("cuda") + "K\x01\x86R").root().text() == "cuda:1");
  std::string real = "G" + std::string("\x3f\xf8\0\0\0\0\0\0", 8);
  Sample number(global("builtins", "complex") + real + real + "\x86R");
  CHECK(number.root().is(PickleKind::Complex));
  CHECK(number.root().real() == 1.5);
  CHECK(number.root().imaginary() == 1.5);
  CHECK(Sample(global("torch", "float32")).root().text() == "torch.float32");
}

TEST_CASE("what is shared is one node", "[pickle]") {
  std::string object = global("__torch__", "M") + ")\x81q\x01}b";
  Sample sample("(" + object + "h\x01j" + number(1, 4) + "]r" + number(70000, 4) + "j" + number(70000, 4) + "t");
  llvm::ArrayRef<const PickleValue *> values = sample.root().elements();
  CHECK(values[0] == values[1]);
  CHECK(values[0] == values[2]);
  CHECK(values[3] == values[4]);
  CHECK(sample.tree.nodeCount() > 3);
}

TEST_CASE("tensors are described, not checked", "[pickle]") {
  Sample sample(tensor(storage("FloatStorage", "../x", 12), -1, {2, -3}, {3, 1}));
  const PickledTensor &tensor = *sample.root().tensor();
  CHECK(tensor.storageKey == "../x");
  CHECK(tensor.scalarType == 6);
  CHECK(tensor.storageElements == 12);
  CHECK(tensor.offset == -1);
  CHECK(tensor.sizes == llvm::ArrayRef<int64_t>{2, -3});
  CHECK(tensor.strides == llvm::ArrayRef<int64_t>{3, 1});
  CHECK_FALSE(tensor.isParameter);

  std::string plain = test::pickle::tensor(storage("HalfStorage", "0", 1), 0, {}, {});
  Sample parameter(global("torch._utils", "_rebuild_parameter") + "(" + plain + "\x88" + global("collections", "OrderedDict") + ")RtR");
  CHECK(parameter.root().tensor()->isParameter);
  CHECK(parameter.root().tensor()->requiresGrad);
  Sample withState(global("torch._utils", "_rebuild_parameter_with_state") + "(" + plain + "\x89N}tR");
  CHECK(withState.root().tensor()->isParameter);
  CHECK(withState.root().tensor()->scalarType == 5);
  Sample untyped(global("torch._utils", "_rebuild_tensor_v3") + "((" + text("storage") + global("torch.storage", "UntypedStorage") +
                 text("0") + text("cpu") + "K\x08tQK\x01K\x02\x85K\x01\x85\x89N" + global("torch", "float8_e5m2") + "tR");
  CHECK(untyped.root().tensor()->isUntyped);
  CHECK(untyped.root().tensor()->storageElements == 8);
  CHECK(untyped.root().tensor()->scalarType == 23);
}

TEST_CASE("globals that are not allowed", "[pickle]") {
  const std::string none = ", which is none of the classes and functions that torch writes for a model";
  CHECK(error(global("posix", "system") + text("id") + "\x85R") == "record `data.pkl`, byte 2, opcode GLOBAL: names `posix.system`" + none);
  CHECK(reason(global("__builtin__", "eval")) == "names `__builtin__.eval`" + none);
  CHECK(reason(global("torch", "load")) == "names `torch.load`" + none);
  CHECK(reason(global("torch.storage", "FloatStorage2")) == "names `torch.storage.FloatStorage2`" + none);
  CHECK(reason(global("__torch__", "a b")) == "names `__torch__.a b`" + none);
  CHECK(reason(global("a\x01", "b")) == "names `a?.b`" + none);
  auto unsupported = [](const std::string &module, const std::string &name) { return reason(global(module, name)); };
  CHECK(unsupported("torch._utils", "_rebuild_qtensor") ==
        "`torch._utils._rebuild_qtensor` makes a quantised tensor, which is not supported");
  CHECK(unsupported("torch._utils", "_rebuild_sparse_tensor") ==
        "`torch._utils._rebuild_sparse_tensor` makes a sparse tensor, which is not supported");
  CHECK(unsupported("torch._utils", "_rebuild_nested_tensor") ==
        "`torch._utils._rebuild_nested_tensor` makes a nested tensor, which is not supported");
  CHECK(unsupported("torch._tensor", "_rebuild_from_type_v2") ==
        "`torch._tensor._rebuild_from_type_v2` makes a tensor of a Python subclass, which is not supported");
  CHECK(unsupported("torch._utils", "_rebuild_meta_tensor_no_storage") ==
        "`torch._utils._rebuild_meta_tensor_no_storage` makes a tensor without data, which is not supported");
  CHECK(unsupported("torch.jit._pickle", "build_tensor_from_id") ==
        "`torch.jit._pickle.build_tensor_from_id` makes a tensor whose data is not in the file, which is not supported");
}

TEST_CASE("damaged streams", "[pickle]") {
  CHECK(errorOf("") == "record `data.pkl`, byte 0: the pickle ends without STOP");
  CHECK(errorOf("N.") == "record `data.pkl`, byte 0, opcode NONE: expected PROTO at the start of the pickle and nowhere else");
  CHECK(reason("\x80\x02N") == "expected PROTO at the start of the pickle and nowhere else");
  CHECK(errorOf("\x80\x04N.") == "record `data.pkl`, byte 0, opcode PROTO: pickle protocol 4, expected 2");
  CHECK(errorOf("\x80\x02N") == "record `data.pkl`, byte 3: the pickle ends without STOP");
  CHECK(errorOf("\x80\x02J\x01") == "record `data.pkl`, byte 2, opcode BININT: the pickle ends inside of the opcode");
  CHECK(errorOf("\x80\x02"
                "cmodule") == "record `data.pkl`, byte 2, opcode GLOBAL: the pickle ends inside of a name");
  CHECK(errorOf("\x80\x02X\xff\xff\xff\x7f"
                "abc") == "record `data.pkl`, byte 2, opcode BINUNICODE: a string of 2147483647 bytes, but only 3 are left");
  CHECK(reason(text("\xff")) == "a string is not UTF-8 text");
  CHECK(errorOf("\x80\x02N.x") == "record `data.pkl`, byte 3, opcode STOP: 1 bytes after the end of the pickle");
  CHECK(error("\x93") == "record `data.pkl`, byte 2: the opcode 147 is none of those that torch writes");
  CHECK(reason("\x8a\x09" + std::string(9, '\1')) == "an int of 9 bytes, at most 8 are accepted");
  CHECK(reason("") == "the pickle ends with 0 values on the stack, expected 1");
  CHECK(reason("NN") == "the pickle ends with 2 values on the stack, expected 1");
  CHECK(reason("N(") == "the pickle ends with 1 values on the stack, expected 1");
}

TEST_CASE("a stack that does not hold what an opcode needs", "[pickle]") {
  CHECK(error("Nt") == "record `data.pkl`, byte 3, opcode TUPLE: needs a MARK, there is none");
  CHECK(reason("N\x86") == "needs 2 values on the stack, there are 1");
  CHECK(reason("N(\x85") == "needs 1 values on the stack, there are 0");
  CHECK(reason("q\x01") == "needs a value on the stack, there is none");
  CHECK(reason("h\x01") == "nothing was stored under the number 1");
  CHECK(reason("NNa") == "appends to None, expected a list");
  CHECK(reason("](KNu") == "sets items of a list, expected a dict");
  CHECK(reason("}(Nu") == "a key without a value");
  CHECK(reason("}]Ns") == "a dict has a list as a key, expected a string or number");
  CHECK(reason("N)\x81") == "makes an instance of None, expected a class of the model (`__torch__...`)");
  CHECK(reason(global("torch", "device") + ")\x81") ==
        "makes an instance of `torch.device`, expected a class of the model (`__torch__...`)");
  CHECK(reason(global("__torch__", "M") + "N\x85\x81") == "makes an instance with arguments, expected an empty tuple");
  CHECK(reason("]}b") == "gives a state to a list, expected an object");
  CHECK(reason(global("__torch__", "M") + ")\x81}b}b") == "gives `__torch__.M` a second state");
  CHECK(reason("N)R") == "calls None, expected a function");
  CHECK(reason(global("torch", "device") + "NR") == "calls `torch.device` with None, expected a tuple");
  CHECK(reason(global("torch", "float32") + ")R") == "calls `torch.float32`, which is no function");
}

TEST_CASE("calls with other arguments than torch's", "[pickle]") {
  CHECK(reason("NQ") == "expected a storage: ('storage', class, key, device, number of elements)");
  CHECK(reason(storage("FloatStorage", "0", -1)) == "a storage has the negative size -1");
  CHECK(error(storage("FloatStorage", "0", 1)) == "record `data.pkl`: a storage stands outside of a tensor");
  std::string rebuild = global("torch._utils", "_rebuild_tensor_v2"), good = storage("FloatStorage", "0", 1);
  CHECK(reason(rebuild + "(NtR") == "a tensor of 1 arguments, expected 6 or 7");
  CHECK(reason(rebuild + "(NK\x01))\x88NtR") == "expected a tensor: (storage, offset, sizes, strides, requires_grad, hooks)");
  CHECK(reason(rebuild + "(" + good + "K\x01N)\x88NtR") == "the sizes of a tensor are no tuple of ints");
  CHECK(reason(rebuild + "(" + good + "K\x01)N\x85\x88NtR") == "the strides of a tensor are no tuple of ints");
  CHECK(reason(rebuild + "(" + good + "K\x01))\x88N}(" + text("conj") + "\x88utR") ==
        "a tensor is a lazily conjugated view, which is not supported; save a clone() of it");
  CHECK(reason(rebuild + "(" + good + "K\x01))\x88N}(" + text("neg") + "\x88utR") ==
        "a tensor is a lazily negated view, which is not supported; save a clone() of it");
  CHECK(reason(rebuild + "(" + storage("UntypedStorage", "0", 1) + "K\x01))\x88NtR") == "a tensor of an untyped storage has no dtype");
  CHECK(reason(global("torch._utils", "_rebuild_tensor_v3") + "(" + good + "K\x01))\x88N" + global("torch", "int8") + "tR") ==
        "expected a tensor of an untyped storage with its dtype");
  CHECK(reason(global("torch._utils", "_rebuild_parameter") + "(NNNtR") == "expected a parameter: (tensor, requires_grad, hooks)");
  CHECK(reason(global("torch.jit._pickle", "build_intlist") + ")R") == "expected one list");
  CHECK(reason(global("torch.jit._pickle", "build_intlist") + "(](NetR") == "a List[int] has None as an element");
  CHECK(reason(global("torch.jit._pickle", "restore_type_tag") + ")R") == "expected a value and the text of its type");
  CHECK(reason(global("torch", "device") + ")R") == "expected the name of a device");
  CHECK(reason(global("builtins", "complex") + ")R") == "expected the two parts of a complex number");
  CHECK(reason(global("collections", "OrderedDict") + "N\x85R") == "expected an OrderedDict without arguments");
}

TEST_CASE("trees are bounded", "[pickle]") {
  auto nested = [](size_t depth) {
    std::string body = ")";
    for (size_t i = 1; i != depth; ++i)
      body += "\x85";
    return body;
  };
  CHECK(error(nested(256)).empty());
  CHECK(error(nested(257)) == "record `data.pkl`: values are nested more than 256 deep");
  CHECK(error(nested(200000)) == "record `data.pkl`: values are nested more than 256 deep");
  // Seen from elsewhere first, so that the path on which it is too deep is not walked again.
  std::string twice = "(" + nested(200) + "q\x01h\x01";
  for (size_t i = 0; i != 100; ++i)
    twice += "\x85";
  CHECK(error(twice + "t") == "record `data.pkl`: values are nested more than 256 deep");
  CHECK(error("]q\x01h\x01"
              "a") == "record `data.pkl`: a list contains itself");
  CHECK(error("}q\x01" + text("a") + "h\x01s") == "record `data.pkl`: a dict contains itself");
  std::string bomb = "N";
  for (size_t i = 0; i != 60; ++i)
    bomb += "q\x01h\x01\x86";
  CHECK(error(bomb) == "record `data.pkl`: shared values stand for more than 10000000 values");
  CHECK(error("}(" + text("a") + "N" + text("a") + "Nu") == "record `data.pkl`: a dict has the key `a` twice");
  CHECK(error("}(K\x01NK\x01Nu") == "record `data.pkl`: a dict has the key `1` twice");
  CHECK_THAT(error(std::string(3'000'010, ']')), Catch::EndsWith("opcode EMPTY_LIST: more than 3000000 values"));
}
