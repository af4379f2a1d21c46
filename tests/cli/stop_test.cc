// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <utility>

#include "bayloom/base/stop_flag.h"
#include "bayloom/base/subprocess.h"
#include "bayloom/record/store.h"
#include "tests/cli/run_bayloom.h"
#include "tests/patience.h"
#include "tests/temporary_folder.h"

namespace bayloom::cli {
namespace {

/// What a command has done when it is interrupted.
enum class Moment {
  kHasDatabase,  ///< there is a file tuning.db
  kEvaluates,    ///< its evaluator made the file `busy`
  kMeasures,     ///< its processes that measure are there
  kHasTrial,     ///< there is a trial in tuning.db
  kTrialsDone,   ///< the trials of the run in tuning.db are done
};

/// A command of the program that would go on for minutes.
struct Interruption {
  std::string name;
  std::vector<std::string> arguments;  ///< {folder} stands for an empty folder
  Moment moment;
  std::vector<std::string> environment = {};
};

std::ostream& operator<<(std::ostream& out, const Interruption& test) { return out << test.name; }

bool HasChildren(pid_t process) {
  std::error_code ended;
  const std::string threads = "/proc/" + std::to_string(process) + "/task";
  for (const auto& thread : std::filesystem::directory_iterator(threads, ended)) {
    pid_t child;
    if (std::ifstream(thread.path() / "children") >> child) return true;
  }
  return false;
}

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

  /// Whether a command of this process number has come so far.
  bool Reached(Moment moment, pid_t command) const {
    const std::string database = folder_ / "tuning.db";
    if (moment == Moment::kEvaluates) return std::filesystem::exists(folder_ / "busy");
    if (moment == Moment::kMeasures) return HasChildren(command);
    if (!std::filesystem::exists(database)) return false;
    if (moment == Moment::kHasDatabase) return true;
    record::Store store(database);
    const std::vector<record::RunRecord> runs = store.Runs();
    if (runs.empty()) return false;
    return moment == Moment::kTrialsDone ? runs[0].finished : store.CountTrials(runs[0].id) > 0;
  }

  /// What commands have made.
  void Forget() const {
    for (const char* file : {"busy", "first", "tuning.db"}) {
      std::filesystem::remove(folder_ / file);
    }
  }

  TemporaryFolder folder_;
};

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
  while (!Reached(test.moment, started->pid())) {
    was_interrupted = !started->Wait(0.005);
    if (!was_interrupted) return;
  }
  kill(started->pid(), SIGINT);
  const std::optional<base::ExitStatus> ended = started->Wait(kPatienceSeconds);
  ASSERT_TRUE(ended) << "it goes on";
  was_interrupted = !ended->Success();
  if (!was_interrupted) return;  // it had done all already
  // Before the command has begun, the signal ends it as any other program.
  EXPECT_EQ(ended->code, ended->signaled ? SIGINT : 128 + SIGINT);
}

TEST_P(InterruptedCommand, EndsSoonAfterCtrlC) {
  // On a busy machine the moment may be missed, where it is short.
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
    while (signal != 0 && !Reached(Moment::kEvaluates, started->pid())) {
      if (started->Wait(0.005)) return -1;
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
        Interruption{"search_command", {"search", "sleep.yaml"}, Moment::kEvaluates},
        Interruption{"search_jobs", {"search", "sleep.yaml", "--jobs", "3"}, Moment::kEvaluates},
        Interruption{"search_repeats",
                     {"search", "sleep_later.yaml", "--trials", "1", "--repeat-best", "1"},
                     Moment::kEvaluates},
        Interruption{"search_process", {"search", "silent.yaml"}, Moment::kEvaluates},
        Interruption{"map_simulator",
                     {"map", "--op", "matmul:16,16,16", "--arch", "gemmini", "--evaluator",
                      "touch {folder}/busy; sleep 77"},
                     Moment::kEvaluates},
        Interruption{"map_model",
                     {"map", "--op", "matmul:512,512,512", "--arch", "gemmini", "--evaluations",
                      "999999999", "--db", "tuning.db"},
                     Moment::kHasTrial},
        Interruption{"map_bayesian",
                     {"map", "--op", "matmul:512,512,512", "--arch", "gemmini", "--mapper",
                      "bayesian", "--evaluations", "100000", "--db", "tuning.db"},
                     Moment::kHasTrial},
        Interruption{"tune_begin",
                     {"tune", "--op", "conv2d:56x56x64,64,3x3,pad=1", "--db", "tuning.db"},
                     Moment::kHasDatabase},
        Interruption{"tune_measures",
                     {"tune", "--op", "conv2d:56x56x64,64,3x3,pad=1", "--db", "tuning.db"},
                     Moment::kMeasures},
        Interruption{"tune_trials",
                     {"tune", "--op", "matmul:1024,1024,1024", "--db", "tuning.db"},
                     Moment::kHasTrial},
        Interruption{"tune_repeats",
                     {"tune", "--op", "matmul:1024,1024,1024", "--threads", "1", "--trials", "8",
                      "--db", "tuning.db"},
                     Moment::kTrialsDone},
        Interruption{"pretrain_sampling",
                     {"pretrain", "--families", "conv2d", "--programs-per-task", "100000", "--db",
                      "tuning.db"},
                     Moment::kHasDatabase},
        Interruption{"pretrain_measuring",
                     {"pretrain", "--families", "conv2d", "--tasks-per-family", "3",
                      "--programs-per-task", "60", "--share", "0.9"},
                     Moment::kMeasures},
        Interruption{"learn",
                     {"learn", "--families", "conv2d", "--tasks-per-family", "3"},
                     Moment::kMeasures,
                     {"BAYLOOM_STORE={folder}/learn.db"}},
        Interruption{"serve", {"serve", "sleep.yaml", "--db", "tuning.db"}, Moment::kHasDatabase}),
    [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace bayloom::cli
