// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/cli/regions.h"

#include <fmt/format.h>

#include <cmath>

#include "bayloom/cli/help.h"
#include "bayloom/report/format.h"

namespace bayloom::cli {

void AddDivisionsOption(CLI::App& command, std::optional<std::string>& divisions) {
  OneOf(Advanced(command
                     .add_option("--divisions", divisions,
                                 "Regions that may be one task or several: which to choose between")
                     ->option_text("NAME")
                     ->default_str("all")),
        {"all", "none"});
}

std::string RegionsText(std::span<const tuning::DividedRegion> regions) {
  if (regions.empty()) return "";
  double all = 0, together = 0, gain = 0;
  bool is_measured = true;
  for (const tuning::DividedRegion& region : regions) {
    all += region.count;
    if (!region.is_together) continue;
    together += region.count;
    is_measured &= region.is_measured;
    if (std::isfinite(region.apart_seconds)) {
      gain += region.count * (region.apart_seconds - region.together_seconds);
    }
  }
  std::string text = fmt::format("{:g} of {:g} region{} as one task{}", together, all,
                                 all == 1 ? "" : "s", together > 1 ? " each" : "");
  if (gain > 0) text += fmt::format(", gaining {}", report::FormatSeconds(gain));
  return text + (is_measured ? "" : " by estimate");
}

nlohmann::json RegionsJson(std::span<const tuning::DividedRegion> regions) {
  nlohmann::json json = nlohmann::json::array();
  for (const tuning::DividedRegion& region : regions) {
    json.push_back({{"together", region.together},
                    {"count", region.count},
                    {"together_seconds", region.together_seconds},
                    {"apart_seconds", region.apart_seconds},
                    {"measured", region.is_measured},
                    {"chosen", region.is_together ? "together" : "apart"}});
  }
  return json;
}

}  // namespace bayloom::cli
