#include <fmt/format.h>

#include <CLI/App.hpp>
#include <algorithm>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "bayloom/base/result.h"
#include "bayloom/base/stop_flag.h"
#include "bayloom/cli/at_least_one.h"
#include "bayloom/cli/commands.h"
#include "bayloom/cli/duration.h"
#include "bayloom/cli/target_option.h"
#include "bayloom/cli/tuning_subject.h"
#include "bayloom/cost/pretrained_model.h"
#include "bayloom/cost/xgboost_model.h"
#include "bayloom/measure/machine_rates.h"
#include "bayloom/record/store.h"
#include "bayloom/report/session_progress.h"
#include "bayloom/tensor/operator_shorthand.h"
#include "bayloom/tuning/measure_evaluator.h"
#include "bayloom/tuning/session.h"

namespace bayloom {
namespace {

constexpr int64_t kTrialsOfAModel = 1000;
constexpr int64_t kTrialsOfAnOperator = 256;
/// Where a session keeps the peak that its scheduler knows.
constexpr const char* kPeak = "peak_flops_per_second";
/// About what this kind of machine makes; decides how fine a time budget is divided.
constexpr double kTrialsASecond = 5;

struct TuneOptions {
  ModelOption model;
  std::string op;
  std::optional<int64_t> trials;
  std::string time;
  std::optional<std::string> strategy;
  std::optional<std::string> scheduler;
  uint64_t seed = 0;
  std::string database;
  std::optional<std::string> cost_model;
  bool resume = false;
  bool json = false;
  TargetOption target;
};

/// The last session on this subject and target, for --resume.
std::optional<SessionRecord> LastSession(Store& store, const std::string& subject,
                                         const Target& target) {
  const std::optional<TargetId> id = store.FindTarget(target);
  std::optional<SessionRecord> last;
  for (SessionRecord& session : store.Sessions()) {
    if (session.model == subject && session.target == id) last = std::move(session);
  }
  return last;
}

/// What a session was begun with; options given anew must agree with it.
std::string Agreed(const std::optional<std::string>& given, const nlohmann::json& begun,
                   const std::string& option) {
  const std::string before = begun.value(option, "");
  if (given && *given != before) {
    throw InputError("--resume: the session was begun with --" + option + " " + before +
                     "; leave --" + option + " away, or --resume");
  }
  return before;
}

/// The machine's peak as the session was begun with, so that resumed it expects the same; measured
/// where it is not known. nullopt where nobody wants it.
std::optional<double> PeakFor(const std::string& scheduler, const nlohmann::json& begun,
                              const Target& target) {
  if (!UsesLowerBounds(scheduler)) return std::nullopt;
  if (begun.contains(kPeak)) return begun[kPeak].get<double>();
  return MeasureMachineRates(target.cores).flops_per_second;
}

/// Also tells the subject's tasks how fast they can be at all, where the scheduler looks ahead, and
/// which file holds a pre-trained cost model, if any.
SessionOptions MakeSessionOptions(const TuneOptions& options, TuningSubject& subject,
                                  const Target& target, const std::optional<SessionRecord>& resumed,
                                  std::string& cost_model) {
  SessionOptions session;
  session.model = subject.name;
  session.seed = options.seed;
  nlohmann::json begun;
  cost_model = options.cost_model.value_or("");
  if (resumed) {
    begun = nlohmann::json::parse(resumed->options, nullptr, false);
    session.strategy = Agreed(options.strategy, begun, "strategy");
    session.scheduler = Agreed(options.scheduler, begun, "scheduler");
    cost_model = Agreed(options.cost_model, begun, "cost-model");
    session.resume = resumed->id;
  } else {
    session.strategy = options.strategy.value_or(session.strategy);
    session.scheduler = options.scheduler.value_or(session.scheduler);
  }
  nlohmann::json description = {{"strategy", session.strategy}, {"scheduler", session.scheduler}};
  if (!cost_model.empty()) description["cost-model"] = cost_model;
  if (const auto peak = PeakFor(session.scheduler, begun, target)) {
    description[kPeak] = *peak;
    for (TaskSpec& spec : subject.specs) spec.lower_bound = spec.workload.Flops() / *peak;
  }
  session.description = description.dump();
  session.max_trials =
      options.trials.value_or(options.op.empty() ? kTrialsOfAModel : kTrialsOfAnOperator);
  if (!options.time.empty()) {
    session.max_seconds = ParseDuration(options.time, "--time");
    if (!options.trials) {
      session.max_trials = std::numeric_limits<int64_t>::max();
      const double two_turns_each =
          kTrialsASecond * session.max_seconds / (2 * static_cast<double>(subject.specs.size()));
      session.trials_per_slot = static_cast<int>(std::clamp(two_turns_each, 8.0, 64.0));
    }
  }
  return session;
}

/// Null for a strategy that asks none.
std::unique_ptr<CostModel> MakeCostModel(const std::string& strategy, const std::string& file) {
  if (strategy == "random") return nullptr;
  if (!file.empty()) return std::make_unique<PretrainedModel>(ReadModelFile(file));
  return std::make_unique<XgboostModel>();
}

std::string_view Explain(SessionEnd end) {
  switch (end) {
    case SessionEnd::kTrials:
      return "all trials done";
    case SessionEnd::kTime:
      return "time is up";
    case SessionEnd::kExhausted:
      return "nothing left to try";
    case SessionEnd::kStopped:
      return "stopped; --resume goes on from here";
  }
  return "";
}

nlohmann::json ToJson(const PhaseTimes& phases) {
  nlohmann::json seconds;
  for (const NamedPhase& phase : kPhases) seconds[phase.name] = phases.*phase.seconds;
  return seconds;
}

void PrintResult(const Session& session, SessionEnd end, const TuneOptions& options) {
  const SessionStatus status = session.Status();
  const Table tasks = TaskTable(status.tasks);
  if (options.json) {
    const nlohmann::json shown = {{"session", session.id()},
                                  {"end", Explain(end)},
                                  {"trials", status.trials},
                                  {"seconds", status.seconds},
                                  {"overhead", status.phases.OverheadShare()},
                                  {"phases", ToJson(status.phases)},
                                  {"total", status.total_seconds},
                                  {"tasks", tasks.Json()}};
    fmt::print("{}\n", shown.dump(2));
    return;
  }
  fmt::print("\n{}\n{}: {}\n'bayloom show {}' shows what was found.\n", tasks.Text(), Explain(end),
             SummaryLine(status), options.database);
}

void Tune(TuneOptions options) {
  TuningSubject subject = LoadSubject(options.model, options.op);
  const Target target = options.target.Resolve();
  if (options.database.empty()) options.database = DefaultDatabase(options.model);
  Store store(options.database);
  const std::optional<SessionRecord> resumed =
      options.resume ? LastSession(store, subject.name, target) : std::nullopt;
  std::string cost_model;
  const SessionOptions session_options =
      MakeSessionOptions(options, subject, target, resumed, cost_model);
  const std::unique_ptr<CostModel> model = MakeCostModel(session_options.strategy, cost_model);
  Measurer measurer(target, {});
  MeasureEvaluator evaluator(measurer);
  CatchStopSignals();
  Session session(target, subject.specs, store, model.get(), evaluator, session_options);
  fmt::print(stderr, "{} session {}: {} task{} of {} on {} with {} threads, records in {}\n",
             resumed ? "Resuming" : "Beginning", session.id(), subject.specs.size(),
             subject.specs.size() == 1 ? "" : "s", subject.name, target.cpu, target.cores,
             options.database);
  ProgressPrinter progress(stderr);
  const SessionEnd end = session.Run(progress.Observer());
  PrintResult(session, end, options);
}

}  // namespace

void AddTuneCommand(CLI::App& app) {
  auto options = std::make_shared<TuneOptions>();
  CLI::App* tune = app.add_subcommand("tune", "Find fast programs for a model or an operator");
  options->model.AddTo(*tune);
  tune->add_option("--op", options->op, "Tune one operator instead; see below");
  tune->add_option("--trials", options->trials,
                   "Programs to measure in all; default 1000, for an operator 256")
      ->check(AtLeastOne());
  tune->add_option("--time", options->time, "Stop after this long: 90s, 10m, 1h30m");
  tune->add_option("--strategy", options->strategy,
                   "How to choose what to measure; see below; default bayes")
      ->check([](const std::string& name) {
        const Status known = CheckStrategyName(name);
        return known ? std::string() : known.error().message;
      });
  tune->add_option("--scheduler", options->scheduler,
                   "How to divide trials between operators; default gradient")
      ->check(CLI::IsMember(TaskSchedulerNames()));
  tune->add_option("--seed", options->seed, "Seed of all choices")->capture_default_str();
  tune->add_option("--db", options->database,
                   "Where records are kept; default MODEL.db, for an operator operators.db");
  tune->add_option("--cost-model", options->cost_model,
                   "Begin with a model that 'bayloom pretrain' wrote");
  tune->add_flag("--resume", options->resume,
                 "Go on with the last session of this model on this target, if there is one");
  tune->add_flag("--json", options->json, "Print the result as JSON");
  options->target.AddTo(*tune);
  tune->footer(
      "Every trial is recorded as it is made: stop when you like, even by kill -9, and go on\n"
      "with --resume.\n"
      "\n"
      "Examples:\n"
      "  bayloom tune resnet18.onnx\n"
      "  bayloom tune resnet18.onnx --time 10m --threads 1 --db one-thread.db\n"
      "  bayloom tune resnet18.onnx --resume --trials 2000\n"
      "  bayloom tune --op conv2d:56x56x64,64,3x3,pad=1,bias,relu --strategy random\n"
      "\n"
      "Strategies:\n"
      "  bayes           breeds programs that the cost model likes, and a surrogate that begins\n"
      "                  with what a program's loops make one expect\n"
      "  evolutionary    breeds programs that the cost model likes (MetaSchedule's search)\n"
      "  bayes:naive, bayes:heap, bayes:lru, bayes:heap+lru\n"
      "                  bayesian optimization of the cost model's scores (Rocke 2024, table "
      "3.1);\n"
      "                  '+factors', '+sdr', '+ei', '+poi' change encoding, domain, acquisition\n"
      "  random          draws blindly\n"
      "\n"
      "Operators:\n" +
      OperatorExamples());
  tune->callback([options] { Tune(*options); });
}

}  // namespace bayloom
