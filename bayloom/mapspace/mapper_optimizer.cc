// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <functional>
#include <limits>
#include <string>
#include <unordered_map>

#include "bayloom/mapspace/mapper_context.h"
#include "bayloom/mapspace/sensitivity.h"
#include "bayloom/optimizer/optimizer.h"
#include "bayloom/pareto/front.h"

namespace bayloom::mapspace {
namespace {

/// A search that has found nothing better for so long, and for half as long as it took to get where
/// it is, starts again: surrogates that know one valley well rarely look for another.
constexpr int64_t kMinTrialsWithoutGain = 30;
constexpr int64_t kGainlessShare = 2;
/// Spaces of at most so many configurations are searched through instead.
constexpr double kSmall = 10'000;

class OptimizerMapper final : public Mapper {
 public:
  OptimizerMapper(const MapperContext& context, std::string_view optimizer)
      : name_(optimizer),
        problem_(context.mapspace().problem()),
        encoding_(MakeEncoding(context)),
        is_small_(encoding_->space()->CountFeasible() <= kSmall),
        objectives_(context.options().objectives),
        optimizer_(optimizer::MakeOptimizer(name_, encoding_->space(), Options(context))) {}

  std::optional<Mapping> Next(MapperContext& context) override {
    while (!context.Done()) {
      if (IsStuck()) {
        if (!found_new_) return std::nullopt;
        Restart(context);
      }
      const std::optional<space::Configuration> next = NextConfiguration();
      if (!next) return std::nullopt;
      std::optional<Mapping> mapping = encoding_->Decode(*next);
      if (!mapping) {
        Learn(*next, trial::Outcome::Infeasible(trial::Verdict::kMemory, "does not fit"));
      } else {
        const auto [known, is_new] = known_.try_emplace(HashOf(*mapping, problem_));
        if (known->second.waiting) {
          known->second.configurations.push_back(*next);
        } else {
          Learn(*next, known->second.outcome);
        }
        if (is_new) return mapping;
      }
      context.CountDraw(false);
    }
    return std::nullopt;
  }

  void Tell(Mapping mapping, const trial::Outcome& outcome, MapperContext& context) override {
    Known& known = known_[HashOf(mapping, problem_)];
    if (known.configurations.empty()) {
      const Result<space::Configuration> encoded = encoding_->Encode(mapping);
      if (encoded) known.configurations.push_back(encoding_->Canonical(*encoded));
    }
    known.outcome = outcome;
    known.waiting = false;
    found_new_ = true;
    context.CountDraw(true);
    for (const space::Configuration& configuration : std::exchange(known.configurations, {})) {
      Learn(configuration, outcome);
    }
  }

  std::vector<std::string> TakeNotices() override { return optimizer_->TakeNotices(); }

  void Suggest(const Mapping& mapping) override { offered_.push_back(mapping); }

 private:
  /// A mapping that was evaluated, or is.
  struct Known {
    trial::Outcome outcome;
    bool waiting = true;  ///< for the outcome
    /// Those that became this mapping while it was waited for.
    std::vector<space::Configuration> configurations;
  };

  /// What was offered, if it is new; else what the optimizer asks for. Nullopt if there is nothing.
  std::optional<space::Configuration> NextConfiguration() {
    while (!offered_.empty()) {
      const Result<space::Configuration> encoded = encoding_->Encode(offered_.back());
      offered_.pop_back();
      if (!encoded) continue;
      const std::optional<Mapping> mapping = encoding_->Decode(*encoded);
      if (mapping && !known_.contains(HashOf(*mapping, problem_)))
        return encoding_->Canonical(*encoded);
    }
    std::vector<space::Configuration> asked = optimizer_->Ask(1);
    if (asked.empty()) return std::nullopt;
    return std::move(asked[0]);
  }

  static std::vector<std::string> NamesOf(const std::vector<MapObjective>& objectives) {
    std::vector<std::string> names;
    for (const MapObjective objective : objectives) names.emplace_back(ToString(objective));
    return names;
  }

  static std::unique_ptr<MappingEncoding> MakeEncoding(const MapperContext& context) {
    const MapperOptions& options = context.options();
    std::unique_ptr<MappingEncoding> encoding =
        MakeMappingEncoding(context.mapspace(), context.model(), options.tiles, options.orders);
    if (options.top_k == 0) return encoding;
    const auto evaluate = [&](const Mapping& mapping) {
      return EvaluateByModel(context.model(), {{options.objectives[0]}}, mapping);
    };
    const EncodingSensitivity sensitivity =
        RankEncoding(*encoding, evaluate, options.ranking_samples, options.run.seed);
    return KeepTop(std::move(encoding), sensitivity, options.top_k);
  }

  bool IsStuck() const {
    return !is_small_ &&
           told_ - improved_ > std::max(kMinTrialsWithoutGain, improved_ / kGainlessShare);
  }

  /// Without the earlier tasks, which led to where it was.
  void Restart(MapperContext& context) {
    optimizer::OptimizerOptions options = Options(context);
    options.seed = context.random().Next();
    options.transfer.tasks.clear();
    optimizer_ = optimizer::MakeOptimizer(name_, encoding_->space(), options);
    front_.clear();
    told_ = improved_ = 0;
    found_new_ = false;
  }

  optimizer::OptimizerOptions Options(const MapperContext& context) const {
    const MapperOptions& options = context.options();
    optimizer::OptimizerOptions optimizer;
    optimizer.seed = options.run.seed;
    optimizer.objectives = NamesOf(objectives_);
    optimizer.bayesian.noise_free = true;  // models and simulators repeat themselves
    optimizer.transfer = LearnFrom(options.earlier, options.transfer, options.objectives[0],
                                   context.mapspace(), options.tiles, options.orders);
    optimizer.canonical = [this](const space::Configuration& c) { return encoding_->Canonical(c); };
    return optimizer;
  }

  void Learn(const space::Configuration& configuration, const trial::Outcome& outcome) {
    optimizer_->Tell(configuration, outcome);
    ++told_;
    if (!outcome.ok()) return;
    if (pareto::ExtendFront(front_, ValuesOf(outcome, objectives_), std::identity())) {
      improved_ = told_;
    }
  }

  std::string name_;
  const Problem& problem_;
  std::unique_ptr<MappingEncoding> encoding_;
  bool is_small_;
  std::vector<MapObjective> objectives_;
  std::unique_ptr<optimizer::Optimizer> optimizer_;
  // Since the beginning, or since the search began again:
  std::vector<pareto::Point> front_;  ///< of one objective: the best
  int64_t told_ = 0;
  int64_t improved_ = 0;    ///< how many it had been told when it last found a better one
  bool found_new_ = false;  ///< a mapping not known before
  /// Configurations that differ only in loops that run once are the same mapping: known already.
  std::unordered_map<uint64_t, Known> known_;  ///< by HashOf
  std::vector<Mapping> offered_;
};

}  // namespace

std::unique_ptr<Mapper> MakeOptimizerMapper(const MapperContext& context,
                                            std::string_view optimizer) {
  return std::make_unique<OptimizerMapper>(context, optimizer);
}

}  // namespace bayloom::mapspace
