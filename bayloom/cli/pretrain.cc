// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>

#include <CLI/App.hpp>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>
#include <string>
#include <vector>

#include "bayloom/base/clock.h"
#include "bayloom/base/duration.h"
#include "bayloom/base/file.h"
#include "bayloom/base/result.h"
#include "bayloom/base/stop_flag.h"
#include "bayloom/cli/internal/at_least_one.h"
#include "bayloom/cli/internal/commands.h"
#include "bayloom/cli/internal/run_options.h"
#include "bayloom/cli/internal/target_option.h"
#include "bayloom/measure/measurer.h"
#include "bayloom/pretrain/active_learning.h"
#include "bayloom/pretrain/evaluation.h"
#include "bayloom/pretrain/pool_measurement.h"
#include "bayloom/pretrain/task_split.h"
#include "bayloom/report/format.h"
#include "bayloom/report/histogram.h"
#include "bayloom/report/status_line.h"
#include "bayloom/report/table.h"
#include "bayloom/tuning/measure_evaluator.h"

namespace bayloom::cli {
namespace {

constexpr double kTestShare = 0.1;  // TenSet's
constexpr double kFast = 0.5;       // of a task's best throughput

struct PretrainOptions {
  std::string database;
  std::string out;
  int64_t budget = 0;
  double share = 0.05;
  std::string time;
  int rounds = 5;
  std::vector<std::string> selections = {"greedy"};
  double threshold = 1;
  std::vector<std::string> models = {"xgboost"};
  std::vector<std::string> held_out;
  uint64_t seed = 0;
  int seeds = 1;
  bool simulate = false;
  bool evaluate = false;
  std::string chart;
  bool json = false;
  TargetOption target;
};

using Labels = std::map<int64_t, pretrain::Label>;

/// What was chosen and learnt in one run of the loop.
struct Training {
  std::unique_ptr<pretrain::ActiveLearning> learning;
  std::vector<std::vector<double>> labels_by_round;  ///< relative to the best known in the end
  pretrain::ModelEvaluation evaluation;
};

class Pretraining {
 public:
  Pretraining(const PretrainOptions& options, const target::Target& target)
      : options_(options), target_(target), store_(options.database), pool_(options.database) {
    const std::vector<record::PoolGroup> groups = pool_.Groups();
    if (groups.empty()) {
      throw InputError(options.database + " has no pool of programs; 'bayloom dataset' makes one");
    }
    const bool whole = !options.evaluate && !options.simulate && options.held_out.empty();
    split_ = pretrain::SplitTasks(groups, options.held_out, whole ? 0 : kTestShare, options.seed);
    for (const record::TaskId task : pretrain::GroupedTasks(pool_)) {
      for (const auto& [place, outcome] : pretrain::MeasuredPrograms(store_, pool_, task, target)) {
        known_[task][place] = outcome.ok() ? pretrain::Label(outcome.value) : std::nullopt;
      }
    }
  }

  Training Run(const std::string& selection, const std::string& model, uint64_t seed) {
    Training training;
    pretrain::ActiveLearningOptions options = {.selection = selection,
                                               .selection_options = {options_.threshold},
                                               .model = model,
                                               .budget = Budget(),
                                               .rounds = options_.rounds,
                                               .seed = seed,
                                               .stop = [this] { return OutOfTime(); }};
    training.learning = std::make_unique<pretrain::ActiveLearning>(pool_, std::move(options));
    for (const record::TaskId task : split_.training) AddTask(*training.learning, task);
    std::vector<std::pair<record::TaskId, pretrain::Label>> measured;
    std::vector<size_t> round_ends;
    const pretrain::ActiveLearning::Labeller labeller = MakeLabeller();
    training.learning->Run(
        [&](record::TaskId task, std::span<const int64_t> places) {
          if (!options_.simulate) {
            progress_.Show(fmt::format("{} of {} programs measured",
                                       report::FormatCount(training.learning->measured()),
                                       report::FormatCount(Budget())));
          }
          const Labels labels = labeller(task, places);
          for (const auto& [place, label] : labels) measured.emplace_back(task, label);
          return labels;
        },
        [&](const pretrain::ActiveLearning::Round& round) {
          round_ends.push_back(measured.size());
          if (!options_.simulate) {
            progress_.Keep(fmt::format("round {}: {} of {} programs measured", round.number,
                                       report::FormatCount(round.measured),
                                       report::FormatCount(Budget())));
          }
        });
    training.labels_by_round = RelativeLabels(measured, round_ends);
    if (options_.evaluate || options_.simulate) {
      training.evaluation =
          pretrain::EvaluateModel(training.learning->model(), pool_, split_.test, known_);
    }
    return training;
  }

 private:
  /// Programs that may be measured: all, or in a simulation those whose label is recorded.
  void AddTask(pretrain::ActiveLearning& learning, record::TaskId task) {
    std::vector<int64_t> open;
    if (options_.simulate) {
      for (const auto& [place, label] : known_[task]) open.push_back(place);
      learning.AddTask(task, std::move(open), {});
    } else {
      open.resize(pool_.Count(task));
      std::iota(open.begin(), open.end(), int64_t{0});
      learning.AddTask(task, std::move(open), known_[task]);
    }
  }

  pretrain::ActiveLearning::Labeller MakeLabeller() {
    if (options_.simulate) {
      return [this](record::TaskId task, std::span<const int64_t> places) {
        Labels labels;
        for (const int64_t place : places) labels[place] = known_.at(task).at(place);
        return labels;
      };
    }
    if (!measurement_) {
      measurer_ = std::make_unique<measure::Measurer>(target_, measure::MeasureOptions{});
      evaluator_ = std::make_unique<tuning::MeasureEvaluator>(*measurer_);
      measurement_ = std::make_unique<pretrain::PoolMeasurement>(
          store_, pool_, target_, *evaluator_, "pretrain", [this] { return OutOfTime(); });
    }
    return [this](record::TaskId task, std::span<const int64_t> places) {
      Labels labels;
      for (const auto& [place, outcome] : measurement_->Measure(task, places)) {
        labels[place] = outcome.ok() ? pretrain::Label(outcome.value) : std::nullopt;
      }
      known_[task].insert(labels.begin(), labels.end());
      return labels;
    };
  }

  int64_t Budget() {
    if (options_.budget > 0) return options_.budget;
    int64_t programs = 0;
    for (const record::TaskId task : split_.training) {
      programs += options_.simulate ? static_cast<int64_t>(known_[task].size()) : pool_.Count(task);
    }
    return std::max<int64_t>(1, std::llround(options_.share * static_cast<double>(programs)));
  }

  bool OutOfTime() const {
    return StopSeen() || base::MonotonicSeconds() - started_ >= max_seconds_;
  }

  std::vector<std::vector<double>> RelativeLabels(
      const std::vector<std::pair<record::TaskId, pretrain::Label>>& measured,
      const std::vector<size_t>& ends) {
    std::vector<std::vector<double>> labels(ends.size());
    std::map<record::TaskId, double> bests;
    for (const auto& [task, programs] : known_) {
      double& best = bests.emplace(task, std::numeric_limits<double>::infinity()).first->second;
      for (const auto& [place, label] : programs) best = std::min(best, label.value_or(best));
    }
    size_t round = 0;
    for (size_t i = 0; i < measured.size() && round < ends.size(); ++i) {
      while (round < ends.size() && i >= ends[round]) ++round;
      if (round == ends.size()) break;
      const auto& [task, label] = measured[i];
      labels[round].push_back(label ? bests[task] / *label : 0);
    }
    return labels;
  }

  const PretrainOptions& options_;
  target::Target target_;
  double started_ = base::MonotonicSeconds();
  double max_seconds_ = options_.time.empty() ? std::numeric_limits<double>::infinity()
                                              : base::ParseDuration(options_.time, "--time");
  record::Store store_;
  record::ProgramPool pool_;
  pretrain::TaskSplit split_;
  std::map<record::TaskId, Labels> known_;
  report::StatusLine progress_{stderr};
  std::unique_ptr<measure::Measurer> measurer_;
  std::unique_ptr<tuning::MeasureEvaluator> evaluator_;
  std::unique_ptr<pretrain::PoolMeasurement> measurement_;
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

double ShareOfFast(const std::vector<std::vector<double>>& rounds) {
  double fast = 0, all = 0;
  for (const std::vector<double>& labels : rounds) {
    for (const double label : labels) {
      fast += label >= kFast ? 1 : 0;
      all += 1;
    }
  }
  return all > 0 ? fast / all : 0;
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
                mean([](T t) { return ShareOfFast(t.labels_by_round); }, 100),
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
  report::Histogram histogram = {.title = "Programs measured, by performance",
                                 .x_label = "relative to the task's best program",
                                 .series = {}};
  if (!rounds.empty()) histogram.series.push_back({"first round", rounds.front()});
  if (rounds.size() > 1) histogram.series.push_back({"last round", rounds.back()});
  base::WriteFile(path, histogram.ToSvg());
}

void Pretrain(const PretrainOptions& options) {
  if (options.out.empty() && !options.simulate && !options.evaluate) {
    throw InputError("say where the model is to be written: --out FILE");
  }
  if (!options.time.empty()) base::ParseDuration(options.time, "--time");
  base::CheckFolderOf(options.out);
  base::CheckFolderOf(options.chart);
  base::CatchStopSignals();
  Pretraining pretraining(options, options.target.Resolve());
  report::Table table({"selection", "model", "measured", "fast %", "top-1 %", "top-5 %", "rmse",
                       "r2", "pairwise", "train s", "predict s", "select s", "measure s"});
  for (const std::string& model : options.models) {
    for (const std::string& selection : options.selections) {
      std::vector<Training> trainings;
      for (int i = 0; i < options.seeds && (i == 0 || !StopSeen()); ++i) {
        trainings.push_back(pretraining.Run(selection, model, options.seed + i));
      }
      if (!options.chart.empty()) WriteHistogram(trainings[0], options.chart);
      if (!options.out.empty()) cost::WriteModelFile(trainings[0].learning->model(), options.out);
      AddRow(table, selection, model, trainings);
    }
  }
  if (options.simulate || options.evaluate) {
    fmt::print("{}\n", options.json ? table.Json().dump(2) : table.Text());
  }
  if (StopSeen()) fmt::print(stderr, "stopped; the same command goes on from here\n");
}

}  // namespace

void AddPretrainCommand(CLI::App& app) {
  auto options = std::make_shared<PretrainOptions>();
  CLI::App* pretrain =
      app.add_subcommand("pretrain", "Train a cost model on few well-chosen measurements");
  pretrain->add_option("database", options->database, "A pool made by 'bayloom dataset'")
      ->required();
  pretrain->add_option("--out,-o", options->out, "File to write the model to");
  pretrain
      ->add_option("--budget", options->budget,
                   "Programs to have measured in all, those measured before included")
      ->check(AtLeastOne());
  pretrain->add_option("--share", options->share, "The same as a share of the pool")
      ->check(CLI::Range(0.0, 1.0))
      ->capture_default_str();
  pretrain->add_option("--time", options->time, "Stop measuring after this long: 90s, 10m, 1h30m");
  pretrain->add_option("--rounds", options->rounds, "How often the model is trained meanwhile")
      ->check(AtLeastOne())
      ->capture_default_str();
  pretrain
      ->add_option("--selection", options->selections,
                   "How to choose what to measure; several are compared with --simulate")
      ->check(CLI::IsMember(cost::SelectionNames()))
      ->delimiter(',')
      ->allow_extra_args(false)
      ->capture_default_str();
  pretrain
      ->add_option("--threshold", options->threshold,
                   "biased-diversity: divergence above which fast programs are preferred")
      ->capture_default_str();
  pretrain->add_option("--model", options->models, "What to train")
      ->check(CLI::IsMember(cost::ThroughputModelNames()))
      ->delimiter(',')
      ->allow_extra_args(false)
      ->capture_default_str();
  pretrain
      ->add_option("--hold-out", options->held_out,
                   "Networks or families not to train on, but to evaluate on")
      ->delimiter(',')
      ->allow_extra_args(false);
  pretrain->add_flag("--evaluate", options->evaluate,
                     "Evaluate on measured programs of tasks not trained on: those of --hold-out, "
                     "else a tenth of all");
  pretrain->add_flag("--simulate", options->simulate,
                     "Measure nothing: choose among recorded measurements as if they were made "
                     "anew, and evaluate");
  pretrain->add_option("--seed", options->seed, "Seed of all choices")->capture_default_str();
  pretrain->add_option("--seeds", options->seeds, "--simulate: seeds to average over")
      ->check(AtLeastOne())
      ->capture_default_str();
  pretrain->add_option("--chart", options->chart,
                       "Write a histogram of the performance of what was measured (SVG)");
  pretrain->add_flag("--json", options->json, "Print the evaluation as JSON");
  options->target.AddTo(*pretrain);
  pretrain->footer(
      "Measurements are recorded as they are made: stop when you like and give the same command\n"
      "again.\n"
      "\n"
      "Examples:\n"
      "  bayloom pretrain pool.db --budget 2000 --out this-machine.model\n"
      "  bayloom pretrain pool.db --simulate --selection random,biased-diversity --seeds 5 \\\n"
      "      --hold-out resnet18,bert_tiny");
  pretrain->callback([options] { Pretrain(*options); });
}

}  // namespace bayloom::cli
