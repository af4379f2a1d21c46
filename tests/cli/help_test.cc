// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/cli/help.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <CLI/App.hpp>
#include <functional>
#include <sstream>
#include <string>
#include <vector>

#include "bayloom/cli/commands.h"
#include "bayloom/scheduling/task_scheduler.h"
#include "tests/cli/run_bayloom.h"

namespace bayloom::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

/// Lines that fit a terminal, and what the longest help may have.
constexpr size_t kScreenLines = 24, kMaxLines = 30;

std::vector<std::string> Lines(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

class Help : public testing::Test {
 protected:
  Help() { AddCommands(app_); }

  /// Calls with the program and every subcommand, with its full name.
  void ForEachCommand(const std::function<void(const CLI::App&, const std::string&)>& visit) {
    Visit(app_, "bayloom", visit);
  }

  CLI::App app_{"", "bayloom"};

 private:
  static void Visit(const CLI::App& command, const std::string& name,
                    const std::function<void(const CLI::App&, const std::string&)>& visit) {
    visit(command, name);
    for (const CLI::App* subcommand : command.get_subcommands({})) {
      Visit(*subcommand, name + " " + subcommand->get_name(), visit);
    }
  }
};

TEST_F(Help, OfEverySubcommandFitsAScreen) {
  ForEachCommand([](const CLI::App& command, const std::string& name) {
    const bool is_long = name == "bayloom map" || name == "bayloom";
    const size_t most = is_long ? kMaxLines : kScreenLines;
    EXPECT_LE(Lines(HelpText(command, name, false)).size(), most) << name;
    for (const bool all : {false, true}) {
      for (const std::string& line : Lines(HelpText(command, name, all))) {
        EXPECT_LE(line.size(), static_cast<size_t>(kHelpWidth)) << name << ":\n" << line;
      }
    }
  });
}

TEST_F(Help, DescribesEveryOptionAndItsValue) {
  ForEachCommand([](const CLI::App& command, const std::string& name) {
    EXPECT_FALSE(command.get_description().empty()) << name;
    for (const CLI::Option* option : command.get_options()) {
      const std::string label = name + " " + option->get_name();
      EXPECT_FALSE(option->get_description().empty()) << label;
      const bool takes_value = option->get_expected_max() > 0 && !option->get_positional();
      EXPECT_EQ(option->get_option_text().empty(), !takes_value) << label;
    }
  });
}

TEST_F(Help, EndsWithAnExample) {
  ForEachCommand([](const CLI::App& command, const std::string& name) {
    if (name == "bayloom help-all") return;
    EXPECT_THAT(HelpText(command, name, false), testing::ContainsRegex("\nExamples?:\n  [^\n]+"))
        << name;
  });
}

TEST_F(Help, ShowsAdvancedOptionsAndDetailsOnRequest) {
  const std::string screen = RunBayloom({"map", "--help"}).out;
  const std::string all = RunBayloom({"map", "--help-all"}).out;
  EXPECT_THAT(screen, Not(HasSubstr("--tile-encoding")));
  EXPECT_THAT(all, HasSubstr("--tile-encoding"));
  for (const std::string& name : scheduling::TaskSchedulers().Names()) {
    EXPECT_THAT(all, HasSubstr(name));
  }
  for (const std::string& line : Lines(screen)) EXPECT_THAT(all, HasSubstr(line.substr(0, 20)));
  EXPECT_EQ(RunBayloom({"help", "map"}).out, screen);
  EXPECT_THAT(RunBayloom({"help", "records", "export"}).out, HasSubstr("--format"));
}

TEST_F(Help, OfAllSubcommandsIsOneText) {
  const Answer all = RunBayloom({"help-all"});
  EXPECT_EQ(all.exit_code, 0);
  EXPECT_EQ(all.out, RunBayloom({"--help-all"}).out);
  ForEachCommand([&](const CLI::App& command, const std::string& name) {
    if (command.get_group().empty()) return;
    EXPECT_THAT(all.out, HasSubstr("Usage: " + name + " "));
    for (const CLI::Option* option : command.get_options()) {
      if (option->get_positional()) continue;
      EXPECT_THAT(all.out, HasSubstr("--" + option->get_lnames().front())) << name;
    }
  });
}

TEST(HelpText, LinesOfADescriptionAreOneParagraph) {
  CLI::App app("Try something", "tool");
  InstallHelp(app);
  std::string file;
  app.add_option("--file", file, WithDetails("What is\nread", ", and\nwritten"))
      ->option_text("FILE");
  EXPECT_THAT(HelpText(app, "tool", true), HasSubstr("What is read, and written\n"));
}

TEST(HelpText, WrapsDescriptionsAndListsNames) {
  CLI::App app("Try something", "tool");
  InstallHelp(app);
  std::string name, file;
  OneOf(
      app.add_option("--method", name, "How it is done")->option_text("NAME")->default_str("fast"),
      {"fast", "exact"}, {"odd"});
  Advanced(app.add_option("--a-very-long-option-name-indeed", file, WithDetails("Where", " at all"))
               ->option_text("FILE"));
  EXPECT_EQ(HelpText(app, "tool", false),
            "Try something\n\n"
            "Usage: tool [OPTIONS]\n\n"
            "  --method NAME  How it is done: fast, exact (default fast)\n"
            "  -h, --help     Print this help; --help-all lists advanced options, too\n");
  const std::string all = HelpText(app, "tool", true);
  EXPECT_THAT(all, HasSubstr("How it is done: fast, exact (default fast); experimental: odd\n"));
  EXPECT_THAT(all, HasSubstr("  --a-very-long-option-name-indeed FILE\n"));
  EXPECT_THAT(all, HasSubstr(" Where at all\n"));
  std::vector<const char*> odd = {"tool", "--method", "odd"}, wrong = {"tool", "--method", "slow"};
  EXPECT_NO_THROW(app.parse(3, odd.data()));
  EXPECT_THROW(app.parse(3, wrong.data()), CLI::ValidationError);
}

}  // namespace
}  // namespace bayloom::cli
