#include "bayloom/search/bayes/bayes_search.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "bayloom/base/hash.h"
#include "bayloom/search/bayes/decision_rows.h"
#include "bayloom/search/bayes/task_model.h"
#include "bayloom/search/evolution.h"
#include "bayloom/search/rating.h"

namespace bayloom {
namespace {

/// Correlation below which scores are taken for random.
constexpr double kTrustedCorrelation = 0.3;
/// Measured programs from which on that can be told.
constexpr int kTrustTestedFrom = 8;

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
      : options_(std::move(options)), evolution_(options_), rows_(*options_.space) {}

  std::string name() const override { return "bayes"; }

  std::vector<Candidate> GenerateCandidates(int n) override {
    RandomStream random(Hasher().Add(options_.seed).Add(known_.size()).Digest());
    Learn(random);
    const int population = evolution_.PopulationFor(n);
    const std::span<const Rated> parents = std::span(measured_).first(
        std::min(measured_.size(), evolution_.MeasuredCount(population)));
    std::vector<CandidatePtr> fresh =
        evolution_.DrawFresh(population - static_cast<int>(parents.size()), random);
    const Scorer utility = [this](std::span<const Candidate* const> programs) {
      return Utilities(programs);
    };
    const std::vector<Rated> found =
        evolution_.Run(parents, fresh, population, utility, known_,
                       static_cast<size_t>(n * bayes_.shortlist), random);
    return Select(found, std::move(fresh), n, random);
  }

  void Notify(std::span<const Candidate> candidates, std::span<const Outcome> outcomes) override {
    for (size_t i = 0; i < candidates.size(); ++i) {
      known_.insert(candidates[i].hash);
      if (!outcomes[i].ok()) continue;
      measured_.push_back(
          {1 / outcomes[i].value, std::make_shared<const Candidate>(candidates[i])});
    }
    KeepBest(measured_, measured_.size());
  }

  void Exclude(uint64_t hash) override { known_.insert(hash); }

 private:
  /// Learns from what was measured, and decides how far to trust whom.
  void Learn(RandomStream& random) {
    model_.emplace(rows_, measured_, random);
    const auto n = static_cast<double>(measured_.size());
    weight_ = model_->has_learnt() ? bayes_.surrogate_weight * n / (n + bayes_.half_weight_at) : 0;
    if (measured_.size() >= kTrustTestedFrom && !ScoresAreTrusted()) weight_ = 1;
    curiosity_ = bayes_.last_curiosity + (bayes_.first_curiosity - bayes_.last_curiosity) *
                                             std::exp2(-n / bayes_.half_curiosity_at);
  }

  /// Scores of what was measured are near the truth unless they are random.
  bool ScoresAreTrusted() const {
    std::vector<const Candidate*> programs;
    std::vector<double> truth;
    for (const Rated& rated : measured_) {
      programs.push_back(rated.candidate.get());
      truth.push_back(rated.rating);
    }
    return Correlation(options_.scorer(programs), truth) >= kTrustedCorrelation;
  }

  std::vector<double> Combined(const std::vector<double>& scores, const Beliefs& beliefs) const {
    std::vector<double> utilities;
    for (size_t i = 0; i < scores.size(); ++i) {
      const auto row = static_cast<Eigen::Index>(i);
      const double utility = (1 - weight_) * scores[i] + weight_ * beliefs.mean[row] +
                             curiosity_ * beliefs.deviation[row];
      // The last bits differ with the alignment of memory, and must not decide between equals.
      utilities.push_back(static_cast<float>(utility));
    }
    return utilities;
  }

  std::vector<double> Utilities(std::span<const Candidate* const> programs) const {
    return Combined(options_.scorer(programs), model_->Predict(Borrowed(programs)));
  }

  static std::vector<CandidatePtr> Borrowed(std::span<const Candidate* const> programs) {
    std::vector<CandidatePtr> pointers;
    for (const Candidate* program : programs) pointers.emplace_back(CandidatePtr(), program);
    return pointers;
  }

  /// The best of what was found, one after the other; a little from the fresh samples; and more
  /// drawing for what is lacking.
  std::vector<Candidate> Select(std::span<const Rated> found, std::vector<CandidatePtr> fresh,
                                int n, RandomStream& random) {
    std::vector<Candidate> batch;
    const int exploring = static_cast<int>(std::floor(bayes_.epsilon * n));
    for (const CandidatePtr& program : Diverse(found, n - exploring)) {
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

  std::vector<CandidatePtr> Diverse(std::span<const Rated> found, int count) {
    std::vector<CandidatePtr> left;
    std::vector<const Candidate*> programs;
    for (const Rated& rated : found) {
      left.push_back(rated.candidate);
      programs.push_back(rated.candidate.get());
    }
    std::vector<CandidatePtr> chosen;
    const std::vector<double> scores = options_.scorer(programs);
    std::vector<bool> taken(left.size(), false);
    while (std::ssize(chosen) < std::min<int64_t>(count, std::ssize(left))) {
      const std::vector<double> utilities = Combined(scores, model_->Predict(left));
      int best = -1;
      for (int i = 0; i < static_cast<int>(left.size()); ++i) {
        if (!taken[i] && (best < 0 || utilities[i] > utilities[best])) best = i;
      }
      taken[best] = true;
      chosen.push_back(left[best]);
      model_->Believe(left[best]);
    }
    return chosen;
  }

  StrategyOptions options_;
  BayesOptions bayes_ = options_.bayes;
  Evolution evolution_;
  DecisionRows rows_;
  HashSet known_;
  std::vector<Rated> measured_;  ///< all, the fastest first, rated by runs per second
  std::optional<TaskModel> model_;
  double weight_ = 0, curiosity_ = 0;
};

}  // namespace

std::unique_ptr<SearchStrategy> MakeBayesSearch(StrategyOptions options) {
  return std::make_unique<BayesSearch>(std::move(options));
}

}  // namespace bayloom
