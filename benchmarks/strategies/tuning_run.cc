// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "benchmarks/strategies/tuning_run.h"

#include <algorithm>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>

#include "bayloom/base/result.h"
#include "bayloom/codegen/host.h"
#include "bayloom/cost/model_file.h"
#include "bayloom/cost/pretrained_model.h"
#include "bayloom/cost/xgboost_model.h"
#include "bayloom/measure/measurement_details.h"
#include "bayloom/measure/measurer.h"
#include "bayloom/tuning/measure_evaluator.h"
#include "bayloom/tuning/session.h"
#include "benchmarks/gpu/estimated_evaluator.h"
#include "benchmarks/strategies/simulated_evaluator.h"
#include "benchmarks/strategies/tight_limits.h"

namespace bayloom {
namespace {

/// The machine and what measures on it.
struct Bench {
  target::Target target;
  std::unique_ptr<measure::Measurer> measurer;
  std::unique_ptr<tuning::ProgramEvaluator> evaluator;
};

Bench MakeBench(const TuningRunOptions& options) {
  Bench bench;
  bench.target = codegen::TargetNamed(options.target, options.threads);
  if (options.estimated) {
    bench.evaluator = std::make_unique<EstimatedEvaluator>(bench.target);
  } else if (!options.simulated_machine.empty()) {
    bench.evaluator = std::make_unique<SimulatedEvaluator>(options.simulated_machine);
  } else {
    bench.measurer = std::make_unique<measure::Measurer>(bench.target, measure::MeasureOptions{});
    bench.evaluator = std::make_unique<tuning::MeasureEvaluator>(*bench.measurer);
  }
  return bench;
}

tuning::SessionOptions MakeSessionOptions(const TuningRunOptions& options, record::Store& store) {
  tuning::SessionOptions session;
  session.model = options.subject + " " + options.strategy + " seed " +
                  std::to_string(options.seed) + (options.tight ? " tight" : "") +
                  (options.unknown_limits ? " unknown limits" : "") +
                  (options.estimated ? " (estimated, not measured)" : "");
  session.strategy = options.strategy;
  session.run.scheduler = options.scheduler;
  session.description =
      nlohmann::json{{"strategy", session.strategy}, {"scheduler", session.run.scheduler}}.dump();
  session.run.budget.trials = options.trials;
  session.run.seed = static_cast<uint64_t>(options.seed);
  session.use_earlier_sessions = false;
  session.bayes = options.bayes;
  session.limits_are_known = !options.unknown_limits;
  if (options.tight) session.check = CheckTightLimits;
  for (const record::RunRecord& earlier : store.Runs(record::RunKind::kTune)) {
    if (earlier.name == session.model) session.resume = earlier.id;
  }
  return session;
}

std::unique_ptr<cost::CostModel> MakeCostModel(const TuningRunOptions& options) {
  if (options.strategy == "random") return nullptr;
  if (options.prior.empty()) return std::make_unique<cost::XgboostModel>();
  Result<std::unique_ptr<cost::ThroughputModel>> prior = cost::UnpackModel(options.prior);
  if (!prior) throw InputError(prior.error().message);
  return std::make_unique<cost::PretrainedModel>(*std::move(prior));
}

/// From the store, which knows of what was done before a resumption as well.
std::vector<TuningRun::Point> ImprovementsOf(const tuning::Session& session, record::Store& store) {
  std::map<record::TaskId, double> best;
  std::vector<TuningRun::Point> improvements;
  int trials = 0;
  for (const record::StoredTrial& trial : store.TrialsOfRun(session.id())) {
    ++trials;
    if (!trial.outcome.ok() || measure::DetailsOf(trial.outcome).cut_short) continue;
    double& task_best = best.emplace(trial.task, trial.outcome.value).first->second;
    task_best = std::min(task_best, trial.outcome.value);
    if (best.size() < session.tasks().size()) continue;
    double total = 0;
    for (const auto& task : session.tasks()) total += task->weight() * best[task->id()];
    if (improvements.empty() || total < improvements.back().seconds) {
      improvements.push_back({trials, total});
    }
  }
  return improvements;
}

}  // namespace

double TuningRun::final_seconds() const {
  return improvements.empty() ? std::numeric_limits<double>::infinity()
                              : improvements.back().seconds;
}

double TuningRun::strategy_share() const {
  const double own = phases.search + phases.features + phases.predict;
  return phases.Total() == 0 ? 0 : own / phases.Total();
}

int TuningRun::TrialsToReach(double seconds) const {
  const auto reached = std::find_if(improvements.begin(), improvements.end(),
                                    [&](const Point& p) { return p.seconds <= seconds; });
  return reached == improvements.end() ? trials + 1 : reached->trial;
}

TuningRun Tune(std::vector<tuning::TaskSpec> specs, const TuningRunOptions& options) {
  record::Store store(options.database);
  const std::unique_ptr<cost::CostModel> model = MakeCostModel(options);
  const Bench bench = MakeBench(options);
  tuning::Session session(bench.target, std::move(specs), store, model.get(), *bench.evaluator,
                          MakeSessionOptions(options, store));
  TuningRun run;
  run.subject = options.subject;
  run.strategy = options.strategy;
  run.seed = options.seed;
  run.times = options.estimated                    ? "estimated, not measured"
              : !options.simulated_machine.empty() ? "simulated by a model"
                                                   : "measured";
  const trial::StopReason reason = session.Run();
  if (reason == trial::StopReason::kLost) throw InputError(session.lost());
  if (reason == trial::StopReason::kStopped) throw InputError("stopped");
  run.improvements = ImprovementsOf(session, store);
  run.trials = static_cast<int>(session.Status().trials);
  run.phases = session.Status().phases;
  sketch::ReplayCounts counts;
  for (const auto& task : session.tasks()) {
    counts.replayed += task->space().counts().replayed;
    counts.refused += task->space().counts().refused;
  }
  run.refused = static_cast<double>(counts.refused) / static_cast<double>(counts.replayed);
  for (const record::Metric& metric : store.MetricsOf(session.id())) {
    if (metric.name == "rmse") run.rmse.push_back(metric.value);
    if (metric.name == "mean_score") run.score.push_back(metric.value);
  }
  return run;
}

nlohmann::json ToJson(const TuningRun& run) {
  nlohmann::json curve = nlohmann::json::array();
  for (const TuningRun::Point& p : run.improvements) curve.push_back({p.trial, p.seconds});
  return {{"subject", run.subject},
          {"strategy", run.strategy},
          {"seed", run.seed},
          {"trials", run.trials},
          {"seconds", run.final_seconds()},
          {"curve", curve},
          {"rmse", run.rmse},
          {"score", run.score},
          {"strategy_share", run.strategy_share()},
          {"tuning_seconds", run.phases.Total()},
          {"search_seconds", run.phases.search},
          {"times", run.times},
          {"refused", run.refused}};
}

}  // namespace bayloom
