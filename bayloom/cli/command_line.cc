// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/cli/command_line.h"

#include <fmt/core.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <memory>
#include <string>

#include "bayloom/base/result.h"
#include "bayloom/base/version.h"
#include "bayloom/cli/internal/commands.h"
#include "bayloom/cli/internal/failure.h"

namespace bayloom::cli {
namespace {

constexpr int kFailed = 1;
constexpr int kBadInput = 2;

int Complain(int exit_code, const std::string& message) {
  fmt::print(stderr, "bayloom: {}\n", message);
  return exit_code;
}

/// The command whose help describes what was being parsed.
std::string HelpOf(const CLI::App& app) {
  std::string command = "bayloom";
  for (const CLI::App* at = &app; !at->get_subcommands().empty();) {
    at = at->get_subcommands().front();
    command += " " + at->get_name();
  }
  return command + " --help";
}

/// `bayloom help SUBCOMMAND` is `bayloom SUBCOMMAND --help`.
void AddHelpCommand(CLI::App& app) {
  auto name = std::make_shared<std::string>();
  CLI::App* help = app.add_subcommand("help", "Explain a subcommand");
  help->add_option("subcommand", *name, "Which one; all of them without it");
  help->callback([&app, name] {
    if (name->empty()) {
      fmt::print("{}", app.help());
      return;
    }
    try {
      fmt::print("{}", app.get_subcommand(*name)->help("bayloom"));
    } catch (const CLI::OptionNotFound&) {
      throw InputError("there is no subcommand '" + *name + "'; 'bayloom help' lists them");
    }
  });
}

}  // namespace

int RunCommandLine(int argc, char** argv) {
  CLI::App app("Finds fast tensor programs with few trials.", "bayloom");
  app.set_version_flag("--version", "bayloom " + std::string(base::Version()), "Print the version");
  app.footer(
      "Examples:\n"
      "  bayloom tune resnet18.onnx --trials 1000      find fast programs for a network\n"
      "  bayloom tune --op matmul:512,512,512          or for one operator\n"
      "  bayloom show resnet18.db                      what was found\n"
      "  bayloom bench resnet18.onnx --untuned         what was gained\n"
      "  bayloom compile resnet18.onnx --out lib       a library to ship\n"
      "  bayloom map --op matmul:512,512,512 --arch gemmini    onto an accelerator\n"
      "  bayloom search flags.yaml                     tune anybody's compiler or kernel\n"
      "\n"
      "'bayloom SUBCOMMAND --help' explains each of them.");
  app.require_subcommand(1);
  app.get_formatter()->column_width(32);
  AddTuneCommand(app);
  AddShowCommand(app);
  AddRunCommand(app);
  AddBenchCommand(app);
  AddCompileCommand(app);
  AddSearchCommand(app);
  AddServeCommand(app);
  AddRecordsCommand(app);
  AddMapCommand(app);
  AddReportCommand(app);
  AddDatasetCommand(app);
  AddPretrainCommand(app);
  AddSensitivityCommand(app);
  AddHelpCommand(app);
  if (argc <= 1) {
    fmt::print("{}", app.help());
    return 0;
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& help) {
    return app.exit(help);
  } catch (const CLI::ParseError& error) {
    return Complain(kBadInput, std::string(error.what()) + "; see '" + HelpOf(app) + "'");
  } catch (const std::exception& error) {
    const Failure failure = Explain(error);
    return Complain(failure.exit_code, failure.message);
  }
  // What was printed may still be on its way to a disk that is full.
  if (std::fflush(stdout) != 0) {
    return Complain(kFailed, std::string("cannot write the output: ") + std::strerror(errno));
  }
  return 0;
}

}  // namespace bayloom::cli
