#include "bayloom/mapspace/mapping_evaluator.h"

#include <array>

#include "bayloom/base/result.h"

namespace bayloom {
namespace {

constexpr std::array<std::string_view, 3> kObjectives = {"energy", "delay", "edp"};

class ModelEvaluator final : public MappingEvaluator {
 public:
  ModelEvaluator(const AnalyticalModel& model, MapObjective objective)
      : model_(model), objective_(objective) {}

  Outcome Evaluate(const Mapping& mapping) override {
    if (!model_.Fits(mapping)) {
      return Outcome::Infeasible(Verdict::kMemory, model_.CheckFit(mapping).error().message);
    }
    Outcome outcome;
    outcome.value = ValueOf(model_.Evaluate(mapping), objective_);
    return outcome;
  }

 private:
  const AnalyticalModel& model_;
  MapObjective objective_;
};

}  // namespace

std::string_view ToString(MapObjective objective) {
  return kObjectives[static_cast<size_t>(objective)];
}

MapObjective ParseMapObjective(std::string_view text) {
  for (size_t i = 0; i < kObjectives.size(); ++i) {
    if (kObjectives[i] == text) return static_cast<MapObjective>(i);
  }
  throw InputError("there is no objective '" + std::string(text) +
                   "'; there are energy, delay and edp");
}

double ValueOf(const Evaluation& evaluation, MapObjective objective) {
  switch (objective) {
    case MapObjective::kEnergy:
      return evaluation.EnergyPerMac();
    case MapObjective::kDelay:
      return static_cast<double>(evaluation.cycles);
    case MapObjective::kEnergyDelay:
      return evaluation.EnergyDelay();
  }
  return 0;
}

std::unique_ptr<MappingEvaluator> MakeModelEvaluator(const AnalyticalModel& model,
                                                     MapObjective objective) {
  return std::make_unique<ModelEvaluator>(model, objective);
}

}  // namespace bayloom
