// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <stdexcept>

namespace CLI {
class App;
}

namespace bayloom::cli {

/// A check that a subcommand was asked to make failed: exit code 1.
class CheckFailed : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// What was asked for is no part of this build: exit code 3.
class NotInThisBuild : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Each adds one subcommand, which runs while the command line is parsed. Subcommands throw
// InputError for what a person can put right.

void AddCheckCommand(CLI::App& app);
void AddTuneCommand(CLI::App& app);
void AddShowCommand(CLI::App& app);
void AddRunCommand(CLI::App& app);
void AddBenchCommand(CLI::App& app);
void AddCompileCommand(CLI::App& app);
void AddSearchCommand(CLI::App& app);
void AddServeCommand(CLI::App& app);
void AddEvaluateCommand(CLI::App& app);
void AddWorkerCommand(CLI::App& app);
void AddRecordsCommand(CLI::App& app);
void AddMapCommand(CLI::App& app);
void AddDesignCommand(CLI::App& app);
void AddReportCommand(CLI::App& app);
void AddBoardCommand(CLI::App& app);
void AddPretrainCommand(CLI::App& app);
void AddLearnCommand(CLI::App& app);
void AddSensitivityCommand(CLI::App& app);

/// The whole program: all subcommands, and help.
void AddCommands(CLI::App& app);

}  // namespace bayloom::cli
