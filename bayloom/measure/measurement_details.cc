// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/measure/measurement_details.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <string_view>

namespace bayloom::measure {

namespace {

/// "seconds_at_16_64"
constexpr std::string_view kAtSizes = "seconds_at";
/// "batch_seconds_1"
constexpr std::string_view kBatch = "batch_seconds_";

std::vector<TimeAtSizes> TimesAtSizes(const trial::Outcome& outcome) {
  std::vector<TimeAtSizes> times;
  for (const trial::NamedValue& named : outcome.values) {
    if (!named.name.starts_with(kAtSizes)) continue;
    TimeAtSizes& time = times.emplace_back();
    time.seconds = named.value;
    for (size_t at = kAtSizes.size(); at < named.name.size();) {
      const size_t end = std::min(named.name.find('_', at + 1), named.name.size());
      int64_t size = 0;
      std::from_chars(named.name.data() + at + 1, named.name.data() + end, size);
      time.sizes.push_back(size);
      at = end;
    }
  }
  return times;
}

}  // namespace

MeasurementDetails DetailsOf(const trial::Outcome& outcome) {
  MeasurementDetails details;
  details.at_sizes = TimesAtSizes(outcome);
  for (const trial::NamedValue& named : outcome.values) {
    if (named.name.starts_with(kBatch)) details.batches.push_back(named.value);
  }
  details.spread = outcome.Get("spread", details.spread);
  details.cut_short = outcome.Get("cut_short", 0) != 0;
  details.drift = outcome.Get("drift", details.drift);
  details.build_seconds = outcome.Get("build_seconds", details.build_seconds);
  details.measure_seconds = outcome.Get("measure_seconds", details.measure_seconds);
  details.clock_mhz = outcome.Get("clock_mhz", details.clock_mhz);
  details.power_watts = outcome.Get("power_watts", details.power_watts);
  details.registers = outcome.Get("registers", details.registers);
  details.spill_bytes = outcome.Get("spill_bytes", details.spill_bytes);
  details.shared_bytes = outcome.Get("shared_bytes", details.shared_bytes);
  details.code_bytes = outcome.Get("code_bytes", details.code_bytes);
  details.growth_bytes = outcome.Get("growth_bytes", details.growth_bytes);
  details.workspace_bytes = outcome.Get("workspace_bytes", details.workspace_bytes);
  return details;
}

void SetDetails(trial::Outcome& outcome, const MeasurementDetails& details) {
  for (const TimeAtSizes& time : details.at_sizes) {
    outcome.Set(fmt::format("{}_{}", kAtSizes, fmt::join(time.sizes, "_")), time.seconds);
  }
  for (size_t batch = 0; batch < details.batches.size(); ++batch) {
    outcome.Set(fmt::format("{}{}", kBatch, batch + 1), details.batches[batch]);
  }
  const MeasurementDetails nothing;
  const auto set = [&](const char* name, double value, double default_value) {
    if (value != default_value) outcome.Set(name, value);
  };
  set("spread", details.spread, nothing.spread);
  set("cut_short", details.cut_short ? 1 : 0, 0);
  set("drift", details.drift, nothing.drift);
  set("build_seconds", details.build_seconds, nothing.build_seconds);
  set("measure_seconds", details.measure_seconds, nothing.measure_seconds);
  set("clock_mhz", details.clock_mhz, nothing.clock_mhz);
  set("power_watts", details.power_watts, nothing.power_watts);
  set("registers", details.registers, nothing.registers);
  set("spill_bytes", details.spill_bytes, nothing.spill_bytes);
  set("shared_bytes", details.shared_bytes, nothing.shared_bytes);
  set("code_bytes", details.code_bytes, nothing.code_bytes);
  set("growth_bytes", details.growth_bytes, nothing.growth_bytes);
  set("workspace_bytes", details.workspace_bytes, nothing.workspace_bytes);
}

}  // namespace bayloom::measure
