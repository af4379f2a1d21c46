// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/tuning/tune.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <utility>

#include "bayloom/base/json.h"
#include "bayloom/base/option_error.h"
#include "bayloom/base/result.h"
#include "bayloom/cost/model_file.h"
#include "bayloom/cost/pretrained_model.h"
#include "bayloom/cost/throughput_model.h"
#include "bayloom/cost/xgboost_model.h"
#include "bayloom/graph/tasks.h"
#include "bayloom/measure/measure_machine.h"
#include "bayloom/measure/roofline.h"
#include "bayloom/measure/trial_rate.h"
#include "bayloom/scheduling/default_scheduler.h"
#include "bayloom/target/emulated.h"
#include "bayloom/tuning/cold_constants.h"
#include "bayloom/tuning/default_comparison.h"
#include "bayloom/tuning/first_programs.h"
#include "bayloom/tuning/keep_programs.h"
#include "bayloom/tuning/network_precision.h"
#include "bayloom/tuning/network_turns.h"
#include "bayloom/tuning/prior.h"
#include "bayloom/tuning/program_check.h"
#include "bayloom/tuning/program_front.h"
#include "bayloom/tuning/restore.h"
#include "bayloom/tuning/tuned_network.h"

namespace bayloom::tuning {
namespace {

constexpr int64_t kOperatorTrials = 256;
/// Trials of a slot where only the expected gain ends a tuning.
constexpr int kSlotOfOpenBudget = 16;
/// What measuring the best again may take even after a few trials.
constexpr double kMinRepeatSeconds = 2;
/// ... but of a short budget no larger share than this.
constexpr double kMaxRepeatShare = 0.2;
/// How many times as long as planned it may take where the time is not limited.
constexpr double kUntimedPatience = 2;
/// Where a session keeps the peak that its scheduler knows.
constexpr const char* kPeak = "peak_flops_per_second";
/// ... and the model of earlier tunings that it was begun with.
constexpr const char* kPrior = "prior";
/// ... and what it was to learn from.
constexpr const char* kLearnFrom = "learn-from";
/// ... and at which sizes it measures.
constexpr const char* kSizes = "sizes";
/// ... and whether programs read their constants from main memory.
constexpr const char* kColdConstants = "cold-constants";

std::optional<record::RunRecord> LastSession(record::Store& store, const std::string& subject,
                                             const target::Target& target) {
  const std::optional<record::TargetId> id = store.FindTarget(target);
  std::optional<record::RunRecord> last;
  for (record::RunRecord& session : store.Runs(record::RunKind::kTune)) {
    if (session.name == subject && session.target == id) last = std::move(session);
  }
  return last;
}

/// Throws InputError where what is asked for now is not what the session was begun with.
void CheckAgrees(const std::string& what, const std::optional<std::string>& given,
                 const std::string& before) {
  if (!given || *given == before) return;
  throw InputError(fmt::format("cannot resume: the session was begun with the {} '{}', not '{}'",
                               what, before, *given));
}

/// What a session was begun with, which what is asked for now must agree with. `otherwise` is what
/// sessions had before there was a choice.
std::string Agreed(const std::optional<std::string>& given, const nlohmann::json& begun,
                   const std::string& what, const std::string& otherwise = "") {
  const std::string before = begun.value(what, otherwise);
  CheckAgrees(what, given, before);
  return before;
}

/// What a session was begun to learn from. Before there was one choice, there were a file and the
/// store.
run::LearnFrom SourcesOf(const nlohmann::json& begun) {
  if (begun.contains(kLearnFrom)) {
    return run::LearnFrom::Parse(begun[kLearnFrom].get<std::vector<std::string>>());
  }
  run::LearnFrom sources = {.earlier = true, .store = begun.contains(kPrior)};
  if (begun.contains("cost-model")) sources.files = {begun["cost-model"].get<std::string>()};
  return sources;
}

/// As SourcesOf, which what is asked for now must agree with.
run::LearnFrom AgreedSources(const std::optional<run::LearnFrom>& given,
                             const nlohmann::json& begun) {
  run::LearnFrom before = SourcesOf(begun);
  CheckAgrees(kLearnFrom, given ? std::optional(given->Text()) : std::nullopt, before.Text());
  return before;
}

/// The sizes at which a network with open dimensions is measured, of its first task that has some:
/// "512, 64, 8"; empty: there is none.
std::string SizesOf(std::span<const TaskSpec> specs) {
  for (const TaskSpec& spec : specs) {
    if (spec.workload.points.empty()) continue;
    std::vector<std::string> points;
    for (const auto& point : spec.workload.points) {
      points.push_back(fmt::format("{}", fmt::join(point, "x")));
    }
    return fmt::format("{}", fmt::join(points, ", "));
  }
  return "";
}

/// Whether programs are measured with cold constants: as in the session before, so that the times
/// of a database compare; without one, where the subject's do not stay in the last cache.
bool MeasuresColdConstants(const TuningSubject& subject, const target::Target& target,
                           const std::optional<record::RunRecord>& before) {
  if (!before) return AreCold(subject.constant_bytes, target);
  const nlohmann::json begun = base::ParseJsonOrDiscard(before->definition);
  return begun.is_object() && begun.value(kColdConstants, false);
}

void HaveColdConstants(TuningSubject& subject) {
  for (TaskSpec& spec : subject.specs) spec.workload.has_cold_constants = true;
  for (SubjectAlternative& one : subject.alternatives) {
    one.together.workload.has_cold_constants = true;
  }
}

std::optional<std::string> GivenScheduler(const TuneOptions& options) {
  return options.run.scheduler.empty() ? std::nullopt : std::optional(options.run.scheduler);
}

/// Throws InputError unless both are the same precision within the same tolerance.
void CheckPrecisionAgrees(const nlohmann::json& given, const nlohmann::json& begun) {
  const std::string before = DescribePrecision(begun.value("precision", nlohmann::json()));
  const std::string now = DescribePrecision(given);
  if (now == before) return;
  throw InputError(
      fmt::format("cannot resume: the session was begun with the precision {}, not {}; another "
                  "database begins one",
                  before, now));
}

sketch::DerivationChoice ReadDerivations(const std::string& text) {
  Result<sketch::DerivationChoice> choice = sketch::DerivationChoice::Parse(text);
  if (!choice) throw InputError(choice.error().message);
  return *std::move(choice);
}

Divisions ReadDivisions(const std::string& text) {
  const Result<Divisions> divisions = ParseDivisions(text);
  if (!divisions) throw OptionError("divisions", divisions.error().message);
  return *divisions;
}

/// Throws InputError for what is not known of programs for the target.
std::vector<ProgramObjective> ReadObjectives(const std::string& text,
                                             const target::Target& target) {
  Result<std::vector<ProgramObjective>> objectives = ParseObjectives(text);
  if (!objectives) throw OptionError("objective", objectives.error().message);
  if (objectives->size() > 1 && target.kind() == target::TargetKind::kNvidiaGpu) {
    throw OptionError("objective", "sizes and memory are known of programs for processors only");
  }
  return *std::move(objectives);
}

/// The machine's peak as the session was begun with, so that resumed it expects the same; measured
/// where it is not known. nullopt where it is not wanted.
std::optional<double> PeakFor(const std::string& scheduler, const nlohmann::json& begun,
                              const target::Target& target, bool is_here) {
  if (!scheduling::TaskSchedulers().At(scheduler).uses_lower_bounds) return std::nullopt;
  if (begun.contains(kPeak)) return begun[kPeak].get<double>();
  if (!is_here && !target.machine) {
    throw InputError(fmt::format(
        "the scheduler {} needs the peak of the workers' machine, which only workers with a "
        "compiler measure",
        scheduler));
  }
  const Result<measure::MeasuredMachine> machine = measure::MeasuredMachineOf(target);
  if (!machine) throw InputError(machine.error().message);
  return machine->model.PeakFlops();
}

/// Null for a strategy that asks none.
std::unique_ptr<cost::CostModel> MakeCostModel(const std::string& strategy,
                                               const run::LearnFrom& sources,
                                               const std::optional<TrialPrior>& prior) {
  if (strategy == "random") return nullptr;
  if (prior) return std::make_unique<cost::PretrainedModel>(prior->model);
  if (IsOfModel(sources)) {
    return std::make_unique<cost::PretrainedModel>(cost::ReadModelFile(sources.files.front()));
  }
  return std::make_unique<cost::XgboostModel>();
}

/// What a session's options say of its prior; the model is in the database of its records.
nlohmann::json PriorJson(const record::StoredModel& prior) {
  return {{"trials", prior.trials},
          {"tasks", prior.tasks},
          {"model", fmt::format("{:016x}", prior.hash)}};
}

/// The prior of a session that was begun with these options.
std::optional<TrialPrior> PriorOf(const nlohmann::json& begun, const std::string& path) {
  if (!begun.is_object() || !begun.contains(kPrior) || !begun[kPrior].is_object())
    return std::nullopt;
  const std::string model = begun[kPrior].value("model", "");
  record::SampleStore samples(path);
  return FindPrior(samples, std::strtoull(model.c_str(), nullptr, 16));
}

/// What of a budget of seconds is kept for measuring the best again.
double ReservedSeconds(const TuneOptions& options) {
  const double seconds = options.run.budget.seconds;
  return std::max(options.repeat_share * seconds,
                  std::min(kMinRepeatSeconds, kMaxRepeatShare * seconds));
}

/// Trials of a slot such that each task may have two within the time.
int64_t SlotWithin(double seconds, size_t tasks, const target::Target& target) {
  const double rate = measure::TrialsPerSecond(target::MachineOf(target), target.cores);
  const double two_turns_each = rate * seconds / (2 * static_cast<double>(tasks));
  return static_cast<int64_t>(std::clamp(two_turns_each, 8.0, 64.0));
}

/// The session's part of the budget, with the trials and the slots that go with it.
void SetBudget(const TuneOptions& options, const TuningSubject& subject,
               const target::Target& target, run::RunOptions& run) {
  const double seconds = options.run.budget.seconds;
  const bool is_timed = !std::isinf(seconds);
  run::RunOptions defaults;
  if (subject.is_operator) defaults.budget.trials = kOperatorTrials;
  if (run.budget.trials == trial::Budget::kUnlimited) {
    if (is_timed) {
      defaults.trials_per_slot = SlotWithin(seconds, subject.specs.size(), target);
    } else if (run.until_gain_per_minute > 0) {
      defaults.trials_per_slot = kSlotOfOpenBudget;
    }
  }
  if (options.repeat.candidates > 0 && is_timed) run.budget.seconds -= ReservedSeconds(options);
  run = run::WithDefaults(std::move(run), defaults);
}

}  // namespace

Tuning::Tuning(TuningSubject subject, const target::Target& target, record::Store& store,
               ProgramEvaluator& evaluator, TuneOptions options)
    : store_(store), evaluator_(evaluator), options_(std::move(options)) {
  const std::optional<record::RunRecord> last = LastSession(store, subject.name, target);
  const std::optional<record::RunRecord> resumed = options_.resume ? last : std::nullopt;
  resumed_ = resumed.has_value();
  const bool has_cold_constants = MeasuresColdConstants(subject, target, last);
  if (has_cold_constants) HaveColdConstants(subject);
  SessionOptions session;
  session.model = subject.name;
  session.run = options_.run;
  name_ = subject.name;
  run::LearnFrom sources = options_.learn_from.value_or(run::LearnFrom{.earlier = true});
  if (options_.derivations) {
    session.derivations = ReadDerivations(*options_.derivations);
    options_.derivations = session.derivations.ToString();
  }
  Divisions divisions = ReadDivisions(options_.divisions.value_or("all"));
  session.objectives = ReadObjectives(options_.objectives.value_or("latency"), target);
  if (options_.objectives) options_.objectives = ToString(session.objectives);
  nlohmann::json begun;
  if (resumed) {
    begun = base::ParseJsonOrDiscard(resumed->definition);
    CheckPrecisionAgrees(options_.precision, begun);
    session.strategy = Agreed(options_.strategy, begun, "strategy");
    session.run.scheduler = Agreed(GivenScheduler(options_), begun, "scheduler");
    session.derivations =
        ReadDerivations(Agreed(options_.derivations, begun, "derivations", "all"));
    divisions = ReadDivisions(Agreed(options_.divisions, begun, "divisions", "none"));
    session.objectives =
        ReadObjectives(Agreed(options_.objectives, begun, "objectives", "latency"), target);
    sources = AgreedSources(options_.learn_from, begun);
    CheckAgrees(kSizes, SizesOf(subject.specs), begun.value(kSizes, ""));
    prior_ = PriorOf(begun, store.path());
    session.resume = resumed->id;
  } else {
    session.strategy = options_.strategy.value_or(session.strategy);
    session.run.scheduler = GivenScheduler(options_).value_or(scheduling::kDefaultScheduler);
    if (session.strategy != "random") prior_ = LearnFrom(sources, target, options_.user_store);
    if (prior_) {
      record::SampleStore(store.path()).AddModel(store.AddTarget(target), prior_->stored);
    }
  }
  nlohmann::json description = {{"strategy", session.strategy},
                                {"scheduler", session.run.scheduler},
                                {"derivations", session.derivations.ToString()},
                                {"divisions", ToString(divisions)},
                                {"objectives", ToString(session.objectives)},
                                {kLearnFrom, sources.Words()}};
  if (const std::string sizes = SizesOf(subject.specs); !sizes.empty()) description[kSizes] = sizes;
  if (has_cold_constants) description[kColdConstants] = true;
  if (prior_) description[kPrior] = PriorJson(prior_->stored);
  if (!options_.precision.is_null()) description["precision"] = options_.precision;
  session.use_earlier_sessions = sources.earlier;
  if (options_.user_store != nullptr) {
    session.first = [this, tasks = static_cast<int>(subject.specs.size()),
                     store = sources.IsOff() ? nullptr : options_.user_store](
                        const sketch::SpaceGenerator& space) {
      return FirstProgramsOf(space, tasks, store, pool_);
    };
  }
  session.alternatives = TakeAlternatives(subject, divisions, target);
  std::optional<double> peak = PeakFor(session.run.scheduler, begun, target, evaluator.is_here());
  if (peak) description[kPeak] = *peak;
  // Without a scheduler that asks, only the forecast of what is left looks at it.
  if (!peak && target.machine) peak = target.machine->PeakFlops();
  for (TaskSpec& spec : subject.specs) {
    if (peak) spec.lower_bound = spec.workload.Flops() / *peak;
    spec.expected_seconds =
        measure::RooflineSeconds(target::MachineOf(target), measure::DemandOf(spec.workload));
  }
  divisions_ = divisions;
  const bool runs_here = evaluator.is_here() && !target::IsEmulated(target) &&
                         target.kind() != target::TargetKind::kNvidiaGpu;
  if (runs_here && session.objectives.size() == 1) load_ = std::move(subject.load);
  session.description = description.dump();
  SetBudget(options_, subject, target, session.run);
  cost_model_ = MakeCostModel(session.strategy, sources, prior_);
  session_ = std::make_unique<Session>(target, std::move(subject.specs), store, cost_model_.get(),
                                       evaluator, std::move(session));
}

void Tuning::Keep() {
  const bool is_emulated = target::IsEmulated(session_->tasks().front()->space().target());
  if (options_.user_store == nullptr || is_emulated) return;
  KeepPrograms(*session_, name_, store_, *options_.user_store, pool_);
}

trial::StopReason Tuning::Run(const TuningObserver& observer) {
  const trial::StopReason reason = session_->Run({observer.on_trial, observer.on_slot});
  lost_ = session_->lost();
  if (trial::CanResume(reason) || options_.repeat.candidates == 0) return reason;
  trial::Budget budget = options_.run.budget;
  const bool is_timed = !std::isinf(budget.seconds);
  const double wanted =
      std::max(kMinRepeatSeconds, options_.repeat_share * session_->Status().seconds);
  const double planned = is_timed ? std::min(wanted, ReservedSeconds(options_)) : wanted;
  budget.seconds = is_timed ? planned : kUntimedPatience * planned;
  const trial::StopReason end = Repeat(budget, planned, observer);
  if (!trial::CanResume(end)) return reason;
  store_.SetFinished(session_->id(), false);
  return end;
}

trial::StopReason Tuning::RepeatAlone(const trial::Budget& budget, double planned,
                                      const TuningObserver& observer) {
  ProgramRepeats repeats(store_, *session_, evaluator_, options_.repeat, planned);
  const trial::StopReason end = repeats.Run(budget, observer.on_repeat);
  lost_ = repeats.lost();
  const std::optional<GainInTurns> gain = repeats.Gain();
  if (gain && !trial::CanResume(end)) session_->SetGain(*gain);
  return end;
}

trial::StopReason Tuning::Repeat(const trial::Budget& budget, double planned,
                                 const TuningObserver& observer) {
  if (!load_) return RepeatAlone(budget, planned, observer);
  try {
    return RepeatInNetwork(budget, planned, observer);
  } catch (const InputError&) {
    // The model cannot be read any more, or not be run as a whole; what was tried is worth as much.
    return RepeatAlone(budget, planned, observer);
  }
}

trial::StopReason Tuning::RepeatInNetwork(const trial::Budget& budget, double planned,
                                          const TuningObserver& observer) {
  const target::Target& target = session_->tasks().front()->space().target();
  ProgramCheck check(target);
  std::vector<graph::TaskGraph> networks = load_();
  NetworkTurns::Options options;
  options.candidates = options_.repeat.candidates;
  options.budget = budget;
  options.budget.seconds = planned / static_cast<double>(networks.size());
  std::optional<GainInTurns> gain;
  for (graph::TaskGraph& network : networks) {
    const TunedNetwork tuned = TunedNetwork::Choose(
        std::move(network), target, {.store = &store_, .check = &check, .divisions = divisions_});
    NetworkTurns turns(store_, *session_, tuned, options);
    const trial::StopReason end = turns.Run(
        [&](const auto& programs) { return MakeTurnRunner(tuned.network, target, programs); },
        observer.on_repeat);
    if (trial::CanResume(end)) return end;
    if (turns.gain()) gain = gain ? Sum(*gain, *turns.gain()) : *turns.gain();
  }
  if (gain) session_->SetGain(*gain);
  return trial::StopReason::kTrials;
}

double Tuning::RooflineBound(std::span<const double> weights) const {
  std::vector<measure::WorkloadDemand> demands;
  measure::WorkloadDemand all;
  for (const auto& task : session_->tasks()) {
    if (!task->space().target().machine) return 0;
    const tensor::Workload& workload = task->space().workload();
    if (!workload.points.empty()) return 0;  // the demand is that of the largest lengths
    const std::optional<MeasuredCandidate> best = RestoreBest(store_, task->space());
    demands.push_back(best ? measure::DemandOf(workload, best->candidate.program)
                           : measure::DemandOf(workload));
    all.dot_flops.insert(demands.back().dot_flops.begin(), demands.back().dot_flops.end());
  }
  if (demands.empty()) return 0;
  const target::Target& target = session_->tasks().front()->space().target();
  const Result<measure::DotPeaks> measured =
      evaluator_.is_here() ? measure::MeasureDotPeaks(target, all)
                           : Result<measure::DotPeaks>(Error{"programs run elsewhere"});
  const measure::DotPeaks peaks =
      measured ? *measured : measure::NominalDotPeaks(target, *target.machine, all);
  double bound = 0;
  for (size_t i = 0; i < demands.size(); ++i) {
    bound += weights[i] * measure::RooflineSeconds(*target.machine, demands[i], peaks);
  }
  return bound;
}

void Tuning::Divide(TuningGain& gain) const {
  const auto tasks = session_->tasks();
  for (const auto& task : tasks) gain.weights.push_back(task->weight());
  gain.weights =
      scheduling::DivideWeights(std::move(gain.weights), session_->alternatives(), gain.seconds);
  for (const scheduling::TaskAlternative& one : session_->alternatives()) {
    DividedRegion& region = gain.regions.emplace_back();
    region.together = tasks[one.together]->name();
    region.together_seconds = gain.seconds[one.together];
    for (int task : one.apart) region.apart_seconds += gain.seconds[task];
    region.count = one.count;
    region.is_together = one.IsTogether(gain.seconds);
  }
}

std::vector<NetworkChoice> Tuning::Front() const {
  const TuningGain gain = Gain();
  std::vector<FrontTask> tasks;
  for (size_t i = 0; i < gain.weights.size(); ++i) {
    if (gain.weights[i] == 0) continue;
    FrontTask& task = tasks.emplace_back(FrontTask{.calls = gain.weights[i], .programs = {}});
    for (const FrontProgram& each :
         ProgramFront(store_, session_->tasks()[i]->space(), task.calls, objectives())) {
      task.programs.push_back(each.cost);
    }
  }
  return NetworkFront(tasks, objectives());
}

void Tuning::AddLosses(TuningGain& gain) const {
  std::vector<SizeLoss> sums;
  for (size_t i = 0; i < session_->tasks().size(); ++i) {
    const sketch::SpaceGenerator& space = session_->tasks()[i]->space();
    if (gain.weights[i] == 0 || space.workload().points.empty()) continue;
    const std::optional<MeasuredCandidate> best = RestoreBest(store_, space);
    const std::optional<MeasuredSet> set =
        best ? BestSet(store_, space, best->candidate) : std::nullopt;
    if (!set) return;
    const std::vector<SizeLoss> losses = LossesOf(store_, space, *set);
    if (sums.empty()) sums.resize(losses.size());
    if (losses.size() != sums.size()) return;  // tasks of networks with other lengths
    for (size_t p = 0; p < sums.size(); ++p) {
      sums[p].seconds += gain.weights[i] * losses[p].seconds;
      sums[p].fastest += gain.weights[i] * losses[p].fastest;
    }
  }
  gain.by_size = std::move(sums);
}

TuningGain Tuning::Gain() const {
  TuningGain gain;
  gain.over_zero_trial = session_->gain();
  const SessionStatus status = session_->Status();
  std::vector<std::optional<DefaultComparison>> comparisons;
  for (const auto& task : session_->tasks()) {
    const target::Target& target = task->space().target();
    const record::TargetId target_id = store_.FindTarget(target).value_or(0);
    const std::vector<record::StoredTrial> best = store_.BestOf(task->id(), target_id, 1);
    std::optional<DefaultComparison>& compared = comparisons.emplace_back();
    if (!best.empty()) compared = CompareWithDefault(store_, best[0]);
    const std::optional<trial::Outcome> by_default =
        compared ? compared->FasterDefault() : std::nullopt;
    gain.seconds.push_back(by_default     ? by_default->value
                           : best.empty() ? status.tasks[gain.seconds.size()].zero_trial_cost
                                          : best[0].outcome.value);
  }
  Divide(gain);
  for (size_t i = 0; i < comparisons.size(); ++i) {
    const double weight = gain.weights[i];
    if (weight == 0) continue;
    gain.total_seconds += weight * gain.seconds[i];
    if (!comparisons[i]) continue;
    ++gain.compared_tasks;
    gain.compared_seconds += weight * comparisons[i]->BestSeconds();
    gain.default_seconds += weight * comparisons[i]->by_default.value;
  }
  AddLosses(gain);
  if (!std::isfinite(gain.total_seconds)) return gain;
  if (const double bound = RooflineBound(gain.weights); bound > 0) {
    gain.roofline_share = std::min(1.0, bound / gain.total_seconds);
  }
  return gain;
}

}  // namespace bayloom::tuning
