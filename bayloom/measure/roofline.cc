// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/measure/roofline.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "bayloom/target/dot_instruction.h"
#include "bayloom/target/gpu_machine.h"
#include "bayloom/target/mma_instruction.h"
#include "bayloom/target/wgmma_instruction.h"
#include "bayloom/tensor/access.h"
#include "bayloom/tensor/dot_product.h"

namespace bayloom::measure {
namespace {

/// The part of a padded tensor that is not padding, in one dimension.
struct Interior {
  int64_t begin, end;
};

bool IsLiteral(const tensor::Expr& e) {
  return e->op == tensor::ExprOp::kInt || e->op == tensor::ExprOp::kFloat;
}

/// Where the stage copies a tensor into a larger one and fills the rest with a literal.
std::optional<std::vector<Interior>> InteriorOf(const tensor::Workload& workload,
                                                const tensor::Stage& stage) {
  const tensor::Expr& value = stage.value;
  if (stage.reduction != tensor::Reduction::kNone || value->op != tensor::ExprOp::kSelect)
    return std::nullopt;
  const tensor::Expr& copied = value->operands[1];
  if (copied->op != tensor::ExprOp::kLoad || !IsLiteral(value->operands[2])) return std::nullopt;
  const std::vector<int64_t>& shape = workload.buffers[copied->index].shape;
  const auto rank = static_cast<int>(stage.iters.size());
  if (std::ssize(shape) != rank) return std::nullopt;
  std::vector<Interior> interior;
  for (int d = 0; d < rank; ++d) {
    const std::optional<tensor::LinearForm> index = tensor::ToLinear(copied->operands[d], rank);
    tensor::LinearForm plain{index ? index->constant : 0, std::vector<int64_t>(rank, 0)};
    plain.coefficients[d] = 1;
    if (!index || index->coefficients != plain.coefficients) return std::nullopt;
    interior.push_back({-index->constant, shape[d] - index->constant});
  }
  return interior;
}

/// Of all values of an affine expression, the part that falls into the interior.
double ShareWithin(const tensor::Program& program, const tensor::Affine& index,
                   const Interior& interior) {
  std::map<int64_t, double> counts = {{index.constant, 1}};
  double all = 1;
  for (const tensor::Affine::Term& term : index.terms) {
    std::map<int64_t, double> next;
    const int64_t extent = program.digit_extents[term.digit];
    for (const auto& [value, count] : counts) {
      for (int64_t i = 0; i < extent; ++i) next[value + i * term.coefficient] += count;
    }
    counts = std::move(next);
    all *= static_cast<double>(extent);
  }
  double within = 0;
  for (const auto& [value, count] : counts) {
    if (value >= interior.begin && value < interior.end) within += count;
  }
  return within / all;
}

/// Of a reduction's points, those whose values are not padding.
double UsefulShare(const tensor::Program& program, const tensor::Workload& workload,
                   tensor::BlockId block) {
  double least = 1;
  for (const tensor::Access& access : tensor::AccessesOf(program, block)) {
    const int producer = access.is_write ? -1 : workload.Producer(access.buffer);
    if (producer < 0) continue;
    const auto interior = InteriorOf(workload, workload.stages[producer]);
    if (!interior) continue;
    double share = 1;
    for (size_t d = 0; d < access.indices.size(); ++d) {
      if (access.indices[d]) share *= ShareWithin(program, *access.indices[d], (*interior)[d]);
    }
    least = std::min(least, share);
  }
  return least;
}

/// Elements of the buffer that a run touches by one access; no more than there are.
double TouchedElements(const tensor::Program& program, const tensor::Block& block,
                       const tensor::Access& access) {
  if (block.kind == tensor::BlockKind::kCall) {
    return static_cast<double>(program.buffers[access.buffer].ElementCount());
  }
  const std::vector<bool> free(program.digit_extents.size(), true);
  double elements = 1;
  for (size_t d = 0; d < access.indices.size(); ++d) {
    if (!access.indices[d]) continue;
    double values = 1;
    for (const tensor::Affine::Term& term : access.indices[d]->terms) {
      values *= static_cast<double>(program.digit_extents[term.digit]);
    }
    const auto range =
        static_cast<double>(tensor::RangeOf(program, *access.indices[d], free).extent());
    const auto extent = static_cast<double>(program.buffers[access.buffer].shape[d]);
    elements *= std::min({values, range, extent});
  }
  return elements;
}

double FlopsOf(const tensor::Workload& workload, const tensor::Stage& stage) {
  tensor::Workload alone;
  alone.stages = {stage};
  alone.buffers = workload.buffers;
  return alone.Flops();
}

/// Terms of all sums, maxima and so on.
double TermsOf(const tensor::Program& program) {
  double terms = 0;
  for (tensor::BlockId id : program.BlocksInOrder()) {
    const tensor::Block& block = program.blocks[id];
    if (block.kind != tensor::BlockKind::kReduce && block.kind != tensor::BlockKind::kUpdate) {
      continue;
    }
    double points = 1;
    for (const tensor::Iter& iter : block.iters) points *= static_cast<double>(iter.extent);
    terms += points;
  }
  return terms;
}

/// By instructions of warps, or of groups of warps, at the rates of the GPU's description.
DotPeaks GpuDotPeaks(const target::Target& target, const target::MachineModel& machine,
                     const WorkloadDemand& demand) {
  target::Target measured = target;
  measured.machine = machine;
  const target::GpuMachine gpu = target::GpuMachineOf(measured);
  const double clocks = gpu.clock_hertz * gpu.multiprocessors;
  DotPeaks peaks;
  for (const auto& [types, flops] : demand.dot_flops) {
    const std::string a = tensor::ToString(types.first), b = tensor::ToString(types.second);
    double multiply_adds = 0;
    if (const auto* instruction = target::WarpInstructionFor(gpu.capability, a, b)) {
      multiply_adds = gpu.matrix_multiply_adds * instruction->rate;
    }
    if (const auto* instruction = target::WarpGroupInstructionFor(gpu.capability, a, b)) {
      multiply_adds = std::max(multiply_adds, gpu.group_multiply_adds * instruction->rate);
    }
    if (multiply_adds > 0) peaks[types] = 2 * clocks * multiply_adds;
  }
  return peaks;
}

}  // namespace

WorkloadDemand DemandOf(const tensor::Workload& workload) {
  const tensor::Program program = tensor::Lower(workload);
  WorkloadDemand demand;
  std::map<tensor::BufferId, double> touched;
  for (tensor::BlockId id : program.BlocksInOrder()) {
    const tensor::Stage& stage = workload.stages[workload.Producer(program.blocks[id].output)];
    const bool reduces = stage.reduction != tensor::Reduction::kNone;
    const double flops =
        FlopsOf(workload, stage) * (reduces ? UsefulShare(program, workload, id) : 1);
    demand.flops += flops;
    if (const auto dot = tensor::MatchDotProduct(program.blocks[id])) {
      demand.dot_flops[{dot->a.dtype(), dot->b.dtype()}] += flops;
    }
    for (const tensor::Access& access : tensor::AccessesOf(program, id)) {
      double& most = touched[access.buffer];
      most = std::max(most, TouchedElements(program, program.blocks[id], access));
    }
  }
  for (tensor::BufferId id : workload.Parameters()) {
    demand.bytes += touched[id] * static_cast<double>(tensor::ByteSize(workload.buffers[id].dtype));
  }
  return demand;
}

double PartOfSums(const tensor::Workload& workload, const tensor::Program& program) {
  const double direct = TermsOf(tensor::Lower(workload));
  return direct > 0 ? std::min(1.0, TermsOf(program) / direct) : 1;
}

WorkloadDemand DemandOf(const tensor::Workload& workload, const tensor::Program& program) {
  WorkloadDemand demand = DemandOf(workload);
  const double part = PartOfSums(workload, program);
  demand.flops *= part;
  for (auto& [types, flops] : demand.dot_flops) flops *= part;
  return demand;
}

DotPeaks NominalDotPeaks(const target::Target& target, const target::MachineModel& machine,
                         const WorkloadDemand& demand) {
  if (target.kind() == target::TargetKind::kNvidiaGpu) {
    return GpuDotPeaks(target, machine, demand);
  }
  DotPeaks peaks;
  for (const auto& [types, flops] : demand.dot_flops) {
    const auto method =
        target::DotMethodFor(target, tensor::ToString(types.first), tensor::ToString(types.second));
    if (method) {
      peaks[types] = machine.PeakFlops() * method->instruction->depth / method->Operations();
    }
  }
  return peaks;
}

double RooflineSeconds(const target::MachineModel& machine, const WorkloadDemand& demand,
                       const DotPeaks& peaks) {
  double seconds = demand.flops / machine.PeakFlops();
  for (const auto& [types, flops] : demand.dot_flops) {
    const auto peak = peaks.find(types);
    if (peak != peaks.end()) seconds += flops / peak->second - flops / machine.PeakFlops();
  }
  double room = 0;
  for (const target::MemoryLevel& level : machine.levels) {
    seconds = std::max(seconds, (demand.bytes - room) / machine.BytesPerSecond(level));
    room += static_cast<double>(level.bytes) * machine.threads;
  }
  return seconds;
}

double RooflineShare(const target::MachineModel& machine, const WorkloadDemand& demand,
                     double seconds, const DotPeaks& peaks) {
  return std::min(1.0, RooflineSeconds(machine, demand, peaks) / seconds);
}

}  // namespace bayloom::measure
