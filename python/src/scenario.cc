// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "scenario.h"

#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include <span>
#include <tuple>

#include "bayloom/base/random.h"
#include "bayloom/base/result.h"
#include "bayloom/search/code_constraint.h"

namespace bayloom::python {
namespace {

namespace nb = nanobind;

/// Calls a function with values; the functions are gone once the garbage collector dropped them.
bool Call(const Functions& functions, size_t which, std::span<const space::Value> values) {
  const nb::gil_scoped_acquire gil;
  if (which >= functions.held.size()) throw InputError("the scenario was deleted");
  nb::list arguments;
  for (const space::Value& value : values) arguments.append(nb::cast(value));
  const nb::object holds = functions.held[which](*arguments);
  const int truth = PyObject_IsTrue(holds.ptr());
  if (truth < 0) throw nb::python_error();
  return truth != 0;
}

int Traverse(PyObject* self, visitproc visit, void* arg) {
#if PY_VERSION_HEX >= 0x03090000
  Py_VISIT(Py_TYPE(self));
#endif
  if (!nb::inst_ready(self)) return 0;
  for (const nb::callable& function : nb::inst_ptr<Scenario>(self)->functions().held) {
    Py_VISIT(function.ptr());
  }
  return 0;
}

int Clear(PyObject* self) {
  if (!nb::inst_ready(self)) return 0;
  // Moved out first: what the last reference to a function frees may come back here.
  const std::vector<nb::callable> dropped =
      std::exchange(nb::inst_ptr<Scenario>(self)->functions().held, {});
  return 0;
}

PyType_Slot kSlots[] = {{Py_tp_traverse, reinterpret_cast<void*>(Traverse)},
                        {Py_tp_clear, reinterpret_cast<void*>(Clear)},
                        {0, nullptr}};

/// Name, kind and description of each parameter.
std::vector<std::tuple<std::string, std::string, std::string>> Parameters(
    const Scenario& scenario) {
  std::vector<std::tuple<std::string, std::string, std::string>> parameters;
  const space::Space& space = *scenario.get().space;
  for (int i = 0; i < space.size(); ++i) {
    const space::Parameter& parameter = space.parameter(i);
    parameters.emplace_back(parameter.name(), space::ToString(parameter.kind()),
                            parameter.Describe());
  }
  return parameters;
}

bool Contains(const Scenario& scenario, const Values& values) {
  const space::Space& space = *scenario.get().space;
  const Result<space::Configuration> configuration = space.Parse(values);
  const nb::gil_scoped_release release;
  return configuration && space.Contains(*configuration);
}

nb::list Sample(const Scenario& scenario, int count, uint64_t seed) {
  const space::Space& space = *scenario.get().space;
  base::RandomStream random(seed);
  nb::list samples;
  for (int i = 0; i < count; ++i) {
    std::optional<space::Configuration> sample;
    {
      const nb::gil_scoped_release release;
      sample = space.Sample(random);
    }
    if (!sample) break;
    samples.append(ToPython(space, *sample));
  }
  return samples;
}

}  // namespace

Scenario Scenario::Load(const std::string& path) {
  const nb::gil_scoped_release release;
  Scenario loaded;
  loaded.scenario_ = search::LoadScenario(path);
  return loaded;
}

Scenario Scenario::Parse(const std::string& text, const std::string& path,
                         std::vector<Constraint> constraints) {
  Scenario parsed;
  std::vector<search::CodeConstraint> in_code;
  for (auto& [names, function] : constraints) {
    const size_t which = parsed.functions_->held.size();
    parsed.functions_->held.push_back(std::move(function));
    in_code.push_back(
        {names, [functions = parsed.functions_, which](std::span<const space::Value> values) {
           return Call(*functions, which, values);
         }});
  }
  const nb::gil_scoped_release release;
  parsed.scenario_ = search::ParseScenario(text, path, in_code);
  return parsed;
}

space::Configuration ConfigurationOf(const space::Space& space, const Values& values) {
  const Result<space::Configuration> configuration = space.Parse(values);
  if (!configuration) throw InputError(configuration.error().message);
  if (!space.Contains(*configuration)) {
    throw InputError("the constraints do not allow " + space.ToString(*configuration));
  }
  return *configuration;
}

nb::dict ToPython(const space::Space& space, const space::Configuration& configuration) {
  nb::dict values;
  for (int i = 0; i < space.size(); ++i) {
    if (!space.IsActive(configuration, i)) continue;
    values[space.parameter(i).name().c_str()] = nb::cast(space.ValueOf(configuration, i));
  }
  return values;
}

void BindScenario(nb::module_& module) {
  nb::class_<Scenario>(module, "Scenario", nb::type_slots(kSlots),
                       "What is searched: a space, an objective and an optimizer.")
      .def_static("load", &Scenario::Load, nb::arg("path"),
                  "Reads a scenario file. Raises InputError.")
      .def_static("parse", &Scenario::Parse, nb::arg("text"), nb::arg("path"),
                  nb::arg("constraints") = nb::list(),
                  "The same from text, with constraints in code. Raises InputError.")
      .def_prop_ro("text", [](const Scenario& s) { return s.get().text; })
      .def_prop_rw(
          "name", [](const Scenario& s) { return s.get().name; },
          [](Scenario& s, std::string name) { s.get().name = std::move(name); })
      .def_prop_rw(
          "optimizer", [](const Scenario& s) { return s.get().optimizer; },
          [](Scenario& s, std::string name) {
            if (const Status known = optimizer::Optimizers().Check(name); !known) {
              throw InputError(known.error().message);
            }
            s.get().optimizer = std::move(name);
          })
      .def_prop_rw(
          "seed", [](const Scenario& s) { return s.get().optimizer_options.seed; },
          [](Scenario& s, uint64_t seed) { s.get().optimizer_options.seed = seed; })
      .def_prop_ro("objective", [](const Scenario& s) { return s.get().objectives[0].name; })
      .def_prop_ro("maximize", [](const Scenario& s) { return s.get().objectives[0].maximize; })
      .def_prop_ro(
          "objectives",
          [](const Scenario& s) {
            std::vector<std::pair<std::string, bool>> objectives;
            for (const search::Objective& each : s.get().objectives) {
              objectives.emplace_back(each.name, each.maximize);
            }
            return objectives;
          },
          "Name of each objective, and whether it is maximized.")
      .def_prop_ro("parameters", &Parameters)
      .def_prop_ro("description", [](const Scenario& s) { return s.get().space->Describe(); })
      .def("count_feasible", [](const Scenario& s) { return s.get().space->CountFeasible(); })
      .def("contains", &Contains, nb::arg("values"))
      .def("sample", &Sample, nb::arg("count"), nb::arg("seed"),
           "Feasible configurations, drawn uniformly.");
}

}  // namespace bayloom::python
