// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/report/mapping_units.h"

#include <fmt/format.h>

#include <cmath>

#include "bayloom/report/format.h"
#include "bayloom/report/run_summary.h"

namespace bayloom::report {
namespace {

constexpr int kValueDigits = 6;

std::string_view UnitOfObjective(std::string_view objective) {
  if (objective == "energy") return "pJ/MAC";
  if (objective == "delay" || objective == "cycles" || objective == "latency") return "cycles";
  if (objective == "edp") return "pJ cycles";
  return "";
}

}  // namespace

std::string FormatMapValue(std::string_view objective, double value) {
  const std::string_view unit = UnitOfObjective(objective);
  if (!std::isfinite(value) || unit.empty()) return FormatValue(value);
  if (unit == "pJ/MAC") return fmt::format("{:.6g} pJ/MAC", value);
  constexpr double kMostCycles = 9e18;
  if (unit == "cycles" && std::abs(value) < kMostCycles) {
    return FormatCount(std::llround(value)) + " cycles";
  }
  return FormatEnergy(value, kValueDigits) + " cycles";
}

std::string FormatDesignValue(std::string_view objective, double value) {
  if (objective == "area" && std::isfinite(value)) return FormatValue(value) + " mm2";
  return objective == "energy" ? FormatEnergy(value, kValueDigits)
                               : FormatMapValue(objective, value);
}

std::string UnitOf(const record::RunRecord& run) {
  if (run.kind != record::RunKind::kMap || OptionOf(run, "evaluator") != "model") return "";
  // Of several objectives, the first has the values.
  return std::string(UnitOfObjective(run.objective.substr(0, run.objective.find(','))));
}

std::string FormatRunValue(const record::RunRecord& run, double value) {
  if (UnitOf(run).empty()) return FormatValue(value);
  return FormatMapValue(run.objective.substr(0, run.objective.find(',')), value);
}

}  // namespace bayloom::report
