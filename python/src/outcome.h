// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <nanobind/nanobind.h>

#include "bayloom/trial/outcome.h"

namespace bayloom::python {

/// `verdict`, `value` (None unless there is one), `reason`, `values` (a dict).
nanobind::dict ToPython(const trial::Outcome& outcome);

void BindOutcome(nanobind::module_& module);

}  // namespace bayloom::python
