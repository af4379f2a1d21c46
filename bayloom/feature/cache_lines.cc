// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/feature/cache_lines.h"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <limits>
#include <optional>

#include "bayloom/tensor/access.h"

namespace bayloom::feature {
namespace {

/// Bytes that a block touches while the loops around it are taken in, innermost first.
class LineCounter {
 public:
  LineCounter(const tensor::Program& program, const tensor::Block& block,
              const BufferPlaces* places, tensor::BufferId handed)
      : program_(program),
        places_(places),
        accesses_(tensor::AccessesOf(block)),
        output_(block.output),
        extents_(program.digit_extents.size(), 1),
        steps_(program.loops.size(), 1) {
    std::erase_if(accesses_, [&](const tensor::Access& access) { return access.buffer == handed; });
    if (!places_) return;
    for (tensor::Access& access : accesses_) {
      const std::optional<tensor::Allocation>& allocation = places_->Of(access.buffer).allocation;
      if (!allocation) continue;
      for (size_t d = 0; d < access.indices.size(); ++d) {
        if (access.indices[d]) access.indices[d]->Add(allocation->origin[d], -1);
      }
    }
  }

  /// So many more steps of the loop.
  void Take(const LoopPart& part) {
    int64_t left = steps_[part.loop] *= part.steps;
    const std::vector<tensor::DigitId>& digits = program_.loops[part.loop].digits;
    for (auto digit = digits.rbegin(); digit != digits.rend(); ++digit) {
      extents_[*digit] = std::max<int64_t>(std::min(program_.digit_extents[*digit], left), 1);
      left = (left + extents_[*digit] - 1) / extents_[*digit];
    }
  }

  /// Without the block's output where that is in registers.
  double Count(bool output_in_registers) const {
    double bytes = 0;
    for (const tensor::Access& access : accesses_) {
      if (!output_in_registers || access.buffer != output_) bytes += Of(access);
    }
    return bytes;
  }

  double CountConstants() const {
    double bytes = 0;
    for (const tensor::Access& access : accesses_) {
      const bool is_constant =
          program_.buffers[access.buffer].role == tensor::BufferRole::kConstant;
      if (is_constant) bytes += Of(access);
    }
    return bytes;
  }

 private:
  double Of(const tensor::Access& access) const {
    const bool has_layout = !program_.buffers[access.buffer].layout.empty();
    return places_ && !has_layout ? OfLines(access) : OfElements(access);
  }

  double OfElements(const tensor::Access& access) const {
    double touched = tensor::ByteSize(program_.buffers[access.buffer].dtype);
    for (const std::optional<tensor::Affine>& index : access.indices) {
      if (index) touched *= static_cast<double>(ExtentOf(*index));
    }
    return touched;
  }

  /// Pieces that are contiguous in memory take whole lines.
  double OfLines(const tensor::Access& access) const {
    const BufferPlaces::Place& place = places_->Of(access.buffer);
    double piece = tensor::ByteSize(program_.buffers[access.buffer].dtype), pieces = 1;
    bool contiguous = true;
    for (size_t d = access.indices.size(); d-- > 0;) {
      const auto size = static_cast<double>(place.shape[d]);
      const double extent =
          access.indices[d] ? std::min(size, static_cast<double>(ExtentOf(*access.indices[d]))) : 1;
      (contiguous ? piece : pieces) *= extent;
      contiguous = contiguous && extent == size;
    }
    return pieces * std::max(piece, target::kLineBytes);
  }

  int64_t ExtentOf(const tensor::Affine& index) const {
    int64_t extent = 1;
    for (const tensor::Affine::Term& term : index.terms) {
      extent += std::abs(term.coefficient) * (extents_[term.digit] - 1);
    }
    return extent;
  }

  const tensor::Program& program_;
  const BufferPlaces* places_;
  std::vector<tensor::Access> accesses_;
  tensor::BufferId output_;
  std::vector<int64_t> extents_;  ///< of each digit, as far as it runs
  std::vector<int64_t> steps_;    ///< of each loop, that were taken
};

}  // namespace

std::vector<Cache> CachesOf(const target::MachineModel& machine, double busy) {
  std::vector<Cache> caches;
  double reached = 0;  // from the caches before; loads pay for what the first one holds
  for (size_t i = 0; i + 1 < machine.levels.size(); ++i) {
    const double line = machine.levels[i + 1].line.PerThread(busy);
    caches.push_back({static_cast<double>(machine.levels[i].bytes), std::max(line - reached, 0.0)});
    reached = std::max(line, reached);
  }
  return caches;
}

std::vector<Cache> CachesOf(const target::MachineModel& machine, const EstimateWeights& weights,
                            double busy) {
  std::vector<Cache> caches;
  for (size_t i = 0; i + 1 < machine.levels.size(); ++i) {
    const bool is_memory = i + 2 == machine.levels.size();
    const double weight = is_memory ? weights.memory
                          : i == 0  ? weights.second_level
                                    : weights.further_level;
    caches.push_back({static_cast<double>(machine.levels[i].bytes),
                      weight * machine.levels[i + 1].line.PerThread(busy)});
  }
  return caches;
}

std::vector<LoopPart> WholeLoops(const tensor::Program& program,
                                 const std::vector<tensor::LoopId>& loops) {
  std::vector<LoopPart> parts;
  for (tensor::LoopId loop : loops) parts.push_back({loop, program.ExtentOf(loop)});
  return parts;
}

double LineSeconds(const tensor::Program& program, const tensor::Block& block,
                   const std::vector<LoopPart>& parts, const std::vector<Cache>& caches,
                   const BufferPlaces* places, tensor::BufferId handed) {
  LineCounter lines(program, block, places, handed);
  double runs = 1;
  for (const LoopPart& part : parts) runs *= static_cast<double>(part.steps);
  double touched = lines.Count(!parts.empty() && parts.back().in_registers);
  double seconds = 0;
  size_t level = 0;
  for (auto part = parts.rbegin(); part != parts.rend() && level < caches.size(); ++part) {
    lines.Take(*part);
    const double wider = lines.Count(part->in_registers);
    while (level < caches.size() && wider > caches[level].bytes) {
      seconds += caches[level++].line_seconds * touched * runs / target::kLineBytes;
    }
    const bool leaves_registers =
        part->in_registers && (std::next(part) == parts.rend() || !std::next(part)->in_registers);
    touched = leaves_registers ? lines.Count(false) : wider;
    runs /= static_cast<double>(part->steps);
  }
  const double resident = places ? places->Bytes() : std::numeric_limits<double>::infinity();
  const double cold = program.has_cold_constants ? lines.CountConstants() : 0;
  for (; level < caches.size(); ++level) {
    const double missing = resident > caches[level].bytes ? touched * runs : cold;
    seconds += caches[level].line_seconds * missing / target::kLineBytes;
  }
  return seconds;
}

double ForkJoinSeconds(const tensor::Program& program, const std::vector<tensor::LoopId>& loops,
                       const target::MachineModel& machine, std::set<tensor::LoopId>& counted) {
  double entries = 1;
  for (tensor::LoopId id : loops) {
    if (program.loops[id].kind == tensor::LoopKind::kParallel) {
      return counted.insert(id).second ? machine.fork_join * entries : 0;
    }
    entries *= static_cast<double>(program.ExtentOf(id));
  }
  return 0;
}

}  // namespace bayloom::feature
