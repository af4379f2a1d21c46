// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/experimental/strategy/rocke2024_search.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <unordered_map>
#include <utility>

#include "bayloom/base/hash.h"
#include "bayloom/experimental/strategy/bounded_optimizer.h"
#include "bayloom/experimental/strategy/decision_space.h"
#include "bayloom/experimental/strategy/input_schedule.h"
#include "bayloom/sketch/rules/rules.h"
#include "bayloom/strategy/annotated_choice.h"
#include "bayloom/strategy/fresh_samples.h"
#include "bayloom/strategy/mutator.h"
#include "bayloom/strategy/scored_candidate.h"

namespace bayloom::experimental {
namespace {

using strategy::CandidatePtr;
using strategy::HashSet;
using strategy::ScoredCandidate;
using strategy::StrategyOptions;

/// Fastest programs remembered as input schedules to come.
constexpr size_t kMeasuredKept = 128;

/// Input schedules that share an optimizer.
struct Group {
  DecisionSpace decisions;
  BoundedOptimizer optimizer;
  std::deque<InputSchedule*> waiting;  ///< the first is being worked on
  std::optional<space::Configuration> suggested;

  Group(const tensor::Trace& trace, const Rocke2024Options& options, uint64_t seed)
      : decisions(trace, options.encoding), optimizer(decisions, options, seed) {}
};

/// One batch: what came up, and how it scored.
class Batch {
 public:
  Batch(const StrategyOptions& options, const Rocke2024Options& rocke,
        const strategy::Mutator& locations, const HashSet& known, base::RandomStream& random)
      : options_(options),
        rocke_(rocke),
        locations_(locations),
        known_(known),
        memo_(options.scorer()),
        random_(random) {}

  void Begin(std::span<const CandidatePtr> starts) {
    const std::vector<double> scores = memo_.Score(starts);
    for (size_t i = 0; i < starts.size(); ++i) {
      inputs_.emplace_back(ScoredCandidate{scores[i], starts[i]});
      Find(inputs_.back(), inputs_.back().start);
    }
    for (InputSchedule& input : inputs_) Join(input);
  }

  /// Tiles and categories, by the groups' optimizers (section 3.3.1).
  void RunBayesianPhase() {
    while (true) {
      std::vector<Group*> active;
      for (const auto& group : groups_) {
        if (!group->waiting.empty()) active.push_back(group.get());
      }
      if (active.empty()) return;
      options_.pool->ParallelFor(std::ssize(active), [&](int64_t i) {
        active[i]->suggested = active[i]->optimizer.Suggest();
      });
      Evaluate(active);
    }
  }

  /// All numbers of parallel jobs for the best program of each input (section 3.3.2).
  void RunParallelPhase() {
    TryForEach([&](const sketch::Candidate& best, base::RandomStream&) {
      std::vector<tensor::Trace> traces;
      for (int step : best.trace.SamplingSteps()) {
        const tensor::Instruction& instruction = best.trace.instructions()[step];
        if (instruction.kind != tensor::InstructionKind::kSampleCategorical ||
            !strategy::Annotates(best.trace, step, sketch::kParallelJobs)) {
          continue;
        }
        for (int64_t choice = 0; choice < std::ssize(instruction.attributes); ++choice) {
          const tensor::Decision decision{{choice}};
          if (decision == *best.trace.decisions()[step]) continue;
          traces.push_back(best.trace.WithDecision(step, decision));
        }
      }
      return traces;
    });
  }

  /// Random compute locations within a budget (section 3.3.3).
  void RunLocationPhase() {
    TryForEach([&](const sketch::Candidate& best, base::RandomStream& random) {
      std::vector<tensor::Trace> traces;
      for (int i = 0; i < rocke_.location_mutations; ++i) {
        if (std::optional<tensor::Trace> trace = locations_.Mutate(best, random)) {
          traces.push_back(*std::move(trace));
        }
      }
      return traces;
    });
  }

  /// The programs to measure, best first (section 3.6).
  std::vector<ScoredCandidate> Selected(BatchSelection selection) {
    std::vector<ScoredCandidate> selected;
    if (selection == BatchSelection::kBestPerInput) {
      for (const InputSchedule& input : inputs_) {
        if (input.best) selected.push_back(*input.best);
      }
      strategy::KeepBest(selected, selected.size());
    }
    strategy::KeepBest(found_, found_.size());
    selected.insert(selected.end(), found_.begin(), found_.end());
    return selected;
  }

 private:
  void Join(InputSchedule& input) {
    const tensor::Trace& trace = input.start.candidate->trace;
    const auto [at, is_new] = groups_by_id_.emplace(DecisionSpace::GroupOf(trace), nullptr);
    if (is_new) {
      groups_.push_back(std::make_unique<Group>(trace, rocke_, random_.Next()));
      at->second = groups_.back().get();
    }
    Group& group = *at->second;
    if (group.decisions.empty()) return;
    if (const std::optional<space::Configuration> configuration = group.decisions.Encode(trace)) {
      group.optimizer.RegisterInput(*configuration, input.start.rating);
    }
    group.waiting.push_back(&input);
  }

  /// Replays and scores what the groups suggest, and tells them.
  void Evaluate(std::span<Group* const> active) {
    std::vector<CandidatePtr> programs(active.size());
    std::vector<base::RandomStream> streams;
    for (size_t i = 0; i < active.size(); ++i) streams.push_back(random_.Fork());
    options_.pool->ParallelFor(std::ssize(active), [&](int64_t i) {
      const Group& group = *active[i];
      if (!group.suggested) return;
      const sketch::Candidate& start = *group.waiting.front()->start.candidate;
      programs[i] =
          Replayed(start.space, group.decisions.Decide(start.trace, *group.suggested), streams[i]);
    });
    const std::vector<double> scores = ScoresOf(programs);
    for (size_t i = 0; i < active.size(); ++i) {
      Group& group = *active[i];
      if (!group.suggested) {
        group.waiting.clear();
        continue;
      }
      InputSchedule& input = *group.waiting.front();
      if (programs[i]) {
        ++input.feasible;
        Find(input, {scores[i], programs[i]});
        group.optimizer.Register(*group.suggested, scores[i]);
      } else {
        ++input.infeasible;
        group.optimizer.Register(*group.suggested, std::nullopt);
      }
      if (std::max(input.feasible, input.infeasible) >= rocke_.suggestions_per_input) {
        group.waiting.pop_front();
        group.optimizer.EndInput();
      }
    }
  }

  /// Replays and scores variants of each input's best program.
  template <typename MakeTraces>
  void TryForEach(MakeTraces make_traces) {
    struct Attempt {
      InputSchedule* input;
      tensor::Trace trace;
      base::RandomStream random;
    };
    std::vector<Attempt> attempts;
    for (InputSchedule& input : inputs_) {
      const sketch::Candidate& best = input.best ? *input.best->candidate : *input.start.candidate;
      for (tensor::Trace& trace : make_traces(best, random_)) {
        attempts.push_back({&input, std::move(trace), random_.Fork()});
      }
    }
    std::vector<CandidatePtr> programs(attempts.size());
    options_.pool->ParallelFor(std::ssize(attempts), [&](int64_t i) {
      Attempt& attempt = attempts[i];
      programs[i] = Replayed(attempt.input->start.candidate->space, attempt.trace, attempt.random);
    });
    const std::vector<double> scores = ScoresOf(programs);
    for (size_t i = 0; i < attempts.size(); ++i) {
      if (programs[i]) Find(*attempts[i].input, {scores[i], programs[i]});
    }
  }

  /// Null if the schedule is refused.
  CandidatePtr Replayed(int space, const tensor::Trace& trace, base::RandomStream random) const {
    Result<sketch::Candidate> candidate = options_.space->Replay(space, trace, random);
    if (!candidate) return nullptr;
    return std::make_shared<const sketch::Candidate>(*std::move(candidate));
  }

  /// Parallel to the programs; 0 for those that are null.
  std::vector<double> ScoresOf(std::span<const CandidatePtr> programs) {
    std::vector<CandidatePtr> feasible;
    for (const CandidatePtr& program : programs) {
      if (program) feasible.push_back(program);
    }
    const std::vector<double> scores = memo_.Score(feasible);
    std::vector<double> result;
    size_t next = 0;
    for (const CandidatePtr& program : programs) result.push_back(program ? scores[next++] : 0.0);
    return result;
  }

  /// Only programs that were never measured are worth finding, and each only once.
  void Find(InputSchedule& input, const ScoredCandidate& found) {
    if (known_.contains(found.candidate->hash)) return;
    input.Add(found);
    if (met_.insert(found.candidate->hash).second) found_.push_back(found);
  }

  const StrategyOptions& options_;
  const Rocke2024Options& rocke_;
  const strategy::Mutator& locations_;
  const HashSet& known_;
  strategy::ScoreMemo memo_;
  base::RandomStream& random_;
  std::deque<InputSchedule> inputs_;
  std::vector<std::unique_ptr<Group>> groups_;
  std::unordered_map<uint64_t, Group*> groups_by_id_;
  HashSet met_;
  std::vector<ScoredCandidate> found_;
};

class Rocke2024Search final : public strategy::SearchStrategy {
 public:
  Rocke2024Search(std::string name, StrategyOptions options, const Rocke2024Options& rocke)
      : name_(std::move(name)),
        options_(std::move(options)),
        rocke_(rocke),
        locations_(strategy::MakeComputeLocationMutator(options_.space->workload())) {}

  std::string name() const override { return name_; }

  std::vector<sketch::Candidate> GenerateCandidates(int n) override {
    base::RandomStream random(base::Hasher().Add(options_.seed).Add(known_.size()).Digest());
    Batch batch(options_, rocke_, *locations_, known_, random);
    batch.Begin(ChooseInputs(std::max(n, rocke_.min_inputs), random));
    batch.RunBayesianPhase();
    batch.RunParallelPhase();
    batch.RunLocationPhase();
    return Select(batch.Selected(rocke_.selection), n, random);
  }

  void Notify(std::span<const sketch::Candidate> candidates,
              std::span<const trial::Outcome> outcomes) override {
    for (size_t i = 0; i < candidates.size(); ++i) {
      known_.insert(candidates[i].hash);
      if (outcomes[i].verdict != trial::Verdict::kOk) continue;
      measured_.push_back(
          {1 / outcomes[i].value, std::make_shared<const sketch::Candidate>(candidates[i])});
    }
    strategy::KeepBest(measured_, kMeasuredKept);
  }

  void Exclude(uint64_t hash) override { known_.insert(hash); }

 private:
  /// The fastest measured and, with probability epsilon each, the best-scored of fresh samples;
  /// each makes up for what the other lacks.
  std::vector<CandidatePtr> ChooseInputs(int count, base::RandomStream& random) const {
    const std::vector<CandidatePtr> fresh =
        strategy::DrawFresh(*options_.space, rocke_.fresh_samples, random, *options_.pool);
    strategy::ScoreMemo memo(options_.scorer());
    const std::vector<double> scores = memo.Score(fresh);
    std::vector<ScoredCandidate> best_fresh;
    for (size_t i = 0; i < fresh.size(); ++i) best_fresh.push_back({scores[i], fresh[i]});
    strategy::KeepBest(best_fresh, best_fresh.size());

    std::vector<CandidatePtr> inputs;
    HashSet chosen;
    size_t next_measured = 0, next_fresh = 0;
    while (std::ssize(inputs) < count &&
           next_measured + next_fresh < measured_.size() + best_fresh.size()) {
      const bool take_fresh = next_measured == measured_.size() ||
                              (next_fresh < best_fresh.size() && random.Uniform() < rocke_.epsilon);
      const ScoredCandidate& next =
          take_fresh ? best_fresh[next_fresh++] : measured_[next_measured++];
      if (chosen.insert(next.candidate->hash).second) inputs.push_back(next.candidate);
    }
    return inputs;
  }

  /// Most of the batch as selected, the rest drawn blindly (section 3.2).
  std::vector<sketch::Candidate> Select(std::span<const ScoredCandidate> selected, int n,
                                        base::RandomStream& random) {
    std::vector<sketch::Candidate> batch;
    int exploring = 0;
    for (int i = 0; i < n; ++i) exploring += random.Uniform() < rocke_.epsilon;
    for (const ScoredCandidate& rated : selected) {
      if (std::ssize(batch) >= n - exploring) break;
      if (known_.insert(rated.candidate->hash).second) batch.push_back(*rated.candidate);
    }
    for (const CandidatePtr& candidate : strategy::DrawUnknown(
             *options_.space, n - static_cast<int>(batch.size()), known_, random, *options_.pool)) {
      batch.push_back(*candidate);
    }
    return batch;
  }

  std::string name_;
  StrategyOptions options_;
  Rocke2024Options rocke_;
  std::unique_ptr<strategy::Mutator> locations_;
  HashSet known_;
  std::vector<ScoredCandidate> measured_;  ///< the fastest programs, rated by runs per second
};

}  // namespace

std::unique_ptr<strategy::SearchStrategy> MakeRocke2024Search(std::string name,
                                                              StrategyOptions options,
                                                              const Rocke2024Options& rocke) {
  return std::make_unique<Rocke2024Search>(std::move(name), std::move(options), rocke);
}

}  // namespace bayloom::experimental
