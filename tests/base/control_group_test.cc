// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/base/control_group.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>

#include "bayloom/base/control_group_parent.h"
#include "bayloom/base/scratch_folder.h"
#include "bayloom/base/subprocess.h"
#include "tests/base/running_process.h"

namespace bayloom::base {
namespace {

namespace fs = std::filesystem;

std::string ContentOfFile(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// Fields of other kinds of mounts, as they are on most machines.
constexpr const char* kOtherMounts =
    "22 27 0:21 / /proc rw,relatime - proc proc rw\n"
    "35 31 0:32 / /sys/fs/cgroup/memory rw,relatime shared:9 - cgroup cgroup rw,memory\n";

TEST(ControlGroupFolder, IsWhereTheMountShowsTheOwnGroup) {
  const std::string mount = "41 31 0:38 / /sys/fs/cgroup rw,relatime shared:4 - cgroup2 none rw\n";
  EXPECT_EQ(ControlGroupFolder(kOtherMounts + mount, "0::/user.slice/s 1.scope\n"),
            "/sys/fs/cgroup/user.slice/s 1.scope");
  EXPECT_EQ(ControlGroupFolder(kOtherMounts + mount, "4:memory:/box\n0::/\n"), "/sys/fs/cgroup");
}

TEST(ControlGroupFolder, KnowsMountsOfAPartOfTheHierarchy) {
  const std::string part = "41 31 0:38 /box /cg rw - cgroup2 none rw\n";
  EXPECT_EQ(ControlGroupFolder(part, "0::/box/inner\n"), "/cg/inner");
  EXPECT_EQ(ControlGroupFolder(part, "0::/box\n"), "/cg");
  EXPECT_EQ(ControlGroupFolder(part, "0::/boxes\n"), "");
  EXPECT_EQ(ControlGroupFolder(part + "42 31 0:38 / /all\\040of\\134it rw - cgroup2 none rw\n",
                               "0::/boxes\n"),
            "/all of\\it/boxes");
}

TEST(ControlGroupFolder, IsEmptyWhereThereIsNone) {
  EXPECT_EQ(ControlGroupFolder(kOtherMounts, "0::/box\n"), "");
  EXPECT_EQ(ControlGroupFolder("41 31 0:38 / /cg rw - cgroup2 none rw\n", "4:memory:/box\n"), "");
  EXPECT_EQ(ControlGroupFolder("41 31 0:38 /.. /cg rw - cgroup2 none rw\n", "0::/../box\n"), "");
  EXPECT_EQ(ControlGroupFolder("", ""), "");
  EXPECT_EQ(ControlGroupFolder("41 31\n - cgroup2", "0::/"), "");
}

TEST(ControlGroup, IsNotMadeWhereItIsNone) {
  const ScratchFolder folder;
  for (const std::string& parent :
       {std::string(), std::string("/proc"), folder.path(), std::string(5000, 'a')}) {
    const BayloomControlGroup group = BayloomMakeControlGroup(parent.c_str(), 1);
    EXPECT_STREQ(group.path, "");
    EXPECT_EQ(group.lock, -1);
    BayloomEndControlGroup(group.path);
  }
  EXPECT_TRUE(fs::is_empty(folder.path()));
}

TEST(ControlGroup, MemoryIsLimitedByTheGroupsFiles) {
  const ScratchFolder group;
  EXPECT_EQ(BayloomLimitControlGroupMemory(group.path().c_str(), 1000), -1);
  for (const char* name : {"memory.max", "memory.swap.max", "memory.oom.group"}) {
    (void)group.Write(name, "");
  }
  EXPECT_EQ(BayloomLimitControlGroupMemory(group.path().c_str(), 5'000'000'000), 0);
  EXPECT_EQ(ContentOfFile(group / "memory.max"), "5000000000");
  EXPECT_EQ(ContentOfFile(group / "memory.swap.max"), "0");
  EXPECT_EQ(ContentOfFile(group / "memory.oom.group"), "1");

  EXPECT_FALSE(BayloomControlGroupExceededMemory(group.path().c_str()));
  (void)group.Write("memory.events.local", "low 0\nhigh 0\nmax 41\noom 0\noom_kill 3\n");
  EXPECT_FALSE(BayloomControlGroupExceededMemory(group.path().c_str()));
  (void)group.Write("memory.events.local", "low 0\nhigh 0\nmax 41\noom 2\noom_kill 3\n");
  EXPECT_TRUE(BayloomControlGroupExceededMemory(group.path().c_str()));
}

/// Those that need a hierarchy of version 2 in which this user may create groups.
class ControlGroupTest : public testing::Test {
 protected:
  void SetUp() override {
    const BayloomControlGroup probe =
        BayloomMakeControlGroup(ControlGroupParent().c_str(), getpid());
    if (*probe.path == '\0') GTEST_SKIP() << "no control groups may be created here";
    EXPECT_TRUE(fs::exists(probe.path));
    BayloomEndControlGroup(probe.path);
    close(probe.lock);
    EXPECT_FALSE(fs::exists(probe.path));
  }

  static std::string PathOf(int guard) {
    char path[kControlGroupPathSize];
    BayloomControlGroupPath(ControlGroupParent().c_str(), guard, path);
    return path;
  }
};

/// A child that has left a daemon in a session of its own, whose number and its guard's it tells.
struct Daemon {
  explicit Daemon(const std::string& script = "setsid sleep 1000 & echo $! $PPID; sleep 1000") {
    SubprocessOptions options;
    options.arguments = {"sh", "-c", script};
    options.standard_output = ChildStream::kPipe;
    Result<Subprocess> started = Subprocess::Start(options);
    if (!started) return;
    child = std::make_unique<Subprocess>(*std::move(started));
    std::string line;
    for (char c; read(child->output(), &c, 1) == 1 && c != '\n';) line += c;
    daemon = line.substr(0, line.find(' '));
    guard = std::stoi(line.substr(line.find(' ') + 1));
  }

  std::unique_ptr<Subprocess> child;
  std::string daemon;
  int guard = 0;
};

TEST_F(ControlGroupTest, HoldsWhatLeavesItsSession) {
  Daemon run;
  ASSERT_GT(run.guard, 0);
  const std::string name = "/bayloom-" + std::to_string(run.guard) + "\n";
  EXPECT_NE(ContentOfFile("/proc/" + run.daemon + "/cgroup").find(name), std::string::npos);
  EXPECT_EQ(ContentOfFile("/proc/self/cgroup").find(name), std::string::npos);
  run.child->Kill();
  EXPECT_FALSE(IsRunning(run.daemon));
  EXPECT_FALSE(fs::exists(PathOf(run.guard)));
}

TEST_F(ControlGroupTest, IsGoneWithThoseWithinWhenTheChildEndsByItself) {
  Daemon run("inner='" + ControlGroupParent() +
             "'/bayloom-$PPID/inner; mkdir -p \"$inner/most\" || exit 9; setsid sleep 1000 & "
             "echo $! > \"$inner/most/cgroup.procs\" || exit 9; echo $! $PPID");
  ASSERT_GT(run.guard, 0);
  EXPECT_EQ(run.child->Wait()->code, 0);
  EXPECT_FALSE(IsRunning(run.daemon));
  EXPECT_FALSE(fs::exists(PathOf(run.guard)));
}

TEST_F(ControlGroupTest, EndsADaemonWhoseGuardWasKilled) {
  Daemon run;
  ASSERT_GT(run.guard, 0);
  EXPECT_TRUE(IsRunning(run.daemon));
  EXPECT_TRUE(fs::exists(PathOf(run.guard)));
  kill(run.guard, SIGKILL);
  EXPECT_EQ(run.child->Wait()->Describe(), "signal 9 (SIGKILL)");
  EXPECT_TRUE(EndsSoon(run.daemon));
  EXPECT_FALSE(fs::exists(PathOf(run.guard)));
}

/// A group below which no other process removes those of dead guards.
class OwnGroupTest : public ControlGroupTest {
 protected:
  void SetUp() override {
    ControlGroupTest::SetUp();
    if (IsSkipped()) return;
    parent_ = ControlGroupParent() + "/test-" + std::to_string(getpid());
    ASSERT_EQ(mkdir(parent_.c_str(), 0755), 0);
  }
  void TearDown() override { BayloomEndControlGroup(parent_.c_str()); }

  std::string parent_;
};

/// A guard with its group, in which it has a process of its own.
struct GuardWithGroup {
  explicit GuardWithGroup(const std::string& parent) {
    int ends[2];
    if (pipe(ends) != 0) return;
    pid = fork();
    if (pid == 0) {
      const BayloomControlGroup made = BayloomMakeControlGroup(parent.c_str(), getpid());
      if (fork() == 0) {
        close(made.lock);  // as an exec would
        BayloomEnterControlGroup(made.path);
        const pid_t self = getpid();
        [[maybe_unused]] const ssize_t written = write(ends[1], &self, sizeof(self));
      }
      while (true) pause();
    }
    close(ends[1]);
    pid_t told = 0;
    if (read(ends[0], &told, sizeof(told)) == static_cast<ssize_t>(sizeof(told))) {
      inner = std::to_string(told);
    }
    close(ends[0]);
    char path[kControlGroupPathSize];
    BayloomControlGroupPath(parent.c_str(), pid, path);
    group = path;
  }
  ~GuardWithGroup() { Kill(); }

  void Kill() {
    if (pid <= 0) return;
    kill(pid, SIGKILL);
    waitpid(pid, nullptr, 0);
    pid = 0;
  }

  pid_t pid = 0;
  std::string inner;  ///< the number of the process within
  std::string group;
};

TEST_F(OwnGroupTest, ThoseOfDeadGuardsAreRemovedWithAllThatIsInThem) {
  const GuardWithGroup living(parent_);
  // What is left where owner and guard are killed together.
  GuardWithGroup dead(parent_);
  EXPECT_EQ(RemoveDeadControlGroups(parent_), 0);
  EXPECT_TRUE(IsRunning(dead.inner));
  dead.Kill();
  EXPECT_TRUE(fs::exists(dead.group));
  EXPECT_EQ(RemoveDeadControlGroups(parent_), 1);
  EXPECT_FALSE(fs::exists(dead.group));
  EXPECT_TRUE(EndsSoon(dead.inner));
  EXPECT_TRUE(IsRunning(living.inner));
  EXPECT_TRUE(fs::exists(living.group));
}

TEST_F(OwnGroupTest, TheNumberOfADeadGuardCanBeUsedAgain) {
  char path[kControlGroupPathSize];
  BayloomControlGroupPath(parent_.c_str(), getpid(), path);
  ASSERT_EQ(mkdir(path, 0755), 0);
  const BayloomControlGroup group = BayloomMakeControlGroup(parent_.c_str(), getpid());
  EXPECT_STREQ(group.path, path);
  const BayloomControlGroup second = BayloomMakeControlGroup(parent_.c_str(), getpid());
  EXPECT_STREQ(second.path, "");  // a living one has it
  BayloomEndControlGroup(group.path);
  close(group.lock);
}

TEST_F(ControlGroupTest, TheKernelLimitsTheMemoryOfAllProcesses) {
  const BayloomControlGroup probe = BayloomMakeControlGroup(ControlGroupParent().c_str(), getpid());
  const bool has_controller = BayloomLimitControlGroupMemory(probe.path, 1 << 30) == 0;
  BayloomEndControlGroup(probe.path);
  close(probe.lock);
  if (!has_controller) GTEST_SKIP() << "control groups have no memory controller here";
  SubprocessOptions options;
  // Faster than memory can be looked at.
  options.arguments = {"sh", "-c", "head -c 300M /dev/zero | tail -c 290M | wc -c"};
  options.standard_output = ChildStream::kNull;
  options.resident_limit_bytes = int64_t{100} << 20;
  Result<Subprocess> child = Subprocess::Start(options);
  ASSERT_TRUE(child);
  EXPECT_TRUE(child->Wait()->exceeded_memory);
}

}  // namespace
}  // namespace bayloom::base
