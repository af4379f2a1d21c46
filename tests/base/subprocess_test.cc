// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/base/subprocess.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>
#include <string>
#include <thread>

#include "bayloom/base/clock.h"
#include "bayloom/base/scratch_folder.h"
#include "bayloom/base/system_error.h"
#include "tests/base/running_process.h"

namespace bayloom::base {
namespace {

SubprocessOptions ShellOptions(const std::string& script) {
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
  Result<Subprocess> good = Subprocess::Start(ShellOptions("exit 0"));
  ASSERT_TRUE(good);
  EXPECT_TRUE(good->Wait()->Success());
  Result<Subprocess> bad = Subprocess::Start(ShellOptions("exit 3"));
  ASSERT_TRUE(bad);
  EXPECT_EQ(bad->Wait()->Describe(), "exit code 3");
  Result<Subprocess> crash = Subprocess::Start(ShellOptions("kill -SEGV $$"));
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
  EXPECT_THROW((void)Subprocess::Start(ShellOptions("exit 0")), SystemError);
  setrlimit(RLIMIT_NOFILE, &before);
  EXPECT_TRUE(Subprocess::Start(ShellOptions("exit 0")).ok());
}

TEST(Subprocess, TalksThroughPipes) {
  SubprocessOptions options = ShellOptions("read line; echo \"got $line\"; echo oops >&2");
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
  SubprocessOptions options = ShellOptions("echo three >&3; echo four >&4; exec 5>&1");
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
  SubprocessOptions options = ShellOptions("sleep 1000 & echo $!; wait");
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
  SubprocessOptions options = ShellOptions("ulimit -v; ulimit -c");
  options.standard_output = ChildStream::kPipe;
  options.memory_limit_bytes = int64_t{1} << 30;
  Result<Subprocess> child = Subprocess::Start(options);
  ASSERT_TRUE(child);
  EXPECT_EQ(ReadAll(child->output()), "1048576\n0\n");
}

/// The first line of a child's output; waits for it.
std::string ReadLineOf(const Subprocess& child) {
  std::string line;
  for (char c; read(child.output(), &c, 1) == 1 && c != '\n';) line += c;
  return line;
}

TEST(Subprocess, EndsWhatLeftItsSessionToo) {
  for (const bool is_killed : {true, false}) {
    SubprocessOptions options =
        ShellOptions("setsid sh -c 'setsid sleep 1000 & echo $!; wait' & read line; " +
                     std::string(is_killed ? "sleep 1000" : "exit 3"));
    options.standard_input = options.standard_output = ChildStream::kPipe;
    Result<Subprocess> child = Subprocess::Start(options);
    ASSERT_TRUE(child);
    const std::string daemon = ReadLineOf(*child);
    EXPECT_TRUE(IsRunning(daemon));
    ASSERT_EQ(write(child->input(), "go on\n", 6), 6);
    if (is_killed) child->Kill();
    EXPECT_EQ(child->Wait()->code, is_killed ? SIGKILL : 3);
    EXPECT_FALSE(IsRunning(daemon));
  }
}

class DeathOfTheParent : public testing::TestWithParam<int> {};

TEST_P(DeathOfTheParent, EndsTheChildWithAllThatItStarted) {
  int ends[2];
  ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
  const pid_t parent = fork();
  if (parent == 0) {
    SubprocessOptions options = ShellOptions(
        "trap '' HUP INT TERM QUIT; setsid sleep 1000 & echo $! $$; sleep 1000; sleep 1000");
    options.descriptors = {};
    options.standard_output = ChildStream::kPipe;
    Result<Subprocess> child = Subprocess::Start(options);
    const std::string line = ReadLineOf(*child) + "\n";
    [[maybe_unused]] const ssize_t written = write(ends[1], line.data(), line.size());
    const rlimit no_core = {0, 0};
    setrlimit(RLIMIT_CORE, &no_core);
    signal(GetParam(), SIG_DFL);
    raise(GetParam());
    _exit(0);
  }
  close(ends[1]);
  std::istringstream processes(ReadAll(ends[0]));
  close(ends[0]);
  waitpid(parent, nullptr, 0);
  std::string daemon, shell;
  processes >> daemon >> shell;
  ASSERT_FALSE(shell.empty());
  EXPECT_TRUE(EndsSoon(daemon));
  EXPECT_TRUE(EndsSoon(shell));
}

INSTANTIATE_TEST_SUITE_P(Signals, DeathOfTheParent,
                         testing::Values(SIGKILL, SIGHUP, SIGQUIT, SIGINT, SIGSEGV),
                         [](const auto& test) { return std::string(sigabbrev_np(test.param)); });

TEST(Subprocess, TheChildDiesWithItsGuard) {
  SubprocessOptions options = ShellOptions("echo $PPID; sleep 1000");
  options.standard_output = ChildStream::kPipe;
  Result<Subprocess> child = Subprocess::Start(options);
  ASSERT_TRUE(child);
  kill(std::stoi(ReadLineOf(*child)), SIGKILL);
  EXPECT_EQ(child->Wait()->Describe(), "signal 9 (SIGKILL)");
  EXPECT_TRUE(EndsSoon(std::to_string(child->pid())));
}

TEST(Subprocess, AStoppedGuardIsEndedAsWell) {
  SubprocessOptions options = ShellOptions("echo $PPID; sleep 1000");
  options.standard_output = ChildStream::kPipe;
  Result<Subprocess> child = Subprocess::Start(options);
  ASSERT_TRUE(child);
  kill(std::stoi(ReadLineOf(*child)), SIGSTOP);
  EXPECT_EQ(child->Kill().Describe(), "signal 9 (SIGKILL)");
  EXPECT_TRUE(EndsSoon(std::to_string(child->pid())));
}

TEST(Subprocess, TheMemoryOfAllItsProcessesIsLimited) {
  for (const int processes : {1, 4}) {
    SubprocessOptions options =
        // Those that together use too much wait to be ended.
        ShellOptions("for i in $(seq " + std::to_string(processes) +
                     "); do head -c 60M /dev/zero | tail -c 50M | (sleep " +
                     (processes == 1 ? "1" : "60") + "; wc -c) & done; wait");
    options.standard_output = ChildStream::kNull;
    options.resident_limit_bytes = int64_t{130} << 20;
    Result<Subprocess> child = Subprocess::Start(options);
    ASSERT_TRUE(child);
    EXPECT_EQ(child->Wait()->exceeded_memory, processes == 4);
  }
}

/// What a forked child of this process writes to its standard output; for what cannot be undone.
std::string OutputOfFork(const std::function<void()>& action) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return "";
  const pid_t child = fork();
  if (child == 0) {
    dup2(ends[1], STDOUT_FILENO);
    action();
    _exit(0);
  }
  close(ends[1]);
  const std::string output = ReadAll(ends[0]);
  close(ends[0]);
  waitpid(child, nullptr, 0);
  return output;
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
TEST(Subprocess, AMemoryLimitAboveTheHardOneIsThatOne) {
  const std::string output = OutputOfFork([] {
    const rlimit hard = {rlim_t{2} << 30, rlim_t{2} << 30};
    setrlimit(RLIMIT_AS, &hard);
    SubprocessOptions options = ShellOptions("ulimit -v");
    options.memory_limit_bytes = int64_t{8} << 30;
    Result<Subprocess> child = Subprocess::Start(options);
    if (child) child->Wait();
  });
  EXPECT_EQ(output, "2097152\n");
}
#endif

TEST(Subprocess, StandardStreamsThatAreClosedStayTheChilds) {
  const std::string output = OutputOfFork([] {
    close(STDIN_FILENO);
    close(STDERR_FILENO);
    SubprocessOptions options = ShellOptions("cat; echo ended");
    Result<Subprocess> child = Subprocess::Start(options);
    if (child) child->Wait();
  });
  EXPECT_EQ(output, "ended\n");
}

TEST(Subprocess, VariablesOfTheLoaderAreForTheChildAlone) {
  SubprocessOptions options = ShellOptions("echo $LD_PRELOAD");
  options.standard_output = ChildStream::kPipe;
  options.standard_error = ChildStream::kNull;
  options.environment = {"LD_PRELOAD=/nonexistent.so"};
  Result<Subprocess> child = Subprocess::Start(options);
  ASSERT_TRUE(child);
  EXPECT_EQ(ReadAll(child->output()), "/nonexistent.so\n");
}

class SandboxTest : public testing::Test {
 protected:
  void SetUp() override {
    if (const Status allowed = CheckSandbox(); !allowed) GTEST_SKIP() << allowed.error().message;
  }

  /// What a script prints that may write to `folder`.
  std::string OutputOf(const std::string& script, const std::string& folder) {
    SubprocessOptions options = ShellOptions(script);
    options.standard_output = ChildStream::kPipe;
    options.standard_error = ChildStream::kNull;
    options.sandbox = Sandbox{.writable_folder = folder};
    Result<Subprocess> child = Subprocess::Start(options);
    return child ? ReadAll(child->output()) : child.error().message;
  }

  ScratchFolder folder_;
};

TEST_F(SandboxTest, OnlyOneFolderCanBeWrittenTo) {
  const std::string allowed = folder_ / "allowed";
  std::filesystem::create_directory(allowed);
  EXPECT_EQ(OutputOf("echo text > " + folder_.path() + "/file || echo no", allowed), "no\n");
  EXPECT_EQ(OutputOf("echo text > " + allowed + "/file && cat " + allowed + "/file", allowed),
            "text\n");
  EXPECT_TRUE(std::filesystem::exists(allowed + "/file"));
  EXPECT_EQ(OutputOf("echo text > file || echo no", ""), "no\n");
  EXPECT_EQ(OutputOf("echo text > /dev/null && echo yes", ""), "yes\n");
}

TEST_F(SandboxTest, ThisProgramCanBeStartedInIt) {
  SubprocessOptions options;
  options.arguments = {"/proc/self/exe", "--gtest_list_tests"};
  options.standard_output = ChildStream::kPipe;
  options.sandbox = Sandbox{};
  Result<Subprocess> child = Subprocess::Start(options);
  ASSERT_TRUE(child) << child.error().message;
  EXPECT_NE(ReadAll(child->output()).find("SandboxTest."), std::string::npos);
}

TEST_F(SandboxTest, CannotBeUndoneFromWithin) {
  EXPECT_EQ(OutputOf("mount -o remount,rw / || umount -l " + folder_.path() + " || echo no",
                     folder_.path()),
            "no\n");
  EXPECT_EQ(OutputOf("unshare -Urm mount -o remount,bind,rw / || echo no", ""), "no\n");
}

TEST_F(SandboxTest, HasNoNetwork) {
  EXPECT_EQ(OutputOf("grep -c : /proc/net/dev", ""), "1\n");  // a loopback that is down
  EXPECT_EQ(OutputOf("id -u", ""), std::to_string(getuid()) + "\n");
}

}  // namespace
}  // namespace bayloom::base
