// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/strategy/bayes/bayes_search.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>
#include <utility>

#include "bayloom/base/hash.h"
#include "bayloom/feature/time_estimate.h"
#include "bayloom/pareto/front.h"
#include "bayloom/strategy/bayes/decision_rows.h"
#include "bayloom/strategy/bayes/space_factors.h"
#include "bayloom/strategy/bayes/task_model.h"
#include "bayloom/strategy/evolution.h"
#include "bayloom/strategy/scored_candidate.h"

namespace bayloom::strategy {
namespace {

/// Correlation below which scores are taken for random.
constexpr double kTrustedCorrelation = 0.3;
/// Measured programs from which on that can be told.
constexpr size_t kTrustTestedFrom = 8;
/// Programs that are remembered and learnt from, the fastest ones: a program with its decisions
/// takes about a hundred kilobytes.
constexpr size_t kMaxMeasured = 2048;
/// Programs that failed that are learnt from: any of them.
constexpr size_t kMaxFailed = 256;
/// Estimates below that of the fastest program are hardly trusted.
constexpr double kFasterByEstimate = 0.1;

/// Of each design space so many programs of a generation are bred before the first batch, and so
/// many tried, if they promise at least this share of the best.
constexpr int kBredInSpace = 64;
constexpr int kOfEachSpace = 2;
constexpr double kPromising = 0.5;

double Between(double first, double last, double way_left) {
  return last + (first - last) * way_left;
}

double Correlation(const std::vector<double>& a, const std::vector<double>& b) {
  const auto n = static_cast<double>(a.size());
  double mean_a = 0, mean_b = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    mean_a += a[i] / n;
    mean_b += b[i] / n;
  }
  double aa = 0, bb = 0, ab = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    aa += (a[i] - mean_a) * (a[i] - mean_a);
    bb += (b[i] - mean_b) * (b[i] - mean_b);
    ab += (a[i] - mean_a) * (b[i] - mean_b);
  }
  return aa * bb > 0 ? ab / std::sqrt(aa * bb) : 0;
}

class BayesSearch final : public SearchStrategy {
 public:
  explicit BayesSearch(StrategyOptions options)
      : options_(std::move(options)),
        evolution_(options_),
        rows_(*options_.space),
        factors_(options_.space->spaces().size()),
        fronts_(options_.objectives.size() - 1) {}

  std::string name() const override { return "bayes"; }

  std::vector<sketch::Candidate> GenerateCandidates(int n) override {
    base::RandomStream random(base::Hasher().Add(options_.seed).Add(known_.size()).Digest());
    const int population = evolution_.PopulationFor(n);
    const std::span<const ScoredCandidate> parents = std::span(measured_).first(
        std::min(measured_.size(), evolution_.MeasuredCount(population)));
    std::vector<CandidatePtr> fresh =
        evolution_.DrawFresh(population - static_cast<int>(parents.size()), random);
    Learn(fresh, random);
    const std::vector<ScoredCandidate> found =
        evolution_.Run(parents, fresh, population, Utility(), known_,
                       static_cast<size_t>(n * bayes_.shortlist), random);
    if (fronts_.empty() || measured_.empty()) return Select(found, std::move(fresh), n, random);
    const std::vector<CandidatePtr> compromises =
        Compromises(static_cast<int>(bayes_.compromises * n), fresh, random);
    std::vector<sketch::Candidate> batch =
        Select(found, std::move(fresh), n - static_cast<int>(compromises.size()), random);
    for (const CandidatePtr& program : compromises) batch.push_back(*program);
    return batch;
  }

  void Notify(std::span<const sketch::Candidate> candidates,
              std::span<const trial::Outcome> outcomes) override {
    for (size_t i = 0; i < candidates.size(); ++i) {
      known_.insert(candidates[i].hash);
      const auto program = std::make_shared<const sketch::Candidate>(candidates[i]);
      if (!outcomes[i].ok()) {
        failed_.push_back({0, program});
        continue;
      }
      measured_.push_back({1 / outcomes[i].value, program});
      for (size_t k = 0; k < fronts_.size(); ++k) {
        const std::optional<double> value = options_.objectives[k + 1].value(outcomes[i]);
        if (!value) continue;
        pareto::ExtendFront(fronts_[k], FrontMember{{outcomes[i].value, *value}, program},
                            [](const FrontMember& m) -> const pareto::Point& { return m.values; });
      }
    }
    KeepBest(measured_, kMaxMeasured);
    KeepBest(failed_, kMaxFailed);
  }

  void Exclude(uint64_t hash) override { known_.insert(hash); }

 private:
  /// Learns from what was measured, and decides how far to trust whom.
  void Learn(std::span<const CandidatePtr> fresh, base::RandomStream& random) {
    const std::vector<CandidatePtr> measured = ProgramsOf(measured_);
    min_seconds_ = LeastEstimate(measured.empty() ? fresh : std::span(measured).first(1));
    LearnFromTried(random);
    const bool trusted = measured.size() >= kTrustTestedFrom
                             ? ScoresAgree(measured, Throughputs())
                             : IsInformed() || ScoresAgree(fresh, Expected(fresh));
    const auto n = static_cast<double>(measured.size());
    const double way_left = std::exp2(-n / bayes_.half_way_at);
    weight_ = trusted
                  ? Between(bayes_.first_surrogate_weight, bayes_.last_surrogate_weight, way_left)
                  : 1;
    curiosity_ = Between(bayes_.first_curiosity, bayes_.last_curiosity, way_left);
  }

  /// From the measured programs and, as programs of no throughput, those that failed.
  void LearnFromTried(base::RandomStream& random) {
    std::vector<ScoredCandidate> tried = measured_;
    tried.insert(tried.end(), failed_.begin(), failed_.end());
    const std::vector<CandidatePtr> programs = ProgramsOf(tried);
    factors_ = SpaceFactors(options_.space->spaces().size());
    std::vector<double> expected = Expected(programs);
    factors_ = SpaceFactors(options_.space->spaces().size(), tried, expected);
    for (size_t i = 0; i < programs.size(); ++i) expected[i] *= factors_.Of(programs[i]->space);
    model_.emplace(rows_, tried, expected, random);
  }

  static std::vector<CandidatePtr> ProgramsOf(std::span<const ScoredCandidate> rated) {
    std::vector<CandidatePtr> programs;
    for (const ScoredCandidate& each : rated) programs.push_back(each.candidate);
    return programs;
  }

  std::vector<double> Throughputs() const {
    std::vector<double> ratings;
    for (const ScoredCandidate& rated : measured_) ratings.push_back(rated.rating);
    return ratings;
  }

  bool IsInformed() const {
    return bayes_.trusts_informed_scores && options_.scores_are_informed();
  }

  /// Whether scores have anything to do with what is known: random ones do not.
  bool ScoresAgree(std::span<const CandidatePtr> programs, const std::vector<double>& known) const {
    return Correlation(Scores(programs), known) >= kTrustedCorrelation;
  }

  std::vector<double> Scores(std::span<const CandidatePtr> programs) const {
    std::vector<const sketch::Candidate*> pointers;
    for (const CandidatePtr& program : programs) pointers.push_back(program.get());
    return options_.scorer()(pointers);
  }

  std::vector<double> Estimates(std::span<const CandidatePtr> programs) const {
    const target::Target& target = options_.space->target();
    std::vector<double> seconds(programs.size());
    options_.pool->ParallelFor(std::ssize(programs), [&](int64_t i) {
      seconds[i] = feature::EstimateTime(programs[i]->program, target);
    });
    return seconds;
  }

  double LeastEstimate(std::span<const CandidatePtr> programs) const {
    const std::vector<double> seconds = Estimates(programs);
    return seconds.empty() ? 0 : *std::min_element(seconds.begin(), seconds.end());
  }

  /// Throughputs, as shares of that of the fastest program, that estimates make one expect, and
  /// what they were worth in each design space.
  std::vector<double> Expected(std::span<const CandidatePtr> programs) const {
    std::vector<double> shares = Estimates(programs);
    for (size_t i = 0; i < programs.size(); ++i) {
      const double faster = shares[i] / min_seconds_;
      const double share = faster >= 1 ? 1 / faster : 1 + kFasterByEstimate * (1 - faster);
      shares[i] = share * factors_.Of(programs[i]->space);
    }
    return shares;
  }

  std::vector<double> Combined(const std::vector<double>& scores,
                               const std::vector<double>& expected,
                               const Posterior& beliefs) const {
    std::vector<double> utilities;
    for (size_t i = 0; i < scores.size(); ++i) {
      const auto row = static_cast<Eigen::Index>(i);
      const double utility = (1 - weight_) * scores[i] +
                             weight_ * (expected[i] + beliefs.mean[row]) +
                             curiosity_ * beliefs.deviation[row];
      // The last bits differ with the alignment of memory, and must not decide between equals.
      utilities.push_back(static_cast<float>(utility));
    }
    return utilities;
  }

  std::vector<double> Utilities(std::span<const sketch::Candidate* const> programs) const {
    const std::vector<CandidatePtr> borrowed = Borrowed(programs);
    return Combined(options_.scorer()(programs), Expected(borrowed), model_->Predict(borrowed));
  }

  Scorer Utility() const {
    return
        [this](std::span<const sketch::Candidate* const> programs) { return Utilities(programs); };
  }

  static std::vector<CandidatePtr> Borrowed(std::span<const sketch::Candidate* const> programs) {
    std::vector<CandidatePtr> pointers;
    for (const sketch::Candidate* program : programs)
      pointers.emplace_back(CandidatePtr(), program);
    return pointers;
  }

  /// Programs that are bred from the measured ones on the front of the times and one other
  /// objective, by the product of what is thought of their times and of that, each to a
  /// random power. They count as known from now on.
  std::vector<CandidatePtr> Compromises(int count, std::span<const CandidatePtr> fresh,
                                        base::RandomStream& random) {
    const auto k = static_cast<size_t>(random.UniformInt(static_cast<int64_t>(fronts_.size())));
    const double weight = random.Uniform();
    if (count == 0 || fronts_[k].empty()) return {};
    const Scorer worth = [&](std::span<const sketch::Candidate* const> programs) {
      std::vector<double> utilities = Utilities(programs);
      const std::vector<double> shares = options_.objectives[k + 1].scorer(programs);
      for (size_t i = 0; i < utilities.size(); ++i) {
        const double product = std::pow(std::max(0.0, utilities[i]), 1 - weight) *
                               std::pow(std::max(0.0, shares[i]), weight);
        utilities[i] = static_cast<float>(product);  // as Combined
      }
      return utilities;
    };
    std::vector<ScoredCandidate> parents;
    for (const FrontMember& member : fronts_[k]) {
      parents.push_back({1 / member.values[0], member.program});
    }
    KeepBest(parents, parents.size());  // not in the order of trials
    const int population = evolution_.PopulationFor(count);
    std::vector<CandidatePtr> bred;
    for (const ScoredCandidate& found : evolution_.Run(parents, fresh, population, worth, known_,
                                                       static_cast<size_t>(count), random)) {
      if (known_.insert(found.candidate->hash).second) bred.push_back(found.candidate);
    }
    return bred;
  }

  /// The best of what was found, one after the other; a little from the fresh samples; and more
  /// drawing for what is lacking.
  std::vector<sketch::Candidate> Select(std::span<const ScoredCandidate> found,
                                        std::vector<CandidatePtr> fresh, int n,
                                        base::RandomStream& random) {
    std::vector<sketch::Candidate> batch;
    const bool is_first = measured_.empty() && failed_.empty();
    const double blind_share = is_first ? bayes_.first_epsilon : bayes_.epsilon;
    const int exploring = UnscoredCount(blind_share, options_.exploration_count(), n);
    std::vector<CandidatePtr> chosen = Diverse(found, n - exploring);
    if (is_first && chosen.size() > 1) {
      SpreadOverSpaces(chosen, kPromising * found.front().rating, fresh, random);
    }
    for (const CandidatePtr& program : chosen) {
      if (known_.insert(program->hash).second) batch.push_back(*program);
    }
    random.Shuffle(fresh);
    for (const CandidatePtr& program : fresh) {
      if (std::ssize(batch) == n) break;
      if (known_.insert(program->hash).second) batch.push_back(*program);
    }
    for (const CandidatePtr& program : DrawUnknown(
             *options_.space, n - static_cast<int>(batch.size()), known_, random, *options_.pool)) {
      batch.push_back(*program);
    }
    return batch;
  }

  /// Replaces up to half of the programs, the last ones, by those of design spaces that have fewer
  /// than kOfEachSpace of the others: bred within their space from the fresh ones, and of a utility
  /// of at least `least`; the best of each space first. Where programs of all spaces are bred
  /// together, those of spaces that the estimate likes less die out, right or wrong.
  void SpreadOverSpaces(std::vector<CandidatePtr>& programs, double least,
                        std::span<const CandidatePtr> fresh, base::RandomStream& random) const {
    const size_t replaced = programs.size() / 2;
    std::vector<std::vector<CandidatePtr>> of_space(options_.space->spaces().size());
    for (const CandidatePtr& program : fresh) {
      of_space[static_cast<size_t>(program->space)].push_back(program);
    }
    std::vector<int> count(of_space.size(), 0);
    for (size_t i = 0; i + replaced < programs.size(); ++i) {
      ++count[static_cast<size_t>(programs[i]->space)];
    }
    std::vector<std::vector<ScoredCandidate>> ranks(kOfEachSpace);
    for (size_t s = 0; s < of_space.size(); ++s) {
      if (count[s] >= kOfEachSpace) continue;
      const std::vector<ScoredCandidate> bred =
          evolution_.Run({}, of_space[s], kBredInSpace, Utility(), known_, kOfEachSpace, random);
      for (size_t rank = 0; rank < bred.size(); ++rank) {
        if (bred[rank].rating >= least) ranks[rank].push_back(bred[rank]);
      }
    }
    auto place = programs.end() - static_cast<std::ptrdiff_t>(replaced);
    for (std::vector<ScoredCandidate>& rank : ranks) {
      KeepBest(rank, static_cast<size_t>(programs.end() - place));
      for (const ScoredCandidate& each : rank) *place++ = each.candidate;
    }
  }

  /// The best of what was found, each chosen as if those before it had been run and were as
  /// trusted.
  std::vector<CandidatePtr> Diverse(std::span<const ScoredCandidate> found, int count) {
    std::vector<CandidatePtr> left;
    for (const ScoredCandidate& rated : found) left.push_back(rated.candidate);
    std::vector<CandidatePtr> chosen;
    const std::vector<double> scores = Scores(left), expected = Expected(left);
    TrackedPrograms watched = model_->TrackPredictions(left);
    std::vector<bool> taken(left.size(), false);
    while (std::ssize(chosen) < std::min<int64_t>(count, std::ssize(left))) {
      const std::vector<double> utilities = Combined(scores, expected, model_->Predict(watched));
      int best = -1;
      for (int i = 0; i < static_cast<int>(left.size()); ++i) {
        if (!taken[i] && (best < 0 || utilities[i] > utilities[best])) best = i;
      }
      taken[best] = true;
      chosen.push_back(left[best]);
      model_->ConditionOn(left[best]);
    }
    return chosen;
  }

  /// A program that none measured is better than in both its time and another objective.
  struct FrontMember {
    pareto::Point values;
    CandidatePtr program;
  };

  StrategyOptions options_;
  BayesOptions bayes_ = options_.bayes;
  Evolution evolution_;
  DecisionRows rows_;
  HashSet known_;
  std::vector<ScoredCandidate> measured_;  ///< the fastest first, rated by runs per second
  std::vector<ScoredCandidate> failed_;    ///< rated 0
  SpaceFactors factors_;
  std::vector<std::vector<FrontMember>> fronts_;  ///< of the time and each other objective
  std::optional<TaskModel> model_;
  double min_seconds_ = 0;  ///< the estimate of what throughputs are shares of
  double weight_ = 0, curiosity_ = 0;
};

}  // namespace

std::unique_ptr<SearchStrategy> MakeBayesSearch(StrategyOptions options) {
  return std::make_unique<BayesSearch>(std::move(options));
}

}  // namespace bayloom::strategy
