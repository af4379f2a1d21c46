// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/base/subprocess.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <string>

#include "bayloom/base/clock.h"
#include "bayloom/base/system_error.h"

namespace bayloom::base {
namespace {

SubprocessOptions Shell(const std::string& script) {
  SubprocessOptions options;
  options.arguments = {"sh", "-c", script};
  return options;
}

std::string ReadAll(int descriptor) {
  std::string text;
  char buffer[4096];
  ssize_t bytes;
  while ((bytes = read(descriptor, buffer, sizeof(buffer))) > 0) text.append(buffer, bytes);
  return text;
}

TEST(Subprocess, TellsHowAProcessEnded) {
  Result<Subprocess> good = Subprocess::Start(Shell("exit 0"));
  ASSERT_TRUE(good);
  EXPECT_TRUE(good->Wait()->Success());
  Result<Subprocess> bad = Subprocess::Start(Shell("exit 3"));
  ASSERT_TRUE(bad);
  EXPECT_EQ(bad->Wait()->Describe(), "exit code 3");
  Result<Subprocess> crash = Subprocess::Start(Shell("kill -SEGV $$"));
  ASSERT_TRUE(crash);
  EXPECT_EQ(crash->Wait()->Describe(), "signal 11 (SIGSEGV)");
}

TEST(Subprocess, SaysWhichProgramCannotBeRun) {
  SubprocessOptions options;
  options.arguments = {"/nowhere/at/all"};
  Result<Subprocess> child = Subprocess::Start(options);
  ASSERT_FALSE(child);
  EXPECT_EQ(child.error().message, "cannot run /nowhere/at/all: No such file or directory");
}

TEST(Subprocess, ThrowsWhenThereAreNoMoreDescriptors) {
  rlimit before;
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  const int next = dup(0);
  close(next);
  const rlimit none_left = {static_cast<rlim_t>(next), before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &none_left), 0);
  EXPECT_THROW((void)Subprocess::Start(Shell("exit 0")), SystemError);
  setrlimit(RLIMIT_NOFILE, &before);
  EXPECT_TRUE(Subprocess::Start(Shell("exit 0")).ok());
}

TEST(Subprocess, TalksThroughPipes) {
  SubprocessOptions options = Shell("read line; echo \"got $line\"; echo oops >&2");
  options.standard_input = options.standard_output = options.standard_error = ChildStream::kPipe;
  Result<Subprocess> child = Subprocess::Start(options);
  ASSERT_TRUE(child);
  ASSERT_EQ(write(child->input(), "word\n", 5), 5);
  child->CloseInput();
  EXPECT_EQ(ReadAll(child->output()), "got word\n");
  EXPECT_EQ(ReadAll(child->error()), "oops\n");
}

TEST(Subprocess, PassesDescriptorsByPosition) {
  int ends[2];
  ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
  // The second source already has the number that the first is to get.
  const int blocker = fcntl(ends[1], F_DUPFD_CLOEXEC, 3);
  SubprocessOptions options = Shell("echo three >&3; echo four >&4; exec 5>&1");
  options.standard_output = ChildStream::kNull;
  options.descriptors = {blocker, ends[1]};
  Result<Subprocess> child = Subprocess::Start(options);
  ASSERT_TRUE(child);
  close(blocker);
  close(ends[1]);
  EXPECT_EQ(ReadAll(ends[0]), "three\nfour\n");
  EXPECT_TRUE(child->Wait()->Success());
  close(ends[0]);
}

TEST(Subprocess, WaitGivesUpAndKillTakesTheGroupAlong) {
  SubprocessOptions options = Shell("sleep 1000 & echo $!; wait");
  options.standard_output = ChildStream::kPipe;
  Result<Subprocess> child = Subprocess::Start(options);
  ASSERT_TRUE(child);
  char line[32] = {};
  ASSERT_GT(read(child->output(), line, sizeof(line) - 1), 0);
  const pid_t grandchild = std::stoi(line);
  const double start = MonotonicSeconds();
  EXPECT_FALSE(child->Wait(0.05).has_value());
  EXPECT_GE(MonotonicSeconds() - start, 0.05);
  EXPECT_EQ(child->Kill().Describe(), "signal 9 (SIGKILL)");
  // The pipe closes only when the grandchild, who holds the other end, is gone too.
  EXPECT_EQ(ReadAll(child->output()), "");
  EXPECT_NE(grandchild, child->pid());
}

TEST(Subprocess, TheMemoryLimitHolds) {
  SubprocessOptions options = Shell("ulimit -v; ulimit -c");
  options.standard_output = ChildStream::kPipe;
  options.memory_limit_bytes = int64_t{1} << 30;
  Result<Subprocess> child = Subprocess::Start(options);
  ASSERT_TRUE(child);
  EXPECT_EQ(ReadAll(child->output()), "1048576\n0\n");
}

}  // namespace
}  // namespace bayloom::base
