#pragma once

#include <memory>
#include <optional>
#include <stop_token>
#include <vector>

#include "bayloom/external/evaluator_options.h"
#include "bayloom/space/configuration.h"
#include "bayloom/space/outcome.h"
#include "bayloom/space/space.h"

namespace bayloom {

/// Finds out the value of configurations by trying them: somebody else's compiler, simulator or
/// record. One of these serves one thread; parallel trials need one each.
class ConfigurationEvaluator {
 public:
  virtual ~ConfigurationEvaluator() = default;
  /// What came of it, as the evaluator says it (whether small or large is good is not known
  /// here); nullopt if it was stopped before it ended. Whatever a configuration does (exit with an
  /// error, crash, hang, print nonsense) is an infeasible outcome with its reason.
  virtual std::optional<Outcome> Evaluate(const Configuration& configuration,
                                          const std::stop_token& stop) = 0;
};

/// `count` evaluators for parallel use; of the kind kNone there are none. In commands, `{work}`
/// stands for an empty folder of each evaluator's own that is removed in the end, `{here}` for the
/// scenario's folder. Throws InputError where a recorded space cannot be read.
std::vector<std::unique_ptr<ConfigurationEvaluator>> MakeEvaluators(
    std::shared_ptr<const Space> space, const EvaluatorOptions& options, int count);

}  // namespace bayloom
