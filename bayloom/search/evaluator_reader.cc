// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "bayloom/base/spelling.h"
#include "bayloom/search/scenario_readers.h"

namespace bayloom::search {
namespace {

/// Refuses holes where a value cannot be quoted such that the shell takes it as it is.
void CheckQuoting(const TextTemplate& text, const yaml::YamlValue& field) {
  for (const TextTemplate::Placeholder& hole : text.Placeholders()) {
    if (hole.context != base::ShellContext::kUnsafe) continue;
    field.Fail(
        fmt::format("'{{{0}}}' at column {1} of the text stands where no value can be quoted "
                    "(a substitution within quotes, a here document, a comment); write "
                    "'v={{{0}}}' before and use $v",
                    hole.name, hole.column));
  }
  for (const TextTemplate::Section& section : text.sections()) {
    if (section.is_balanced) continue;
    field.Fail(fmt::format("the section '{{{}?' at column {} of the text opens or closes quotes",
                           section.name, section.column));
  }
}

/// Refuses a name that no parameter has.
[[noreturn]] void FailUnknown(const std::string& name, const yaml::YamlValue& field,
                              const space::Space& space) {
  std::vector<std::string_view> names = {"work", "here"};
  for (int i = 0; i < space.size(); ++i) names.push_back(space.parameter(i).name());
  const std::string_view meant = base::ClosestMatch(name, names);
  field.Fail(fmt::format("there is no parameter '{}'{}", name,
                         meant.empty() ? "" : fmt::format("; is '{}' meant?", meant)));
}

/// A template whose holes can all be filled; `has_configuration` is false for a process, which
/// gets its configurations later.
TextTemplate ReadTemplate(const std::string& text, const yaml::YamlValue& field,
                          const space::Space& space, bool has_configuration) {
  Result<TextTemplate> parsed = TextTemplate::Parse(text);
  if (!parsed) field.Fail(parsed.error().message);
  for (const TextTemplate::Placeholder& hole : parsed->Placeholders()) {
    const bool is_folder = hole.name == "work" || hole.name == "here";
    const int parameter = has_configuration ? space.IndexOf(hole.name) : -1;
    if (parameter < 0 && is_folder && hole.index < 0) continue;
    if (!has_configuration) {
      field.Fail(
          fmt::format("'{{{}}}': a process gets its parameters as JSON, line by line; only "
                      "{{work}} and {{here}} can stand here",
                      hole.name));
    }
    if (parameter < 0) FailUnknown(hole.name, field, space);
    const int elements = space.parameter(parameter).ElementCount();
    if (hole.index >= elements && elements > 0) {
      field.Fail(fmt::format("'{}' has {} items, numbered from 0", hole.name, elements));
    }
    if (hole.index >= 0 && elements == 0) {
      field.Fail(fmt::format("'{}' is one value, not a list", hole.name));
    }
  }
  for (const TextTemplate::Section& section : parsed->sections()) {
    if (!has_configuration) {
      field.Fail(fmt::format("'{{{}?': a process gets its parameters as JSON, line by line",
                             section.name));
    }
    if (space.IndexOf(section.name) < 0) FailUnknown(section.name, field, space);
  }
  return *std::move(parsed);
}

/// Arguments as a list, or in one line that is split as a shell would.
std::vector<TextTemplate> ReadArguments(const yaml::YamlValue& field, const space::Space& space,
                                        bool has_configuration) {
  std::vector<TextTemplate> arguments;
  if (field.IsList()) {
    for (const yaml::YamlValue& item : field.Items()) {
      arguments.push_back(ReadTemplate(item.Text(), item, space, has_configuration));
    }
  } else {
    Result<std::vector<std::string>> split = SplitArguments(field.Text());
    if (!split) field.Fail(split.error().message);
    for (const std::string& argument : *split) {
      arguments.push_back(ReadTemplate(argument, field, space, has_configuration));
    }
  }
  if (arguments.empty()) field.Fail("expected a program and its arguments");
  return arguments;
}

void ReadAnswerFormat(const yaml::YamlValue& field, trial::AnswerFormat& format) {
  const std::optional<yaml::YamlValue> answer = field.Find("answer");
  if (!answer) return;
  answer->AllowOnly({"field", "pattern"});
  if (format.fields.size() > 1) {
    answer->Fail("with several objectives, the answer is a JSON object with a field for each name");
  }
  if (const auto name = answer->Find("field")) format.fields[0] = name->Text();
  if (const auto pattern = answer->Find("pattern")) {
    format.pattern = pattern->Text();
    if (Status checked = trial::CheckPattern(format.pattern); !checked) {
      pattern->Fail(checked.error().message);
    }
  }
}

/// "30s", "3x best", or both in a list.
void ReadTimeout(const yaml::YamlValue& field, EvaluatorOptions& options) {
  if (field.IsList()) {
    for (const yaml::YamlValue& item : field.Items()) ReadTimeout(item, options);
    return;
  }
  constexpr std::string_view kOverBest = "x best";
  const std::string text = field.Text();
  if (!text.ends_with(kOverBest)) {
    options.timeout = field.Duration();
    return;
  }
  const char* const end = text.data() + text.size() - kOverBest.size();
  const auto [used, error] = std::from_chars(text.data(), end, options.timeout_over_best);
  if (error != std::errc() || used != end || !(options.timeout_over_best > 1) ||
      !std::isfinite(options.timeout_over_best)) {
    field.Fail("expected a multiple above 1, such as 3x best");
  }
}

void ReadLimits(const yaml::YamlValue& field, EvaluatorOptions& options) {
  if (const auto timeout = field.Find("timeout")) ReadTimeout(*timeout, options);
  if (const auto memory = field.Find("memory")) options.memory_limit_bytes = memory->Bytes();
  if (const auto sandbox = field.Find("sandbox")) options.sandbox = sandbox->Bool();
}

void ReadRunningOptions(const yaml::YamlValue& field, const space::Space& space,
                        EvaluatorOptions& options) {
  ReadLimits(field, options);
  options.directory = options.here;
  if (const auto directory = field.Find("directory")) {
    options.directory = PathFrom(options.here, directory->Text());
  }
  if (const auto environment = field.Find("environment")) {
    const bool has_configuration = options.kind == EvaluatorKind::kCommand;
    for (const auto& [name, value] : environment->Entries()) {
      if (name.empty() || name.find('=') != std::string::npos) {
        value.Fail("expected the name of a variable");
      }
      options.environment.emplace_back(name,
                                       ReadTemplate(value.Text(), value, space, has_configuration));
    }
  }
  ReadAnswerFormat(field, options.answer);
}

/// A path, in which parameters with a single value, such as those of a context, may be named.
std::string ReadPath(const yaml::YamlValue& field, const space::Space& space) {
  const Result<TextTemplate> path = TextTemplate::Parse(field.Text());
  if (!path) return field.Text();  // braces of its own
  bool is_filled = true;
  std::string filled = path->Fill([&](const TextTemplate::Placeholder& hole) -> std::string {
    const int place = space.IndexOf(hole.name);
    if (place >= 0 && space.parameter(place).Cardinality() == 1) {
      return space::ToString(space.parameter(place).ValueAt(0));
    }
    is_filled = false;
    return "";
  });
  return is_filled ? filled : field.Text();
}

}  // namespace

std::string PathFrom(const std::string& here, const std::string& path) {
  return (std::filesystem::path(here) / path).lexically_normal().string();
}

std::vector<TextTemplate> ReadTemplates(const yaml::YamlValue& field, const space::Space& space) {
  return ReadArguments(field, space, /*has_configuration=*/true);
}

void ReadEvaluator(const yaml::YamlValue& field, Scenario& scenario) {
  EvaluatorOptions& options = scenario.evaluator;
  const space::Space& space = *scenario.space;
  options.answer.fields[0] = scenario.objectives[0].name;
  const auto command = field.Find("command");
  const auto shell = field.Find("shell");
  const auto process = field.Find("process");
  const auto recorded = field.Find("recorded");
  const auto kernel = field.Find("kernel");
  const int kinds = command.has_value() + shell.has_value() + process.has_value() +
                    recorded.has_value() + kernel.has_value();
  if (kinds != 1) {
    field.Fail("expected exactly one of command, shell, process, kernel and recorded");
  }
  if (kernel) {
    ReadKernel(field, scenario);
    ReadLimits(field, options);
    if (std::isfinite(options.timeout_over_best)) {
      field.At("timeout").Fail("what is much slower than the best is cut short by itself");
    }
    return;
  }
  if (recorded) {
    field.AllowOnly({"recorded", "measurement"});
    options.kind = EvaluatorKind::kRecorded;
    options.recorded = PathFrom(options.here, ReadPath(*recorded, space));
    if (const auto name = field.Find("measurement")) options.measurement = name->Text();
    return;
  }
  if (process) {
    field.AllowOnly(
        {"process", "timeout", "memory", "directory", "environment", "answer", "sandbox"});
    options.kind = EvaluatorKind::kProcess;
    options.arguments = ReadArguments(*process, space, /*has_configuration=*/false);
  } else {
    field.AllowOnly({"command", "shell", "input", "timeout", "memory", "directory", "environment",
                     "answer", "sandbox"});
    options.kind = EvaluatorKind::kCommand;
    options.is_shell = shell.has_value();
    if (command) {
      options.arguments = ReadArguments(*command, space, /*has_configuration=*/true);
    } else {
      options.arguments = {*TextTemplate::Parse("/bin/sh"), *TextTemplate::Parse("-c"),
                           ReadTemplate(shell->Text(), *shell, space, true)};
      CheckQuoting(options.arguments.back(), *shell);
    }
    if (const auto input = field.Find("input")) {
      if (input->Text() != "json") input->Fail("expected json, or nothing");
      options.json_input = true;
    }
  }
  ReadRunningOptions(field, space, options);
  if (process && !options.answer.pattern.empty()) {
    field.At("answer").At("pattern").Fail("a process answers with a number or JSON");
  }
}

}  // namespace bayloom::search
