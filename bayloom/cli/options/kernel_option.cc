// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/cli/options/kernel_option.h"

#include <fmt/format.h>

#include <CLI/App.hpp>
#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <utility>

#include "bayloom/base/result.h"
#include "bayloom/base/single_line.h"
#include "bayloom/cli/help.h"
#include "bayloom/measure/host_caches.h"
#include "bayloom/search/comma_list.h"
#include "bayloom/search/kernel_definition.h"
#include "bayloom/space/value.h"

namespace bayloom::cli {
namespace {

using Json = nlohmann::ordered_json;  // parameters in the order in which they are given

constexpr int kMaxJobs = 4;

/// A number as one, else a text.
Json ScalarOf(const std::string& text) {
  double number = 0;
  if (!space::ParseNumber(text, number)) return text;
  const auto whole = static_cast<int64_t>(number);
  return static_cast<double>(whole) == number ? Json(whole) : Json(number);
}

/// "NAME=REST".
std::pair<std::string, std::string> SplitAtEquals(const std::string& option,
                                                  const std::string& text) {
  const size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0 || equals + 1 == text.size()) {
    throw InputError(
        fmt::format("{}: expected NAME=VALUE,..., found '{}'", option, base::SingleLine(text)));
  }
  return {search::Trimmed(text.substr(0, equals)), text.substr(equals + 1)};
}

/// "8,16,32", "1..8".
Json ParameterOf(const std::string& values) {
  if (const size_t dots = values.find(".."); dots != std::string::npos) {
    const Json low = ScalarOf(search::Trimmed(values.substr(0, dots)));
    const Json high = ScalarOf(search::Trimmed(values.substr(dots + 2)));
    if (!low.is_number() || !high.is_number()) {
      throw InputError(fmt::format("--param: expected numbers around '..', found '{}'",
                                   base::SingleLine(values)));
    }
    const bool is_whole = low.is_number_integer() && high.is_number_integer();
    return {{"type", is_whole ? "integer" : "real"}, {"range", {low, high}}};
  }
  Json list = Json::array();
  for (const std::string& value : search::SplitAtCommas(values)) list.push_back(ScalarOf(value));
  return list;
}

/// One map for each place in the lists of values.
Json SizesOf(const std::vector<std::string>& options) {
  Json sizes = Json::array();
  for (const std::string& option : options) {
    const auto [name, text] = SplitAtEquals("--size", option);
    const std::vector<std::string> values = search::SplitAtCommas(text);
    if (sizes.empty()) sizes = Json(values.size(), Json::object());
    if (values.size() != sizes.size()) {
      throw InputError("--size: expected as many values of each size");
    }
    for (size_t i = 0; i < values.size(); ++i) sizes[i][name] = ScalarOf(values[i]);
  }
  return sizes;
}

}  // namespace

KernelDefaults::KernelDefaults()
    : jobs(std::clamp(static_cast<int>(measure::AllowedProcessors().size()), 1, kMaxJobs)) {}

void KernelOption::AddTo(CLI::App& command) {
  const auto list = [&](const char* name, std::vector<std::string>& values, const char* text,
                        const char* form) {
    return command.add_option(name, values, text)->option_text(form)->allow_extra_args(false);
  };
  Advanced(list("--param", parameters,
                "Of a source in place of a scenario: a macro or argument and its values; repeat it",
                "NAME=V,...|LOW..HIGH"));
  Advanced(list("--arg", arguments,
                "An argument of the kernel, such as 'in float a[n][n]' or 'int n'", "DECLARATION"));
  Advanced(
      list("--size", sizes, "What arguments name; of several values each is timed", "NAME=N,..."));
  Advanced(list("--context", contexts, "A size for each value of which the best is searched for",
                "NAME=N,..."));
  Advanced(
      command.add_option("--reference", reference, "A function of the same source that is right"))
      ->option_text("FUNCTION");
  Advanced(list("--constraint", constraints, "What must hold of the parameters", "EXPRESSION"));
  Advanced(command.add_option("--function", function, "The kernel's name")
               ->option_text("NAME")
               ->default_str("the source's name"));
  Advanced(command.add_option("--compiler", compiler, "The compiler of the source")
               ->option_text("PROGRAM")
               ->default_str("cc, c++ or gfortran"));
  Advanced(command.add_option("--flags", flags, "Its flags; {parameter} is replaced by its value")
               ->option_text("FLAGS")
               ->default_str("-O3 -march=native"));
  Advanced(list("--problem-size", problem_size,
                "Of OpenCL: work items or their multiple in x, y, z", "N,...")
               ->delimiter(','));
}

bool KernelOption::IsSource(const std::string& path) const {
  if (search::KernelLanguageOf(path)) return true;
  const std::vector<std::string> given = Arguments();
  if (!given.empty()) {
    throw InputError(
        fmt::format("{} is for a source (.c, .cc, .cpp, .f90, .cl) in place of a "
                    "scenario",
                    given[0]));
  }
  return false;
}

std::string KernelOption::ScenarioText(const std::string& path) const {
  if (parameters.empty()) {
    throw InputError(
        fmt::format("'{}' is a source: say what is tuned, such as --param tile=8,16,32, and its "
                    "arguments with --arg",
                    path));
  }
  Json scenario;
  for (const std::string& parameter : parameters) {
    const auto [name, values] = SplitAtEquals("--param", parameter);
    if (scenario["parameters"].contains(name)) {
      throw InputError(fmt::format("--param: '{}' is given twice", base::SingleLine(name)));
    }
    scenario["parameters"][name] = ParameterOf(values);
  }
  for (const std::string& context : contexts) {
    const auto [name, values] = SplitAtEquals("--context", context);
    for (const std::string& value : search::SplitAtCommas(values)) {
      scenario["contexts"][name].push_back(ScalarOf(value));
    }
  }
  if (!constraints.empty()) scenario["constraints"] = constraints;
  Json& evaluator = scenario["evaluator"];
  evaluator = {{"kernel", std::filesystem::path(path).filename().string()},
               {"arguments", arguments}};
  if (!sizes.empty()) evaluator["sizes"] = SizesOf(sizes);
  if (!problem_size.empty()) evaluator["problem_size"] = problem_size;
  for (const auto& [key, value] : {std::pair{"function", &function},
                                   {"compiler", &compiler},
                                   {"flags", &flags},
                                   {"reference", &reference}}) {
    if (!value->empty()) evaluator[key] = *value;
  }
  return scenario.dump(2, ' ', true, Json::error_handler_t::replace);
}

std::vector<std::string> KernelOption::Arguments() const {
  std::vector<std::string> line;
  const auto add = [&](const std::string& name, const std::vector<std::string>& values) {
    for (const std::string& value : values) line.insert(line.end(), {name, value});
  };
  add("--param", parameters);
  add("--arg", arguments);
  add("--size", sizes);
  add("--context", contexts);
  add("--constraint", constraints);
  add("--problem-size", problem_size);
  for (const auto& [name, value] : {std::pair{"--function", &function},
                                    {"--compiler", &compiler},
                                    {"--flags", &flags},
                                    {"--reference", &reference}}) {
    if (!value->empty()) line.insert(line.end(), {name, *value});
  }
  return line;
}

}  // namespace bayloom::cli
