// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "study.h"

#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <optional>

#include "bayloom/base/clock.h"
#include "bayloom/base/result.h"
#include "bayloom/search/durable_study.h"
#include "bayloom/search/earlier_searches.h"
#include "outcome.h"
#include "scenario.h"

namespace bayloom::python {
namespace {

namespace nb = nanobind;

/// A study in memory or in a database, driven by asking and telling. Calls release the
/// interpreter's lock while they compute; no two may run at a time.
class Study {
 public:
  Study(const Scenario& scenario, const std::optional<std::string>& database, bool resume,
        const std::vector<std::string>& learn_from, const std::string& transfer_method)
      : scenario_(scenario) {
    const nb::gil_scoped_release release;
    search::Scenario& what = scenario_.get();
    learned_from_ = search::TeachOptimizer(run::LearnFrom::Parse(learn_from), transfer_method,
                                           database.value_or(""), what);
    if (database) {
      store_.emplace(*database);
      durable_ = std::make_unique<search::DurableStudy>(what, *store_, resume);
    } else {
      in_memory_ = std::make_unique<search::Study>(
          what, optimizer::MakeOptimizer(what.optimizer, what.space, what.optimizer_options));
    }
    earlier_ = study().elapsed();
    begun_ = base::MonotonicSeconds();
  }

  nb::list Ask(int count) {
    std::vector<space::Configuration> asked;
    {
      const nb::gil_scoped_release release;
      asked = study().Ask(count);
    }
    nb::list configurations;
    for (const space::Configuration& configuration : asked) {
      configurations.append(ToPython(study().space(), configuration));
    }
    return configurations;
  }

  std::optional<double> Tell(const Values& values, const trial::Outcome& outcome) {
    const nb::gil_scoped_release release;
    const space::Configuration configuration = ConfigurationOf(study().space(), values);
    const double elapsed = earlier_ + base::MonotonicSeconds() - begun_;
    if (!study().Tell(configuration, outcome, elapsed)) return std::nullopt;
    return elapsed;
  }

  /// The trials of before it was resumed.
  nb::list Earlier() const {
    nb::list trials;
    if (!durable_) return trials;
    for (const search::StudyTrial& trial : durable_->earlier()) {
      nb::dict shown = ToPython(trial.outcome);
      shown["number"] = trial.ordinal;
      shown["params"] = ToPython(study().space(), trial.configuration);
      shown["elapsed"] = trial.elapsed;
      trials.append(shown);
    }
    return trials;
  }

  bool IsFull(const Values& values) const {
    return !scenario_.get().optimizer_options.fidelity ||
           study().IsFull(ConfigurationOf(study().space(), values));
  }
  bool gave_up() { return study().gave_up(); }
  std::vector<std::string> TakeNotices() { return study().TakeNotices(); }
  const std::vector<std::string>& learned_from() const { return learned_from_; }
  std::optional<int64_t> Run() const {
    return durable_ ? std::optional(durable_->record().id) : std::nullopt;
  }
  void Finish() {
    if (durable_) durable_->Finish();
  }

 private:
  search::Study& study() { return durable_ ? durable_->study() : *in_memory_; }
  const search::Study& study() const { return durable_ ? durable_->study() : *in_memory_; }

  Scenario scenario_;
  std::vector<std::string> learned_from_;
  std::optional<record::Store> store_;
  std::unique_ptr<search::DurableStudy> durable_;  ///< if there is a store
  std::unique_ptr<search::Study> in_memory_;       ///< if there is none
  double earlier_ = 0;
  double begun_ = 0;
};

}  // namespace

void BindStudy(nb::module_& module) {
  nb::class_<Study>(module, "Study", "A search that is driven by asking and telling.")
      .def(nb::init<const Scenario&, const std::optional<std::string>&, bool,
                    const std::vector<std::string>&, const std::string&>(),
           nb::arg("scenario"), nb::arg("database") = nb::none(), nb::arg("resume") = false,
           nb::arg("learn_from") = std::vector<std::string>(), nb::arg("transfer_method") = "prior")
      .def("ask", &Study::Ask, nb::arg("count"),
           "Up to `count` configurations; fewer where there are no more.")
      .def("tell", &Study::Tell, nb::arg("values"), nb::arg("outcome"),
           "Records, then learns. Seconds since the study began; None for a configuration that was "
           "told before.")
      .def("is_full", &Study::IsFull, nb::arg("values"),
           "Whether a configuration is of the last fidelity, or there is none.")
      .def("earlier", &Study::Earlier, "The trials of before it was resumed.")
      .def("gave_up", &Study::gave_up,
           "Whether the last `ask` found fewer although there may be more.")
      .def("take_notices", &Study::TakeNotices,
           "What a person should know of how it searches and was not told before.")
      .def("finish", &Study::Finish, "Notes in the database that nothing is left to try.")
      .def_prop_ro("learned_from", &Study::learned_from,
                   "What is learnt from earlier searches, for a person.")
      .def_prop_ro("run", &Study::Run, "Its number in the database.");
}

}  // namespace bayloom::python
