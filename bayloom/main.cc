// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/cli/command_line.h"
#include "bayloom/experimental/register.h"
#include "bayloom/measure/runner_main.h"

int main(int argc, char** argv) {
  if (const std::optional<int> code = bayloom::measure::RunAsRunner(argc, argv)) return *code;
  bayloom::experimental::Register();
  return bayloom::cli::RunCommandLine(argc, argv);
}
