// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/sketch/gpu/gpu_spaces.h"

#include <algorithm>
#include <optional>

#include "bayloom/sketch/analysis.h"
#include "bayloom/sketch/gpu/gpu_rules.h"
#include "bayloom/sketch/rules/rules.h"
#include "bayloom/tensor/library_call.h"

namespace bayloom::sketch {
namespace {

constexpr int kMaxTries = 1000;
constexpr int64_t kMinSharedReduction = 32;  // values, for threads to share them

/// Which of the rules that exclude each other are tried first.
struct Preference {
  bool stage = true;   ///< operands of products in shared memory
  bool share = false;  ///< reductions with few elements shared by threads, products among them
  /// Products by the instructions of warps, padded so.
  std::optional<MatrixPadding> warps = std::nullopt;
  bool groups = false;  ///< products by the instructions of groups of warps
  int64_t parts = 1;    ///< that the sums of products are split into
  bool rows = false;    ///< chains of rows in one kernel each
};

bool MayShare(const tensor::Program& program, tensor::BlockId id) {
  const tensor::Block& block = program.blocks[id];
  return block.kind == tensor::BlockKind::kReduce && IsUntransformed(program, id) &&
         ReductionExtent(block) >= kMinSharedReduction &&
         SpatialExtent(block) <= kMaxSharedReductions;
}

bool HasSerialNest(const tensor::Program& program) {
  return std::ranges::any_of(program.roots, [&](tensor::NodeRef root) {
    return root.is_loop() && program.loops[root.id].kind == tensor::LoopKind::kSerial;
  });
}

GpuSketch SketchWith(const Preference& preference, const tensor::Schedule& inlined,
                     const target::GpuLimits& limits) {
  GpuSketch sketch{inlined, {}};
  std::vector<std::string> names;
  for (tensor::BlockId id : inlined.program().BlocksInOrder()) {
    names.push_back(inlined.program().blocks[id].name);
  }
  for (auto name = names.rbegin(); name != names.rend(); ++name) {
    const tensor::Program& program = sketch.schedule.program();
    const tensor::BlockId id = program.FindBlock(*name);
    if (id < 0) continue;  // became part of a padded product
    const bool shares = preference.share && MayShare(program, id);
    if (shares && ShareReduction(sketch, *name)) continue;
    if (!HasDataReuse(program, id)) continue;
    std::string product = *name;
    if (preference.parts > 1) {
      if (auto split = SplitSum(sketch, *name, preference.parts)) product = *std::move(split);
    }
    if (preference.groups && TileForWarpGroups(sketch, product, limits)) continue;
    if (preference.warps && TileForWarps(sketch, product, limits, *preference.warps)) continue;
    if (preference.stage && TileProduct(sketch, product, limits, true)) continue;
    (void)TileProduct(sketch, product, limits, false);
  }
  if (preference.rows) ShareRows(sketch, limits);
  if (!preference.rows || !sketch.limits.empty() || HasSerialNest(sketch.schedule.program())) {
    (void)ChooseGridThreads(sketch);
  }
  return sketch;
}

}  // namespace

struct GpuSpaces::Space {
  tensor::Trace trace;  ///< undecided
  std::vector<TileConstraints> limits;

  Status Check(const TileConstraints::Decisions& decisions) const {
    for (const TileConstraints& tiles : limits) {
      if (Status s = tiles.Check(decisions); !s) return s;
    }
    return Ok();
  }
};

GpuSpaces::GpuSpaces(tensor::Workload workload, target::GpuLimits limits, bool limits_are_known)
    : workload_(std::move(workload)),
      limits_(std::move(limits)),
      limits_are_known_(limits_are_known) {
  if (tensor::IsCall(workload_)) return;
  const tensor::Schedule inlined = ApplyRules(workload_, InliningRules(), {}).front();
  for (const Preference& preference :
       {Preference{}, Preference{.stage = false}, Preference{.share = true},
        Preference{.warps = MatrixPadding::kLeast}, Preference{.warps = MatrixPadding::kRounded},
        Preference{.warps = MatrixPadding::kLeast, .groups = true},
        Preference{.warps = MatrixPadding::kLeast, .groups = true, .parts = 2},
        Preference{.warps = MatrixPadding::kLeast, .groups = true, .parts = 4},
        Preference{.warps = MatrixPadding::kLeast, .groups = true, .parts = 8},
        Preference{.warps = MatrixPadding::kLeast, .groups = true, .rows = true}}) {
    GpuSketch sketch = SketchWith(preference, inlined, limits_);
    tensor::Trace trace = sketch.schedule.trace().WithoutDecisions();
    const bool known = std::ranges::any_of(
        spaces_, [&](const Space& space) { return space.trace.SpaceHash() == trace.SpaceHash(); });
    if (!known) spaces_.push_back({std::move(trace), std::move(sketch.limits)});
  }
}

GpuSpaces::GpuSpaces(GpuSpaces&&) noexcept = default;
GpuSpaces::~GpuSpaces() = default;

std::vector<tensor::Trace> GpuSpaces::spaces() const {
  std::vector<tensor::Trace> traces;
  for (const Space& space : spaces_) traces.push_back(space.trace);
  return traces;
}

Status GpuSpaces::CheckDecisions(int space, const tensor::Trace& trace) const {
  return spaces_[static_cast<size_t>(space)].Check(trace.decisions());
}

Result<Candidate> GpuSpaces::Sample(int number, base::RandomStream random) const {
  const Space& space = spaces_[static_cast<size_t>(number)];
  TileConstraints::Decisions decisions(space.trace.instructions().size());
  for (const TileConstraints& tiles : space.limits) {
    if (!limits_are_known_) break;
    if (Status s = tiles.Draw(decisions, random); !s) return s.error();
  }
  return Replay(number, space.trace.WithDecisions(std::move(decisions)), random);
}

Result<Candidate> GpuSpaces::Mutate(int number, const tensor::Trace& trace,
                                    base::RandomStream random) const {
  Result<tensor::Trace> mutant = MutateTrace(number, trace, random);
  if (!mutant) return mutant.error();
  return Replay(number, *mutant, random);
}

Result<tensor::Trace> GpuSpaces::MutateTrace(int number, const tensor::Trace& trace,
                                             base::RandomStream& random) const {
  const Space& space = spaces_[static_cast<size_t>(number)];
  const std::vector<int> steps = trace.SamplingSteps();
  for (int tries = 0; tries < kMaxTries && !steps.empty(); ++tries) {
    const auto step = static_cast<size_t>(
        steps[static_cast<size_t>(random.UniformInt(static_cast<int64_t>(steps.size())))]);
    TileConstraints::Decisions decisions = trace.decisions();
    decisions[step].reset();  // drawn again when the trace is replayed, unless it is limited
    for (const TileConstraints& tiles : space.limits) {
      if (auto drawn = tiles.DrawStep(static_cast<int>(step), random)) decisions[step] = drawn;
    }
    if (decisions[step] == trace.decisions()[step]) continue;
    if (limits_are_known_ && !space.Check(decisions)) continue;
    return trace.WithDecisions(std::move(decisions));
  }
  return Error{"no other decision keeps the limits of the GPU"};
}

Result<Candidate> GpuSpaces::Cross(int number, const tensor::Trace& a, const tensor::Trace& b,
                                   base::RandomStream random) const {
  const Space& space = spaces_[static_cast<size_t>(number)];
  for (int tries = 0; tries < kMaxTries; ++tries) {
    TileConstraints::Decisions decisions = a.decisions();
    for (int step : a.SamplingSteps()) {
      if (random.UniformInt(2) == 0) decisions[step] = b.decisions()[step];
    }
    if (space.Check(decisions)) return Replay(number, a.WithDecisions(decisions), random);
  }
  return Error{"no mixture of the decisions keeps the limits of the GPU"};
}

Result<Candidate> GpuSpaces::Replay(int number, const tensor::Trace& trace,
                                    base::RandomStream random) const {
  if (limits_are_known_) {
    if (Status s = CheckDecisions(number, trace); !s) return s.error();
  }
  Result<tensor::Schedule> schedule = bayloom::tensor::Replay(workload_, trace, random);
  if (!schedule) return schedule.error();
  if (Status s = CheckDecisions(number, schedule->trace()); !s) return s.error();
  Candidate candidate;
  candidate.trace = schedule->trace();
  candidate.program = std::move(schedule->mutable_program());
  candidate.space = number;
  PostprocessForGpu(candidate.program);
  candidate.hash = candidate.program.StructuralHash();
  return candidate;
}

}  // namespace bayloom::sketch
