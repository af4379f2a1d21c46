// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

// The extension module bayloom._core: the search engine and the records. What is convenient is
// written in Python (python/bayloom); nothing here decides anything.

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bayloom/base/result.h"
#include "bayloom/base/system_error.h"
#include "bayloom/base/version.h"
#include "bayloom/optimizer/optimizer.h"
#include "database.h"
#include "outcome.h"
#include "scenario.h"
#include "study.h"

NB_MODULE(_core, module) {
  namespace nb = nanobind;
  module.doc() = "The search engine and the records of Bayloom.";
  module.attr("__version__") = std::string(bayloom::base::Version());
  nb::exception<bayloom::InputError>(module, "InputError", PyExc_ValueError);
  nb::exception<bayloom::SystemError>(module, "MachineError", PyExc_OSError);
  module.def(
      "optimizers", [] { return bayloom::optimizer::Optimizers().Names(); },
      "The names of the optimizers.");
  bayloom::python::BindOutcome(module);
  bayloom::python::BindScenario(module);
  bayloom::python::BindStudy(module);
  bayloom::python::BindDatabase(module);
}
