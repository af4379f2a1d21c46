// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <limits>
#include <utility>

#include "bayloom/mapspace/exact/exact_search.h"
#include "bayloom/mapspace/mapper_context.h"

namespace bayloom::mapspace {
namespace {

/// Mappings of "genetic" before the proof: the better the best known, the more is cut off.
constexpr int64_t kFirstEvaluations = 4000;
/// Partial mappings of a proof from there, and evaluations of "genetic" if these do not suffice,
/// before the proof begins again: where they do not, a better mapping is worth more than its time.
constexpr int64_t kFirstPartials = 300'000;
constexpr int64_t kMoreEvaluations = 200'000;

class ExactMapper final : public Mapper {
 public:
  explicit ExactMapper(const MapperContext& context)
      : genetic_(MakeGeneticMapper(context)),
        why_not_(WhyNotExact(context.mapspace(), context.model())) {}

  std::optional<Mapping> Next(MapperContext& context) override {
    if (is_proved_) return std::nullopt;
    const int64_t first =
        std::min(kFirstEvaluations, std::max<int64_t>(1, context.options().run.budget.trials / 2));
    if (!why_not_.empty() || context.result().evaluations < first) {
      if (std::optional<Mapping> mapping = genetic_->Next(context)) return mapping;
      if (!why_not_.empty()) return std::nullopt;
    }
    is_proved_ = true;
    return Prove(context);
  }

  void Tell(Mapping mapping, const trial::Outcome& outcome, MapperContext& context) override {
    genetic_->Tell(std::move(mapping), outcome, context);
  }

  void Suggest(const Mapping& mapping) override { genetic_->Suggest(mapping); }

  std::vector<std::string> TakeNotices() override {
    if (why_not_.empty() || std::exchange(has_said_, true)) return {};
    return {"nothing is proved, the mapper is genetic: " + why_not_};
  }

 private:
  /// Takes account of a mapping, by the model.
  void Evaluate(Mapping mapping, MapperContext& context) {
    const trial::Outcome outcome =
        EvaluateByModel(context.model(), context.options().objectives, mapping);
    context.Count(mapping, outcome);
    genetic_->Tell(std::move(mapping), outcome, context);
  }

  /// Evaluates more mappings of "genetic".
  void Improve(MapperContext& context) {
    for (int64_t i = 0; i < kMoreEvaluations && !context.Done(); ++i) {
      std::optional<Mapping> mapping = genetic_->Next(context);
      if (!mapping) return;
      Evaluate(*std::move(mapping), context);
    }
  }

  std::optional<Mapping> Prove(MapperContext& context) {
    const MapperResult& known = context.result();
    ExactOptions options;
    options.objective = context.options().objectives[0];
    options.interrupted = [&context] { return context.Done(); };
    options.max_made = kFirstPartials;
    const auto search = [&] {
      options.known_value = known.best ? known.value : std::numeric_limits<double>::infinity();
      return SearchExactly(context.mapspace(), context.model(), options);
    };
    ExactResult found = search();
    if (!found.is_whole && !context.Done()) {
      if (found.best) Evaluate(*std::move(found.best), context);
      Improve(context);
      options.max_made = 0;
      found = search();
    }
    if (!found.best && !known.best) return std::nullopt;
    Certificate certificate;
    certificate.problem = context.mapspace().problem().Describe();
    certificate.architecture = context.mapspace().architecture().name;
    certificate.objective = options.objective;
    certificate.mapping = found.best ? *found.best : *known.best;
    certificate.value = found.best ? found.value : known.value;
    certificate.bound = std::min(found.bound, certificate.value);
    certificate.is_whole = found.is_whole;
    certificate.mapspace_size = context.mapspace().Size();
    certificate.counts = found.counts;
    certificate.sample = std::move(found.sample);
    context.SetCertificate(std::move(certificate));
    if (!found.best || !context.Done()) return std::move(found.best);
    // There is no time for an evaluation left, but the model has evaluated it.
    context.Count(*found.best,
                  EvaluateByModel(context.model(), context.options().objectives, *found.best));
    return std::nullopt;
  }

  std::unique_ptr<Mapper> genetic_;
  std::string why_not_;
  bool is_proved_ = false;
  bool has_said_ = false;
};

}  // namespace

std::unique_ptr<Mapper> MakeExactMapper(const MapperContext& context) {
  return std::make_unique<ExactMapper>(context);
}

}  // namespace bayloom::mapspace
