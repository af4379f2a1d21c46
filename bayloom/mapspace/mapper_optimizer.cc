#include <algorithm>
#include <limits>
#include <map>
#include <string>

#include "bayloom/mapspace/mapper_run.h"
#include "bayloom/mapspace/sensitivity.h"
#include "bayloom/optimizer/optimizer.h"

namespace bayloom {
namespace {

/// A search that has found nothing better for so long, and for half as long as it took to get where
/// it is, begins anew: surrogates that know one valley well seldom look for another.
constexpr int64_t kPatience = 30;
constexpr int64_t kPatienceShare = 2;
/// Spaces of at most so many configurations are searched through instead.
constexpr double kSmall = 10'000;

class OptimizerMapper final : public Mapper {
 public:
  OptimizerMapper(const MapperRun& run, std::string_view optimizer)
      : name_(optimizer),
        problem_(run.mapspace().problem()),
        encoding_(MakeEncoding(run)),
        is_small_(encoding_->space()->CountFeasible() <= kSmall),
        optimizer_(MakeOptimizer(name_, encoding_->space(), Options(run))) {}

  void Search(MapperRun& run) override {
    while (!run.Done()) {
      if (IsStuck()) {
        if (!found_new_) return;
        Restart(run);
      }
      const std::optional<Configuration> next = Next();
      if (!next) return;
      const Outcome outcome = Evaluate(encoding_->Decode(*next), run);
      optimizer_->Tell(*next, outcome);
      ++told_;
      if (outcome.ok() && outcome.value < best_) {
        best_ = outcome.value;
        improved_ = told_;
      }
    }
  }

  void Offer(const Mapping& mapping) override { offered_.push_back(mapping); }

 private:
  /// What was offered, if it is new; else what the optimizer asks for. Nullopt if there is nothing.
  std::optional<Configuration> Next() {
    while (!offered_.empty()) {
      const Result<Configuration> encoded = encoding_->Encode(offered_.back());
      offered_.pop_back();
      if (!encoded) continue;
      const std::optional<Mapping> mapping = encoding_->Decode(*encoded);
      if (mapping && !known_.contains(Name(*mapping))) return encoding_->Canonical(*encoded);
    }
    std::vector<Configuration> asked = optimizer_->Ask(1);
    if (asked.empty()) return std::nullopt;
    return std::move(asked[0]);
  }

  static std::unique_ptr<MappingEncoding> MakeEncoding(const MapperRun& run) {
    const MapperOptions& options = run.options();
    std::unique_ptr<MappingEncoding> encoding =
        MakeMappingEncoding(run.mapspace(), run.model(), options.tiles, options.orders);
    if (options.top_k == 0) return encoding;
    const auto evaluator = MakeModelEvaluator(run.model(), options.objective);
    const EncodingSensitivity sensitivity =
        RankEncoding(*encoding, *evaluator, options.ranking_samples, options.seed);
    return KeepTop(std::move(encoding), sensitivity, options.top_k);
  }

  bool IsStuck() const {
    return !is_small_ && told_ - improved_ > std::max(kPatience, improved_ / kPatienceShare);
  }

  /// Without the earlier tasks, which led to where it was.
  void Restart(MapperRun& run) {
    OptimizerOptions options = Options(run);
    options.seed = run.random().Next();
    options.transfer.tasks.clear();
    optimizer_ = MakeOptimizer(name_, encoding_->space(), options);
    best_ = std::numeric_limits<double>::infinity();
    told_ = improved_ = 0;
    found_new_ = false;
  }

  OptimizerOptions Options(const MapperRun& run) const {
    const MapperOptions& options = run.options();
    OptimizerOptions optimizer;
    optimizer.seed = options.seed;
    optimizer.bayesian.noise_free = true;  // models and simulators repeat themselves
    optimizer.transfer = LearnFrom(options.earlier, options.transfer, options.objective,
                                   run.mapspace(), options.tiles, options.orders);
    optimizer.canonical = [this](const Configuration& c) { return encoding_->Canonical(c); };
    return optimizer;
  }

  std::string Name(const Mapping& mapping) const { return PrintCompact(mapping, problem_); }

  Outcome Evaluate(const std::optional<Mapping>& mapping, MapperRun& run) {
    Outcome outcome = Outcome::Infeasible(Verdict::kMemory, "does not fit");
    bool is_new = false;
    if (mapping) {
      const auto [place, inserted] = known_.try_emplace(Name(*mapping));
      is_new = inserted;
      if (is_new) place->second = run.Evaluate(*mapping);
      found_new_ = found_new_ || is_new;
      outcome = place->second;
    }
    run.CountDraw(is_new);
    return outcome;
  }

  std::string name_;
  const Problem& problem_;
  std::unique_ptr<MappingEncoding> encoding_;
  bool is_small_;
  std::unique_ptr<Optimizer> optimizer_;
  // Since the beginning, or since the search began anew:
  double best_ = std::numeric_limits<double>::infinity();
  int64_t told_ = 0;
  int64_t improved_ = 0;    ///< how many it had been told when it last found a better one
  bool found_new_ = false;  ///< a mapping not known before
  /// Configurations that differ only in loops that run once are the same mapping: known already.
  std::map<std::string, Outcome> known_;
  std::vector<Mapping> offered_;
};

}  // namespace

std::unique_ptr<Mapper> MakeOptimizerMapper(const MapperRun& run, std::string_view optimizer) {
  return std::make_unique<OptimizerMapper>(run, optimizer);
}

}  // namespace bayloom
