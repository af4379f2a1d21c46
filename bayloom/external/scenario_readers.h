#pragma once

#include "bayloom/external/field.h"
#include "bayloom/external/scenario.h"

namespace bayloom {

// The dialects of scenario files; LoadScenario chooses. Each fills in what its files say.

void ReadOwnScenario(const Field& top, Scenario& scenario);
void ReadHyperMapperScenario(const Field& top, Scenario& scenario);
void ReadKernelTunerSpace(const Field& top, Scenario& scenario);

/// A parameter of this project's own form.
std::unique_ptr<Parameter> ReadParameter(const std::string& name, const Field& field);

/// The `evaluator` of this project's own form, for a scenario whose space and objective are known.
void ReadEvaluator(const Field& field, Scenario& scenario);

/// The value of a parameter as a file gives it: a scalar, or a list of whole numbers.
Value ReadValue(const Field& field);

/// Calls `make`, so that what it refuses is said at the place that asked for it.
template <typename Make>
auto BlamedOn(const Field& field, Make make) {
  try {
    return make();
  } catch (const InputError& error) {
    field.Fail(error.what());
  }
}

}  // namespace bayloom
