// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "bayloom/base/clock.h"
#include "bayloom/base/stop_flag.h"
#include "bayloom/base/subprocess.h"
#include "bayloom/record/store.h"
#include "tests/cli/run_bayloom.h"
#include "tests/patience.h"
#include "tests/temporary_folder.h"

namespace bayloom::cli {
namespace {

/// The time of each processor that a command may still use when it was asked to stop.
constexpr double kMaxStopSeconds = 1;

/// A command of the program, and how long to wait before it is interrupted: until a file is there
/// that its evaluator makes, or until the trials of the run in tuning.db are done, then some
/// seconds more.
struct Interruption {
  std::string name;
  std::vector<std::string> arguments;  ///< {folder} stands for an empty folder
  bool waits_for_file = false;
  double seconds = 0;
  bool waits_for_trials = false;
  std::vector<std::string> environment = {};
};

std::ostream& operator<<(std::ostream& out, const Interruption& test) { return out << test.name; }

/// A folder with scenarios whose evaluators do not answer.
class StopTest : public testing::Test {
 protected:
  void SetUp() override {
    std::ofstream(folder_ / "sleep.yaml")
        << "parameters: {x: {type: integer, range: [0, 9]}}\nminimize: seconds\n"
        << "evaluator: {shell: 'touch " << folder_ / "busy"
        << "; sleep 77'}\n";
    std::ofstream(folder_ / "sleep_later.yaml")
        << "parameters: {x: {type: integer, range: [0, 9]}}\nminimize: seconds\n"
        << "evaluator: {shell: 'if [ -e " << folder_ / "first"
        << " ]; then touch " << folder_ / "busy"
        << "; sleep 77; fi; touch " << folder_ / "first"
        << "; echo 1'}\n";
    std::ofstream(folder_ / "silent.yaml")
        << "parameters: {x: {type: integer, range: [0, 9]}}\nminimize: seconds\n"
        << "evaluator: {process: ['sh', '-c', 'touch " << folder_ / "busy"
        << "; sleep 77']}\n";
  }

  std::string Filled(std::string text) const {
    const size_t at = text.find("{folder}");
    return at == std::string::npos ? text : text.replace(at, 8, folder_.path());
  }

  bool TrialsAreDone() const {
    const std::string path = folder_ / "tuning.db";
    if (!std::filesystem::exists(path)) return false;
    record::Store store(path);
    const std::vector<record::RunRecord> runs = store.Runs();
    return !runs.empty() && runs[0].finished;
  }

  /// What commands have made.
  void Forget() const {
    for (const char* file : {"busy", "first", "tuning.db"}) {
      std::filesystem::remove(folder_ / file);
    }
  }

  TemporaryFolder folder_;
};

/// Processor time of a process that runs; nullopt if it does not.
std::optional<double> ProcessorSeconds(pid_t process) {
  clockid_t clock;
  timespec time = {};
  if (clock_getcpuclockid(process, &clock) != 0 || clock_gettime(clock, &time) != 0) {
    return std::nullopt;
  }
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

class InterruptedCommand : public StopTest, public testing::WithParamInterface<Interruption> {
 protected:
  /// False if the command ended before it could be interrupted.
  void Interrupt(bool& was_interrupted);
};

void InterruptedCommand::Interrupt(bool& was_interrupted) {
  const Interruption& test = GetParam();
  base::SubprocessOptions options;
  options.arguments = {BAYLOOM_PROGRAM};
  for (const std::string& argument : test.arguments) options.arguments.push_back(Filled(argument));
  for (const std::string& one : test.environment) options.environment.push_back(Filled(one));
  options.directory = folder_.path();
  options.standard_input = base::ChildStream::kPipe;
  options.standard_output = options.standard_error = base::ChildStream::kNull;
  Result<base::Subprocess> started = base::Subprocess::Start(options);
  ASSERT_TRUE(started.ok()) << started.error().message;
  const double begun = base::MonotonicSeconds();
  while ((test.waits_for_file && !std::filesystem::exists(folder_ / "busy")) ||
         (test.waits_for_trials && !TrialsAreDone())) {
    ASSERT_LT(base::MonotonicSeconds() - begun, 300) << "it never became busy";
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  std::this_thread::sleep_for(std::chrono::duration<double>(test.seconds));
  const std::optional<double> before = ProcessorSeconds(started->pid());
  was_interrupted = before.has_value() && !started->Wait(0);
  if (!was_interrupted) return;
  const double asked = base::MonotonicSeconds();
  kill(started->pid(), SIGINT);
  double used = 0;
  while (!started->Wait(0.005)) {
    ASSERT_LT(base::MonotonicSeconds() - asked, kPatienceSeconds) << "it goes on";
    used = ProcessorSeconds(started->pid()).value_or(*before + used) - *before;
  }
  EXPECT_LT(used, kMaxStopSeconds * std::thread::hardware_concurrency());
  const base::ExitStatus ended = *started->Wait();
  was_interrupted = !ended.Success();
  if (!was_interrupted) return;  // it had done all already
  // Before the command has begun, the signal ends it as any other program.
  EXPECT_EQ(ended.code, ended.signaled ? SIGINT : 128 + SIGINT);
}

TEST_P(InterruptedCommand, EndsSoonAfterCtrlC) {
  // On a busy machine the moment may be missed.
  bool was_interrupted = false;
  for (int i = 0; i < 5 && !was_interrupted && !HasFatalFailure(); ++i) {
    Forget();
    Interrupt(was_interrupted);
  }
  EXPECT_TRUE(was_interrupted) << "it ended before it was interrupted";
}

TEST_F(StopTest, TheExitCodeTellsTheEnd) {
  std::ofstream(folder_ / "fast.yaml")
      << "parameters: {x: {type: integer, range: [0, 9]}}\nminimize: seconds\n"
      << "evaluator: {command: 'echo {x}'}\n";
  const auto code = [&](std::vector<std::string> arguments, int signal) {
    base::SubprocessOptions options;
    options.arguments = {BAYLOOM_PROGRAM};
    options.arguments.insert(options.arguments.end(), arguments.begin(), arguments.end());
    options.directory = folder_.path();
    options.standard_output = options.standard_error = base::ChildStream::kNull;
    Result<base::Subprocess> started = base::Subprocess::Start(options);
    if (!started) return -1;
    while (signal != 0 && !std::filesystem::exists(folder_ / "busy")) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    if (signal != 0) kill(started->pid(), signal);
    const base::ExitStatus ended = *started->Wait();
    return ended.signaled ? -ended.code : ended.code;
  };
  EXPECT_EQ(code({"search", "fast.yaml", "--trials", "3"}, 0), 0) << "finished";
  EXPECT_EQ(code({"search", "fast.yaml", "--command", "false", "--db", "no.db"}, 0), 1) << "failed";
  EXPECT_EQ(code({"search", "missing.yaml"}, 0), 2) << "bad input";
  EXPECT_EQ(code({"search", "fast.yaml", "--bad-option"}, 0), 2) << "bad input";
  EXPECT_EQ(code({"search", "sleep.yaml"}, SIGTERM), 128 + SIGTERM) << "stopped";
}

/// What a process writes to its standard error until it ends, and its end.
std::pair<std::string, base::ExitStatus> Await(base::Subprocess& process) {
  std::string text;
  char buffer[4096];
  for (ssize_t bytes; (bytes = read(process.error(), buffer, sizeof(buffer))) > 0;) {
    text.append(buffer, static_cast<size_t>(bytes));
  }
  return {text, *process.Wait()};
}

TEST_F(StopTest, AStopBesideALockIsAnOrderlyEnd) {
  const std::string path = folder_ / "a.db";
  record::Database holder(path, record::Database::Mode::kReadWrite);
  const record::Transaction transaction(holder);
  base::RequestStop();
  const Answer answer = RunBayloom({"search", folder_ / "sleep.yaml", "--db", path});
  base::ClearStop();
  EXPECT_EQ(answer.exit_code, 128 + SIGINT);
  EXPECT_EQ(answer.error, "bayloom: stopped while another process kept " + path +
                              " locked; what was recorded is kept, and --resume goes on from "
                              "there\n");
}

TEST_F(StopTest, AFileAtItsLimitIsAnErrorOfTheWrite) {
  std::ofstream(folder_ / "fast.yaml")
      << "parameters: {x: {type: integer, range: [0, 9999]}}\nminimize: seconds\n"
      << "optimizer: random\nevaluator: {command: 'echo {x}'}\n";
  base::SubprocessOptions options;
  options.arguments = {"/bin/sh", "-c",
                       "ulimit -f 1000; exec " BAYLOOM_PROGRAM
                       " search fast.yaml --db a.db --trials 5000 --jobs 4"};
  options.directory = folder_.path();
  options.standard_output = base::ChildStream::kNull;
  options.standard_error = base::ChildStream::kPipe;
  Result<base::Subprocess> started = base::Subprocess::Start(options);
  ASSERT_TRUE(started.ok());
  const auto [text, ended] = Await(*started);
  EXPECT_FALSE(ended.signaled);
  EXPECT_EQ(ended.code, 1);
  EXPECT_NE(text.find("cannot use a.db: reading or writing failed ("), std::string::npos) << text;
  EXPECT_NE(text.find("files may have at most 512000 bytes ('ulimit -f')"), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(
    Commands, InterruptedCommand,
    testing::Values(
        Interruption{"search_command", {"search", "sleep.yaml"}, true, 0.1},
        Interruption{"search_jobs", {"search", "sleep.yaml", "--jobs", "3"}, true, 0.1},
        Interruption{"search_repeats",
                     {"search", "sleep_later.yaml", "--trials", "1", "--repeat-best", "1"},
                     true,
                     0.1},
        Interruption{"search_process", {"search", "silent.yaml"}, true, 0.1},
        Interruption{"map_simulator",
                     {"map", "--op", "matmul:16,16,16", "--arch", "gemmini", "--evaluator",
                      "touch {folder}/busy; sleep 77"},
                     true,
                     0.1},
        Interruption{"map_model",
                     {"map", "--op", "matmul:512,512,512", "--arch", "gemmini", "--evaluations",
                      "999999999"},
                     false,
                     0.5},
        Interruption{"map_bayesian",
                     {"map", "--op", "matmul:512,512,512", "--arch", "gemmini", "--mapper",
                      "bayesian", "--evaluations", "100000"},
                     false,
                     2},
        Interruption{"tune_begin", {"tune", "--op", "conv2d:56x56x64,64,3x3,pad=1"}, false, 0.3},
        Interruption{"tune_first", {"tune", "--op", "conv2d:56x56x64,64,3x3,pad=1"}, false, 1.5},
        Interruption{"tune_later", {"tune", "--op", "matmul:1024,1024,1024"}, false, 3},
        Interruption{"tune_repeats",
                     {"tune", "--op", "matmul:1024,1024,1024", "--threads", "1", "--trials", "8",
                      "--db", "tuning.db"},
                     false,
                     0.05,
                     true},
        Interruption{"pretrain_sampling",
                     {"pretrain", "--families", "conv2d", "--programs-per-task", "100000"},
                     false,
                     1.5},
        Interruption{"pretrain_measuring",
                     {"pretrain", "--families", "conv2d", "--tasks-per-family", "3",
                      "--programs-per-task", "60", "--share", "0.9"},
                     false,
                     3},
        Interruption{"learn",
                     {"learn", "--families", "conv2d", "--tasks-per-family", "3"},
                     false,
                     3,
                     false,
                     {"BAYLOOM_STORE={folder}/learn.db"}},
        Interruption{"serve", {"serve", "sleep.yaml"}, false, 0.3}),
    [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace bayloom::cli
