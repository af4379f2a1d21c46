// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

#include "bayloom/base/clock.h"
#include "bayloom/base/subprocess.h"
#include "tests/cli/run_bayloom.h"
#include "tests/temporary_folder.h"

namespace bayloom::cli {
namespace {

constexpr double kMaxStopSeconds = 1;

/// A command of the program, and how long to wait before it is interrupted: until a file is there
/// that its evaluator makes, then some seconds more.
struct Interruption {
  std::string name;
  std::vector<std::string> arguments;  ///< {folder} stands for an empty folder
  bool waits_for_file = false;
  double seconds = 0;
};

std::ostream& operator<<(std::ostream& out, const Interruption& test) { return out << test.name; }

class StopTest : public testing::TestWithParam<Interruption> {
 protected:
  void SetUp() override {
    std::ofstream(folder_ / "sleep.yaml")
        << "parameters: {x: {type: integer, range: [0, 9]}}\nminimize: seconds\n"
        << "evaluator: {shell: 'touch " << folder_ / "busy"
        << "; sleep 77'}\n";
    std::ofstream(folder_ / "silent.yaml")
        << "parameters: {x: {type: integer, range: [0, 9]}}\nminimize: seconds\n"
        << "evaluator: {process: ['sh', '-c', 'touch " << folder_ / "busy"
        << "; sleep 77']}\n";
  }

  std::string Filled(std::string text) const {
    const size_t at = text.find("{folder}");
    return at == std::string::npos ? text : text.replace(at, 8, folder_.path());
  }

  TemporaryFolder folder_;
};

TEST_P(StopTest, EndsWithinASecondOfCtrlC) {
  const Interruption& test = GetParam();
  base::SubprocessOptions options;
  options.arguments = {BAYLOOM_PROGRAM};
  for (const std::string& argument : test.arguments) options.arguments.push_back(Filled(argument));
  options.directory = folder_.path();
  options.standard_input = base::ChildStream::kPipe;
  options.standard_output = options.standard_error = base::ChildStream::kNull;
  Result<base::Subprocess> started = base::Subprocess::Start(options);
  ASSERT_TRUE(started.ok()) << started.error().message;
  const double begun = base::MonotonicSeconds();
  while (test.waits_for_file && !std::filesystem::exists(folder_ / "busy")) {
    ASSERT_LT(base::MonotonicSeconds() - begun, 60) << "it never became busy";
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  std::this_thread::sleep_for(std::chrono::duration<double>(test.seconds));
  ASSERT_FALSE(started->Wait(0)) << "it ended before it was interrupted";
  const double asked = base::MonotonicSeconds();
  kill(started->pid(), SIGINT);
  ASSERT_TRUE(started->Wait(30)) << "it goes on";
  EXPECT_LT(base::MonotonicSeconds() - asked, kMaxStopSeconds);
}

INSTANTIATE_TEST_SUITE_P(
    Commands, StopTest,
    testing::Values(
        Interruption{"search_command", {"search", "sleep.yaml"}, true, 0.1},
        Interruption{"search_jobs", {"search", "sleep.yaml", "--jobs", "3"}, true, 0.1},
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
        Interruption{"dataset",
                     {"dataset", "pool.db", "--families", "conv2d", "--tasks-per-family", "3",
                      "--programs-per-task", "100", "--measure", "90"},
                     false,
                     2},
        Interruption{"serve", {"serve", "sleep.yaml"}, false, 0.3}),
    [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace bayloom::cli
