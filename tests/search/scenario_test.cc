// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/search/scenario.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <nlohmann/json.hpp>

#include "bayloom/base/result.h"
#include "bayloom/search/code_constraint.h"
#include "bayloom/search/scenario_overrides.h"
#include "bayloom/space/configuration_json.h"

namespace bayloom::search {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr const char* kEverything = R"(
name: everything
parameters:
  rate:   {type: real, range: [0.001, 1], scale: log, default: 0.1}
  depth:  {type: integer, range: [1, 8], default: 2, prior: [1, 1, 1, 1, 2, 2, 2, 2]}
  tile:   {type: ordinal, values: [16, 4, 8], scale: log, default: 8, prior: [3, 1, 2]}
  level:  {type: categorical, values: [-O1, -O2, -O3], default: -O2}
  order:  {type: permutation, size: 3, metric: kendall, default: [2, 0, 1]}
  split:  {type: factorization, extent: 64, parts: 3, max_innermost: 16, default: [4, 2, 8]}
constraints:
  - depth <= tile
  - level != '-O1' or depth == 1
maximize: speed
evaluator:
  command: [./run, '--tile={tile}', '{order}', '{order[0]}', '{split[2]}']
  input: json
  timeout: 1m30s
  memory: 1GiB
  directory: sub
  environment: {LEVEL: '{level}', THREADS: 1}
  answer: {field: result.speed}
budget: {trials: 40, time: 10m}
optimizer: {name: genetic, initial_samples: 7}
seed: 12
)";

TEST(Scenario, SaysEverything) {
  const Scenario scenario = ParseScenario(kEverything, "/somewhere/file.yaml");
  EXPECT_EQ(scenario.name, "everything");
  const space::Space& space = *scenario.space;
  ASSERT_EQ(space.size(), 6);
  EXPECT_EQ(space.parameter(0).kind(), space::ParameterKind::kReal);
  EXPECT_EQ(space.parameter(5).kind(), space::ParameterKind::kFactorization);
  EXPECT_EQ(scenario.objectives[0].name, "speed");
  EXPECT_TRUE(scenario.objectives[0].maximize);
  EXPECT_EQ(scenario.max_trials, 40);
  EXPECT_EQ(scenario.max_seconds, 600);
  EXPECT_EQ(scenario.optimizer, "genetic");
  EXPECT_EQ(scenario.optimizer_options.initial_samples, 7);
  EXPECT_EQ(scenario.optimizer_options.seed, 12u);

  ASSERT_TRUE(scenario.default_configuration);
  const nlohmann::json first = space::ToJson(space, *scenario.default_configuration);
  EXPECT_EQ(first, nlohmann::json::parse(R"json({"rate": 0.1, "depth": 2, "tile": 8, "level": "-O2",
                                             "order": [2, 0, 1], "split": [4, 2, 8]})json"));
  // Weights belong to the values at their places, in whichever order a domain is kept.
  const space::Parameter& tile = space.parameter(2);
  EXPECT_GT(tile.PriorDensity(*tile.CoordinateOf(int64_t{16})),
            tile.PriorDensity(*tile.CoordinateOf(int64_t{8})));
  EXPECT_GT(tile.PriorDensity(*tile.CoordinateOf(int64_t{8})),
            tile.PriorDensity(*tile.CoordinateOf(int64_t{4})));

  const EvaluatorOptions& evaluator = scenario.evaluator;
  EXPECT_EQ(evaluator.kind, EvaluatorKind::kCommand);
  EXPECT_EQ(evaluator.arguments.size(), 5u);
  EXPECT_TRUE(evaluator.json_input);
  EXPECT_EQ(evaluator.timeout, 90);
  EXPECT_EQ(evaluator.memory_limit_bytes, int64_t{1} << 30);
  EXPECT_EQ(evaluator.directory, "/somewhere/sub");
  EXPECT_THAT(evaluator.answer.fields, ElementsAre("result.speed"));
  EXPECT_EQ(evaluator.environment.size(), 2u);
}

TEST(Scenario, SaysWhereItIsWrong) {
  const std::pair<const char*, const char*> scenarios[] = {
      {"parameters: {x: {type: integer, range: [1, 4]}}\nminimise: y",
       "f:2:11: minimise: is not known here; is 'minimize' meant?"},
      {"parameters: {x: {type: intger, range: [1, 4]}}", "f:1:24: parameters.x.type: "},
      {"parameters: {x: {type: integer, range: [4, 1]}}", "f:1:41: parameters.x.range[0]: "},
      {"parameters: {x: {type: integer, range: [1, 4], default: 9}}",
       "f:1:57: parameters.x.default: "},
      {"parameters: {x: {type: integer, range: [1, 4]}}\nconstraints:\n  - x < y", "f:3:5: "},
      {"parameters: {x: {type: integer, range: [1, 4]}}\nconstraints: [x > 4]",
       "f:1:13: parameters: "},
      {"parameters: {x: {type: ordinal, values: [1, 1]}}", "f:1:41: parameters.x.values: "},
      {"parameters: {x: {type: categorical, values: []}}", "f:1:45: parameters.x.values: "},
      {"parameters: {p: {type: permutation, size: 3, default: [0, 1, 1]}}",
       "f:1:55: parameters.p.default: "},
      {"parameters: {p: {type: permutation, size: 19}}",
       "f:1:43: parameters.p.size: expected a whole number from 1 to 18"},
      {"parameters: {t: {type: factorization, extent: 12, parts: 2, max_innermost: 0}}",
       "parameters.t.max_innermost: expected a whole number from 1"},
      {"parameters: {work: {type: integer, range: [1, 4]}}", "give the parameter another name"},
      {"parameters: {here: {type: integer, range: [1, 4]}}", "give the parameter another name"},
      {"parameters: {}", "f:1:13: parameters: expected at least one parameter"},
      {"minimize: y", "'parameters' is missing"},
      {"parameters: {x: {type: integer, range: [1, 4]}}\nminimize: a\nmaximize: [b, a]",
       "f:3:15: maximize[1]: 'a' is an objective already"},
      {"parameters: {x: {type: integer, range: [1, 4]}}\nminimize: []",
       "expected at least one objective"},
      {"parameters: {x: {type: integer, range: [1, 4]}}\nminimize: [a, b]\nbudget: {target: 3}",
       "expected 2 values, one for each objective"},
      {"parameters: {x: {type: integer, range: [1, 4]}}\nminimize: a\nthresholds: {a: 3}",
       "f:3:13: thresholds: thresholds are for several objectives"},
      {"parameters: {x: {type: integer, range: [1, 4]}}\nminimize: [a, b]\nthresholds: {c: 3}",
       "f:3:17: thresholds.c: 'c' is no objective"},
      {"parameters: {x: {type: integer, range: [1, 4]}}\nminimize: [a, b]\nthresholds: {a: x}",
       "thresholds.a"},
      {"parameters: {x: {type: integer, range: [1, 4]}}\nbudget: {plateau: {trials: 9, gain: 3}}",
       "expected a share such as 1 %"},
      {"parameters: {x: {type: integer, range: [1, 4]}}\nminimize: [a, b]\n"
       "evaluator: {command: run, answer: {pattern: '(.)'}}",
       "with several objectives, the answer is a JSON object"},
      {"parameters: {x: {type: integer, range: [1, 4]}}\n"
       "evaluator: {command: run, timeout: 0.5x best}",
       "expected a multiple above 1"},
      {"parameters: {x: {type: integer, range: [1, 4]}}\nevaluator: {command: 'run {y}'}",
       "f:2:22: evaluator.command: there is no parameter 'y'"},
      {"parameters: {x: {type: integer, range: [1, 4]}}\nevaluator: {command: 'run {x[0]}'}",
       "'x' is one value, not a list"},
      {"parameters: {p: {type: permutation, size: 3}}\nevaluator: {command: 'run {p[3]}'}",
       "'p' has 3 items"},
      {"parameters: {x: {type: integer, range: [1, 4]}}\nevaluator: {command: a, shell: b}",
       "exactly one of command, shell, process, kernel and recorded"},
      {"parameters: {x: {type: integer, range: [1, 4]}}\nevaluator: {process: 'run {x}'}",
       "a process gets its parameters as JSON"},
      {"parameters: {x: {type: integer, range: [1, 4]}}\noptimizer: magic",
       "f:2:12: optimizer: unknown optimizer 'magic'; known are bayesian, "},
      {"parameters: {x: {type: integer, range: [1, 4]}}\nbudget: {trials: 0}",
       "f:2:18: budget.trials: expected a whole number from 1"},
      {"parameters: {x: {type: integer, range: [1, 4]}}\n"
       "fidelity: {parameter: n, values: [4, 1]}",
       "f:2:38: fidelity.values[1]: expected ascending numbers"},
      {"parameters: {x: {type: integer, range: [1, 4]}}\nfidelity: {parameter: n, values: [4]}",
       "expected at least two fidelities"},
      {"parameters: {x: {type: integer, range: [1, 4]}}\n"
       "fidelity: {parameter: x, values: [1, 4]}",
       "fidelity"},
      {"parameters: {x: {type: integer, range: [1, 4]}}\nconstraints: [x < n]\n"
       "fidelity: {parameter: n, values: [1, 4]}",
       "f:2:15: constraints[0]: "},
      {"parameters: {x: {type: integer, range: [1, 4]}}\nbudget: {time: soon}",
       "f:2:16: budget.time: expected a duration"},
  };
  for (const auto& [text, message] : scenarios) {
    try {
      (void)ParseScenario(text, "f");
      ADD_FAILURE() << text;
    } catch (const InputError& error) {
      EXPECT_THAT(error.what(), HasSubstr(message)) << text;
    }
  }
}

TEST(Scenario, SaysAPlaceOnce) {
  try {
    (void)ParseScenario("parameters: {p: {type: permutation, size: many}}", "f");
    ADD_FAILURE();
  } catch (const InputError& error) {
    const std::string message = error.what();
    EXPECT_EQ(message.find("parameters.p.size"), message.rfind("parameters.p.size")) << message;
  }
}

TEST(Scenario, ReadsHyperMapperFilesAsTheyAre) {
  const Scenario scenario = ParseScenario(R"json({
    "application_name": "spmm",
    "optimization_objectives": ["compute_time"],
    "feasible_output": {"enable_feasible_predictor": true, "name": "Valid", "true_value": "1"},
    "design_of_experiment": {"doe_type": "random sampling", "number_of_samples": 5},
    "optimization_iterations": 55,
    "models": {"model": "gaussian_process"},
    "log_transform_output": true,
    "unknown_key": {"of": ["some", "kind"]},
    "input_parameters": {
      "chunk_size": {"parameter_type": "ordinal", "values": [2, 4, 8, 16], "transform": "log",
                     "parameter_default": 16, "constraints": ["chunk_size <= 4 * unroll_factor"],
                     "dependencies": ["unroll_factor"]},
      "unroll_factor": {"parameter_type": "ordinal", "values": [1, 2, 4], "parameter_default": 4},
      "omp-scheduling": {"parameter_type": "categorical", "values": ["static", "dynamic"],
                         "parameter_default": "static", "prior": [0.3, 0.7]},
      "threads": {"parameter_type": "integer", "values": [1, 8], "parameter_default": 8},
      "alpha": {"parameter_type": "real", "values": [0, 1], "parameter_default": 0.5,
                "prior": "gaussian", "prior_parameters": [0.5, 0.1]},
      "perm": {"parameter_type": "permutation", "values": [4], "parametrization": "spearman",
               "parameter_default": [0, 1, 2, 3],
               "constraints": ["((perm_1 != 1) & (perm_i2 < perm_i3)) | (perm_i0 == 3)"]}
    }})json",
                                          "spmm.json");
  EXPECT_EQ(scenario.name, "spmm");
  EXPECT_EQ(scenario.space->size(), 6);
  EXPECT_EQ(scenario.objectives[0].name, "compute_time");
  EXPECT_EQ(scenario.max_trials, 60);
  EXPECT_EQ(scenario.optimizer, "bayesian");
  EXPECT_EQ(scenario.optimizer_options.initial_samples, 5);
  EXPECT_EQ(scenario.optimizer_options.bayesian.objective, model::ObjectiveScale::kLog);
  EXPECT_EQ(scenario.evaluator.kind, EvaluatorKind::kNone);
  // (0, 1, 2, 3) has item 1 at place 1, and item 0 is not last: the default is not allowed.
  EXPECT_FALSE(scenario.default_configuration);
  const auto allowed = [&](const char* order) {
    nlohmann::json json = {{"chunk_size", 8},
                           {"unroll_factor", 2},
                           {"omp-scheduling", "dynamic"},
                           {"threads", 3},
                           {"alpha", 0.25}};
    json["perm"] = nlohmann::json::parse(order);
    const auto configuration = space::FromJson(*scenario.space, json);
    return configuration && scenario.space->Contains(*configuration);
  };
  EXPECT_TRUE(allowed("[1, 0, 2, 3]"));
  EXPECT_FALSE(allowed("[1, 0, 3, 2]"));
  EXPECT_TRUE(allowed("[1, 3, 2, 0]"));
}

TEST(Scenario, ReadsKernelTunerSpacesAsTheyAre) {
  const Scenario scenario = ParseScenario(R"json({
    "General": {"BenchmarkName": "hotspot"},
    "ConfigurationSpace": {
      "TuningParameters": [
        {"Name": "block_size_x", "Type": "int",
         "Values": "[1, 2, 4, 8, 16] + list(range(32, 1024+1, 32))", "Default": 256},
        {"Name": "block_size_y", "Type": "int", "Values": "[2**i for i in range(0, 6)]",
         "Default": 7},
        {"Name": "layout", "Type": "string", "Values": "['row', 'column']", "Default": "row"},
        {"Name": "flag", "Type": "bool", "Values": "[True, False]"}
      ],
      "Conditions": [
        {"Expression": "32 <= block_size_x*block_size_y <= 1024",
         "Parameters": ["block_size_x", "block_size_y"]},
        {"Expression": "layout == 'row' or not flag", "Parameters": ["layout", "flag"]}
      ]},
    "Budget": [{"Type": "ConfigurationCount", "BudgetValue": 30}],
    "KernelSpecification": {"Language": "CUDA"}})json",
                                          "T1.json");
  EXPECT_EQ(scenario.name, "hotspot");
  EXPECT_EQ(scenario.objectives[0].name, "time");
  EXPECT_EQ(scenario.max_trials, 30);
  const space::Space& space = *scenario.space;
  ASSERT_EQ(space.size(), 4);
  EXPECT_EQ(space.parameter(0).Cardinality(), 37);
  int64_t pairs = 0;
  for (int x : {1, 2, 4, 8, 16}) {
    for (int y = 1; y <= 32; y *= 2) pairs += 32 <= x * y && x * y <= 1024;
  }
  for (int x = 32; x <= 1024; x += 32) {
    for (int y = 1; y <= 32; y *= 2) pairs += x * y <= 1024;
  }
  EXPECT_EQ(space.CountFeasible(), static_cast<double>(3 * pairs));
}

TEST(Scenario, TakesConstraintsInCode) {
  const std::string text = R"(
parameters: {a: {type: integer, range: [1, 4]}, b: {type: integer, range: [1, 4]}}
constraints: [a != 2]
)";
  const auto is_less = [](std::span<const space::Value> values) {
    return std::get<int64_t>(values[0]) < std::get<int64_t>(values[1]);
  };
  const std::vector<CodeConstraint> constraints = {{{"b", "a"}, is_less}};
  EXPECT_EQ(ParseScenario(text, "s.yaml").space->CountFeasible(), 12);
  EXPECT_EQ(ParseScenario(text, "s.yaml", constraints).space->CountFeasible(), 5);  // b < a != 2
  const std::vector<CodeConstraint> unknown = {{{"c"}, is_less}};
  EXPECT_THROW(ParseScenario(text, "s.yaml", unknown), InputError);
}

TEST(ReadScenario, AGivenCommandAnswersTheObjectiveOfAFileWithoutEvaluator) {
  Scenario scenario =
      ParseScenario("parameters: {x: {type: integer, range: [1, 4]}}\nminimize: seconds\n", "f");
  OverrideCommand("run {x}", scenario);
  EXPECT_THAT(scenario.evaluator.answer.fields, ElementsAre("seconds"));
}

TEST(ReadScenario, TakesSeveralObjectivesAndStopRules) {
  const Scenario scenario = ParseScenario(
      "parameters: {x: {type: integer, range: [1, 4]}}\n"
      "minimize: [seconds, bytes]\n"
      "maximize: accuracy\n"
      "thresholds: {accuracy: 0.5, seconds: 2}\n"
      "budget: {target: [1.5, 100, 0.9], plateau: {trials: 20, gain: 2 %}}\n"
      "evaluator: {command: run, timeout: [30s, 3x best]}\n",
      "f");
  EXPECT_EQ(scenario.objectives,
            (std::vector<Objective>{{"seconds", false}, {"bytes", false}, {"accuracy", true}}));
  const std::vector<std::string> names = {"seconds", "bytes", "accuracy"};
  EXPECT_EQ(scenario.evaluator.answer.fields, names);
  EXPECT_EQ(scenario.optimizer_options.objectives, names);
  EXPECT_EQ(scenario.optimizer_options.thresholds,
            (std::vector<std::optional<double>>{2, std::nullopt, -0.5}));
  EXPECT_EQ(scenario.stop.target, (std::vector<double>{1.5, 100, 0.9}));
  EXPECT_EQ(scenario.stop.plateau_trials, 20);
  EXPECT_DOUBLE_EQ(scenario.stop.plateau_gain, 0.02);
  EXPECT_EQ(scenario.evaluator.timeout, 30);
  EXPECT_EQ(scenario.evaluator.timeout_over_best, 3);
}

}  // namespace
}  // namespace bayloom::search
