// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <optional>

#include "bayloom/sketch/analysis.h"
#include "bayloom/sketch/rules/rules.h"

namespace bayloom::sketch {
namespace {

/// Registers of sums that give a core a few full tiles. With fewer, cores have nothing to do, or
/// multiply-adds wait for those before them.
constexpr int64_t kRegistersPerCore = 64;
/// Terms of a sum from which on adding up parts is little beside computing them.
constexpr int64_t kMinTerms = 256;
/// Terms of a part are not limited.
constexpr int64_t kAnyFactor = int64_t{1} << 30;

int64_t RegistersOfSums(const tensor::Block& block, const target::Target& target) {
  int64_t last = 1;
  for (const tensor::Iter& iter : block.iters) {
    if (iter.kind == tensor::IterKind::kSpatial) last = iter.extent;
  }
  const int64_t lanes = std::max(target.vector_bytes / 4, 1);
  return SpatialExtent(block) / last * ((last + lanes - 1) / lanes);
}

/// The reduction of a product whose sums are long, and so few that parts of them should be summed
/// up at the same time; -1 for other blocks. Those with fewer sums than jobs are AddRFactor's.
int SkinnyReduction(const tensor::Program& program, tensor::BlockId id,
                    const target::Target& target) {
  if (!HasDataReuse(program, id)) return -1;
  const tensor::Block& block = program.blocks[id];
  const int last = static_cast<int>(block.iters.size()) - 1;
  const int64_t terms = block.iters[last].extent;
  const bool only =
      block.iters[last].kind == tensor::IterKind::kReduction && ReductionExtent(block) == terms;
  const bool few = SpatialExtent(block) > kJobsPerCore * target.cores &&
                   RegistersOfSums(block, target) < kRegistersPerCore * target.cores;
  return only && few && terms >= kMinTerms ? last : -1;
}

/// The block in parts, which come first among its iterators, and the sum of those.
Result<tensor::Schedule> InParts(tensor::Schedule schedule, const std::string& name, int iter,
                                 const target::Target& target) {
  Result<tensor::BlockVar> block = schedule.GetBlock(name);
  if (!block) return block.error();
  Result<std::vector<tensor::LoopVar>> loops = schedule.GetLoops(*block);
  if (!loops) return loops.error();
  tensor::LoopVar terms = (*loops)[iter];
  std::optional<tensor::LoopVar> at_once;  // what an instruction sums up stays in one part
  if (const auto axis = FindDotAxis(schedule.program(), schedule.Get(*block), target)) {
    Result<std::vector<tensor::LoopVar>> split =
        schedule.Split(terms, std::vector<int64_t>{-1, axis->depth});
    if (!split) return split.error();
    terms = (*split)[0];
    at_once = (*split)[1];
  }
  const int64_t extent = schedule.program().ExtentOf(schedule.Get(terms));
  if (extent % 2 != 0) return Error{"the sum does not divide into two parts"};
  // The rules that follow see two parts; how many there are is open.
  const tensor::Decision two_parts{{2, extent / 2}};
  Result<std::vector<tensor::ValueVar>> parts =
      schedule.SamplePerfectTile(terms, 2, kAnyFactor, &two_parts);
  if (!parts) return parts.error();
  Result<std::vector<tensor::LoopVar>> split = schedule.Split(terms, *parts);
  if (!split) return split.error();
  std::vector<tensor::LoopVar> order = {(*split)[0]};
  order.insert(order.end(), loops->begin(), loops->begin() + iter);
  order.push_back((*split)[1]);
  if (at_once) order.push_back(*at_once);
  if (Status s = schedule.Reorder(order); !s) return s.error();
  Result<tensor::BlockVar> partial = schedule.RFactor(*block, (*split)[0]);
  if (!partial) return partial.error();
  return schedule;
}

}  // namespace

std::vector<tensor::Schedule> SplitReduction(tensor::Schedule schedule, const std::string& name,
                                             const target::Target& target) {
  const tensor::Program& program = schedule.program();
  std::vector<tensor::Schedule> alternatives = {schedule};
  const int iter = SkinnyReduction(program, program.FindBlock(name), target);
  if (iter < 0) return alternatives;
  Result<tensor::Schedule> in_parts = InParts(std::move(schedule), name, iter, target);
  if (in_parts) alternatives.push_back(*std::move(in_parts));
  return alternatives;
}

}  // namespace bayloom::sketch
