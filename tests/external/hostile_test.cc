// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

// Files that nobody should write: each is read, or refused by one line; none crashes the reader.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <cstring>
#include <fstream>
#include <set>
#include <string>

#include "bayloom/base/random.h"
#include "bayloom/base/result.h"
#include "bayloom/external/recorded_space.h"
#include "bayloom/external/scenario.h"
#include "tests/temporary_folder.h"

namespace bayloom::external {
namespace {

constexpr const char* kOwn = R"(name: n
parameters:
  a: {type: real, range: [0.5, 2], scale: log, default: 1}
  b: {type: integer, range: [1, 8], prior: [1, 2, 3, 4, 5, 6, 7, 8]}
  c: {type: ordinal, values: [1, 2, 4], scale: log}
  d: {type: categorical, values: [x, 'y', "z"]}
  e: {type: permutation, size: 4, metric: kendall, default: [3, 2, 1, 0]}
  f: {type: factorization, extent: 48, parts: 3, max_innermost: 8}
constraints:
  - b % c == 0 and (f[0] > 1 or d != 'x')
  - e_i0 < e[1] -> a < 1.5
minimize: seconds
evaluator:
  command: "run --b {b} {e[0]} '{d}'"
  timeout: 1m
  memory: 1GiB
  answer: {field: a.b}
budget: {trials: 5, time: 10s}
optimizer: {name: bayesian, acquisition: confidence-bound}
seed: 3
)";

constexpr const char* kHyperMapper = R"json({"application_name": "h",
 "optimization_objectives": ["t"], "optimization_iterations": 20,
 "design_of_experiment": {"doe_type": "random sampling", "number_of_samples": 5},
 "models": {"model": "random_forest"}, "log_transform_output": true, "time_budget": -1,
 "feasible_output": {"enable_feasible_predictor": true, "feasibility_threshold": 0.1},
 "input_parameters": {
  "x0": {"parameter_type": "ordinal", "values": [1, 2, 4], "parameter_default": 2,
         "constraints": ["x0 >= x1"], "dependencies": ["x1"]},
  "x1": {"parameter_type": "integer", "values": [1, 4], "prior": [0.1, 0.2, 0.3, 0.4]},
  "x2": {"parameter_type": "real", "values": [0.1, 1], "prior": "gaussian",
         "prior_parameters": [0.5, 0.1], "transform": "log"},
  "x3": {"parameter_type": "categorical", "values": ["a", "b"]},
  "x4": {"parameter_type": "permutation", "values": [3], "parametrization": "hamming",
         "constraints": ["(x4_0 != 1) & ~(x4_i2 < x4_i1)"]}}})json";

constexpr const char* kT1 = R"json({"General": {"BenchmarkName": "t"}, "ConfigurationSpace": {
 "TuningParameters": [
  {"Name": "bx", "Type": "int", "Values": "[16, 32] + list(range(64, 256+1, 64))", "Default": 32},
  {"Name": "by", "Type": "int", "Values": "[2**i for i in range(0, 5)]", "Default": 1},
  {"Name": "s", "Type": "string", "Values": "['row', 'col']"}],
 "Conditions": [{"Expression": "32 <= bx*by <= 1024", "Parameters": ["bx", "by"]}]},
 "Budget": [{"Type": "ConfigurationCount", "BudgetValue": 10}]})json";

constexpr const char* kT4 = R"json({"schema_version": "1.0.0", "metadata": {"timeunit": "ms"},
 "results": [
 {"configuration": {"bx": 16, "s": "row"}, "times": {"compilation": 9.5, "runtimes": [1, 2]},
  "invalidity": "correct", "correctness": 1, "objectives": ["time"],
  "measurements": [{"name": "time", "value": 1.5, "unit": "ms"}]},
 {"configuration": {"bx": 32, "s": "col"}, "times": {}, "invalidity": "compile",
  "measurements": [{"name": "time", "value": "CompilationError"}], "objectives": ["time"]}]})json";

/// Pieces that readers stumble over.
constexpr std::string_view kPieces[] = {"{",
                                        "}",
                                        "[",
                                        "]",
                                        ":",
                                        ",",
                                        "\"",
                                        "'",
                                        "\n",
                                        "- ",
                                        "  ",
                                        "\t",
                                        "#",
                                        "&x ",
                                        "*x",
                                        "<<: ",
                                        "!!int ",
                                        "|",
                                        ">",
                                        "%",
                                        "? ",
                                        "---\n",
                                        "...",
                                        "~",
                                        "null",
                                        "true",
                                        "-1",
                                        "0",
                                        "1e308",
                                        "1e999",
                                        "nan",
                                        ".inf",
                                        "-.inf",
                                        "0x7f",
                                        "1_000",
                                        "99999999999999999999",
                                        "\\",
                                        "\\u0000",
                                        "\xff",
                                        "\xc3\x28",
                                        "\xf0\x9f\x98\x80",
                                        "{x}",
                                        "{}",
                                        "{{",
                                        "[[[[",
                                        "))))",
                                        "((((",
                                        "**",
                                        "//0",
                                        "% 0",
                                        "-> ",
                                        "in []",
                                        "e[99]",
                                        "e_i9",
                                        "range(1, 10**9)",
                                        "for i in range(9)",
                                        "__import__('os')",
                                        "type: real",
                                        "size: 100000",
                                        "extent: 0",
                                        "values: []",
                                        "range: [1, 1]",
                                        "parts: 1000000"};

/// One to three random changes of a file.
std::string Mutated(std::string text, base::RandomStream& random) {
  for (int64_t change = 1 + random.UniformInt(3); change > 0 && !text.empty(); --change) {
    const auto at = static_cast<size_t>(random.UniformInt(static_cast<int64_t>(text.size())));
    const auto length = static_cast<size_t>(1 + random.UniformInt(12));
    const std::string_view piece =
        kPieces[static_cast<size_t>(random.UniformInt(std::size(kPieces)))];
    switch (random.UniformInt(6)) {
      case 0:
        text.erase(at, length);
        break;
      case 1:
        text.insert(at, piece);
        break;
      case 2:
        text.replace(at, length, piece);
        break;
      case 3:
        text.resize(at);
        break;
      case 4:
        text[at] = static_cast<char>(random.UniformInt(256));
        break;
      default:
        text.insert(at, text.substr(at, 4 * length));
        break;
    }
  }
  return text;
}

/// Checks that the action succeeds or complains in one line; returns whether it complained.
template <typename Action>
bool Complains(const std::string& input, const Action& action) {
  try {
    action();
    return false;
  } catch (const InputError& error) {
    const std::string_view message = error.what();
    EXPECT_FALSE(message.empty()) << input;
    EXPECT_EQ(message.find('\n'), std::string::npos) << message << "\nfor\n" << input;
    EXPECT_LT(message.size(), 1000u) << message << "\nfor\n" << input;
    return true;
  } catch (const std::exception& error) {
    ADD_FAILURE() << error.what() << "\nfor\n" << input;
    return true;
  }
}

int CountComplaints(const char* original, int files) {
  base::RandomStream random(7);
  std::set<std::string> seen;
  int complaints = 0;
  while (static_cast<int>(seen.size()) < files) {
    const std::string text = Mutated(original, random);
    if (!seen.insert(text).second) continue;
    complaints += Complains(text, [&] { (void)ParseScenario(text, "hostile.yaml"); });
  }
  return complaints;
}

TEST(Hostile, OriginalsAreFine) {
  for (const char* text : {kOwn, kHyperMapper, kT1}) {
    EXPECT_NO_THROW((void)ParseScenario(text, "f")) << text;
  }
}

TEST(Hostile, OwnScenarios) { EXPECT_GT(CountComplaints(kOwn, 600), 300); }
TEST(Hostile, HyperMapperScenarios) { EXPECT_GT(CountComplaints(kHyperMapper, 400), 200); }
TEST(Hostile, KernelTunerSpaces) { EXPECT_GT(CountComplaints(kT1, 400), 200); }

TEST(Hostile, Constraints) {
  base::RandomStream random(11);
  int complaints = 0;
  for (int i = 0; i < 400; ++i) {
    const std::string constraint = Mutated(
        "(a + 2) * b % c == 0 and (b in [1, 2] or not c > 1) -> min(a, b) <= 2 ** c", random);
    std::string quoted;
    for (const char c : constraint) quoted += c == '\'' ? std::string("''") : std::string(1, c);
    const std::string text =
        "parameters:\n"
        "  a: {type: integer, range: [1, 4]}\n  b: {type: integer, range: [1, 4]}\n"
        "  c: {type: ordinal, values: [1, 2, 4]}\nconstraints: ['" +
        quoted + "']\n";
    complaints += Complains(text, [&] { (void)ParseScenario(text, "hostile.yaml"); });
  }
  EXPECT_GT(complaints, 150);
}

TEST(Hostile, RecordedSpaces) {
  const TemporaryFolder folder;
  const std::string path = folder / "records";
  base::RandomStream random(13);
  int complaints = 0;
  for (int i = 0; i < 400; ++i) {
    std::string text = Mutated(kT4, random);
    if (i % 4 == 0) {
      // Compressed, and damaged after that.
      gzFile file = gzopen(path.c_str(), "wb");
      gzwrite(file, kT4, static_cast<unsigned>(std::strlen(kT4)));
      gzclose(file);
      std::ifstream in(path, std::ios::binary);
      text = Mutated({std::istreambuf_iterator<char>(in), {}}, random);
    }
    std::ofstream(path, std::ios::binary) << text;
    complaints += Complains(text, [&] { (void)RecordedSpace::Load(path, ""); });
  }
  EXPECT_GT(complaints, 150);
}

TEST(Hostile, DeepAndLarge) {
  const std::string texts[] = {
      std::string(200000, '['),
      std::string(200000, '{'),
      "parameters: " + std::string(100000, '['),
      "parameters: {x: {type: categorical, values: [" + std::string(100000, '-') + "]}}",
      "parameters: {x: {type: integer, range: [0, 9223372036854775807]}}",
      "parameters: {x: {type: integer, range: [-9223372036854775808, 9223372036854775807]}}",
      "parameters: {x: {type: real, range: [-1e308, 1e308]}}",
      "parameters: {x: {type: factorization, extent: 9223372036854775807, parts: 1000}}",
      "parameters: {x: {type: permutation, size: 1000}}",
      "parameters: {x: {type: integer, range: [1, 4]}}\nconstraints: ['" +
          std::string(100000, '(') + "']",
      "parameters: {x: {type: integer, range: [1, 4]}}\nconstraints: ['" +
          std::string(100000, '-') + "x > 0']",
      "parameters: {x: {type: integer, range: [1, 4]}}\nevaluator: {command: '" +
          std::string(100000, 'x') + "'}",
      "a: &a [x, x]\nb: &b [*a, *a]\nc: &c [*b, *b]\nparameters: *c",
      std::string("parameters: {\0x: 1}", 19),
  };
  for (const std::string& text : texts) {
    Complains(text.substr(0, 100), [&] { (void)ParseScenario(text, "hostile.yaml"); });
  }
}

}  // namespace
}  // namespace bayloom::external
