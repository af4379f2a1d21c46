// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

/// Runs ONNX's own tests of operators and prints what passes, by operator.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "bayloom/graph/evaluate.h"
#include "benchmarks/conformance/survey.h"

namespace bayloom {
namespace {

using Counts = std::map<Outcome, int>;

std::string Row(const std::string& name, Counts counts) {
  const int passed = counts[Outcome::kPassed], refused = counts[Outcome::kRefused];
  const int wrong = counts[Outcome::kWrong], crashed = counts[Outcome::kCrashed];
  const int total = passed + refused + wrong + crashed;
  return fmt::format("{:<40} {:>5} {:>7} {:>8} {:>6} {:>8} {:>6.1f} %", name, total, passed,
                     refused, wrong, crashed, 100.0 * passed / total);
}

/// One row for each value of the field, of the tests that `wanted` picks.
template <typename Field, typename Wanted>
void PrintTable(const std::vector<SurveyedTest>& tests, const char* title, Field field,
                Wanted wanted) {
  std::map<std::string, Counts> rows;
  for (const SurveyedTest& test : tests) {
    if (wanted(test)) ++rows[field(test)][test.outcome];
  }
  fmt::print("\n{:<40} tests  passed  refused  wrong  crashed\n", title);
  for (const auto& [name, counts] : rows) fmt::print("{}\n", Row(name, counts));
}

void Print(const std::vector<SurveyedTest>& tests, bool all) {
  for (const SurveyedTest& test : tests) {
    if (test.outcome == Outcome::kPassed) continue;
    fmt::print("{} {} [{}]: {}\n", ToString(test.outcome), test.name, test.kind, test.reason);
  }
  const auto op = [](const SurveyedTest& test) { return test.op; };
  std::map<std::string, bool> is_complete;
  for (const SurveyedTest& test : tests) {
    is_complete.emplace(test.op, true).first->second &= test.outcome == Outcome::kPassed;
  }
  PrintTable(tests, "operator", op,
             [&](const SurveyedTest& test) { return all || !is_complete[test.op]; });
  PrintTable(
      tests, "kind", [](const SurveyedTest& test) { return test.kind; },
      [](const SurveyedTest&) { return true; });
}

void WriteJson(const std::string& path, const std::vector<SurveyedTest>& tests) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const SurveyedTest& test : tests) {
    list.push_back({{"test", test.name},
                    {"operator", test.op},
                    {"kind", test.kind},
                    {"outcome", ToString(test.outcome)},
                    {"reason", test.reason}});
  }
  std::ofstream(path) << list.dump(1) << "\n";
}

int Main(int argc, char** argv) {
  CLI::App app{"Runs ONNX's tests of operators and prints what passes"};
  std::string root, json;
  int seconds = 60;
  bool all = false;
  app.add_option("folder", root, "Holds a folder for each test")
      ->required()
      ->check(CLI::ExistingDirectory);
  app.add_option("--seconds", seconds, "What a test may take")->capture_default_str();
  app.add_option("--json", json, "Write every test's outcome to this file");
  app.add_flag("--all", all, "List the operators that pass all of their tests, too");
  CLI11_PARSE(app, argc, argv);
  const std::vector<SurveyedTest> tests = Survey(root, graph::EvaluateGraph, seconds);
  Print(tests, all);
  if (!json.empty()) WriteJson(json, tests);
  for (const SurveyedTest& test : tests) {
    if (test.outcome == Outcome::kWrong || test.outcome == Outcome::kCrashed) return 1;
  }
  return 0;
}

}  // namespace
}  // namespace bayloom

int main(int argc, char** argv) { return bayloom::Main(argc, argv); }
