// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/report/sensitivity_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>

namespace bayloom::report {
namespace {

constexpr double kMaxBarLength = 40;

Cell Number(double value) { return {value, fmt::format("{:.3f}", value)}; }

}  // namespace

Table SensitivityTable(const space::Space& space,
                       std::span<const optimizer::ParameterSensitivity> ranking) {
  Table table({"parameter", "total", "total +-", "first", "first +-", "bar"});
  for (const optimizer::ParameterSensitivity& sensitivity : ranking) {
    const model::SobolIndex& index = sensitivity.index;
    const double length = kMaxBarLength * std::clamp(index.total.value, 0.0, 1.0);
    table.AddRow({space.parameter(sensitivity.parameter).name(), Number(index.total.value),
                  Number(index.total.half_width), Number(index.first.value),
                  Number(index.first.half_width),
                  std::string(static_cast<size_t>(std::lround(length)), '#')});
  }
  return table;
}

}  // namespace bayloom::report
