// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <limits>

#include "bayloom/tensor/access.h"
#include "bayloom/tensor/loop_tree.h"

namespace bayloom::tensor {
namespace {

bool Touches(const Block& block, BufferId buffer) {
  if (!block.alive) return false;
  return block.output == buffer || (block.kind != BlockKind::kInit && Loads(block.value, buffer));
}

/// Collects what the accesses of one buffer touch in each dimension during one iteration of a
/// scope: a common part that digits of loops at or above the scope decide, and a range on top.
class RegionCollector {
 public:
  RegionCollector(const Program& program, const Buffer& buffer, NodeRef scope)
      : program_(program),
        shape_(buffer.shape),
        outer_digits_(program.digit_extents.size()),
        dimensions_(buffer.shape.size()) {
    for (NodeRef at = scope; at.is_loop(); at = program.ParentOf(at)) {
      if (!SelectsPart(program.loops[at.id], buffer)) continue;
      for (DigitId digit : program.loops[at.id].digits) outer_digits_[digit] = true;
    }
  }

  void AddLoads(const Block& block, const Expr& e, BufferId buffer) {
    if (e->op == ExprOp::kLoad && e->index == buffer) AddAccess(block, e->operands);
    for (const Expr& operand : e->operands) AddLoads(block, operand, buffer);
  }

  void AddAccess(const Block& block, const std::vector<Expr>& indices) {
    for (size_t d = 0; d < indices.size(); ++d) {
      Dimension& dimension = dimensions_[d];
      if (dimension.whole) continue;
      std::optional<Affine> index = ComposeIndex(indices[d], block.bindings);
      dimension.whole = !index || !AddIndex(dimension, *std::move(index), shape_[d]);
    }
  }

  Allocation Finish(NodeRef scope) {
    Allocation allocation{scope, shape_, std::vector<Affine>(shape_.size())};
    for (size_t d = 0; d < dimensions_.size(); ++d) {
      Dimension& dimension = dimensions_[d];
      if (dimension.whole || dimension.min > dimension.max) continue;
      const int64_t extent = dimension.max - dimension.min + 1;
      if (extent >= shape_[d]) continue;
      allocation.shape[d] = extent;
      allocation.origin[d] = std::move(dimension.outer);
      allocation.origin[d].constant = dimension.min;
    }
    return allocation;
  }

 private:
  struct Dimension {
    bool seen = false;
    bool whole = false;  ///< nothing better than the full extent is known
    Affine outer;        ///< without constant
    int64_t min = std::numeric_limits<int64_t>::max();
    int64_t max = std::numeric_limits<int64_t>::min();
  };

  /// False if the outer part is not the same as that of the accesses before.
  bool AddIndex(Dimension& dimension, Affine index, int64_t extent) {
    int64_t min = index.constant, max = index.constant, outer_min = 0, outer_max = 0;
    for (const Affine::Term& term : index.terms) {
      const int64_t reach = term.coefficient * (program_.digit_extents[term.digit] - 1);
      const bool outer = outer_digits_[term.digit];
      (reach < 0 ? (outer ? outer_min : min) : (outer ? outer_max : max)) += reach;
    }
    std::erase_if(index.terms, [&](const Affine::Term& term) {
      return !outer_digits_[term.digit] || program_.digit_extents[term.digit] == 1;
    });
    index.constant = 0;
    if (dimension.seen && index.terms != dimension.outer.terms) return false;
    if (!dimension.seen) dimension.outer = std::move(index);
    dimension.seen = true;
    // Guarded accesses are only made inside of the buffer, regardless of their indices.
    dimension.min = std::min(dimension.min, std::max(min, -outer_max));
    dimension.max = std::max(dimension.max, std::min(max, extent - 1 - outer_min));
    return true;
  }

  const Program& program_;
  const std::vector<int64_t>& shape_;
  std::vector<bool> outer_digits_;
  std::vector<Dimension> dimensions_;
};

}  // namespace

bool SelectsPart(const Loop& loop, const Buffer& buffer) {
  return buffer.scope != StorageScope::kShared || !IsThreadIndex(loop.kind);
}

NodeRef AllocationScope(const Program& program, BufferId buffer) {
  NodeRef scope;
  bool found = false;
  for (const Block& block : program.blocks) {
    if (!Touches(block, buffer)) continue;
    scope = found ? CommonAncestor(program, scope, block.parent) : block.parent;
    found = true;
    if (!scope.is_loop()) break;
  }
  return scope;
}

Allocation AllocationOf(const Program& program, BufferId id) {
  const Buffer& buffer = program.buffers[id];
  const NodeRef scope = AllocationScope(program, id);
  if (!scope.is_loop() || !buffer.layout.empty()) {
    return {scope, buffer.shape, std::vector<Affine>(buffer.shape.size())};
  }
  RegionCollector regions(program, buffer, scope);
  for (const Block& block : program.blocks) {
    if (!block.alive) continue;
    if (block.output == id) regions.AddAccess(block, block.output_index);
    if (block.kind != BlockKind::kInit) regions.AddLoads(block, block.value, id);
  }
  return regions.Finish(scope);
}

}  // namespace bayloom::tensor
