// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/codegen/link.h"

#include <dlfcn.h>
#include <elf.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <sstream>

#include "bayloom/base/file.h"
#include "bayloom/base/system_error.h"
#include "bayloom/codegen/compile.h"
#include "bayloom/codegen/host.h"
#include "tests/execute.h"
#include "tests/temporary_folder.h"

namespace bayloom::codegen {
namespace {

using target::TargetKind;
using ::testing::HasSubstr;
using ::testing::Not;

/// A function that returns an element of the data, and one that calls the runtime.
constexpr char kModule[] = R"(
@net_data = external constant i8
@place = internal constant { ptr } { ptr @net_data }
define i32 @net_element(i64 %i) {
  %data = load ptr, ptr @place
  %element = getelementptr i8, ptr %data, i64 %i
  %value = load i8, ptr %element
  %wide = zext i8 %value to i32
  ret i32 %wide
}
define i32 @net_threads() {
  %threads = call i32 @bayloom_threads()
  ret i32 %threads
}
define i32 @hidden() {
  ret i32 1
}
declare i32 @bayloom_threads()
)";

/// The parts of a library whose data is as long as asked for.
class Parts {
 public:
  explicit Parts(TargetKind kind, int64_t bytes = 100'000)
      : data_(folder_ / "data.o", "net_data", kind) {
    std::string content(static_cast<size_t>(bytes), '\0');
    for (int64_t i = 0; i < bytes; ++i) content[static_cast<size_t>(i)] = ByteAt(i);
    data_.Append(content);
    data_.Finish();
    Result<std::string> object = CompileIr(kModule, kind);
    base::WriteFile(folder_ / "code.o", *object);
    parts_.folder = folder_.path();
    parts_.objects = {"code.o"};
    parts_.data = {&data_};
    parts_.functions = {"net_element", "net_threads"};
    parts_.kind = kind;
  }

  static char ByteAt(int64_t i) { return static_cast<char>(i * 7 + i / 251); }
  std::string Link(LibraryForm form) { return LinkLibrary(parts_, form, "net"); }
  LibraryParts& parts() { return parts_; }
  std::string operator/(const std::string& name) const { return folder_ / name; }

 private:
  TemporaryFolder folder_;
  DataObject data_;
  LibraryParts parts_;
};

TEST(Link, SharedLibrariesHoldTheirDataAndOnlyTheirFunctions) {
  for (const int64_t bytes : {0, 1, 4096, 65536, 1'000'000}) {
    Parts parts(HostKind(), bytes);
    void* const library = dlopen(parts.Link(LibraryForm::kShared).c_str(), RTLD_NOW | RTLD_LOCAL);
    ASSERT_NE(library, nullptr) << dlerror();
    const auto element = reinterpret_cast<int (*)(int64_t)>(dlsym(library, "net_element"));
    const auto threads = reinterpret_cast<int (*)()>(dlsym(library, "net_threads"));
    ASSERT_TRUE(element != nullptr && threads != nullptr);
    EXPECT_EQ(dlsym(library, "hidden"), nullptr);
    EXPECT_EQ(dlsym(library, "net_data"), nullptr);
    EXPECT_GE(threads(), 1);
    for (int64_t i = 0; i < bytes; i += 97) {
      ASSERT_EQ(element(i), static_cast<unsigned char>(Parts::ByteAt(i))) << i << " of " << bytes;
    }
    dlclose(library);
  }
}

/// That a function has not the version that the table says is seen only where a library is loaded.
TEST(Link, TheCLibraryHasAllThatNetworksMayCall) {
  std::ifstream table(std::string(BAYLOOM_TEST_SOURCES) + "/bayloom/codegen/runtime/c_library.txt");
  std::string line, word, declarations, elements;
  int count = 0;
  while (std::getline(table, line)) {
    if (line.starts_with("#")) continue;
    std::istringstream words(line);
    words >> word >> word;
    while (words >> word) {
      declarations += "declare void @" + word + "()\n";
      elements += (count++ > 0 ? ", ptr @" : "ptr @") + word;
    }
  }
  ASSERT_GT(count, 100);
  Parts parts(HostKind());
  base::WriteFile(parts / "all.o",
                  *CompileIr(fmt::format("{0}@all = internal constant [{1} x ptr] [{2}]\n"
                                         "define ptr @net_all() {{\n  ret ptr @all\n}}\n",
                                         declarations, count, elements),
                             HostKind()));
  parts.parts().objects.emplace_back("all.o");
  parts.parts().functions.emplace_back("net_all");
  void* const library = dlopen(parts.Link(LibraryForm::kShared).c_str(), RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(library, nullptr) << dlerror();
  const auto all = reinterpret_cast<void** (*)()>(dlsym(library, "net_all"));
  for (int i = 0; i < count; ++i) EXPECT_NE(all()[i], nullptr) << i;
  dlclose(library);
}

TEST(Link, StaticLibrariesAndObjectsAreLinkedByOthers) {
  for (const LibraryForm form : {LibraryForm::kArchive, LibraryForm::kObject}) {
    Parts parts(HostKind());
    const std::string library = parts.Link(form);
    base::WriteFile(
        parts / "main.c",
        "int net_element(long);\nint hidden(void) { return 2; }\n"
        "int main(void) { return net_element(1000) == 91 && hidden() == 2 ? 0 : 1; }\n");
    const base::CommandResult built = Execute(
        {"cc", parts / "main.c", library, "-lm", "-ldl", "-pthread", "-o", parts / "program"});
    ASSERT_TRUE(Succeeded(built)) << Describe(built);
    EXPECT_TRUE(Succeeded(Execute({parts / "program"})));
  }
}

/// The linker has state of its own, which one run must not leave to the next.
TEST(Link, KindsAndFormsMayAlternate) {
  for (int i = 0; i < 24; ++i) {
    const TargetKind kind = i % 2 == 0 ? TargetKind::kX86_64 : TargetKind::kAArch64;
    Parts parts(kind, 1000);
    const std::string library = parts.Link(static_cast<LibraryForm>(i / 2 % 3));
    if (i / 2 % 3 == static_cast<int>(LibraryForm::kArchive)) continue;
    Elf64_Ehdr header;
    std::memcpy(&header, base::ReadFile(library).data(), sizeof(header));
    EXPECT_EQ(header.e_machine, kind == TargetKind::kX86_64 ? EM_X86_64 : EM_AARCH64);
  }
}

TEST(Link, WhatIsMissingIsSaidAndTheNextLibraryIsLinked) {
  Parts parts(HostKind());
  parts.parts().objects.emplace_back("other.o");
  const auto reason = [&] {
    try {
      parts.Link(LibraryForm::kShared);
    } catch (const SystemError& error) {
      return std::string(error.what());
    }
    return std::string("linked");
  };
  EXPECT_THAT(reason(), HasSubstr("cannot open other.o"));
  base::WriteFile(parts / "other.o",
                  *CompileIr("declare i32 @nowhere()\ndefine i32 @net_element2() {\n"
                             "  %r = call i32 @nowhere()\n  ret i32 %r\n}\n",
                             HostKind()));
  parts.parts().functions.emplace_back("net_element2");
  EXPECT_THAT(reason(), HasSubstr("undefined symbol: nowhere"));
  EXPECT_THAT(reason(), Not(HasSubstr("\n")));
  parts.parts().objects.pop_back();
  parts.parts().functions.pop_back();
  EXPECT_EQ(reason(), "linked");
}

}  // namespace
}  // namespace bayloom::codegen
