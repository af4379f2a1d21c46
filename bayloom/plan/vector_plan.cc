// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/plan/vector_plan.h"

#include <algorithm>
#include <bit>

namespace bayloom::plan {
namespace {

/// True if stepping `outer` once is stepping `inner` through its extent, for every access.
bool GoTogether(const tensor::Program& program, const std::vector<const tensor::Affine*>& offsets,
                tensor::DigitId outer, tensor::DigitId inner) {
  const int64_t extent = program.digit_extents[inner];
  return std::ranges::all_of(offsets, [&](const tensor::Affine* offset) {
    return offset->CoefficientOf(outer) == offset->CoefficientOf(inner) * extent;
  });
}

void AppendLoads(const BlockAccesses& accesses, std::vector<const tensor::Affine*>& offsets) {
  for (const auto& [node, load] : accesses.loads) offsets.push_back(&load.affine);
}

}  // namespace

int WidestElement(const tensor::Program& program, const tensor::Block& block) {
  int widest = tensor::ByteSize(program.buffers[block.output].dtype);
  const auto visit = [&](const auto& self, const tensor::Expr& e) -> void {
    if (e->op == tensor::ExprOp::kLoad || e->op == tensor::ExprOp::kCast) {
      widest = std::max(widest, tensor::ByteSize(e->dtype));
    }
    if (e->op == tensor::ExprOp::kLoad) return;
    for (const tensor::Expr& operand : e->operands) self(self, operand);
  };
  if (block.value.defined()) visit(visit, block.value);
  return widest;
}

std::vector<Chunk> ChunksOf(int64_t count, int width, bool masks) {
  std::vector<Chunk> chunks;
  int64_t begin = 0;
  for (; begin + width <= count; begin += width) chunks.push_back({begin, width, width});
  while (begin < count) {
    const auto rest = static_cast<unsigned>(count - begin);
    const bool masked = masks && !std::has_single_bit(rest);
    const auto lanes = static_cast<int>(masked ? std::bit_ceil(rest) : std::bit_floor(rest));
    const int active = masked ? static_cast<int>(rest) : lanes;
    chunks.push_back({begin, lanes, active});
    begin += active;
  }
  return chunks;
}

std::optional<VectorLoop> PlanVectorLoop(const tensor::Program& program,
                                         const target::Target& target,
                                         const std::map<tensor::BlockId, BlockAccesses>& accesses,
                                         tensor::LoopId loop) {
  VectorLoop plan;
  plan.masks = target::UsesAvx512(target);
  std::vector<tensor::DigitId> digits;
  for (tensor::NodeRef node = tensor::NodeRef::Loop(loop);;) {
    const tensor::Loop& current = program.loops[node.id];
    if (current.kind != tensor::LoopKind::kVectorized) return std::nullopt;
    plan.loops.push_back(node.id);
    digits.insert(digits.end(), current.digits.begin(), current.digits.end());
    if (current.body.size() != 1 || !current.body[0].is_loop()) break;
    node = current.body[0];
  }
  std::vector<const tensor::Affine*> stores, offsets;
  int widest = 1;
  bool plain = true;  // only copies and elementwise computations
  for (tensor::NodeRef child : program.BodyOf(tensor::NodeRef::Loop(plan.loops.back()))) {
    if (child.is_loop()) return std::nullopt;
    const tensor::Block& block = program.blocks[child.id];
    plain = plain && block.kind == tensor::BlockKind::kPlain;
    widest = std::max(widest, WidestElement(program, block));
    stores.push_back(&accesses.at(child.id).store.affine);
    AppendLoads(accesses.at(child.id), offsets);
  }
  offsets.insert(offsets.end(), stores.begin(), stores.end());
  plan.width = std::max(1, target.vector_bytes / widest);
  std::erase_if(digits, [&](tensor::DigitId digit) { return program.digit_extents[digit] == 1; });
  if (digits.empty()) return std::nullopt;
  while (!digits.empty()) {
    const int64_t extent = program.digit_extents[digits.back()];
    if (!plan.lanes.empty()) {
      const bool full = plan.lane_count % plan.width == 0;
      // In a loop over chunks only the fastest digit runs: several must not come to one.
      const int64_t count = plan.lane_count * extent;
      const bool long_enough = count > kMaxChunks * plan.width ||
                               std::ssize(ChunksOf(count, plan.width, plan.masks)) > kMaxChunks;
      if (full || long_enough) break;
      // What is loaded may be put together from several places to fill a register.
      const bool fills = plain && plan.lane_count < plan.width;
      if (!GoTogether(program, fills ? stores : offsets, digits.back(), plan.lanes.front())) break;
    }
    plan.lanes.insert(plan.lanes.begin(), digits.back());
    plan.lane_count *= extent;
    digits.pop_back();
  }
  plan.outer = digits;
  return plan;
}

}  // namespace bayloom::plan
