// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/tuning/tuned_network.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

#include "bayloom/codegen/compile.h"
#include "bayloom/feature/code_estimate.h"
#include "bayloom/graph/executor.h"
#include "bayloom/measure/builder.h"
#include "bayloom/tensor/primitives.h"
#include "bayloom/tensor/workload_name.h"
#include "bayloom/tuning/cold_constants.h"
#include "bayloom/tuning/estimated_choice.h"
#include "bayloom/tuning/measured_sets.h"
#include "bayloom/tuning/program_front.h"
#include "bayloom/tuning/restore.h"

namespace bayloom::tuning {
namespace {

/// Programs of other extents that the estimate compares with those of its own search.
constexpr int kMaxAdapted = 16;
/// How many times as long as the best one a program may take by the estimate that saves a second
/// copy of its constants.
constexpr double kMaxAlikeSeconds = 1.15;

/// Programs for small lengths beside that for the largest, where axes are open. What is chosen by
/// estimate is checked.
std::vector<SmallCandidate> SmallPrograms(EstimatedChoice& choice, const sketch::Candidate& largest,
                                          const ChoiceOptions& options) {
  std::vector<SmallCandidate> small = choice.Small(largest);
  std::erase_if(small, [&](const SmallCandidate& candidate) {
    if (options.check == nullptr) return false;
    const Status checked = choice.Check(*options.check, candidate.candidate);
    if (!checked && options.warning) options.warning(checked.error().message);
    return !checked;
  });
  return small;
}

/// Another candidate than `chosen` that reads the constants as wanted, if the estimate likes it
/// nearly as much.
std::optional<sketch::Candidate> AlikeCandidate(const sketch::SpaceGenerator& space,
                                                const sketch::Candidate& chosen,
                                                std::span<const sketch::Candidate> adapted,
                                                const ConstantForms::Wanted& wanted,
                                                const ChoiceOptions& options,
                                                base::ThreadPool& pool) {
  if (wanted.is_alike(chosen.program)) return std::nullopt;
  ZeroTrialOptions restricted = options.zero_trials;
  restricted.accepts = wanted.is_alike;
  restricted.accepts_key = wanted.key;
  EstimatedChoice choice(space, options.derivations, restricted, options.user_store, pool);
  sketch::Candidate alike = choice.Largest(adapted);
  if (!wanted.is_alike(alike.program)) return std::nullopt;
  const auto seconds = [&](const sketch::Candidate& candidate) {
    return feature::EstimateCodeTime(candidate.program, space.target());
  };
  if (seconds(alike) > kMaxAlikeSeconds * seconds(chosen)) return std::nullopt;
  return alike;
}

EstimatedChoice ChoiceIn(const sketch::SpaceGenerator& space, const ChoiceOptions& options,
                         base::ThreadPool& pool) {
  return {space, options.derivations, options.zero_trials, options.user_store, pool};
}

/// The fastest program recorded or kept; nullopt if there is none.
std::optional<ChosenProgram> KnownProgram(const sketch::SpaceGenerator& space,
                                          const ChoiceOptions& options, base::ThreadPool& pool) {
  std::optional<MeasuredCandidate> best;
  ProgramSource source = ProgramSource::kTuned;
  if (options.store != nullptr) {
    // What the network's own tuning was told to try is used, unless it is asked for otherwise.
    const bool any = options.derivations.is_default();
    best = RestoreBest(*options.store, space, any ? nullptr : &options.derivations);
  }
  if (!best && options.user_store != nullptr) {
    best = options.user_store->Find(space, options.derivations);
    source = ProgramSource::kKnown;
  }
  if (!best) return std::nullopt;
  std::optional<MeasuredSet> set;
  if (options.store != nullptr) {
    const bool any = options.derivations.is_default();
    set = BestSet(*options.store, space, best->candidate, any ? nullptr : &options.derivations);
  }
  if (set) {
    const bool is_best = set->largest.hash == best->candidate.hash;
    return ChosenProgram{std::move(set->largest.program),
                         is_best ? std::move(best->outcome) : std::move(set->trial.outcome), source,
                         std::move(set->small)};
  }
  EstimatedChoice choice = ChoiceIn(space, options, pool);
  std::vector<SmallCandidate> small = SmallPrograms(choice, best->candidate, options);
  return ChosenProgram{std::move(best->candidate.program), std::move(best->outcome), source,
                       std::move(small)};
}

ChosenProgram EstimatedProgram(const sketch::SpaceGenerator& space,
                               const std::optional<ConstantForms::Wanted>& wanted,
                               const ChoiceOptions& options, base::ThreadPool& pool) {
  std::vector<sketch::Candidate> adapted;
  if (options.user_store != nullptr) adapted = options.user_store->Adapt(space, kMaxAdapted);
  std::erase_if(adapted, [&](const sketch::Candidate& candidate) {
    return !options.derivations.Allows(candidate.trace);
  });
  EstimatedChoice choice = ChoiceIn(space, options, pool);
  sketch::Candidate chosen = choice.Largest(adapted);
  if (wanted) {
    auto alike = AlikeCandidate(space, chosen, adapted, *wanted, options, pool);
    if (alike) chosen = *std::move(alike);
  }
  bool is_plain = IsPlain(chosen);
  if (!is_plain && options.check != nullptr) {
    const Status checked = choice.Check(*options.check, chosen);
    if (!checked) {
      if (options.warning) options.warning(checked.error().message);
      chosen = DefaultCandidate(space);
      is_plain = true;
    }
  }
  // A GPU need not be here: that code can be made is known, at least.
  const bool is_gpu = space.target().kind() == target::TargetKind::kNvidiaGpu;
  if (is_gpu && !is_plain && options.check == nullptr &&
      !codegen::CompileProgram(chosen.program, space.target(), "kernel")) {
    chosen = DefaultCandidate(space);
    is_plain = true;
  }
  std::vector<SmallCandidate> small = SmallPrograms(choice, chosen, options);
  return {std::move(chosen.program), std::nullopt,
          is_plain ? ProgramSource::kPlain : ProgramSource::kEstimated, std::move(small)};
}

/// Finds programs for workloads, each once.
class ProgramFinder {
 public:
  ProgramFinder(const target::Target& target, const ChoiceOptions& options, base::ThreadPool& pool)
      : target_(target), options_(options), pool_(pool) {}

  /// Null if nothing was measured.
  const ChosenProgram* Known(const tensor::Workload& workload) {
    Entry& entry = EntryOf(workload);
    if (!entry.is_looked_up) entry.program = KnownProgram(entry.space, options_, pool_);
    entry.is_looked_up = true;
    return entry.program && entry.program->measured ? &*entry.program : nullptr;
  }

  const ChosenProgram& Find(const tensor::Workload& workload,
                            const std::optional<ConstantForms::Wanted>& wanted = {}) {
    if (const ChosenProgram* known = Known(workload)) return *known;
    Entry& entry = EntryOf(workload);
    if (!entry.program) entry.program = EstimatedProgram(entry.space, wanted, options_, pool_);
    return *entry.program;
  }

 private:
  struct Entry {
    sketch::SpaceGenerator space;
    bool is_looked_up = false;
    std::optional<ChosenProgram> program = {};
  };

  Entry& EntryOf(const tensor::Workload& workload) {
    const uint64_t hash = workload.StructuralHash();
    const auto found = entries_.find(hash);
    if (found != entries_.end()) return found->second;
    return entries_.emplace(hash, Entry{.space = {workload, target_, {}, options_.derivations}})
        .first->second;
  }

  const target::Target& target_;
  const ChoiceOptions& options_;
  base::ThreadPool& pool_;
  std::map<uint64_t, Entry> entries_;  // by hashes of workloads
};

/// Divides the regions of a network by the programs of their tasks.
class Divider {
 public:
  Divider(const graph::TaskGraph& network, const target::Target& target, ProgramFinder& programs)
      : network_(network), target_(target), programs_(programs) {}

  DividedRegion Divide(const graph::Alternative& region) {
    const Side together = {&region.workload};
    Side apart;
    for (int call : region.calls) {
      apart.push_back(&network_.tasks[network_.calls[call].task].workload);
    }
    DividedRegion divided;
    divided.together = tensor::NameOf(region.workload);
    divided.together_seconds = MeasuredSeconds(together);
    divided.apart_seconds = MeasuredSeconds(apart);
    divided.is_measured =
        std::isfinite(divided.together_seconds) || std::isfinite(divided.apart_seconds);
    if (!divided.is_measured) {
      divided.together_seconds = EstimatedSeconds(together);
      divided.apart_seconds = EstimatedSeconds(apart);
    }
    divided.is_together = divided.together_seconds < divided.apart_seconds;
    return divided;
  }

 private:
  using Side = std::vector<const tensor::Workload*>;

  /// Infinity unless all were measured.
  double MeasuredSeconds(const Side& side) {
    double sum = 0;
    for (const tensor::Workload* workload : side) {
      const ChosenProgram* known = programs_.Known(*workload);
      sum += known ? known->measured->value : std::numeric_limits<double>::infinity();
    }
    return sum;
  }

  double EstimatedSeconds(const Side& side) {
    double sum = 0;
    for (const tensor::Workload* workload : side) {
      sum += feature::EstimateCodeTime(programs_.Find(*workload).program, target_);
    }
    return sum;
  }

  const graph::TaskGraph& network_;
  const target::Target& target_;
  ProgramFinder& programs_;
};

/// Equal regions are told of once.
void AddRegion(DividedRegion region, std::vector<DividedRegion>& regions) {
  const auto equal = std::ranges::find_if(regions, [&](const DividedRegion& other) {
    return other.together == region.together && other.together_seconds == region.together_seconds &&
           other.apart_seconds == region.apart_seconds;
  });
  if (equal != regions.end()) {
    ++equal->count;
  } else {
    regions.push_back(std::move(region));
  }
}

/// The costs of programs that were chosen without a look at them, compiled where records do not
/// say.
std::vector<ProgramCost> CostsOf(const TunedNetwork& tuned) {
  std::vector<ProgramCost> costs(tuned.chosen.size());
  std::vector<const tensor::Program*> unknown;
  std::vector<size_t> places;
  for (size_t i = 0; i < costs.size(); ++i) {
    const ChosenProgram& chosen = tuned.chosen[i];
    const std::optional<ProgramCost> known =
        chosen.measured ? CostOf(*chosen.measured) : std::nullopt;
    if (known) {
      costs[i] = *known;
    } else {
      unknown.push_back(&chosen.program);
      places.push_back(i);
    }
  }
  std::vector<codegen::KernelObject> kernels = graph::CompilePrograms(unknown, tuned.target);
  for (size_t k = 0; k < kernels.size(); ++k) {
    const ChosenProgram& chosen = tuned.chosen[places[k]];
    const double seconds = chosen.measured
                               ? chosen.measured->value
                               : feature::EstimateCodeTime(chosen.program, tuned.target);
    measure::Build build;
    build.kernel = std::move(kernels[k]);
    costs[places[k]] =
        CostOf(measure::DetailsOf(build, chosen.program, tuned.target.cores), seconds);
  }
  return costs;
}

/// Replaces programs by those that the preference asks for.
void Apply(const ProgramPreference& preference, record::Store* store, TunedNetwork& tuned) {
  if (tuned.target.kind() == target::TargetKind::kNvidiaGpu) {
    throw InputError("sizes and memory are known of programs for processors only");
  }
  const std::vector<ProgramObjective> objectives = preference.Objectives();
  const std::vector<ProgramCost> first = CostsOf(tuned);
  std::vector<FrontTask> tasks;
  std::vector<std::vector<FrontProgram>> others;
  for (size_t i = 0; i < first.size(); ++i) {
    const graph::GraphTask& task = tuned.network.tasks[i];
    FrontTask& added = tasks.emplace_back(
        FrontTask{.calls = static_cast<double>(task.weight), .programs = {first[i]}});
    others.emplace_back();
    if (store == nullptr) continue;
    const sketch::SpaceGenerator space(task.workload, tuned.target);
    others.back() = ProgramFront(*store, space, added.calls, objectives);
    for (const FrontProgram& each : others.back()) added.programs.push_back(each.cost);
  }
  const std::vector<NetworkChoice> front = NetworkFront(tasks, objectives);
  const Result<size_t> wanted = Prefer(front, preference);
  if (!wanted) throw InputError(wanted.error().message);
  for (size_t k = 0; k < objectives.size(); ++k) {
    tuned.cost[objectives[k]] = front[*wanted].values[k];
  }
  for (size_t i = 0; i < first.size(); ++i) {
    const int program = front[*wanted].programs[i];
    if (program == 0) continue;
    FrontProgram& other = others[i][program - 1];
    tuned.chosen[i] = {std::move(other.candidate.program), std::move(other.trial.outcome),
                       ProgramSource::kTuned};
  }
}

}  // namespace

ChosenProgram ChooseProgram(const tensor::Workload& workload, const target::Target& target,
                            const ChoiceOptions& options, base::ThreadPool& pool) {
  return ProgramFinder(target, options, pool).Find(workload);
}

TunedNetwork TunedNetwork::Choose(graph::TaskGraph network, const target::Target& target,
                                  const ChoiceOptions& options) {
  TunedNetwork tuned{{}, target, {}};
  if (AreCold(ConstantBytes(network), target)) HaveColdConstants(network);
  base::ThreadPool pool(options.threads);
  ChoiceOptions shared = options;
  shared.zero_trials = options.zero_trials.SharedBy(static_cast<int>(network.tasks.size()));
  ProgramFinder programs(target, shared, pool);
  Divider divider(network, target, programs);
  std::vector<bool> wanted;
  for (const graph::Alternative& region : network.alternatives) {
    wanted.push_back(MayPay(region.bytes_between, options.divisions, target));
    if (!wanted.back()) continue;
    DividedRegion divided = divider.Divide(region);
    wanted.back() = divided.is_together;
    AddRegion(std::move(divided), tuned.regions);
  }
  tuned.network = graph::Divide(network, wanted);
  const auto all = static_cast<int>(tuned.network.tasks.size());
  for (const graph::GraphTask& task : tuned.network.tasks) {
    if (options.observer) options.observer(static_cast<int>(tuned.chosen.size()), all);
    std::optional<ConstantForms::Wanted> forms;
    if (options.forms != nullptr) forms = options.forms->Of(tuned.network, task);
    tuned.chosen.push_back(programs.Find(task.workload, forms));
  }
  if (!options.preference.IsDefault()) Apply(options.preference, options.store, tuned);
  if (options.forms != nullptr) options.forms->Add(tuned.network, tuned.Programs());
  return tuned;
}

std::vector<const tensor::Program*> TunedNetwork::Programs() const {
  std::vector<const tensor::Program*> programs;
  for (const ChosenProgram& program : chosen) programs.push_back(&program.program);
  return programs;
}

std::vector<graph::SmallProgram> TunedNetwork::SmallPrograms() const {
  std::vector<graph::SmallProgram> programs;
  for (size_t task = 0; task < chosen.size(); ++task) {
    for (const SmallCandidate& small : chosen[task].small) {
      programs.push_back(
          {static_cast<int>(task), small.size, small.up_to, &small.candidate.program});
    }
  }
  return programs;
}

int TunedNetwork::TunedTasks() const {
  return CountOf(ProgramSource::kTuned) + CountOf(ProgramSource::kKnown);
}

int TunedNetwork::CountOf(ProgramSource source) const {
  return static_cast<int>(std::ranges::count(chosen, source, &ChosenProgram::source));
}

DerivedTasks TunedNetwork::Derived() const {
  DerivedTasks derived;
  for (const ChosenProgram& program : chosen) {
    const double error = tensor::DerivationError(program.program);
    if (error > 0) ++derived.count;
    derived.error = std::max(derived.error, error);
  }
  return derived;
}

}  // namespace bayloom::tuning
