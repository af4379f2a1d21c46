// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/base/run_command.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <thread>

#include "bayloom/base/clock.h"
#include "tests/base/running_process.h"
#include "tests/patience.h"
#include "tests/temporary_folder.h"

namespace bayloom::base {
namespace {

using End = CommandResult::End;

Command ShellCommand(const std::string& text) {
  Command command;
  command.arguments = {"/bin/sh", "-c", text};
  return command;
}

TEST(RunCommand, GathersOutputAndStatus) {
  const CommandResult result =
      RunCommand(ShellCommand("echo out; echo first >&2; echo last >&2; exit 3"));
  EXPECT_EQ(result.end, End::kExited);
  EXPECT_EQ(result.status.code, 3);
  EXPECT_EQ(result.output, "out\n");
  EXPECT_EQ(LastLine(result.error_output), "last");
}

TEST(RunCommand, FeedsInputOfAnySize) {
  Command command = ShellCommand("wc -c");
  command.input = std::string(1000000, 'x');
  EXPECT_EQ(RunCommand(command).output, "1000000\n");
  // A command that does not read it does no harm.
  command.arguments = {"/bin/true"};
  EXPECT_TRUE(RunCommand(command).status.Success());
}

TEST(RunCommand, KeepsTheEndOfLongOutput) {
  const CommandResult result = RunCommand(ShellCommand("head -c 10000000 /dev/zero; echo end"));
  EXPECT_LE(result.output.size(), size_t{1} << 20);
  EXPECT_TRUE(result.output.ends_with("end\n"));
}

TEST(RunCommand, EndsWhatTakesTooLong) {
  for (const char* script : {"sleep 60 & echo $!; sleep 60", "sleep 60 & echo $!; yes >&2"}) {
    Command command = ShellCommand(script);
    CommandResult result;
    double begun = 0;
    // On a busy machine it may be ended before it has said anything.
    for (command.timeout_seconds = 0.2; result.output.empty(); command.timeout_seconds *= 3) {
      begun = MonotonicSeconds();
      result = RunCommand(command);
      ASSERT_EQ(result.end, End::kTimedOut);
    }
    EXPECT_LT(MonotonicSeconds() - begun, kPatienceSeconds);
    EXPECT_TRUE(EndsSoon(LastLine(result.output))) << script;
  }
}

TEST(RunCommand, KillsChildrenLeftInTheBackground) {
  const double begun = MonotonicSeconds();
  const CommandResult result = RunCommand(ShellCommand("sleep 60 & echo $!"));
  EXPECT_TRUE(result.status.Success());
  EXPECT_LT(MonotonicSeconds() - begun, kPatienceSeconds);
  EXPECT_TRUE(EndsSoon(LastLine(result.output)));
}

TEST(RunCommand, StopsWhenAsked) {
  const TemporaryFolder folder;
  std::stop_source source;
  std::jthread later([&] {
    while (!std::filesystem::exists(folder / "busy")) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    source.request_stop();
  });
  const double begun = MonotonicSeconds();
  const CommandResult result =
      RunCommand(ShellCommand("sleep 60 & echo $!; touch " + folder / "busy" + "; sleep 60"),
                 source.get_token());
  EXPECT_EQ(result.end, End::kStopped);
  EXPECT_LT(MonotonicSeconds() - begun, kPatienceSeconds);
  EXPECT_TRUE(EndsSoon(LastLine(result.output)));
}

TEST(RunCommand, LimitsMemory) {
  Command command;
  command.arguments = {"dd", "if=/dev/zero", "of=/dev/null", "bs=512M", "count=1"};
  EXPECT_TRUE(RunCommand(command).status.Success());
  command.memory_limit_bytes = int64_t{64} << 20;
  EXPECT_FALSE(RunCommand(command).status.Success());
}

TEST(RunCommand, LimitsTheMemoryOfAllProcessesTogether) {
  const auto hungry = [](const std::string& seconds) {
    return ShellCommand("for i in 1 2 3 4; do head -c 60M /dev/zero | tail -c 50M | (sleep " +
                        seconds + "; wc -c) & done; wait");
  };
  EXPECT_EQ(RunCommand(hungry("1")).end, End::kExited);
  Command limited = hungry("60");  // they wait to be ended
  limited.memory_limit_bytes = int64_t{130} << 20;
  EXPECT_EQ(RunCommand(limited).end, End::kMemory);
}

TEST(RunCommand, ReportsSignalsAndMissingPrograms) {
  EXPECT_THAT(RunCommand(ShellCommand("kill -SEGV $$")).status.Describe(),
              testing::HasSubstr("SEGV"));
  Command missing;
  missing.arguments = {"/nonexistent/program"};
  const CommandResult result = RunCommand(missing);
  EXPECT_EQ(result.end, End::kNotStarted);
  EXPECT_THAT(result.start_error, testing::HasSubstr("/nonexistent/program"));
}

TEST(RunCommand, RunsInAFolderAndAnEnvironment) {
  Command command = ShellCommand("pwd; echo $BAYLOOM_TEST_VARIABLE");
  command.directory = "/";
  command.environment = {"BAYLOOM_TEST_VARIABLE=set here"};
  EXPECT_EQ(RunCommand(command).output, "/\nset here\n");
  command.directory = "/nonexistent";
  EXPECT_EQ(RunCommand(command).end, End::kNotStarted);
}

}  // namespace
}  // namespace bayloom::base
