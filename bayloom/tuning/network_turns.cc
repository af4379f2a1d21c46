// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/tuning/network_turns.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "bayloom/base/clock.h"
#include "bayloom/base/quantile.h"
#include "bayloom/codegen/abi.h"
#include "bayloom/feature/code_estimate.h"
#include "bayloom/graph/executor.h"
#include "bayloom/graph/random_inputs.h"
#include "bayloom/sketch/default_schedule.h"
#include "bayloom/tuning/finalists.h"
#include "bayloom/tuning/measured_sets.h"
#include "bayloom/tuning/turns.h"

namespace bayloom::tuning {
namespace {

/// Rounds that are aimed at, those that are carried out at least, and those that are recorded.
constexpr int kRounds = 24, kRecordedRounds = 5;
/// What of the time goes into rounds; the rest compares the two networks.
constexpr double kShareOfRounds = 0.65;
/// Where the pairs do not say which is faster, they go on for so much more of the budget.
constexpr double kPatience = 1;
constexpr int kMinPairs = 8, kMaxPairs = 100, kMaxRepeats = 50;
/// Runs of the default programs, in turns with the chosen ones, if they take no larger part of the
/// time.
constexpr int kDefaultRuns = 3;
constexpr double kShareOfDefaults = 0.5;

class ExecutorRunner final : public TurnRunner {
 public:
  ExecutorRunner(const graph::TaskGraph& network, const target::Target& target,
                 const std::vector<std::vector<const tensor::Program*>>& programs)
      : executor_(network, programs, target),
        tensors_(graph::MakeRandomInputs(network.graph, /*seed=*/0)) {
    executor_.KeepFound(true);
    for (const tensor::HostTensor& tensor : tensors_) {
      void* data = Allocate(std::ssize(tensor.data));
      std::ranges::copy(tensor.data, static_cast<std::byte*>(data));
      inputs_.push_back(data);
    }
    for (const graph::GraphOutput& output : network.graph.outputs) {
      const graph::Value& value = network.graph.values[output.value];
      outputs_.push_back(Allocate(value.ElementCount() * tensor::ByteSize(value.dtype)));
    }
  }
  void SetLengths(std::span<const int64_t> lengths) override { executor_.SetLengths(lengths); }
  void Use(int task, int program) override { executor_.Use(task, program); }
  void Run(std::vector<double>* seconds) override {
    if (seconds != nullptr) {
      executor_.RunTimed(inputs_, outputs_, *seconds);
    } else {
      executor_.Run(inputs_, outputs_);
    }
  }
  double Now() override { return base::MonotonicSeconds(); }

 private:
  void* Allocate(int64_t bytes) {
    memory_.push_back(codegen::AllocateAligned(bytes));
    return memory_.back().get();
  }

  graph::Executor executor_;
  std::vector<tensor::HostTensor> tensors_;
  std::vector<codegen::AlignedMemory> memory_;
  std::vector<const void*> inputs_;
  std::vector<void*> outputs_;
};

}  // namespace

namespace {

Finalist Of(const ChosenProgram& chosen) {
  Finalist finalist;
  finalist.candidate.program = chosen.program;
  finalist.small = chosen.small;
  return finalist;
}

/// What a run at each of so many points takes, where the finalist was timed at such.
double SecondsOfAll(const Finalist& finalist, size_t points) {
  const std::vector<measure::TimeAtSizes>& times = finalist.details.at_sizes;
  if (times.empty()) return finalist.seconds * static_cast<double>(std::max<size_t>(points, 1));
  double sum = 0;
  for (const measure::TimeAtSizes& time : times) sum += time.seconds;
  return sum * static_cast<double>(points) / static_cast<double>(times.size());
}

}  // namespace

std::unique_ptr<TurnRunner> MakeTurnRunner(
    const graph::TaskGraph& network, const target::Target& target,
    const std::vector<std::vector<const tensor::Program*>>& programs) {
  return std::make_unique<ExecutorRunner>(network, target, programs);
}

/// The programs of a task.
struct NetworkTurns::Contest {
  const TuningTask* task = nullptr;
  std::vector<Finalist> finalists;
  Turns turns{1};
  bool keeps_first = true;           ///< the first finalist is the zero-trial program
  std::optional<int> fixed;          ///< chosen before
  tensor::Program plain;             ///< the default program, which follows the finalists
  std::vector<double> plain_ratios;  ///< its times over those of the chosen one, run after run

  int Chosen() const { return fixed ? *fixed : keeps_first ? turns.Chosen() : turns.Fastest(); }
  void Limit(size_t count) {
    if (fixed || finalists.size() <= count) return;
    finalists.resize(count);
    turns = Turns(static_cast<int>(count));
  }
  /// A set for each finalist, then the default program.
  TaskPrograms Programs() const {
    TaskPrograms programs;
    for (const Finalist& finalist : finalists) {
      programs.Add(finalist.candidate.program, finalist.small);
    }
    programs.Add(plain);
    return programs;
  }
};

NetworkTurns::NetworkTurns(record::Store& store, const Session& session,
                           const TunedNetwork& network, Options options)
    : store_(store), session_(session), network_(network), options_(options) {
  std::map<uint64_t, const TuningTask*> tasks;
  for (const auto& task : session.tasks()) tasks[task->workload_hash()] = task.get();
  std::set<record::TaskId> compared;
  for (const record::Repeat& repeat : store.RepeatsOf(session.id())) {
    if (repeat.after == session.Status().trials) compared.insert(repeat.task);
  }
  for (size_t i = 0; i < network.network.tasks.size(); ++i) {
    const auto found = tasks.find(network.network.tasks[i].workload.StructuralHash());
    const TuningTask* const task = found == tasks.end() ? nullptr : found->second;
    AddContest(i, task, task != nullptr && compared.contains(task->id()));
  }
  LimitToTime();
}

void NetworkTurns::AddContest(size_t position, const TuningTask* task, bool is_compared) {
  const ChosenProgram& chosen = network_.chosen[position];
  const tensor::Workload& workload = network_.network.tasks[position].workload;
  Contest& contest = contests_.emplace_back();
  contest.task = task;
  contest.plain = sketch::DefaultSchedule(workload, network_.target);
  const record::TargetId target = store_.FindTarget(network_.target).value_or(0);
  if (task != nullptr) {
    contest.finalists = FinalistsOf(store_, *task, target, options_.candidates);
    const std::optional<sketch::Candidate>& zero_trial = task->zero_trial();
    contest.keeps_first = zero_trial && !contest.finalists.empty() &&
                          zero_trial->hash == contest.finalists[0].candidate.hash;
  }
  if (contest.finalists.empty()) {
    contest.finalists.push_back(Of(chosen));
    contest.fixed = 0;
  } else if (is_compared) {
    contest.finalists.resize(1);
    contest.finalists.push_back(Of(chosen));
    contest.fixed = 1;
  } else {
    contest.turns = Turns(static_cast<int>(contest.finalists.size()));
  }
}

void NetworkTurns::LimitToTime() {
  double latency = 0, compiling = 0;
  for (size_t i = 0; i < contests_.size(); ++i) {
    latency += network_.network.tasks[i].weight *
               SecondsOfAll(contests_[i].finalists[0], network_.network.graph.points.size());
    for (const Finalist& finalist : contests_[i].finalists) {
      compiling += finalist.details.build_seconds;
    }
  }
  const double rounds =
      kShareOfRounds * options_.budget.seconds - compiling / network_.target.cores;
  const double count = rounds / (2 * kMinRounds * std::max(latency, 1e-6));
  for (Contest& contest : contests_) {
    contest.Limit(static_cast<size_t>(std::clamp(count, 2.0, options_.candidates + 1.0)));
  }
}

NetworkTurns::~NetworkTurns() = default;

int NetworkTurns::Decided() const {
  return static_cast<int>(std::ranges::count_if(
      contests_, [](const Contest& contest) { return contest.turns.CountIn() == 1; }));
}

void NetworkTurns::AtEachPoint(TurnRunner& runner,
                               const std::function<void(size_t point)>& action) const {
  const std::vector<std::vector<int64_t>>& points = network_.network.graph.points;
  if (points.empty()) action(0);
  for (size_t point = 0; point < points.size(); ++point) {
    runner.SetLengths(points[point]);
    action(point);
  }
}

void NetworkTurns::Use(TurnRunner& runner, size_t task, int finalist, size_t point) const {
  const std::vector<std::vector<int64_t>>& points = network_.network.tasks[task].workload.points;
  const std::span<const int64_t> sizes =
      points.empty() ? std::span<const int64_t>() : std::span<const int64_t>(points[point]);
  runner.Use(static_cast<int>(task), programs_[task].At(finalist, sizes));
}

void NetworkTurns::UseAll(TurnRunner& runner, bool chosen, size_t point) {
  for (size_t i = 0; i < contests_.size(); ++i) {
    Use(runner, i, chosen ? contests_[i].Chosen() : 0, point);
  }
}

bool NetworkTurns::RunRound(TurnRunner& runner) {
  int most = 1;
  std::vector<std::vector<int>> in(contests_.size());
  std::vector<std::vector<std::vector<double>>> values(contests_.size());
  for (size_t i = 0; i < contests_.size(); ++i) {
    const Turns& turns = contests_[i].turns;
    for (int k = 0; k < turns.programs(); ++k) {
      if (turns.IsIn(k)) in[i].push_back(k);
    }
    values[i].resize(turns.programs());
    most = std::max(most, static_cast<int>(in[i].size()));
  }
  const std::vector<graph::TaskCall>& calls = network_.network.calls;
  for (int turn = 0; turn < most; ++turn) {
    std::vector<std::vector<double>> at_points(contests_.size());
    AtEachPoint(runner, [&](size_t point) {
      for (size_t i = 0; i < contests_.size(); ++i) {
        Use(runner, i, in[i][turn % in[i].size()], point);
      }
      runner.Run(nullptr);
      std::vector<double> seconds(calls.size()), sums(contests_.size());
      for (int repeat = 0; repeat < repeats_; ++repeat) runner.Run(&seconds);
      for (size_t c = 0; c < calls.size(); ++c) sums[calls[c].task] += seconds[c];
      for (size_t i = 0; i < contests_.size(); ++i) {
        at_points[i].push_back(sums[i] / repeats_ / network_.network.tasks[i].weight);
      }
    });
    if (options_.budget.stop()) return false;
    for (size_t i = 0; i < contests_.size(); ++i) {
      values[i][in[i][turn % in[i].size()]].push_back(base::GeometricMean(at_points[i]));
    }
  }
  std::vector<double> noise;
  for (size_t i = 0; i < contests_.size(); ++i) {
    // A task without a choice is timed, too, until there is something to compare it with.
    if (contests_[i].fixed) continue;
    std::vector<double> round;
    for (const std::vector<double>& of_program : values[i]) {
      round.push_back(of_program.empty() ? 0 : base::Median(of_program));
    }
    contests_[i].turns.AddRound(round);
    if (const double own = contests_[i].turns.Noise(); own > 0) noise.push_back(own);
  }
  const double typical = noise.empty() ? 0 : base::Median(noise);
  for (Contest& contest : contests_) contest.turns.Drop(typical, static_cast<int>(noise.size()));
  return true;
}

bool NetworkTurns::RunPairs(TurnRunner& runner, double until) {
  const auto time = [&](bool chosen) {
    std::vector<double> at_points;
    AtEachPoint(runner, [&](size_t point) {
      UseAll(runner, chosen, point);
      runner.Run(nullptr);
      const double start = runner.Now();
      for (int repeat = 0; repeat < repeats_; ++repeat) runner.Run(nullptr);
      at_points.push_back((runner.Now() - start) / repeats_);
    });
    return base::GeometricMean(at_points);
  };
  const auto pairs = [&] { return std::ssize(tuned_seconds_); };
  while (pairs() < kMinPairs || (pairs() < kMaxPairs && options_.budget.clock() < until)) {
    // Which comes first changes, so that a steady drift affects both alike.
    const bool chosen_first = tuned_seconds_.size() % 2 == 0;
    const double first = time(chosen_first), second = time(!chosen_first);
    if (options_.budget.stop()) return false;
    tuned_seconds_.push_back(chosen_first ? first : second);
    zero_trial_seconds_.push_back(chosen_first ? second : first);
  }
  return true;
}

trial::StopReason NetworkTurns::Run(const RunnerMaker& make,
                                    const std::function<void(const run::RepeatStatus&)>& observer) {
  std::vector<std::vector<const tensor::Program*>> programs;
  programs_.clear();
  for (const Contest& contest : contests_) {
    programs_.push_back(contest.Programs());
    programs.push_back(programs_.back().all());
  }
  run::RepeatStatus status{.done = Decided(), .all = static_cast<int>(contests_.size())};
  if (observer) observer(status);
  const double start = options_.budget.clock();
  const std::unique_ptr<TurnRunner> runner = make(programs);
  double all_lengths = 0;
  std::vector<double> at_points;
  AtEachPoint(*runner, [&](size_t) {
    runner->Run(nullptr);
    const double warm = runner->Now();
    runner->Run(nullptr);
    at_points.push_back(std::max(1e-7, runner->Now() - warm));
    all_lengths += at_points.back();
  });
  const double latency = base::GeometricMean(at_points);
  all_over_mean_ = all_lengths / latency;
  const double end = start + options_.budget.seconds;
  const double end_of_rounds = start + kShareOfRounds * options_.budget.seconds;
  const double of_measurement = kShareOfRounds * options_.budget.seconds / (kRounds * 3);
  repeats_ = std::clamp(static_cast<int>(of_measurement / all_lengths) - 1, 1, kMaxRepeats);
  for (int round = 0; round < kMinRounds || Decided() < status.all; ++round) {
    if (round >= kMinRounds && options_.budget.clock() >= end_of_rounds) break;
    if (!RunRound(*runner)) return trial::StopReason::kStopped;
    status.done = Decided();
    if (observer) observer(status);
  }
  const bool is_same =
      std::ranges::all_of(contests_, [](const Contest& contest) { return contest.Chosen() == 0; });
  const bool has_baseline = std::ranges::any_of(contests_, [](const Contest& contest) {
    return contest.task != nullptr && contest.keeps_first;
  });
  if (has_baseline && is_same) gain_ = GainInTurns{latency, latency, {}};
  if (has_baseline && !is_same) {
    const auto ratio = [&] { return measure::RatioInTurns(zero_trial_seconds_, tuned_seconds_); };
    if (!RunPairs(*runner, end)) return trial::StopReason::kStopped;
    if (!ratio().IsClear() && !RunPairs(*runner, end + kPatience * options_.budget.seconds)) {
      return trial::StopReason::kStopped;
    }
    gain_ = {.zero_trial_seconds = base::Median(zero_trial_seconds_),
             .tuned_seconds = base::Median(tuned_seconds_),
             .ratio = ratio()};
  }
  TimeDefaults(*runner);
  if (options_.budget.stop()) return trial::StopReason::kStopped;
  Record();
  return trial::StopReason::kTrials;
}

void NetworkTurns::TimeDefaults(TurnRunner& runner) {
  double estimate = 0;
  for (size_t i = 0; i < contests_.size(); ++i) {
    estimate += network_.network.tasks[i].weight *
                feature::EstimateCodeTime(contests_[i].plain, network_.target);
  }
  if (kDefaultRuns * all_over_mean_ * estimate > kShareOfDefaults * options_.budget.seconds) return;
  const auto time = [&] {
    std::vector<double> seconds(network_.network.calls.size()), sums(contests_.size());
    runner.Run(&seconds);
    for (size_t c = 0; c < seconds.size(); ++c) sums[network_.network.calls[c].task] += seconds[c];
    return sums;
  };
  for (int run = 0; run < kDefaultRuns; ++run) {
    std::vector<std::vector<double>> ratios(contests_.size());
    AtEachPoint(runner, [&](size_t point) {
      UseAll(runner, /*chosen=*/true, point);
      const std::vector<double> chosen = time();
      for (size_t i = 0; i < contests_.size(); ++i) {
        Use(runner, i, static_cast<int>(contests_[i].finalists.size()), point);
      }
      const std::vector<double> plain = time();
      for (size_t i = 0; i < contests_.size(); ++i) ratios[i].push_back(plain[i] / chosen[i]);
    });
    for (size_t i = 0; i < contests_.size(); ++i) {
      contests_[i].plain_ratios.push_back(base::GeometricMean(ratios[i]));
    }
  }
}

void NetworkTurns::Record() {
  // Each may be faster apart and all slower together, and noise chooses, too: what is not clearly
  // faster than what was there without trials is not used.
  const bool is_kept =
      gain_ && gain_->ratio.rounds > 0 && !(gain_->ratio.IsClear() && gain_->ratio.low > 1);
  record::Repeat identity;
  identity.run = session_.id();
  identity.after = session_.Status().trials;
  identity.target = store_.FindTarget(network_.target).value_or(0);
  std::vector<record::Repeat> repeats;
  for (const Contest& contest : contests_) {
    if (contest.fixed) continue;
    const int chosen = is_kept && contest.keeps_first ? 0 : contest.Chosen();
    identity.task = contest.task->id();
    for (int k = 0; k < contest.turns.programs(); ++k) {
      const Finalist& finalist = contest.finalists[static_cast<size_t>(k)];
      // A set and another one of the same program for the largest lengths: one can be recorded.
      if (k != chosen && finalist.IsOfTrialOf(contest.finalists[static_cast<size_t>(chosen)])) {
        continue;
      }
      const std::vector<double>& seconds = contest.turns.SecondsOf(k);
      const int rounds = std::min(kRecordedRounds, static_cast<int>(seconds.size()));
      for (int round = 0; round < rounds; ++round) {
        // Medians of as many parts of the rounds, in their order.
        const auto first = seconds.begin() + std::ssize(seconds) * round / rounds;
        const auto last = seconds.begin() + std::ssize(seconds) * (round + 1) / rounds;
        record::Repeat& repeat = repeats.emplace_back(identity);
        repeat.trial_run = finalist.trial_run;
        repeat.trial = finalist.trial;
        repeat.round = round;
        repeat.outcome = trial::Outcome::Feasible(base::Median(std::vector<double>(first, last)));
        if (k != chosen) continue;
        repeat.outcome.Set(record::kChosen, 1);
        if (!contest.task->space().workload().points.empty()) {
          NoteSmall(finalist.small, repeat.outcome);
        }
      }
    }
    const double chosen_seconds = base::Median(contest.turns.SecondsOf(chosen));
    for (size_t run = 0; run < contest.plain_ratios.size(); ++run) {
      record::Repeat& repeat = repeats.emplace_back(identity);
      repeat.round = static_cast<int>(run);
      repeat.outcome = trial::Outcome::Feasible(chosen_seconds * contest.plain_ratios[run]);
    }
  }
  store_.AddRepeats(repeats);
  if (is_kept) {
    gain_ = GainInTurns{gain_->zero_trial_seconds, gain_->zero_trial_seconds, {}, gain_->ratio};
  }
}

}  // namespace bayloom::tuning
