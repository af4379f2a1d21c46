// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/cli/command_line.h"

#include <fmt/core.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <algorithm>
#include <charconv>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <functional>
#include <iostream>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "bayloom/base/result.h"
#include "bayloom/base/single_line.h"
#include "bayloom/base/spelling.h"
#include "bayloom/base/stop_flag.h"
#include "bayloom/base/system_error.h"
#include "bayloom/base/version.h"
#include "bayloom/cli/commands.h"
#include "bayloom/cli/failure.h"
#include "bayloom/cli/help.h"
#include "bayloom/cli/output.h"
#include "bayloom/record/database.h"

namespace bayloom::cli {
namespace {

/// Behind all that was printed so far, where both streams are one.
int Complain(int exit_code, const std::string& message) {
  base::WriteIfPossible(stdout, "");
  Say("bayloom: {}\n", base::MessageInOneLine(message));
  return exit_code;
}

/// Says that a database is locked, and waits on: a user who has waited for measurements does not
/// want to lose them because of a backup.
bool AnnounceLock(const std::string& path, double seconds) {
  Say("bayloom: {} has been locked by another process for {:.0f} s; waiting\n",
      base::SingleLine(path, 200), seconds);
  return true;
}

/// How a command ends that nothing went wrong with: as shells show the end by a signal if it was
/// asked to stop before it was done.
int OrderlyExitCode() {
  const int signal = base::NoticedStopSignal();
  return signal == 0 ? 0 : 128 + signal;
}

/// The exit code once everything is printed: the disk that it goes to may be full.
int Checked() {
  try {
    CheckOutput();
    return OrderlyExitCode();
  } catch (const SystemError& error) {
    return Complain(kFailed, error.what());
  }
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

/// The deepest command that was recognized on the command line.
const CLI::App& RecognizedCommand(const CLI::App& app) {
  const CLI::App* at = &app;
  while (!at->get_subcommands().empty()) at = at->get_subcommands().front();
  return *at;
}

/// The word that stands where a subcommand is expected; empty where there is none.
std::string UnknownSubcommand(const CLI::App& app) {
  const CLI::App& command = RecognizedCommand(app);
  const std::vector<std::string> rest = command.remaining();
  const bool expects_one = command.get_require_subcommand_min() > 0;
  return expects_one && !rest.empty() && !rest.front().starts_with('-') ? rest.front() : "";
}

/// What the command works on, as it was given: its model, operation or file, else its name.
std::string SubjectOf(const CLI::App& app) {
  const CLI::App& command = RecognizedCommand(app);
  for (const CLI::Option* option : command.get_options()) {
    const bool is_subject = option->get_positional() || option->check_name("--op");
    if (is_subject && option->count() > 0) return option->results().front();
  }
  return command.get_name();
}

/// Options of 0.1 by the names that they have now.
constexpr std::pair<std::string_view, std::string_view> kRenamed[] = {
    {"cost-model", "learn-from"}, {"transfer", "learn-from"}, {"rehearse", "warm-start-model"},
    {"orders", "order-encoding"}, {"tiles", "tile-encoding"}, {"slot", "batch"}};

/// The name that a command's option of 0.1 has now; empty for any other one.
std::string_view NewName(const std::string& name, std::span<const std::string_view> known) {
  for (const auto& [before, now] : kRenamed) {
    if (before == name && std::ranges::find(known, now) != known.end()) return now;
  }
  return {};
}

/// What is wrong with an option that the command does not have; empty where there is none.
std::string UnknownOption(const CLI::App& app) {
  const CLI::App& command = RecognizedCommand(app);
  const std::vector<std::string> rest = command.remaining();
  const auto unknown =
      std::ranges::find_if(rest, [](const std::string& word) { return word.starts_with("--"); });
  if (unknown == rest.end() || *unknown == "--") return "";
  const std::string name = unknown->substr(2, unknown->find('=') - 2);
  std::vector<std::string_view> known;
  for (const CLI::Option* option : command.get_options()) {
    known.insert(known.end(), option->get_lnames().begin(), option->get_lnames().end());
  }
  if (const std::string_view now = NewName(name, known); !now.empty()) {
    return fmt::format("--{} is called --{} now", name, now);
  }
  const std::string_view meant = base::ClosestMatch(name, known);
  return fmt::format("there is no option '--{}'{}", base::SingleLine(name),
                     meant.empty() ? "" : fmt::format("; is --{} meant?", meant));
}

std::string ProblemIn(const CLI::ParseError& error, const CLI::App& app) {
  if (const std::string unknown = UnknownSubcommand(app); !unknown.empty()) {
    return fmt::format("there is no subcommand '{}'", base::SingleLine(unknown));
  }
  const std::string unknown = UnknownOption(app);
  return unknown.empty() ? error.what() : unknown;
}

/// What is wrong with the command line, and where it is explained.
std::string Explain(const CLI::ParseError& error, const CLI::App& app) {
  const std::string problem = ProblemIn(error, app);
  return base::MessageInOneLine(problem) + "; see '" + HelpOf(app) + "'";
}

/// Numbers of 64 bits without a sign: the parser would take -1 for the largest of them.
void CheckSeeds(CLI::App& app) {
  const auto is_seed = [](CLI::Option* option) {
    return std::ranges::count(option->get_lnames(), "seed") > 0;
  };
  for (CLI::Option* seed : app.get_options(is_seed)) {
    seed->check([](const std::string& text) {
      uint64_t number = 0;
      const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
      const bool fits = error == std::errc() && end == text.data() + text.size();
      return fits ? std::string()
                  : fmt::format("'{}' is no whole number from 0 on", base::SingleLine(text));
    });
  }
  for (CLI::App* command : app.get_subcommands(std::function<bool(CLI::App*)>())) {
    CheckSeeds(*command);
  }
}

/// `bayloom help SUBCOMMAND` is `bayloom SUBCOMMAND --help`; `bayloom help-all` explains all.
void AddHelpCommands(CLI::App& app) {
  auto names = std::make_shared<std::vector<std::string>>();
  CLI::App* help = app.add_subcommand("help", "Explain a subcommand; 'help-all' explains all");
  help->add_option("subcommand", *names, "Subcommand to explain");
  help->footer("Example:\n  bayloom help records export");
  help->callback([&app, names] {
    CLI::App* command = &app;
    std::string name = app.get_name();
    for (const std::string& next : *names) {
      try {
        command = command->get_subcommand(next);
      } catch (const CLI::OptionNotFound&) {
        throw InputError(fmt::format("there is no subcommand '{}'; '{} --help' lists them",
                                     base::SingleLine(next), name));
      }
      name += " " + next;
    }
    fmt::print("{}", HelpText(*command, name, false));
  });
  CLI::App* all = app.add_subcommand("help-all", "Explain all options of all subcommands");
  all->group("");
  all->callback([&app] { fmt::print("{}", HelpText(app, app.get_name(), true)); });
}

}  // namespace

void AddCommands(CLI::App& app) {
  app.description("Find fast programs, configurations and mappings with few measurements");
  app.set_version_flag("--version", "bayloom " + std::string(base::Version()), "Print the version");
  InstallHelp(app);
  app.footer(
      "Example:\n"
      "  bayloom tune resnet18.onnx --time 10m    find fast programs for a network");
  app.require_subcommand(1);
  AddCheckCommand(app);
  AddTuneCommand(app);
  AddShowCommand(app);
  AddBenchCommand(app);
  AddRunCommand(app);
  AddCompileCommand(app);
  AddSearchCommand(app);
  AddServeCommand(app);
  AddEvaluateCommand(app);
  AddWorkerCommand(app);
  AddSensitivityCommand(app);
  AddMapCommand(app);
  AddDesignCommand(app);
  AddPretrainCommand(app);
  AddLearnCommand(app);
  AddReportCommand(app);
  AddBoardCommand(app);
  AddRecordsCommand(app);
  AddHelpCommands(app);
  CheckSeeds(app);
}

namespace {

/// Throws what the subcommand throws.
int Run(int argc, char** argv) {
  CLI::App app("", "bayloom");
  AddCommands(app);
  if (argc <= 1) {
    std::cout << HelpText(app, app.get_name(), false);
    return Checked();
  }
  record::SetLockObserver(AnnounceLock);
  try {
    app.parse(argc, argv);
    CheckOutput();
  } catch (const CLI::Success& help) {
    app.exit(help);
    return Checked();
  } catch (const CLI::ParseError& error) {
    return Complain(kBadInput, Explain(error, app));
  } catch (const std::bad_alloc& error) {
    throw SystemError(SubjectOf(app) + ": " + cli::Explain(error).message);
  }
  return OrderlyExitCode();
}

}  // namespace

int RunCommandLine(int argc, char** argv) {
  base::OpenStandardStreams();
  ExplainLackOfMemory();
  std::signal(SIGXFSZ, SIG_IGN);  // a file at its limit ('ulimit -f') is an error of the write
  try {
    return Run(argc, argv);
  } catch (const record::StoppedAtLock& error) {
    base::NoticeStop();
    return Complain(OrderlyExitCode(),
                    std::string(error.what()) + ", and --resume goes on from there");
  } catch (const std::exception& error) {
    const Failure failure = Explain(error);
    // What was stopped early may well have no answer yet.
    const bool is_answer = dynamic_cast<const CheckFailed*>(&error) != nullptr;
    const int stopped = is_answer ? OrderlyExitCode() : 0;
    return Complain(stopped != 0 ? stopped : failure.exit_code, failure.message);
  }
}

}  // namespace bayloom::cli
