// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/tuning/tuned_network.h"

#include <algorithm>
#include <utility>

#include "bayloom/codegen/compile.h"
#include "bayloom/tuning/restore.h"

namespace bayloom::tuning {
namespace {

/// Programs of other extents that the estimate compares with those of its own search.
constexpr int kLent = 16;
/// A network of more tasks has fewer programs estimated for each, but not less than these.
constexpr int kManyTasks = 32, kMinPopulation = 128;

UntunedOptions Shared(UntunedOptions options, int tasks) {
  if (tasks > kManyTasks) {
    options.population = std::min(
        options.population, std::max(kMinPopulation, options.population * kManyTasks / tasks));
  }
  return options;
}

}  // namespace

ChosenProgram ChooseProgram(const tensor::Workload& workload, const target::Target& target,
                            const ChoiceOptions& options, base::ThreadPool& pool) {
  const sketch::SpaceGenerator space(workload, target);
  if (options.store != nullptr) {
    std::optional<MeasuredCandidate> best = RestoreBest(*options.store, space);
    if (best) return {std::move(best->candidate.program), best->outcome, ProgramSource::kTuned};
  }
  std::vector<sketch::Candidate> lent;
  if (options.user_store != nullptr) {
    std::optional<MeasuredCandidate> best = options.user_store->Find(space);
    if (best) return {std::move(best->candidate.program), best->outcome, ProgramSource::kKnown};
    lent = options.user_store->Lend(space, kLent);
  }
  sketch::Candidate chosen = FastestByEstimate(space, lent, options.untuned, pool);
  bool is_plain = chosen.trace.instructions().empty();
  if (!is_plain && options.check != nullptr) {
    const Status checked = options.check->Check(workload, chosen.program);
    if (!checked) {
      if (options.warning) options.warning(checked.error().message);
      chosen = PlainCandidate(space);
      is_plain = true;
    }
  }
  // A GPU need not be here: that code can be made is known, at least.
  const bool is_gpu = target.kind() == target::TargetKind::kNvidiaGpu;
  if (is_gpu && !is_plain && options.check == nullptr &&
      !codegen::CompileProgram(chosen.program, target, "kernel")) {
    chosen = PlainCandidate(space);
    is_plain = true;
  }
  return {std::move(chosen.program), std::nullopt,
          is_plain ? ProgramSource::kPlain : ProgramSource::kEstimated};
}

TunedNetwork TunedNetwork::Choose(graph::TaskGraph network, const target::Target& target,
                                  const ChoiceOptions& options) {
  TunedNetwork tuned{std::move(network), target, {}};
  base::ThreadPool pool(options.threads);
  const auto all = static_cast<int>(tuned.network.tasks.size());
  ChoiceOptions shared = options;
  shared.untuned = Shared(options.untuned, all);
  for (const graph::GraphTask& task : tuned.network.tasks) {
    if (options.observer) options.observer(static_cast<int>(tuned.chosen.size()), all);
    tuned.chosen.push_back(ChooseProgram(task.workload, target, shared, pool));
  }
  return tuned;
}

std::vector<const tensor::Program*> TunedNetwork::Programs() const {
  std::vector<const tensor::Program*> programs;
  for (const ChosenProgram& program : chosen) programs.push_back(&program.program);
  return programs;
}

int TunedNetwork::TunedTasks() const {
  return CountOf(ProgramSource::kTuned) + CountOf(ProgramSource::kKnown);
}

int TunedNetwork::CountOf(ProgramSource source) const {
  return static_cast<int>(std::ranges::count(chosen, source, &ChosenProgram::source));
}

}  // namespace bayloom::tuning
