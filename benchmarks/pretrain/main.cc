// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

// Compares ways to choose the programs that a cost model is trained on (Bi et al. 2023, table 1,
// figures 1 and 8): on a pool of which everything was measured, with many seeds, or for real.

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>
#include <string>
#include <vector>

#include "bayloom/base/file.h"
#include "bayloom/codegen/host.h"
#include "bayloom/cost/model_file.h"
#include "bayloom/cost/selection/selection.h"
#include "bayloom/experimental/register.h"
#include "bayloom/measure/measurer.h"
#include "bayloom/measure/runner_main.h"
#include "bayloom/report/table.h"
#include "bayloom/tuning/measure_evaluator.h"
#include "benchmarks/charts/histogram.h"
#include "benchmarks/pretrain/selection_comparison.h"
#include "benchmarks/run_tool.h"

namespace bayloom {
namespace {

struct Arguments {
  std::string database;
  std::string target = "native";
  ComparisonOptions comparison;
  std::vector<std::string> selections = {"greedy"};
  std::vector<std::string> models = {"xgboost"};
  double threshold = 1;
  int rounds = 5;
  int seeds = 1;
  int threads = 0;
  bool measure = false;
  bool json = false;
  std::string chart;
  std::string out;
};

/// "87.3" or, of several, "87.3 +- 0.4".
report::Cell MeanCell(const std::vector<double>& values, double factor) {
  const auto count = static_cast<double>(values.size());
  const double mean = factor * std::accumulate(values.begin(), values.end(), 0.0) / count;
  if (values.size() == 1) return {mean, fmt::format("{:.3g}", mean)};
  double squares = 0;
  for (const double value : values) squares += std::pow(factor * value - mean, 2);
  return {mean, fmt::format("{:.3g} +- {:.1g}", mean, std::sqrt(squares / (count - 1)))};
}

void AddRow(report::Table& table, const std::string& selection, const std::string& model,
            const std::vector<Training>& trainings) {
  const auto mean = [&](auto value, double factor) {
    std::vector<double> values;
    for (const Training& training : trainings) values.push_back(value(training));
    return MeanCell(values, factor);
  };
  using T = const Training&;
  table.AddRow({selection, model, trainings[0].learning->measured(),
                mean([](T t) { return t.FastShare(); }, 100),
                mean([](T t) { return t.evaluation.top1; }, 100),
                mean([](T t) { return t.evaluation.top5; }, 100),
                mean([](T t) { return t.evaluation.rmse; }, 1),
                mean([](T t) { return t.evaluation.r2; }, 1),
                mean([](T t) { return t.evaluation.pairwise_accuracy; }, 1),
                mean([](T t) { return t.learning->times().train; }, 1),
                mean([](T t) { return t.learning->times().predict; }, 1),
                mean([](T t) { return t.learning->times().select; }, 1),
                mean([](T t) { return t.learning->times().measure; }, 1)});
}

void WriteHistogram(const Training& training, const std::string& path) {
  const auto& rounds = training.labels_by_round;
  charts::Histogram histogram = {.title = "Programs measured, by performance",
                                 .x_label = "relative to the task's best program",
                                 .series = {}};
  if (!rounds.empty()) histogram.series.push_back({"first round", rounds.front()});
  if (rounds.size() > 1) histogram.series.push_back({"last round", rounds.back()});
  base::WriteFile(path, histogram.ToSvg());
}

void Compare(const Arguments& arguments) {
  const target::Target target = codegen::TargetNamed(arguments.target, arguments.threads);
  SelectionComparison comparison(arguments.database, target, arguments.comparison);
  measure::Measurer measurer(target, {});
  tuning::MeasureEvaluator evaluator(measurer);
  report::Table table({"selection", "model", "measured", "fast %", "top-1 %", "top-5 %", "rmse",
                       "r2", "pairwise", "train s", "predict s", "select s", "measure s"});
  for (const std::string& model : arguments.models) {
    for (const std::string& selection : arguments.selections) {
      std::vector<Training> trainings;
      for (int i = 0; i < arguments.seeds; ++i) {
        const pretrain::ActiveLearningOptions options = {
            .selection = selection,
            .selection_options = {arguments.threshold},
            .model = model,
            .rounds = arguments.rounds,
            .seed = arguments.comparison.seed + static_cast<uint64_t>(i)};
        trainings.push_back(arguments.measure ? comparison.Measure(options, evaluator)
                                              : comparison.Simulate(options));
      }
      if (!arguments.chart.empty()) WriteHistogram(trainings[0], arguments.chart);
      if (!arguments.out.empty()) {
        cost::WriteModelFile(trainings[0].learning->model(), arguments.out);
      }
      AddRow(table, selection, model, trainings);
    }
  }
  fmt::print("{}\n", arguments.json ? table.Json().dump(2) : table.Text());
}

}  // namespace
}  // namespace bayloom

int main(int argc, char** argv) {
  if (const std::optional<int> code = bayloom::measure::RunAsRunner(argc, argv)) return *code;
  bayloom::experimental::Register();
  bayloom::Arguments arguments;
  CLI::App app("Compares selections of the programs that a cost model is trained on",
               "bayloom-selections");
  app.add_option("database", arguments.database,
                 "A pool made by 'bayloom pretrain', measured with --share 1")
      ->required();
  app.add_option("--selections", arguments.selections, "Selections to compare")
      ->check(CLI::IsMember(bayloom::cost::SelectionMethods().AllNames()))
      ->delimiter(',')
      ->allow_extra_args(false)
      ->capture_default_str();
  app.add_option("--models", arguments.models, "What to train")
      ->check(CLI::IsMember(bayloom::cost::ThroughputModelNames()))
      ->delimiter(',')
      ->allow_extra_args(false)
      ->capture_default_str();
  app.add_option("--share", arguments.comparison.share, "Share of the training tasks' programs")
      ->check(CLI::Range(0.0, 1.0))
      ->capture_default_str();
  app.add_option("--programs", arguments.comparison.budget, "The same as a number of programs");
  app.add_option("--rounds", arguments.rounds, "How often the model is trained meanwhile")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--threshold", arguments.threshold,
                 "biased-diversity: divergence above which fast programs are preferred")
      ->capture_default_str();
  app.add_option("--hold-out", arguments.comparison.held_out,
                 "Networks or families to evaluate on instead of training; default a tenth of all "
                 "tasks")
      ->delimiter(',')
      ->allow_extra_args(false);
  app.add_option("--seed", arguments.comparison.seed, "Seed of all choices")->capture_default_str();
  app.add_option("--seeds", arguments.seeds, "Seeds to average over")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_flag("--measure", arguments.measure,
               "Measure programs instead of choosing among recorded measurements");
  app.add_option("--target", arguments.target, "As of bayloom pretrain")->capture_default_str();
  app.add_option("--threads", arguments.threads, "Threads of the programs; default all cores");
  app.add_option("--chart", arguments.chart,
                 "Draw the performance of the measured programs as a histogram (SVG)");
  app.add_option("--out", arguments.out, "Write the model of the first seed to this file");
  app.add_flag("--json", arguments.json, "Print JSON");
  return bayloom::RunTool(app, argc, argv, [&] { bayloom::Compare(arguments); });
}
