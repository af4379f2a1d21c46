// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/measure/runner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <string>
#include <thread>
#include <vector>

#include "bayloom/base/result.h"
#include "bayloom/base/system_error.h"
#include "bayloom/measure/interruption.h"
#include "bayloom/measure/measurement_details.h"
#include "bayloom/measure/runner_main.h"
#include "tests/base/running_process.h"
#include "tests/temporary_folder.h"
#include "tests/with_variable.h"

namespace bayloom::measure {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr int kCount = 1000;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif

/// The task y = 2 x that the hand-made kernels are about.
class HandMadeTask {
 public:
  HandMadeTask() {
    data_.id = next_id++;
    data_.message.parameters = {
        {"x", tensor::DType::kFloat32, tensor::BufferRole::kInput, {kCount}, false, 0},
        {"y", tensor::DType::kFloat32, tensor::BufferRole::kOutput, {kCount}, false, 4096},
    };
    data_.message.data_bytes = 8192;
    data_.message.tolerance.relative = 1e-5;
    data_.descriptor = memfd_create("test", MFD_CLOEXEC);
    std::vector<float> content(2048);
    for (int i = 0; i < kCount; ++i) {
      content[i] = static_cast<float>(i % 17 - 8);
      content[1024 + i] = 2 * content[i];
    }
    EXPECT_EQ(write(data_.descriptor, content.data(), 8192), 8192);
  }
  ~HandMadeTask() { close(data_.descriptor); }

  const TaskData& data() const { return data_; }

 private:
  static inline int64_t next_id = 1000;
  TaskData data_;
};

TrialMessage Kernel(const std::string& symbol) {
  static const std::string object = [] {
    std::ifstream file(BAYLOOM_TEST_KERNELS, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(file), {});
  }();
  TrialMessage trial;
  trial.kernel.symbol = symbol;
  trial.kernel.object = object;
  trial.kernel.shared_workspace_bytes = 100;
  trial.layouts = {{}, {}};
  trial.transforms = {{}, {}};
  trial.cut_seconds = std::numeric_limits<double>::infinity();
  trial.timing.min_total_seconds = 1e-3;
  return trial;
}

RunnerOptions TestRunnerOptions() {
  RunnerOptions options;
  options.executable = BAYLOOM_TEST_RUNNER;
  options.timeout_seconds = 60;
  options.memory_limit_bytes = int64_t{1} << 30;
  return options;
}

struct KernelMisdeed {
  const char* kernel;
  trial::Verdict verdict;
  const char* reason;
  bool costs_process;
};

void PrintTo(const KernelMisdeed& misdeed, std::ostream* out) { *out << misdeed.kernel; }

class RunnerMisdeed : public testing::TestWithParam<KernelMisdeed> {};

/// Each costs one trial, is called by its name, and the next trial finds everything in order.
TEST_P(RunnerMisdeed, CostsOneTrial) {
  const KernelMisdeed& misdeed = GetParam();
  if (misdeed.verdict == trial::Verdict::kMemory && kSanitized) {
    GTEST_SKIP() << "address space cannot be limited under sanitizers";
  }
  const HandMadeTask task;
  RunnerOptions options = TestRunnerOptions();
  if (misdeed.verdict == trial::Verdict::kTimeout)
    options.timeout_seconds = 2;  // that suffices for the good
  Runner runner(options);
  EXPECT_TRUE(runner.Run(task.data(), Kernel("good")).ok());
  EXPECT_EQ(runner.starts(), 1);

  const trial::Outcome outcome = runner.Run(task.data(), Kernel(misdeed.kernel));
  EXPECT_EQ(trial::ToString(outcome.verdict), trial::ToString(misdeed.verdict)) << outcome.reason;
  EXPECT_THAT(outcome.reason, HasSubstr(misdeed.reason));

  const trial::Outcome next = runner.Run(task.data(), Kernel("good"));
  EXPECT_TRUE(next.ok()) << next.reason;
  EXPECT_EQ(runner.starts(), misdeed.costs_process ? 2 : 1);
}

INSTANTIATE_TEST_SUITE_P(
    All, RunnerMisdeed,
    testing::Values(
        KernelMisdeed{"crash", trial::Verdict::kCrash, "signal 11 (SIGSEGV) in its first run",
                      true},
        KernelMisdeed{"give_up", trial::Verdict::kCrash, "signal 6 (SIGABRT) in its first run",
                      true},
        KernelMisdeed{"leave", trial::Verdict::kCrash, "exit code 0 in its first run", true},
        KernelMisdeed{"divide", trial::Verdict::kCrash, "signal 8 (SIGFPE)", true},
        KernelMisdeed{"overflow_stack", trial::Verdict::kCrash, "signal 11 (SIGSEGV)", true},
        KernelMisdeed{"hang", trial::Verdict::kTimeout, "did not end within 2 s in its first run",
                      true},
        KernelMisdeed{"stop", trial::Verdict::kTimeout, "did not end within 2 s in its first run",
                      true},
        KernelMisdeed{"eat_memory", trial::Verdict::kMemory, "needs more memory than the 1074 MB",
                      true},
        KernelMisdeed{"wrong", trial::Verdict::kWrongOutput, "element 777 of 'y' is", true},
        KernelMisdeed{"unwritten", trial::Verdict::kWrongOutput,
                      "element 999 of 'y' was never written", true},
        KernelMisdeed{"overrun_near", trial::Verdict::kWrongOutput,
                      "wrote 1 bytes past the end of output 'y'", true},
        KernelMisdeed{"underrun_near", trial::Verdict::kWrongOutput,
                      "bytes before the start of output 'y'", true},
        KernelMisdeed{"overrun_far", trial::Verdict::kCrash,
                      "touched memory 801 bytes past the end of output 'y'", true},
        KernelMisdeed{"write_input", trial::Verdict::kCrash,
                      "wrote to input 'x', which it may only read", true},
        KernelMisdeed{"overrun_workspace", trial::Verdict::kWrongOutput,
                      "wrote 1 bytes past the end of the workspace", true},
        KernelMisdeed{"depends_on_output", trial::Verdict::kWrongOutput, "in a later run, element",
                      true},
        KernelMisdeed{"reads_workspace", trial::Verdict::kWrongOutput, "element 3 of 'y'", true},
        KernelMisdeed{"write_garbage", trial::Verdict::kCrash,
                      "wrote invalid data to the runner's channel", true},
        KernelMisdeed{"close_everything", trial::Verdict::kCrash, "", true},
        KernelMisdeed{"no_such_symbol", trial::Verdict::kBuildError, "cannot load 'no_such_symbol'",
                      false}),
    [](const auto& instance) { return std::string(instance.param.kernel); });

TEST(Runner, TimesAGoodKernel) {
  const HandMadeTask task;
  Runner runner(TestRunnerOptions());
  const trial::Outcome outcome = runner.Run(task.data(), Kernel("good"));
  ASSERT_TRUE(outcome.ok()) << outcome.reason;
  EXPECT_GT(outcome.value, 1e-9);
  EXPECT_LT(outcome.value, 1);
  EXPECT_GE(DetailsOf(outcome).spread, 0);
  EXPECT_FALSE(DetailsOf(outcome).cut_short);
}

TEST(Runner, SlowKernelsAreCutShort) {
  const HandMadeTask task;
  Runner runner(TestRunnerOptions());
  TrialMessage trial = Kernel("slow");
  trial.cut_seconds = 1e-3;
  const trial::Outcome outcome = runner.Run(task.data(), trial);
  ASSERT_TRUE(outcome.ok()) << outcome.reason;
  EXPECT_TRUE(DetailsOf(outcome).cut_short);
  EXPECT_GE(outcome.value, 0.03);
}

TEST(Runner, NoiseOnStandardStreamsDoesNotDisturb) {
  const HandMadeTask task;
  Runner runner(TestRunnerOptions());
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(runner.Run(task.data(), Kernel("noisy")).ok());
  EXPECT_EQ(runner.starts(), 1);
}

TEST(Runner, ServesSeveralTasksInTurn) {
  const HandMadeTask a, b;
  Runner runner(TestRunnerOptions());
  for (int i = 0; i < 2; ++i) {
    EXPECT_TRUE(runner.Run(a.data(), Kernel("good")).ok());
    EXPECT_TRUE(runner.Run(b.data(), Kernel("noisy")).ok());
  }
  EXPECT_EQ(runner.starts(), 1);
}

TEST(Runner, AReferenceRunStoresItsResults) {
  const HandMadeTask task;
  Runner runner(TestRunnerOptions());
  TrialMessage wrong = Kernel("wrong");
  wrong.is_reference = true;
  EXPECT_TRUE(runner.Run(task.data(), wrong).ok());
  EXPECT_TRUE(runner.Run(task.data(), Kernel("wrong")).ok());  // now that is right
  EXPECT_EQ(runner.Run(task.data(), Kernel("good")).verdict, trial::Verdict::kWrongOutput);
}

/// Where kernels that do not end tell that they have begun, and in which process.
class Begun {
 public:
  std::string Process() const { return base::WrittenLine(path_); }
  std::string AwaitProcess() const { return base::AwaitLine(path_); }

 private:
  const TemporaryFolder folder_;
  const std::string path_ = folder_ / "begun";
  const WithVariable variable_{"BAYLOOM_TEST_BEGUN", path_};
};

TEST(Runner, TheRunnerProcessEndsWithTheTuner) {
  const Begun begun;
  const pid_t tuner = fork();
  if (tuner == 0) {
    const HandMadeTask task;
    RunnerOptions patient = TestRunnerOptions();
    patient.timeout_seconds = 1000;
    Runner hanging(patient);
    hanging.Run(task.data(), Kernel("hang"));
    _exit(0);
  }
  const std::string runner = begun.AwaitProcess();
  ASSERT_FALSE(runner.empty());
  EXPECT_TRUE(base::IsRunning(runner));
  kill(tuner, SIGKILL);
  waitpid(tuner, nullptr, 0);
  EXPECT_TRUE(base::EndsSoon(runner));
}

TEST(Runner, AStopEndsAKernelThatHangsAndTheNextOneRuns) {
  for (const char* kernel : {"hang", "stop"}) {
    const Begun begun;
    const HandMadeTask task;
    Runner runner(TestRunnerOptions());
    EXPECT_TRUE(runner.Run(task.data(), Kernel("good")).ok());
    EXPECT_THROW(runner.Run(task.data(), Kernel(kernel), [&] { return !begun.Process().empty(); }),
                 Interrupted);
    EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1) << "no process is left";
    EXPECT_TRUE(runner.Run(task.data(), Kernel("good")).ok());
    EXPECT_EQ(runner.starts(), 2);
  }
}

/// A program that becomes the test's runner, but kills itself the first times that it is started.
std::string DyingRunner(const TemporaryFolder& folder, int times) {
  const std::string path = folder / "runner";
  std::ofstream(path) << "#!/bin/sh\necho x >> " << folder / "starts"
                      << "\ntest $(wc -l < " << folder / "starts"
                      << ") -gt " << times << " || kill -9 $$\nexec " << BAYLOOM_TEST_RUNNER
                      << " \"$@\"\n";
  std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  return path;
}

TEST(Runner, OneThatDiesWhileItStartsIsStartedAgain) {
  const HandMadeTask task;
  const TemporaryFolder folder;
  RunnerOptions options = TestRunnerOptions();
  options.executable = DyingRunner(folder, 2);
  Runner runner(options);
  EXPECT_TRUE(runner.Run(task.data(), Kernel("good")).ok());
  EXPECT_EQ(runner.starts(), 3);

  const TemporaryFolder other;
  options.executable = DyingRunner(other, 1000);
  try {
    Runner(options).Run(task.data(), Kernel("good"));
    FAIL();
  } catch (const SystemError& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr(options.executable), HasSubstr("SIGKILL")));
  }
}

/// The processes that those of this process have started.
std::vector<pid_t> Grandchildren() {
  std::vector<pid_t> found;
  const std::string self = "/proc/self/task/" + std::to_string(getpid()) + "/children";
  std::ifstream children(self);
  for (pid_t child; children >> child;) {
    const std::string number = std::to_string(child);
    std::ifstream theirs("/proc/" + number + "/task/" + number + "/children");
    for (pid_t grandchild; theirs >> grandchild;) found.push_back(grandchild);
  }
  return found;
}

TEST(Runner, OneThatTheSystemKillsLosesTheTrial) {
  const Begun begun;
  const HandMadeTask task;
  Runner runner(TestRunnerOptions());
  EXPECT_TRUE(runner.Run(task.data(), Kernel("good")).ok());
  const std::vector<pid_t> runners = Grandchildren();
  ASSERT_EQ(runners.size(), 1u);
  std::jthread system([&] {
    begun.AwaitProcess();
    kill(runners[0], SIGKILL);
  });
  EXPECT_THROW(runner.Run(task.data(), Kernel("hang")), SystemError);
  EXPECT_TRUE(runner.Run(task.data(), Kernel("good")).ok());
}

TEST(Runner, WorksInASandbox) {
  if (const Status allowed = base::CheckSandbox(); !allowed) {
    GTEST_SKIP() << allowed.error().message;
  }
  const HandMadeTask task;
  RunnerOptions options = TestRunnerOptions();
  options.sandbox = true;
  Runner runner(options);
  EXPECT_TRUE(runner.Run(task.data(), Kernel("good")).ok());
}

TEST(Runner, SaysWhenThereIsNoProgramToRun) {
  RunnerOptions options;
  options.executable = "/bin/true";
  const HandMadeTask task;
  EXPECT_THROW(Runner(options).Run(task.data(), Kernel("good")), SystemError);
  unsetenv("BAYLOOM_RUNNER");
  EXPECT_THROW(RunnerExecutable(""), InputError);
  EXPECT_EQ(RunnerExecutable("/some/program"), "/some/program");
}

}  // namespace
}  // namespace bayloom::measure
