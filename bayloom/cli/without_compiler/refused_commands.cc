// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

// In a build without the compiler (BAYLOOM_COMPILER=OFF), the commands that need it say so.

#include <fmt/core.h>

#include <CLI/App.hpp>
#include <string>

#include "bayloom/cli/commands.h"

namespace bayloom::cli {
namespace {

void AddRefused(CLI::App& app, const std::string& name, const std::string& what) {
  CLI::App* command = app.add_subcommand(name, what + " (not in this build)");
  command->allow_extras();
  command->callback([name] {
    throw NotInThisBuild(fmt::format(
        "'bayloom {}' needs the compiler, which this build has not: it searches scenarios and maps "
        "onto accelerators",
        name));
  });
}

}  // namespace

void AddTuneCommand(CLI::App& app) { AddRefused(app, "tune", "Find fast programs for a network"); }
void AddRunCommand(CLI::App& app) { AddRefused(app, "run", "Run a network"); }
void AddBenchCommand(CLI::App& app) { AddRefused(app, "bench", "Time a network"); }
void AddCompileCommand(CLI::App& app) {
  AddRefused(app, "compile", "Compile a network to a library");
}
void AddPretrainCommand(CLI::App& app) { AddRefused(app, "pretrain", "Train cost models"); }
void AddLearnCommand(CLI::App& app) { AddRefused(app, "learn", "Measure for later tunings"); }

}  // namespace bayloom::cli
