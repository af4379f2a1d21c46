#pragma once

#include <memory>

#include "bayloom/external/evaluator.h"
#include "bayloom/external/recorded_space.h"

namespace bayloom {

// The kinds of evaluators; MakeEvaluators chooses.

std::unique_ptr<ConfigurationEvaluator> MakeCommandEvaluator(std::shared_ptr<const Space> space,
                                                             const EvaluatorOptions& options);
std::unique_ptr<ConfigurationEvaluator> MakeProcessEvaluator(std::shared_ptr<const Space> space,
                                                             const EvaluatorOptions& options);
std::unique_ptr<ConfigurationEvaluator> MakeRecordedEvaluator(
    std::shared_ptr<const Space> space, std::shared_ptr<const RecordedSpace> records);

}  // namespace bayloom
