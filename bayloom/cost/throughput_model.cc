// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/cost/throughput_model.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace bayloom::cost {
std::vector<std::string> ThroughputModelNames() { return {"xgboost", "mlp", "mlp-squared"}; }

std::unique_ptr<ThroughputModel> CreateThroughputModel(const std::string& name, uint64_t seed) {
  if (name == "xgboost") return MakeTreesModel(seed);
  if (name == "mlp") return MakeMlpModel(seed);
  if (name == "mlp-squared") return MakeSquaredMlpModel(seed);
  throw InputError(fmt::format("there is no model '{}'; there are {}", name,
                               fmt::join(ThroughputModelNames(), ", ")));
}

}  // namespace bayloom::cost
