// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/cost/selection/selection.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "bayloom/base/result.h"

namespace bayloom::cost {

std::vector<std::string> SelectionNames() {
  return {"random",           "gsx",   "gsy", "igs", "core-set", "uncertainty", "output-diversity",
          "biased-diversity", "greedy"};
}

std::unique_ptr<SelectionMethod> CreateSelection(const std::string& name,
                                                 const SelectionOptions& options) {
  if (name == "random") return MakeRandomSelection();
  if (name == "gsx") return MakeGsxSelection();
  if (name == "gsy") return MakeGsySelection();
  if (name == "igs") return MakeIgsSelection();
  if (name == "core-set") return MakeCoreSetSelection();
  if (name == "uncertainty") return MakeUncertaintySelection();
  if (name == "output-diversity") return MakeOutputDiversitySelection();
  if (name == "biased-diversity") return MakeBiasedDiversitySelection(options);
  if (name == "greedy") return MakeGreedySelection();
  throw InputError(fmt::format("there is no selection method '{}'; there are {}", name,
                               fmt::join(SelectionNames(), ", ")));
}

}  // namespace bayloom::cost
