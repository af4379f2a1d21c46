// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "tests/cli/run_bayloom.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include "bayloom/cli/command_line.h"
#include "bayloom/measure/runner_main.h"

namespace bayloom::cli {

Answer RunBayloom(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "bayloom");
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  const int exit_code = RunCommandLine(static_cast<int>(argv.size()), argv.data());
  const std::string out = testing::internal::GetCapturedStdout();
  return {exit_code, out, testing::internal::GetCapturedStderr()};
}

}  // namespace bayloom::cli

int main(int argc, char** argv) {
  if (const std::optional<int> code = bayloom::measure::RunAsRunner(argc, argv)) return *code;
  setenv("BAYLOOM_STORE", "off", 0);  // a user's programs are no part of a test
  testing::InitGoogleMock(&argc, argv);
  return RUN_ALL_TESTS();
}
