// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/sketch/analysis.h"

#include <algorithm>
#include <optional>
#include <set>

#include "bayloom/tensor/evaluation_cost.h"

namespace bayloom::sketch {
namespace {

int64_t ExtentOfKind(const tensor::Block& block, tensor::IterKind kind) {
  int64_t extent = 1;
  for (const tensor::Iter& iter : block.iters) {
    if (iter.kind == kind) extent *= iter.extent;
  }
  return extent;
}

/// All loads of an expression.
std::vector<tensor::Expr> LoadsOf(const tensor::Expr& value) {
  std::vector<tensor::Expr> loads;
  tensor::Visit(value, [&](const tensor::Expr& e) {
    if (e->op == tensor::ExprOp::kLoad) loads.push_back(e);
  });
  return loads;
}

/// The loads of a value, without those in their indices.
void TakeOuterLoads(const tensor::Expr& e, std::vector<tensor::Expr>& loads) {
  if (e->op == tensor::ExprOp::kLoad) return loads.push_back(e);
  for (const tensor::Expr& operand : e->operands) TakeOuterLoads(operand, loads);
}

/// Whether data says where an element is, but the same for all terms of a sum and for neighbours:
/// the number of an expert.
bool IsChosenForRow(const tensor::Block& block, const tensor::Expr& index) {
  const int last = LastSpatialIter(block);
  bool is_fixed = true;
  tensor::Visit(index, [&](const tensor::Expr& e) {
    if (e->op != tensor::ExprOp::kIter) return;
    is_fixed =
        is_fixed && e->index != last && block.iters[e->index].kind == tensor::IterKind::kSpatial;
  });
  return is_fixed;
}

bool HasKnownPlaces(const tensor::Block& block, const tensor::Expr& load) {
  const int count = static_cast<int>(block.iters.size());
  return std::ranges::all_of(load->operands, [&](const tensor::Expr& index) {
    return tensor::ToLinear(index, count) || IsChosenForRow(block, index);
  });
}

}  // namespace

int64_t SpatialExtent(const tensor::Block& block) {
  return ExtentOfKind(block, tensor::IterKind::kSpatial);
}
int64_t ReductionExtent(const tensor::Block& block) {
  return ExtentOfKind(block, tensor::IterKind::kReduction);
}

int64_t Iterations(const tensor::Program& program, tensor::BlockId block) {
  int64_t iterations = 1;
  for (tensor::LoopId loop : program.LoopsAround(tensor::NodeRef::Block(block))) {
    iterations *= program.ExtentOf(loop);
  }
  return iterations;
}

int LastSpatialIter(const tensor::Block& block) {
  for (int i = static_cast<int>(block.iters.size()) - 1; i >= 0; --i) {
    if (block.iters[i].kind == tensor::IterKind::kSpatial) return i;
  }
  return -1;
}

bool IsUntransformed(const tensor::Program& program, tensor::BlockId id) {
  const tensor::Block& block = program.blocks[id];
  const std::vector<tensor::LoopId> loops = program.LoopsAround(tensor::NodeRef::Block(id));
  if (loops.size() != block.iters.size()) return false;
  for (size_t i = 0; i < loops.size(); ++i) {
    const tensor::Loop& loop = program.loops[loops[i]];
    const tensor::Affine& binding = block.bindings[i];
    if (loop.digits.size() != 1 || loop.kind != tensor::LoopKind::kSerial) return false;
    if (binding.constant != 0 || binding.terms.size() != 1) return false;
    if (binding.terms[0].digit != loop.digits[0] || binding.terms[0].coefficient != 1) return false;
    if (program.ExtentOf(loops[i]) != block.iters[i].extent) return false;
  }
  return true;
}

bool HasDataReuse(const tensor::Program& program, tensor::BlockId id) {
  const tensor::Block& block = program.blocks[id];
  if (block.kind != tensor::BlockKind::kReduce || !IsUntransformed(program, id)) return false;
  const int iter_count = static_cast<int>(block.iters.size());
  std::set<tensor::BufferId> seen;
  bool reuse = false;
  std::vector<tensor::Expr> loads;
  TakeOuterLoads(block.value, loads);
  for (const tensor::Expr& load : loads) {
    if (!HasKnownPlaces(block, load)) return false;
    if (!seen.insert(load->index).second) return false;
    for (int i = 0; i < iter_count; ++i) {
      const tensor::Iter& iter = block.iters[i];
      if (iter.kind == tensor::IterKind::kSpatial && iter.extent > 1 && !Mentions(load, i))
        reuse = true;
    }
  }
  return reuse;
}

tensor::BlockId ElementwiseConsumer(const tensor::Program& program, tensor::BlockId id) {
  const tensor::BufferId buffer = program.blocks[id].output;
  if (program.buffers[buffer].role != tensor::BufferRole::kIntermediate) return -1;
  const std::vector<tensor::BlockId> readers = program.ReadersOf(buffer);
  if (readers.size() != 1) return -1;
  const tensor::Block& reader = program.blocks[readers[0]];
  if (reader.kind != tensor::BlockKind::kPlain) return -1;
  for (const tensor::Expr& load : LoadsOf(reader.value)) {
    if (load->index != buffer) continue;
    std::set<int> used;
    const std::vector<int64_t>& shape = program.buffers[buffer].shape;
    for (size_t d = 0; d < shape.size(); ++d) {
      const tensor::Expr& index = load->operands[d];
      if (shape[d] == 1 && tensor::IsIntLiteral(index, 0)) continue;
      if (index->op != tensor::ExprOp::kIter || !used.insert(index->index).second) return -1;
      if (reader.iters[index->index].extent != shape[d]) return -1;
    }
    for (int i = 0; i < static_cast<int>(reader.iters.size()); ++i) {
      if (reader.iters[i].extent > 1 && !used.contains(i)) return -1;
    }
  }
  return readers[0];
}

bool IsExpensive(const tensor::Expr& value) {
  return tensor::EvaluationCost(value) >= tensor::kTranscendentalCost;
}

bool MayRepeat(const tensor::Expr& value, int64_t loads) {
  // An activation read at the four corners of an interpolation is better repeated than stored.
  constexpr int64_t kMaxRepeatedCost = 5 * tensor::kTranscendentalCost;
  return (loads - 1) * tensor::EvaluationCost(value) <= kMaxRepeatedCost;
}

bool ContainsSelect(const tensor::Expr& value) {
  bool found = false;
  tensor::Visit(value, [&](const tensor::Expr& e) { found |= e->op == tensor::ExprOp::kSelect; });
  return found;
}

bool Mentions(const tensor::Expr& e, int iter) {
  bool found = false;
  tensor::Visit(e, [&](const tensor::Expr& node) {
    found |= node->op == tensor::ExprOp::kIter && node->index == iter;
  });
  return found;
}

bool IsContiguousAlong(const tensor::Program& program, tensor::BlockId id, int iter) {
  const tensor::Block& block = program.blocks[id];
  const int iter_count = static_cast<int>(block.iters.size());
  auto contiguous = [&](tensor::BufferId buffer, const std::vector<tensor::Expr>& indices) {
    if (!program.buffers[buffer].layout.empty()) return false;
    for (size_t d = 0; d < indices.size(); ++d) {
      const std::optional<tensor::LinearForm> form = tensor::ToLinear(indices[d], iter_count);
      if (!form && Mentions(indices[d], iter)) return false;
      if (!form) continue;
      const int64_t step = form->coefficients[iter];
      const bool innermost = d + 1 == indices.size();
      if (step != 0 && !(innermost && step == 1)) return false;
    }
    return true;
  };
  if (!contiguous(block.output, block.output_index)) return false;
  const std::vector<tensor::Expr> loads = LoadsOf(block.value);
  return std::all_of(loads.begin(), loads.end(), [&](const tensor::Expr& load) {
    return contiguous(load->index, load->operands);
  });
}

}  // namespace bayloom::sketch
