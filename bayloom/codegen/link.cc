// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/codegen/link.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <lld/Common/Driver.h>
#include <llvm/ObjCopy/CommonConfig.h>
#include <llvm/ObjCopy/ConfigManager.h>
#include <llvm/ObjCopy/ObjCopy.h>
#include <llvm/Object/ArchiveWriter.h>
#include <llvm/Object/Binary.h>
#include <llvm/Support/FileOutputBuffer.h>
#include <llvm/Support/raw_ostream.h>

#include <array>
#include <cstring>
#include <filesystem>
#include <mutex>
#include <regex>
#include <span>
#include <stdexcept>

#include "bayloom/base/descriptor.h"
#include "bayloom/base/file.h"
#include "bayloom/base/result.h"
#include "bayloom/base/scratch_folder.h"
#include "bayloom/base/single_line.h"
#include "bayloom/base/system_error.h"
#include "bayloom/codegen/object.h"

LLD_HAS_DRIVER(elf)

/// lld::elf::ElfSym::globalOffsetTable, which LLVM 19 does not forget from one run to the next:
/// where the next one has no such symbol, it would write to the memory of the last one's.
extern void* table_of_last_run asm("_ZN3lld3elf6ElfSym17globalOffsetTableE");

// Made when Bayloom is built (cmake/BayloomRuntimeObjects.cmake): by architecture the runtime, and
// for each library of the C library what stands for it when others are linked. Empty where there
// was no compiler for the architecture.
#define BAYLOOM_FILE(name)      \
  extern "C" const char name[]; \
  extern "C" const uint64_t name##_size;
#define BAYLOOM_FILES(architecture)               \
  BAYLOOM_FILE(bayloom_runtime_##architecture)    \
  BAYLOOM_FILE(bayloom_libc_##architecture)       \
  BAYLOOM_FILE(bayloom_libm_##architecture)       \
  BAYLOOM_FILE(bayloom_libpthread_##architecture) \
  BAYLOOM_FILE(bayloom_libdl_##architecture)      \
  BAYLOOM_FILE(bayloom_ld_##architecture)
BAYLOOM_FILES(x86_64)
BAYLOOM_FILES(aarch64)

namespace bayloom::codegen {
namespace {

using target::TargetKind;

struct EmbeddedFile {
  const char* name;
  std::string_view content;
};

/// The runtime, and what stands for the C library.
std::array<EmbeddedFile, 6> FilesFor(TargetKind kind) {
#define BAYLOOM_CONTENT(name) std::string_view(name, name##_size)
#define BAYLOOM_CONTENTS(architecture)                                           \
  {                                                                              \
    {                                                                            \
      {"runtime.o", BAYLOOM_CONTENT(bayloom_runtime_##architecture)},            \
          {"libc.so", BAYLOOM_CONTENT(bayloom_libc_##architecture)},             \
          {"libm.so", BAYLOOM_CONTENT(bayloom_libm_##architecture)},             \
          {"libpthread.so", BAYLOOM_CONTENT(bayloom_libpthread_##architecture)}, \
          {"libdl.so", BAYLOOM_CONTENT(bayloom_libdl_##architecture)}, {         \
        "ld.so", BAYLOOM_CONTENT(bayloom_ld_##architecture)                      \
      }                                                                          \
    }                                                                            \
  }
  switch (kind) {
    case TargetKind::kX86_64:
      return BAYLOOM_CONTENTS(x86_64);
    case TargetKind::kAArch64:
      return BAYLOOM_CONTENTS(aarch64);
    case TargetKind::kNvidiaGpu:
    case TargetKind::kOtherCpu:
      break;
  }
  return {};
}

/// The linker's own words for what went wrong first.
std::string LinkersReason(const std::string& output) {
  const size_t found = output.find("error: ");
  const size_t begin = found == std::string::npos ? 0 : found + std::strlen("error: ");
  // Without the paths of PlainPath.
  static const std::regex kFolder("/proc/self/fd/[0-9]+/");
  return base::SingleLine(
      std::regex_replace(output.substr(begin, output.find('\n', begin) - begin), kFolder, ""), 200);
}

void RunLinker(const std::vector<std::string>& options, const std::vector<std::string>& inputs) {
  static std::mutex one_at_a_time;
  static bool is_broken = false;
  const std::lock_guard lock(one_at_a_time);
  if (is_broken) throw SystemError("the linker failed before and cannot be used again");
  table_of_last_run = nullptr;
  std::vector<const char*> list = {"ld.lld", "--threads", "1"};
  for (const std::string& option : options) list.push_back(option.c_str());
  for (const std::string& input : inputs) list.push_back(input.c_str());
  std::string output;
  llvm::raw_string_ostream stream(output);
  const lld::Result result = lld::lldMain(list, stream, stream, {{lld::Gnu, &lld::elf::link}});
  is_broken = !result.canRunAgain;
  if (result.retCode != 0) throw SystemError("the linker failed: " + LinkersReason(output));
}

/// Another path of a folder, which has none of the signs that mean something to the linker.
class PlainPath {
 public:
  explicit PlainPath(const std::string& folder)
      : folder_(open(folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)) {}
  std::string operator/(const std::string& name) const {
    return fmt::format("/proc/self/fd/{}/{}", folder_.number(), name);
  }

 private:
  base::Descriptor folder_;
};

/// What other objects may call of this one is the functions alone.
void HideAllBut(const std::vector<std::string>& functions, const std::string& from,
                const std::string& to) {
  const auto check = [](llvm::Error error) {
    if (error) throw SystemError("cannot write an object: " + llvm::toString(std::move(error)));
  };
  llvm::objcopy::ConfigManager config;
  config.Common.InputFilename = from;
  config.Common.OutputFilename = to;
  for (const std::string& function : functions) {
    check(config.Common.SymbolsToKeepGlobal.addMatcher(llvm::objcopy::NameOrPattern::create(
        function, llvm::objcopy::MatchStyle::Literal, [](llvm::Error error) { return error; })));
  }
  auto binary = llvm::object::createBinary(from);
  if (!binary) return check(binary.takeError());
  llvm::SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream stream(bytes);
  check(llvm::objcopy::executeObjcopyOnBinary(config, *binary->getBinary(), stream));
  base::WriteFile(to, std::string_view(bytes.data(), bytes.size()));
}

void WriteArchive(const std::vector<std::string>& objects, const std::string& path) {
  const auto check = [](llvm::Error error) {
    if (error) throw SystemError("cannot write an archive: " + llvm::toString(std::move(error)));
  };
  std::vector<llvm::NewArchiveMember> members;
  for (const std::string& object : objects) {
    auto member = llvm::NewArchiveMember::getFile(object, true);
    if (!member) return check(member.takeError());
    members.push_back(std::move(*member));
  }
  check(llvm::writeArchive(path, members, llvm::SymtabWritingMode::NormalSymtab,
                           llvm::object::Archive::K_GNU, true, false));
}

}  // namespace

std::optional<LibraryForm> ParseLibraryForm(std::string_view name) {
  if (name == "shared") return LibraryForm::kShared;
  if (name == "static") return LibraryForm::kArchive;
  if (name == "object") return LibraryForm::kObject;
  return std::nullopt;
}

std::string LibraryFile(LibraryForm form, const std::string& name) {
  switch (form) {
    case LibraryForm::kShared:
      return fmt::format("lib{}.so", name);
    case LibraryForm::kArchive:
      return fmt::format("lib{}.a", name);
    case LibraryForm::kObject:
      break;
  }
  return name + ".o";
}

std::string LinkLibrary(const LibraryParts& parts, LibraryForm form, const std::string& name) {
  InitializeLlvm();
  const std::array<EmbeddedFile, 6> files = FilesFor(parts.kind);
  if (files[0].content.empty()) {
    throw InputError(
        fmt::format("this build makes no libraries for {}: it was built without a compiler for it",
                    target::ToString(parts.kind)));
  }
  const base::ScratchFolder scratch(parts.folder);
  const PlainPath here(parts.folder), there(scratch.path());
  const std::string file = LibraryFile(form, name);
  const std::string path = (std::filesystem::path(parts.folder) / file).string();
  const auto embedded = [&](const EmbeddedFile& content) {
    scratch.Write(content.name, content.content);
    return there / content.name;
  };
  std::vector<std::string> inputs = {embedded(files[0])};
  for (const std::string& object : parts.objects) inputs.push_back(here / object);
  if (form == LibraryForm::kShared) {
    scratch.Write("visible", fmt::format("{{\n  global: {};\n  local: *;\n}};\n",
                                         fmt::join(parts.functions, "; ")));
    for (size_t i = 0; i < parts.data.size(); ++i) {
      const std::string placeholder = fmt::format("data{}.o", i);
      parts.data[i]->WritePlaceholder(scratch / placeholder);
      inputs.push_back(there / placeholder);
    }
    for (const EmbeddedFile& library : std::span(files).subspan(1)) {
      inputs.push_back(embedded(library));
    }
    // The thread pool's workers outlive a dlclose, so the code must not be unmapped by one.
    RunLinker({"-shared", "--gc-sections", "--as-needed", "--hash-style", "gnu", "-z", "defs", "-z",
               "nodelete", "-z", "noexecstack", "-z", "lrodata-after-bss", "--version-script",
               there / "visible", "-o", here / file},
              inputs);
    FillPlaceholders(path, parts.data);
    return path;
  }
  std::vector<std::string> members = {scratch / "hidden.o"};
  for (const DataObject* data : parts.data) {
    if (form == LibraryForm::kArchive) members.push_back(data->path());
    if (form == LibraryForm::kObject) inputs.push_back(data->path());
  }
  RunLinker({"-r", "-o", there / "joined.o"}, inputs);
  HideAllBut(parts.functions, scratch / "joined.o",
             form == LibraryForm::kObject ? path : members[0]);
  if (form == LibraryForm::kArchive) WriteArchive(members, path);
  return path;
}

std::string LinkSharedLibrary(std::string_view object) {
  InitializeLlvm();
  const base::ScratchFolder scratch;
  const PlainPath there(scratch.path());
  scratch.Write("kernel.o", object);
  RunLinker({"-shared", "-o", there / "kernel.so"}, {there / "kernel.o"});
  return base::ReadFile(scratch / "kernel.so");
}

}  // namespace bayloom::codegen
