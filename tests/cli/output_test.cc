// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

// What is printed: that it arrives or is missed, and that it is fit for a terminal.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "bayloom/base/utf8.h"
#include "bayloom/record/store.h"
#include "tests/cli/run_bayloom.h"
#include "tests/cli/sample_databases.h"
#include "tests/record/sample.h"
#include "tests/temporary_folder.h"

namespace bayloom::cli {
namespace {

/// The exit code of a line for the shell in which $BAYLOOM is the program.
int Shell(const std::string& line) {
  const int status = std::system(("BAYLOOM=" BAYLOOM_PROGRAM "; " + line).c_str());
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

std::string Contents(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(Output, AFullDiskIsNoticedWhateverIsPrinted) {
  const TemporaryFolder folder;
  for (const char* name : kSampleDatabases) UnpackSample(name, folder / name);
  const std::string errors = folder / "errors";
  for (const char* command :
       {"records export {}/tune", "records export {}/pool", "records export {}/search --run 1",
        "records clean {}/tune", "show {}/tune", "show {}/search --json", "report {}/map",
        "report {}/map --json", "--help", "--version", "help tune", "show --help", ""}) {
    std::string arguments = command;
    const size_t hole = arguments.find("{}");
    if (hole != std::string::npos) arguments.replace(hole, 2, folder.path());
    EXPECT_EQ(Shell("$BAYLOOM " + arguments + " >/dev/full 2>" + errors), 1) << arguments;
    const std::string message = Contents(errors);
    EXPECT_TRUE(message.starts_with("bayloom: cannot write")) << arguments << ": " << message;
    EXPECT_NE(message.find("No space left on device"), std::string::npos) << message;
    EXPECT_EQ(message.find('\n'), message.size() - 1) << message;
    EXPECT_EQ(Shell("$BAYLOOM " + arguments + " >/dev/null 2>&1"), 0) << arguments;
  }
}

TEST(Output, MessagesAreOneBoundedLineWithoutControlCharacters) {
  const std::string hostile = "\x1b[2J\n\xff\r" + std::string(200'000, 'x');
  const TemporaryFolder folder;
  const std::string import = folder / "import.jsonl", yaml = folder / "chip.yaml";
  std::ofstream(import) << "{\"type\":\"header\",\"format\":\"\x1b[31m\"}\n";
  std::ofstream(yaml) << "architecture:\n  " << std::string(3000, 'x') << ": \x1b[31m\n";
  const std::string name = hostile.substr(0, 2000);
  for (const std::vector<std::string>& arguments : std::vector<std::vector<std::string>>{
           {hostile},
           {"show", name},
           {"show", "--op", hostile},
           {"show", "--op", "matmul:1,2," + hostile},
           {"tune", "--op", hostile},
           {"map", "--op", hostile, "--arch", "gemmini"},
           {"map", "--op", "matmul:8,8,8", "--arch", name},
           {"map", "--op", "matmul:8,8,8", "--arch", yaml},
           {"map", "--op", "matmul:8,8,8", "--arch", "gemmini", "--mapper", hostile},
           {"map", "--op", "matmul:8,8,8", "--arch", "gemmini", "--objective", hostile},
           {"map", "--op", "matmul:8,8,8", "--arch", "gemmini", "--counting", hostile},
           {"records", "import", folder / "a.db", import},
           {"records", "import", folder / "a.db", name},
           {"records", "export", name},
           {"report", name},
           {"search", name},
           {"tune", name},
           {"help", hostile},
       }) {
    const Answer answer = RunBayloom(arguments);
    EXPECT_EQ(answer.exit_code, 2) << arguments[0];
    EXPECT_EQ(answer.error.find('\n'), answer.error.size() - 1) << answer.error.substr(0, 300);
    EXPECT_LE(answer.error.size(), 1100u);
    EXPECT_TRUE(base::IsUtf8(answer.error));
    EXPECT_EQ(answer.error.find('\x1b'), std::string::npos);
    EXPECT_EQ(answer.error.find('\r'), std::string::npos);
  }
}

TEST(Output, DatabasesAreReadAsAUserWhoMayWriteNothing) {
  const TemporaryFolder folder;
  for (const char* name : kSampleDatabases) UnpackSample(name, folder / name);
  {
    record::Store store(folder / "new");
    const record::Context context(store);
    store.AddTrial(record::MakeTrial(context, 0, 1));
  }
  for (const auto& entry : std::filesystem::directory_iterator(folder.path())) {
    chmod(entry.path().c_str(), 0444);
  }
  chmod(folder.path().c_str(), 0555);
  const bool is_root = geteuid() == 0;
  if (is_root && Shell("setpriv --reuid=65534 --clear-groups $BAYLOOM --version >/dev/null") != 0) {
    GTEST_SKIP() << "no other user may run the program here";
  }
  const std::string as_stranger = is_root ? "setpriv --reuid=65534 --clear-groups " : "";
  for (const char* name : {"tune", "pool", "search", "map", "new"}) {
    for (const char* command :
         {"show", "show --json", "report", "records export", "records clean"}) {
      EXPECT_EQ(Shell(as_stranger + "$BAYLOOM " + command + " " + folder / name + " >/dev/null"), 0)
          << command << " " << name;
    }
  }
  chmod(folder.path().c_str(), 0777);
}

}  // namespace
}  // namespace bayloom::cli
