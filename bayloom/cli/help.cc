// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/cli/help.h"

#include <fmt/format.h>

#include <CLI/Formatter.hpp>
#include <CLI/Validators.hpp>
#include <algorithm>
#include <cctype>
#include <memory>

namespace bayloom::cli {
namespace {

/// Stands before the details in a description or a footer.
constexpr char kDetailsMark = '\f';
constexpr const char* kAdvancedGroup = "Advanced options";
/// Labels longer than this have a line of their own.
constexpr size_t kMaxLabel = 24;

/// What is to be shown of a text with details.
std::string Shown(std::string text, bool all) {
  const size_t mark = text.find(kDetailsMark);
  if (mark == std::string::npos) return text;
  if (all) return text.erase(mark, 1);
  return text.substr(0, mark);
}

std::string ToUpper(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return std::toupper(c); });
  return text;
}

bool IsAdvanced(const CLI::App& app, const CLI::Option& option) {
  return option.get_group() == kAdvancedGroup || &option == app.get_help_all_ptr();
}

/// "MODEL", "[MODEL]", "[MODEL...]".
std::string UsageOf(const CLI::Option& positional) {
  std::string text = ToUpper(positional.get_name(true));
  if (positional.get_expected_max() >= CLI::detail::expected_max_vector_size) text += "...";
  return positional.get_required() ? text : "[" + text + "]";
}

/// "-o, --out FILE".
std::string LabelOf(const CLI::Option& option) {
  if (option.get_positional()) return ToUpper(option.get_name(true));
  std::string label = option.get_name(false, true);
  if (const size_t comma = label.find(','); comma != std::string::npos)
    label.insert(comma + 1, " ");
  if (!option.get_option_text().empty()) label += " " + option.get_option_text();
  return label;
}

std::string DescriptionOf(const CLI::Option& option, bool all) {
  std::string text = option.get_description();
  const size_t end = std::min(text.find(kDetailsMark), text.size());
  if (!option.get_default_str().empty()) {
    text.insert(end, fmt::format(" (default {})", option.get_default_str()));
  } else if (option.get_required() && !option.get_positional()) {
    text.insert(end, " (required)");
  }
  return Shown(text, all);
}

/// Words in lines that end at kHelpWidth; all but the first are indented.
std::string Wrapped(std::string_view text, size_t indent) {
  std::string lines;
  size_t column = indent;
  while (!text.empty()) {
    const size_t space = std::min(text.find_first_of(" \n"), text.size());
    const std::string_view word = text.substr(0, space);
    text.remove_prefix(std::min(space + 1, text.size()));
    if (column > indent && column + 1 + word.size() > kHelpWidth) {
      lines += "\n" + std::string(indent, ' ');
      column = indent;
    }
    if (column > indent) {
      lines += ' ';
      ++column;
    }
    lines += word;
    column += word.size();
  }
  return lines + "\n";
}

struct Entry {
  std::string label, description;
};

std::string Table(const std::vector<Entry>& entries) {
  size_t width = 0;
  for (const Entry& entry : entries) {
    if (entry.label.size() <= kMaxLabel) width = std::max(width, entry.label.size());
  }
  const size_t indent = width + 4;
  std::string text;
  for (const Entry& entry : entries) {
    text += "  " + entry.label;
    text += entry.label.size() <= width ? std::string(indent - 2 - entry.label.size(), ' ')
                                        : "\n" + std::string(indent, ' ');
    text += Wrapped(entry.description, indent);
  }
  return text;
}

/// Positional arguments, options, and --help.
std::string Options(const CLI::App& app, bool advanced, bool all) {
  std::vector<Entry> entries;
  const auto add = [&](auto is_wanted) {
    for (const CLI::Option* option : app.get_options()) {
      if (IsAdvanced(app, *option) != advanced || !is_wanted(*option)) continue;
      entries.push_back({LabelOf(*option), DescriptionOf(*option, all)});
    }
  };
  add([](const CLI::Option& option) { return option.get_positional(); });
  add([&](const CLI::Option& option) {
    return !option.get_positional() && &option != app.get_help_ptr();
  });
  add([&](const CLI::Option& option) { return &option == app.get_help_ptr(); });
  return Table(entries);
}

std::string Usage(const CLI::App& app, const std::string& name, bool all) {
  const bool has_subcommands = !app.get_subcommands({}).empty();
  std::string usage = "Usage: " + name + (has_subcommands ? " SUBCOMMAND" : "") + " [OPTIONS]";
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_positional() && (all || !IsAdvanced(app, *option))) {
      usage += " " + UsageOf(*option);
    }
  }
  return usage + "\n";
}

std::string Subcommands(const CLI::App& app) {
  std::vector<Entry> entries;
  for (const CLI::App* subcommand : app.get_subcommands({})) {
    if (subcommand->get_group().empty()) continue;
    entries.push_back({subcommand->get_name(), subcommand->get_description()});
  }
  return entries.empty() ? "" : "\n" + Table(entries);
}

class HelpFormatter final : public CLI::FormatterBase {
 public:
  std::string make_help(const CLI::App* app, std::string name,
                        CLI::AppFormatMode mode) const override {
    const bool all = mode == CLI::AppFormatMode::All;
    std::string text = app->get_description() + "\n\n" + Usage(*app, name, all);
    text += Subcommands(*app) + "\n" + Options(*app, false, all);
    if (all) text += std::string("\n") + kAdvancedGroup + ":\n" + Options(*app, true, all);
    if (const std::string footer = Shown(app->get_footer(), all); !footer.empty()) {
      text += "\n" + footer + "\n";
    }
    if (!all) return text;
    for (const CLI::App* subcommand : app->get_subcommands({})) {
      if (subcommand->get_group().empty()) continue;
      text += "\n" + std::string(kHelpWidth, '-') + "\n";
      text += make_help(subcommand, name + " " + subcommand->get_name(), mode);
    }
    return text;
  }
};

}  // namespace

std::string WithDetails(const std::string& text, const std::string& details) {
  return text + kDetailsMark + details;
}

CLI::Option* Advanced(CLI::Option* option) { return option->group(kAdvancedGroup); }

CLI::Option* ListNames(CLI::Option* option, const Names& names, const Names& experimental) {
  std::string text = fmt::format("{}: {}", option->get_description(), fmt::join(names, ", "));
  if (!experimental.empty()) {
    text = WithDetails(text, fmt::format("; experimental: {}", fmt::join(experimental, ", ")));
  }
  return option->description(text);
}

CLI::Option* OneOf(CLI::Option* option, const Names& names, const Names& experimental) {
  Names all = names;
  all.insert(all.end(), experimental.begin(), experimental.end());
  return ListNames(option, names, experimental)->check(CLI::IsMember(all));
}

void InstallHelp(CLI::App& program) {
  program.formatter(std::make_shared<HelpFormatter>());
  program.set_help_flag("-h,--help", "Print this help; --help-all lists advanced options, too");
  program.set_help_all_flag("--help-all", "Print the help of all options");
}

std::string HelpText(const CLI::App& command, const std::string& name, bool all) {
  return command.get_formatter()->make_help(
      &command, name, all ? CLI::AppFormatMode::All : CLI::AppFormatMode::Normal);
}

}  // namespace bayloom::cli
