// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "outcome.h"

#include <nanobind/stl/map.h>
#include <nanobind/stl/string.h>

#include <map>
#include <string>

#include "bayloom/base/result.h"
#include "bayloom/base/single_line.h"

namespace bayloom::python {
namespace {

namespace nb = nanobind;

constexpr size_t kMaxReasonBytes = 500;

trial::Outcome Feasible(double value, const std::map<std::string, double>& values) {
  trial::Outcome outcome = trial::Outcome::Feasible(value);
  for (const auto& [name, number] : values) outcome.Set(name, number);
  return outcome;
}

trial::Outcome Infeasible(const std::string& verdict, const std::string& reason) {
  const std::optional<trial::Verdict> known = trial::ParseVerdict(verdict);
  if (!known || *known == trial::Verdict::kOk) {
    throw InputError("'" + base::SingleLine(verdict) +
                     "' is no verdict of a trial without a value; these are: build-error, crash, "
                     "timeout, memory, wrong-output, invalid-answer");
  }
  return trial::Outcome::Infeasible(*known, base::SingleLine(reason, kMaxReasonBytes));
}

}  // namespace

nb::dict ToPython(const trial::Outcome& outcome) {
  nb::dict shown;
  shown["verdict"] = std::string(trial::ToString(outcome.verdict));
  shown["value"] = outcome.ok() ? nb::cast(outcome.value) : nb::none();
  shown["reason"] = outcome.reason;
  nb::dict values;
  for (const trial::NamedValue& named : outcome.values) values[named.name.c_str()] = named.value;
  shown["values"] = values;
  return shown;
}

void BindOutcome(nb::module_& module) {
  nb::class_<trial::Outcome>(module, "Outcome", "What a trial answered.")
      .def_static("feasible", &Feasible, nb::arg("value"),
                  nb::arg("values") = std::map<std::string, double>(),
                  "A value, and named values beside it.")
      .def_static("infeasible", &Infeasible, nb::arg("verdict"), nb::arg("reason"),
                  "No value, and why. Raises InputError for an unknown verdict.")
      .def("as_dict", [](const trial::Outcome& outcome) { return ToPython(outcome); });
}

}  // namespace bayloom::python
