// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bayloom/accelerator/design_evaluator.h"
#include "bayloom/accelerator/design_space.h"
#include "bayloom/optimizer/sensitivity.h"
#include "bayloom/record/store.h"
#include "bayloom/run/scheduled_run.h"
#include "bayloom/search/durable_study.h"
#include "bayloom/search/study_task.h"

namespace bayloom::accelerator {

struct DesignOptions {
  DesignEvaluatorOptions evaluation;
  /// A name or a file; empty: the space's own, or 45nm.
  std::string technology;
  /// Chooses designs; empty: the space's own, or bayesian.
  std::string optimizer;
  run::RunOptions run = {};  ///< 100 designs unless it says otherwise; with the seed of all choices
  std::string database;      ///< path of the store that keeps every design
  bool resume = false;       ///< go on with the store's last search of the same
  int jobs = 1;              ///< designs evaluated at a time, by threads of this process
  /// Makes what evaluates designs instead of those threads, given what is to be evaluated.
  std::function<std::unique_ptr<trial::Evaluator<space::Configuration>>(const DesignSpace&,
                                                                        const DesignEvaluator&)>
      make_trials = {};
};

/// A search for the best architecture of a space for some networks, and with it for their mappings.
///
///     DesignSearch search(DesignSpace::Load("space.yaml"), {{"net", layers}},
///                         {.database = "designs.db"});
///     search.Run();
///     Use(search.BestDesigns(5));
///
/// Every design is in the store before anything is learnt from it; there it is a search of a
/// scenario, named after the space and the networks.
class DesignSearch {
 public:
  /// Throws InputError for what cannot be searched, and where what is to be resumed was another
  /// space or had other networks or limits.
  DesignSearch(DesignSpace design, std::vector<DesignNetwork> networks, DesignOptions options);
  ~DesignSearch();

  trial::StopReason Run(const run::RunObserver& observer = {});

  const DesignSpace& design() const { return *design_; }
  const std::vector<DesignNetwork>& networks() const { return evaluator_->networks(); }
  const mapspace::Technology& technology() const { return evaluator_->technology(); }
  /// What an architecture from elsewhere costs, evaluated as the designs are, limits apart.
  std::optional<trial::Outcome> Compare(const std::string& architecture);
  const search::Scenario& scenario() const { return scenario_; }
  const search::Study& study() const { return study_->study(); }
  const record::RunRecord& record() const { return study_->record(); }
  bool resumed() const { return study_->resumed(); }
  run::RunStatus Status() const { return run_->Status(); }
  const std::string& lost() const { return run_->lost(); }
  mapspace::Architecture ArchitectureOf(const search::StudyTrial& trial) const;

  /// All designs evaluated, from the store, in their order.
  std::vector<search::StudyTrial> Trials() const;
  /// Those within the limits, best first, so many at most.
  std::vector<search::StudyTrial> BestDesigns(int count) const;
  /// Of several objectives those within the limits that none beats in all of them, the best in the
  /// first one first; of one objective those that none beats in area, energy and cycles together,
  /// ascending in area.
  std::vector<search::StudyTrial> Front() const;
  /// How much the parameters matter to the logarithm of the objective, by the last designs within
  /// the limits; empty with fewer than kMinDesigns.
  std::vector<optimizer::ParameterSensitivity> Sensitivity() const;

  static constexpr int kMinDesigns = 10;

 private:
  /// The designs within the limits, in their order.
  std::vector<search::StudyTrial> Within() const;

  std::shared_ptr<const DesignSpace> design_;
  DesignOptions options_;
  search::Scenario scenario_;
  std::shared_ptr<DesignEvaluator> evaluator_;
  std::unique_ptr<record::Store> store_;
  std::unique_ptr<search::DurableStudy> study_;
  std::unique_ptr<trial::Evaluator<space::Configuration>> trials_;
  std::unique_ptr<search::StudyTask> task_;
  std::unique_ptr<run::ScheduledRun<space::Configuration>> run_;
};

}  // namespace bayloom::accelerator
