#include "bayloom/external/evaluator.h"

#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "bayloom/external/evaluator_functions.h"
#include "bayloom/external/recorded_space.h"
#include "bayloom/space/configuration_json.h"
#include "bayloom/trial/inline_evaluator.h"

namespace bayloom {
namespace {

std::unique_ptr<Evaluator<Configuration>> MakeTabulated(std::shared_ptr<const Space> space,
                                                        const EvaluatorOptions& options, int jobs) {
  auto records = std::make_shared<const RecordedSpace>(
      RecordedSpace::Load(options.recorded, options.measurement));
  return std::make_unique<InlineEvaluator<Configuration>>(
      [space = std::move(space), records = std::move(records)](const Configuration& configuration) {
        return records->OutcomeOf(ToJson(*space, configuration));
      },
      jobs);
}

}  // namespace

std::unique_ptr<Evaluator<Configuration>> MakeEvaluator(std::shared_ptr<const Space> space,
                                                        const EvaluatorOptions& options, int jobs) {
  if (options.kind == EvaluatorKind::kNone) return nullptr;
  if (options.kind == EvaluatorKind::kRecorded) {
    return MakeTabulated(std::move(space), options, jobs);
  }
  const auto guard = std::make_shared<MissingCommandGuard>();
  std::vector<EvaluateConfiguration> functions;
  for (int i = 0; i < jobs; ++i) {
    functions.push_back(options.kind == EvaluatorKind::kCommand
                            ? MakeCommandFunction(space, options, guard)
                            : MakeProcessFunction(space, options));
  }
  return std::make_unique<ThreadedEvaluator<Configuration>>(std::move(functions));
}

}  // namespace bayloom
