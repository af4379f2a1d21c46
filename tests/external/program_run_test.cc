#include "bayloom/external/program_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <thread>

#include "bayloom/base/clock.h"

namespace bayloom {
namespace {

using End = ProgramRun::End;

ProgramCall Shell(const std::string& text) {
  ProgramCall call;
  call.arguments = {"/bin/sh", "-c", text};
  return call;
}

TEST(RunProgram, GathersOutputAndStatus) {
  const ProgramRun run = RunProgram(Shell("echo out; echo first >&2; echo last >&2; exit 3"), {});
  EXPECT_EQ(run.end, End::kExited);
  EXPECT_EQ(run.status.code, 3);
  EXPECT_EQ(run.output, "out\n");
  EXPECT_EQ(LastWords(run.errors), "last");
}

TEST(RunProgram, FeedsInputOfAnySize) {
  ProgramCall call = Shell("wc -c");
  call.input = std::string(1000000, 'x');
  EXPECT_EQ(RunProgram(call, {}).output, "1000000\n");
  // Whoever does not read it does not hurt.
  call.arguments = {"/bin/true"};
  EXPECT_TRUE(RunProgram(call, {}).status.Success());
}

TEST(RunProgram, KeepsTheEndOfLongOutput) {
  const ProgramRun run = RunProgram(Shell("head -c 10000000 /dev/zero; echo end"), {});
  EXPECT_LE(run.output.size(), size_t{1} << 20);
  EXPECT_TRUE(run.output.ends_with("end\n"));
}

TEST(RunProgram, EndsWhatTakesTooLong) {
  ProgramCall call = Shell("sleep 60 & sleep 60");
  call.timeout = 0.2;
  const double begun = MonotonicSeconds();
  EXPECT_EQ(RunProgram(call, {}).end, End::kTimedOut);
  EXPECT_LT(MonotonicSeconds() - begun, 10);
}

TEST(RunProgram, DoesNotWaitForWhatIsLeftBehind) {
  const double begun = MonotonicSeconds();
  const ProgramRun run = RunProgram(Shell("sleep 60 & echo 1"), {});
  EXPECT_TRUE(run.status.Success());
  EXPECT_EQ(run.output, "1\n");
  EXPECT_LT(MonotonicSeconds() - begun, 10);
}

TEST(RunProgram, StopsWhenAsked) {
  std::stop_source source;
  std::jthread later([&source] {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    source.request_stop();
  });
  EXPECT_EQ(RunProgram(Shell("sleep 60"), source.get_token()).end, End::kStopped);
}

TEST(RunProgram, TellsSignalsAndMissingPrograms) {
  EXPECT_THAT(RunProgram(Shell("kill -SEGV $$"), {}).status.Describe(), testing::HasSubstr("SEGV"));
  ProgramCall missing;
  missing.arguments = {"/nonexistent/program"};
  const ProgramRun run = RunProgram(missing, {});
  EXPECT_EQ(run.end, End::kNotStarted);
  EXPECT_THAT(run.problem, testing::HasSubstr("/nonexistent/program"));
}

TEST(RunProgram, RunsInAFolderAndAnEnvironment) {
  ProgramCall call = Shell("pwd; echo $BAYLOOM_TEST_VARIABLE");
  call.directory = "/";
  call.environment = {"BAYLOOM_TEST_VARIABLE=set here"};
  EXPECT_EQ(RunProgram(call, {}).output, "/\nset here\n");
  call.directory = "/nonexistent";
  EXPECT_EQ(RunProgram(call, {}).end, End::kNotStarted);
}

}  // namespace
}  // namespace bayloom
