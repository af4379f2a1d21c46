// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/tensor/access.h"

#include <algorithm>

namespace bayloom::tensor {
namespace {

/// Adds scale * index, whose iterators stand for their bindings; false when it is not affine.
bool AddIndex(const Expr& index, const std::vector<Affine>& bindings, int64_t scale, Affine& sum) {
  switch (index->op) {
    case ExprOp::kInt:
      sum.constant += scale * index->int_value;
      return true;
    case ExprOp::kIter:
      sum.Add(bindings[index->index], scale);
      return true;
    case ExprOp::kSize:  // the buffer and the digit have one number
      sum.Add(index->index, scale);
      return true;
    case ExprOp::kAdd:
      return AddIndex(index->operands[0], bindings, scale, sum) &&
             AddIndex(index->operands[1], bindings, scale, sum);
    case ExprOp::kSub:
      return AddIndex(index->operands[0], bindings, scale, sum) &&
             AddIndex(index->operands[1], bindings, -scale, sum);
    case ExprOp::kNegate:
      return AddIndex(index->operands[0], bindings, -scale, sum);
    case ExprOp::kMul:
      return index->operands[1]->op == ExprOp::kInt &&
             AddIndex(index->operands[0], bindings, scale * index->operands[1]->int_value, sum);
    default:
      return false;
  }
}

Access MakeAccess(const Block& block, BufferId buffer, bool is_write,
                  const std::vector<Expr>& indices) {
  Access access{buffer, is_write, {}};
  access.indices.reserve(indices.size());
  for (const Expr& index : indices) access.indices.push_back(ComposeIndex(index, block.bindings));
  return access;
}

void AppendLoads(const Block& block, const Expr& e, bool guarded, std::vector<Access>& accesses) {
  if (e->op == ExprOp::kLoad) {
    Access access = MakeAccess(block, e->index, false, e->operands);
    access.guarded = guarded;
    auto same = std::find_if(accesses.begin(), accesses.end(), [&](const Access& other) {
      return other.buffer == access.buffer && other.indices == access.indices;
    });
    if (same == accesses.end()) {
      accesses.push_back(std::move(access));
    } else {
      same->guarded &= guarded;
    }
  }
  for (size_t i = 0; i < e->operands.size(); ++i) {
    const bool alternative = e->op == ExprOp::kSelect && i > 0;
    AppendLoads(block, e->operands[i], guarded || alternative, accesses);
  }
}

}  // namespace

std::optional<Affine> LayoutOffset(const Program& program, const Buffer& buffer, int dimension,
                                   const Affine& index) {
  Affine offset;
  int64_t constant = index.constant, memory_stride = 1;
  if (constant < 0) return std::nullopt;
  size_t placed = 0, moving = 0;
  for (const Affine::Term& term : index.terms) {
    if (term.coefficient < 0) return std::nullopt;
    moving += program.digit_extents[term.digit] > 1;
  }
  for (size_t a = buffer.layout.size(); a-- > 0; memory_stride *= buffer.layout[a].extent) {
    const LayoutAxis& axis = buffer.layout[a];
    if (axis.dimension != dimension) continue;
    int64_t reach = constant / axis.stride % axis.extent;
    offset.constant += reach * memory_stride;
    for (const Affine::Term& term : index.terms) {
      const int64_t extent = program.digit_extents[term.digit];
      const bool on_axis =
          term.coefficient % axis.stride == 0 && term.coefficient < axis.stride * axis.extent;
      if (extent == 1 || !on_axis) continue;
      const int64_t step = term.coefficient / axis.stride;
      reach += step * (extent - 1);
      offset.Add(term.digit, step * memory_stride);
      ++placed;
    }
    if (reach >= axis.extent) return std::nullopt;
  }
  if (placed != moving) return std::nullopt;
  return offset;
}

std::vector<Access> AccessesOf(const Program& program, BlockId block) {
  return AccessesOf(program.blocks[block]);
}

std::vector<Access> AccessesOf(const Block& block) {
  std::vector<Access> accesses;
  if (block.kind != BlockKind::kInit) AppendLoads(block, block.value, false, accesses);
  accesses.push_back(MakeAccess(block, block.output, true, block.output_index));
  return accesses;
}

Affine Compose(const LinearForm& form, const std::vector<Affine>& bindings) {
  Affine sum;
  sum.constant = form.constant;
  for (size_t i = 0; i < form.coefficients.size(); ++i) {
    if (form.coefficients[i] != 0) sum.Add(bindings[i], form.coefficients[i]);
  }
  return sum;
}

std::optional<Affine> ComposeIndex(const Expr& index, const std::vector<Affine>& bindings) {
  if (index->op == ExprOp::kIter) return bindings[index->index];
  Affine sum;
  if (!AddIndex(index, bindings, 1, sum)) return std::nullopt;
  return sum;
}

IndexRange RangeOf(const Program& program, const Affine& index,
                   const std::vector<bool>& free_digits) {
  IndexRange range{index.constant, index.constant};
  for (const Affine::Term& term : index.terms) {
    if (!free_digits[term.digit]) continue;
    const int64_t reach = term.coefficient * (program.digit_extents[term.digit] - 1);
    (reach < 0 ? range.min : range.max) += reach;
  }
  return range;
}

std::optional<Affine> LinearOffset(const Program& program, const Access& access,
                                   const Allocation* allocation) {
  const Buffer& buffer = program.buffers[access.buffer];
  Affine offset;
  if (!buffer.layout.empty()) {
    for (size_t d = 0; d < access.indices.size(); ++d) {
      if (!access.indices[d]) return std::nullopt;
      const auto part = LayoutOffset(program, buffer, static_cast<int>(d), *access.indices[d]);
      if (!part) return std::nullopt;
      offset.Add(*part);
    }
    return offset;
  }
  const std::vector<int64_t>& shape = allocation ? allocation->shape : buffer.MemoryShape();
  int64_t stride = 1;
  for (size_t d = access.indices.size(); d-- > 0; stride *= shape[d]) {
    if (!access.indices[d]) return std::nullopt;
    offset.Add(*access.indices[d], stride);
    if (allocation) offset.Add(allocation->origin[d], -stride);
  }
  return offset;
}

}  // namespace bayloom::tensor
