// DEPS: stator::compiler::Import::Torch::Archive
// Torch archives: root folders, kinds, records, nested archives, and every reason to refuse a file.
#include "test/unit/compiler/Import/Torch/Archive/ArchiveSample.h"

using namespace stator;
using namespace stator::test;
using namespace stator::torch;
using pickle::whole;

static std::string text(const Archive &archive, const std::string &name) {
  Result<std::string_view> content = archive.text(*archive.find(name));
  return content.ok() ? std::string(*content) : content.status().message();
}

TEST_CASE("a TorchScript file is known by its records", "[archive]") {
  std::vector<SampleRecord> records = scriptRecords(whole(")"));
  records.push_back({"m/code/__torch__.py", std::string(5000, 'x'), /*isDeflated=*/true});
  records.push_back({"m/code/__torch__/a.py", "y"});
  records.push_back({"m/byteorder", "little"});
  std::shared_ptr<Archive> archive = *openBytes(archiveFile(records));
  CHECK(archive->kind() == ArchiveKind::TorchScript);
  CHECK(std::string(name(archive->kind())) == "TorchScript");
  CHECK(archive->root() == "m");
  CHECK(archive->version() == 3);
  CHECK(archive->records().size() == 6);
  CHECK(archive->find("m/version") == nullptr);
  CHECK(archive->find("data.pkl")->isStored);
  CHECK_FALSE(archive->find("code/__torch__.py")->isStored);
  CHECK(text(*archive, "code/__torch__.py") == std::string(5000, 'x'));
  // Unpacked once, kept in place.
  CHECK(archive->bytes("code/__torch__.py")->data() == archive->bytes("code/__torch__.py")->data());
  CHECK(archive->recordsBelow("code/").size() == 2);
  CHECK(archive->programs().empty());
  CHECK(archive->bytes("data/7").status().message() == "has no record `data/7`");
  // Nothing of it is mapped.
  CHECK_FALSE(archive->fileOffset(*archive->find("data.pkl")));
}

TEST_CASE("records of a file are found in its mapping", "[archive]") {
  TemporaryFolder folder;
  std::vector<SampleRecord> records = scriptRecords(whole(")"));
  records.push_back({"m/data/0", "weights"});
  records.push_back({"m/data/1", std::string(500, 'p'), /*isDeflated=*/true});
  std::string file = archiveFile(records);
  writeBytes(folder.path("any.bin"), file);
  std::shared_ptr<Archive> archive = *Archive::open(folder.path("any.bin"));
  uint64_t offset = *archive->fileOffset(*archive->find("data/0"));
  CHECK(file.substr(offset, 7) == "weights");
  CHECK_FALSE(archive->fileOffset(*archive->find("data/1")));
  CHECK(archive->fileOffset(*archive->bytes("data/0")) == offset);
  CHECK_FALSE(archive->fileOffset(*archive->bytes("data/1")));
  CHECK(Archive::open(folder.path("absent.pt")).status().code() == StatusCode::NotFound);
}

TEST_CASE("torch.export files of all layouts", "[archive]") {
  std::shared_ptr<Archive> raw = *openBytes(archiveFile({{"a/archive_format", "pt2"},
                                                         {"a/models/model.json", "{}"},
                                                         {"a/models/other.json", "{}"},
                                                         {"a/models/deep/x.json", "{}"},
                                                         {"a/data/weights/model_weights_config.json", "{}"},
                                                         {"a/.data/version", "6\n"}}));
  CHECK(raw->kind() == ArchiveKind::Export);
  CHECK(raw->version() == 6);
  CHECK(raw->programs() == std::vector<std::string>{"model", "other"});
  std::shared_ptr<Archive> pickled =
      *openBytes(archiveFile({{"a/archive_format", "pt2\n"}, {"a/models/model.json", "{}"}, {"a/data/weights/model.pt", ""}}));
  CHECK(pickled->kind() == ArchiveKind::ExportPickled);
  std::shared_ptr<Archive> legacy = *openBytes(archiveFile({{"serialized_exported_program.json", "{}"}, {"version", "8.2"}}));
  CHECK(legacy->kind() == ArchiveKind::ExportLegacy);
  CHECK(legacy->root().empty());
  CHECK_FALSE(legacy->version());
  CHECK(text(*legacy, "version") == "8.2");
  CHECK(std::string(name(legacy->kind())) == "torch.export");
}

TEST_CASE("files within files", "[archive]") {
  std::string inner = archiveFile({{"archive/data.pkl", whole("}")}, {"archive/data/0", "payload"}, {"archive/version", "3"}});
  std::string script = archiveFile(scriptRecords(whole(")")));
  TemporaryFolder folder;
  std::string file = archiveFile({{"serialized_exported_program.json", "{}"},
                                  {"stored.pt", inner},
                                  {"packed.pt", inner, /*isDeflated=*/true},
                                  {"script.pt", script},
                                  {"empty.pt", ""}});
  writeBytes(folder.path("x.pt2"), file);
  std::shared_ptr<Archive> outer = *Archive::open(folder.path("x.pt2"));
  std::shared_ptr<Archive> stored = *outer->openNested(*outer->find("stored.pt"));
  CHECK(stored->kind() == ArchiveKind::StateDict);
  CHECK(std::string(name(stored->kind())) == "torch.save");
  CHECK(file.substr(*stored->fileOffset(*stored->find("data/0")), 7) == "payload");
  std::shared_ptr<Archive> packed = *outer->openNested(*outer->find("packed.pt"));
  CHECK_FALSE(packed->fileOffset(*packed->find("data/0")));
  CHECK(outer->openNested(*outer->find("script.pt")).status().message() ==
        "record `script.pt`: is a TorchScript file, expected one of torch.save");
  CHECK(outer->openNested(*outer->find("empty.pt")).status().message() ==
        "record `empty.pt`: is empty, expected a TorchScript or torch.export file");
  // The inner ones need the outer one no longer.
  outer.reset();
  CHECK(packed->bytes("data/0")->size() == 7);
  CHECK(stored->bytes("data/0")->size() == 7);
}

TEST_CASE("what is no program is refused with a hint", "[archive]") {
  const std::string hint = ": this is a state dict or another pickled object, not a program. Export the model in Python, with "
                           "`torch.export.save(torch.export.export(model, inputs), \"model.pt2\")` or with "
                           "`torch.jit.save(torch.jit.trace(model, inputs), \"model.pt\")`";
  CHECK(openError("") == "is empty, expected a TorchScript or torch.export file");
  CHECK(openError("\x80\x02\x8a\x0a") == "is a bare Python pickle, as torch.save wrote before version 1.6" + hint);
  std::string tar(512, '\0');
  tar.replace(257, 5, "ustar");
  CHECK(openError(tar) == "is a tar archive, as torch.save wrote before version 0.2" + hint);
  CHECK(openError("hello") == "is not a zip file, so neither a TorchScript nor a torch.export file");
  std::string dict = archiveFile({{"archive/data.pkl", whole("}")}, {"archive/version", "3"}});
  CHECK(openError(dict) == "is a file of torch.save" + hint);
  CHECK(openBytes(dict).status().code() == StatusCode::Unsupported);
  CHECK(openBytes(dict, /*isNested=*/true).ok());
  CHECK(openError(archiveFile({{"word/document.xml", "x"}})) ==
        "is a zip file, but neither a TorchScript file (no `data.pkl`) nor a torch.export file (no `archive_format`)");
  CHECK(openError(archiveFile({{"a/constants.pkl", "x"}})) == "has `constants.pkl` but no `data.pkl`, expected both of a TorchScript file");
  CHECK(openError(archiveFile({{"a/archive_format", "pt3"}})) == "has the archive format `pt3`, expected `pt2`");
  CHECK(openError(archiveFile({{"a/archive_format", "pt2"}})) == "has no program (`models/NAME.json`)");
  CHECK(openError(archiveFile({{"a/archive_format", "pt2"}, {"a/data/aotinductor/model/x.so", "x"}})) ==
        "holds compiled code (data/aotinductor/) and no program; save the model with `torch.export.save`");
}

TEST_CASE("damaged and foreign archives are refused", "[archive]") {
  CHECK(openError(archiveFile({{"a/data.pkl", "x"}, {"b/data.pkl", "x"}})) == "has two root folders, `a` and `b`");
  auto with = [](const std::string &name, const std::string &content) {
    std::vector<SampleRecord> records = scriptRecords(whole(")"));
    records.push_back({name, content});
    return openError(archiveFile(records));
  };
  CHECK(with("m/byteorder", "big") == "was written in big-endian byte order, only little-endian files can be read");
  CHECK(with("m/byteorder", "middle") == "has the byte order `middle`, expected `little`");
  CHECK(with("m/byteorder", "little\n").empty());
  CHECK(with("m/.data/version", "11") == "is a TorchScript file of version `11`, expected 1 to 10");
  CHECK(with("m/.data/version", "0") == "is a TorchScript file of version `0`, expected 1 to 10");
  CHECK(with("m/.data/version", "x") == "is a TorchScript file of version `x`, expected 1 to 10");
  CHECK(with("m/.data/version", "10").empty());
  CHECK(openError(archiveFile({{"m/data.pkl", ""}, {"m/constants.pkl", ""}})) ==
        "has no `version` record, expected a TorchScript file of version 1 to 10");
  CHECK(with("m/\xff", "") == "zip entry `m/\\xff` has a name that is not UTF-8 text");
  CHECK(with("m/a\nb", "") == "zip entry `m/a?b` has a name that is not UTF-8 text");
  CHECK(with("__MACOSX/m/data", "").empty());
}

TEST_CASE("names have a limit", "[archive]") {
  // The writer of zips refuses such names itself, so that this one is written byte by byte: an entry without content.
  std::string name(5000, 'n');
  std::string sizes(12, '\0'), lengths = pickle::number(name.size(), 2) + pickle::number(0, 2);
  std::string local = "PK\3\4" + std::string(10, '\0') + sizes + lengths + name;
  std::string directory = "PK\1\2" + std::string(12, '\0') + sizes + lengths + std::string(14, '\0') + name;
  std::string end = "PK\5\6" + std::string(4, '\0') + pickle::number(1, 2) + pickle::number(1, 2) + pickle::number(directory.size(), 4) +
                    pickle::number(local.size(), 4) + std::string(2, '\0');
  CHECK(openError(local + directory + end) ==
        "zip entry `" + std::string(40, 'n') + "...` has a name of 5000 bytes, at most 4096 are accepted");
}

TEST_CASE("records are verified on their first use", "[archive]") {
  std::vector<SampleRecord> records = scriptRecords(whole(")"));
  records.push_back({"m/data/0", "weights"});
  records.push_back({"m/code/a.py", "bad \xff text"});
  std::string file = archiveFile(records);
  file[file.find("weights")] ^= 1;
  std::shared_ptr<Archive> archive = *openBytes(file);
  CHECK(archive->bytes("data/0").status().message() == "zip entry `m/data/0`: its checksum is wrong");
  CHECK(text(*archive, "code/a.py") == "record `code/a.py` is not UTF-8 text at byte 4");
}

TEST_CASE("unpacking is bounded", "[archive]") {
  std::vector<SampleRecord> records = scriptRecords(whole(")"));
  records.push_back({"m/code/bomb.py", std::string(3 << 20, 'x'), /*isDeflated=*/true});
  records.push_back({"m/code/small.py", std::string(1 << 20, 'x'), /*isDeflated=*/true});
  std::shared_ptr<Archive> archive = *openBytes(archiveFile(records));
  CHECK_THAT(archive->bytes("code/bomb.py").status().message(),
             Catch::Matches("record `code/bomb.py` unpacks \\d+ bytes to 3145728, more than 200 times as many"));
  CHECK(archive->bytes("code/small.py").ok());
}
