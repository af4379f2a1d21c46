#include "bayloom/external/evaluator.h"

#include <nlohmann/json.hpp>

#include "bayloom/external/evaluators.h"
#include "bayloom/space/configuration_json.h"

namespace bayloom {
namespace {

class RecordedEvaluator final : public ConfigurationEvaluator {
 public:
  RecordedEvaluator(std::shared_ptr<const Space> space,
                    std::shared_ptr<const RecordedSpace> records)
      : space_(std::move(space)), records_(std::move(records)) {}

  std::optional<Outcome> Evaluate(const Configuration& configuration,
                                  const std::stop_token&) override {
    return records_->OutcomeOf(ToJson(*space_, configuration));
  }

 private:
  std::shared_ptr<const Space> space_;
  std::shared_ptr<const RecordedSpace> records_;
};

}  // namespace

std::unique_ptr<ConfigurationEvaluator> MakeRecordedEvaluator(
    std::shared_ptr<const Space> space, std::shared_ptr<const RecordedSpace> records) {
  return std::make_unique<RecordedEvaluator>(std::move(space), std::move(records));
}

std::vector<std::unique_ptr<ConfigurationEvaluator>> MakeEvaluators(
    std::shared_ptr<const Space> space, const EvaluatorOptions& options, int count) {
  std::vector<std::unique_ptr<ConfigurationEvaluator>> evaluators;
  std::shared_ptr<const RecordedSpace> records;
  if (options.kind == EvaluatorKind::kRecorded) {
    records = std::make_shared<const RecordedSpace>(
        RecordedSpace::Load(options.recorded, options.measurement));
  }
  for (int i = 0; i < count; ++i) {
    switch (options.kind) {
      case EvaluatorKind::kNone:
        break;
      case EvaluatorKind::kCommand:
        evaluators.push_back(MakeCommandEvaluator(space, options));
        break;
      case EvaluatorKind::kProcess:
        evaluators.push_back(MakeProcessEvaluator(space, options));
        break;
      case EvaluatorKind::kRecorded:
        evaluators.push_back(MakeRecordedEvaluator(space, records));
        break;
    }
  }
  return evaluators;
}

}  // namespace bayloom
