// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/tuning/zero_trial_program.h"

#include <algorithm>
#include <memory>
#include <vector>

#include "bayloom/base/hash.h"
#include "bayloom/feature/code_estimate.h"
#include "bayloom/sketch/default_schedule.h"
#include "bayloom/strategy/evolution.h"

namespace bayloom::tuning {
namespace {

/// A network of more tasks has fewer programs estimated for each, but not less than these.
constexpr int kManyTasks = 32, kMinPopulation = 128;

/// Fitness for evolution: runs a second by the estimate.
strategy::Scorer EstimatedRates(const target::Target& target, const ZeroTrialOptions& options,
                                base::ThreadPool& pool) {
  return [&](std::span<const sketch::Candidate* const> programs) {
    std::vector<double> rates(programs.size());
    pool.ParallelFor(std::ssize(programs), [&](int64_t i) {
      const tensor::Program& program = programs[i]->program;
      if (options.accepts && !options.accepts(program)) return;
      rates[i] = 1 / feature::EstimateCodeTime(program, target);
    });
    return rates;
  };
}

strategy::StrategyOptions BreedingOptions(const sketch::SpaceGenerator& space,
                                          const ZeroTrialOptions& options, base::ThreadPool& pool) {
  strategy::StrategyOptions breeding;
  breeding.space = &space;
  breeding.pool = &pool;
  breeding.evolutionary.population = options.population;
  breeding.evolutionary.generations = options.generations;
  return breeding;
}

/// Whether nothing can be decided and the plain program is what there is.
bool IsOnlyOne(const sketch::SpaceGenerator& space, const sketch::Candidate& plain) {
  if (space.spaces().empty()) return true;
  if (space.spaces().size() > 1 || !space.spaces()[0].SamplingSteps().empty()) return false;
  const Result<sketch::Candidate> only = space.Sample(0, base::RandomStream(0));
  return !only || only->hash == plain.hash;
}

}  // namespace

ZeroTrialOptions ZeroTrialOptions::SharedBy(int tasks) const {
  ZeroTrialOptions shared = *this;
  if (tasks > kManyTasks) {
    shared.population =
        std::min(population, std::max(kMinPopulation, population * kManyTasks / tasks));
  }
  return shared;
}

sketch::Candidate DefaultCandidate(const sketch::SpaceGenerator& space) {
  sketch::Candidate plain;
  plain.program = sketch::DefaultSchedule(space.workload(), space.target());
  plain.hash = plain.program.StructuralHash();
  return plain;
}

bool IsPlain(const sketch::Candidate& candidate) { return candidate.trace.instructions().empty(); }

sketch::Candidate FastestByEstimate(const sketch::SpaceGenerator& space,
                                    std::span<const sketch::Candidate> adapted,
                                    const ZeroTrialOptions& options, base::ThreadPool& pool) {
  sketch::Candidate plain = DefaultCandidate(space);
  if (options.population <= 0 || IsOnlyOne(space, plain)) return plain;
  const strategy::Evolution evolution(BreedingOptions(space, options, pool));
  base::RandomStream random(
      base::Hasher().Add(options.seed).Add(space.workload().StructuralHash()).Digest());
  std::vector<strategy::CandidatePtr> first = evolution.DrawFresh(options.population, random);
  for (const sketch::Candidate& candidate : adapted) {
    first.push_back(std::make_shared<const sketch::Candidate>(candidate));
  }
  const std::vector<strategy::ScoredCandidate> best =
      evolution.Run({}, first, options.population, EstimatedRates(space.target(), options, pool),
                    {}, /*keep=*/1, random);
  if (best.empty()) return plain;
  const double plain_rate = 1 / feature::EstimateCodeTime(plain.program, space.target());
  return best[0].rating > plain_rate ? *best[0].candidate : plain;
}

}  // namespace bayloom::tuning
