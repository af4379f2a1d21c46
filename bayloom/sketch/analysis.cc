#include "bayloom/sketch/analysis.h"

#include <algorithm>
#include <optional>
#include <set>

namespace bayloom {
namespace {

int64_t ExtentOfKind(const Block& block, IterKind kind) {
  int64_t extent = 1;
  for (const Iter& iter : block.iters) {
    if (iter.kind == kind) extent *= iter.extent;
  }
  return extent;
}

/// The loads of an expression that are accesses of their own, not parts of another's index.
std::vector<Expr> LoadsOf(const Expr& value) {
  std::vector<Expr> loads;
  Visit(value, [&](const Expr& e) {
    if (e->op == ExprOp::kLoad) loads.push_back(e);
  });
  return loads;
}

bool MovesWith(const Expr& load, int iter) {
  bool moves = false;
  for (const Expr& index : load->operands) {
    Visit(index, [&](const Expr& e) { moves |= e->op == ExprOp::kIter && e->index == iter; });
  }
  return moves;
}

bool AllIndicesLinear(const Expr& load, int iter_count) {
  return std::all_of(load->operands.begin(), load->operands.end(),
                     [&](const Expr& index) { return ToLinear(index, iter_count).has_value(); });
}

}  // namespace

int64_t SpatialExtent(const Block& block) { return ExtentOfKind(block, IterKind::kSpatial); }
int64_t ReductionExtent(const Block& block) { return ExtentOfKind(block, IterKind::kReduction); }

bool IsUntransformed(const Program& program, BlockId id) {
  const Block& block = program.blocks[id];
  const std::vector<LoopId> loops = program.LoopsAround(NodeRef::Block(id));
  if (loops.size() != block.iters.size()) return false;
  for (size_t i = 0; i < loops.size(); ++i) {
    const Loop& loop = program.loops[loops[i]];
    const Affine& binding = block.bindings[i];
    if (loop.digits.size() != 1 || loop.kind != LoopKind::kSerial) return false;
    if (binding.constant != 0 || binding.terms.size() != 1) return false;
    if (binding.terms[0].digit != loop.digits[0] || binding.terms[0].coefficient != 1) return false;
    if (program.ExtentOf(loops[i]) != block.iters[i].extent) return false;
  }
  return true;
}

bool HasDataReuse(const Program& program, BlockId id) {
  const Block& block = program.blocks[id];
  if (block.kind != BlockKind::kReduce || !IsUntransformed(program, id)) return false;
  const int iter_count = static_cast<int>(block.iters.size());
  std::set<BufferId> seen;
  bool reuse = false;
  for (const Expr& load : LoadsOf(block.value)) {
    if (!AllIndicesLinear(load, iter_count)) return false;
    if (!seen.insert(load->index).second) return false;
    for (int i = 0; i < iter_count; ++i) {
      const Iter& iter = block.iters[i];
      if (iter.kind == IterKind::kSpatial && iter.extent > 1 && !MovesWith(load, i)) reuse = true;
    }
  }
  return reuse;
}

BlockId ElementwiseConsumer(const Program& program, BlockId id) {
  const BufferId buffer = program.blocks[id].output;
  if (program.buffers[buffer].role != BufferRole::kIntermediate) return -1;
  const std::vector<BlockId> readers = program.ReadersOf(buffer);
  if (readers.size() != 1) return -1;
  const Block& reader = program.blocks[readers[0]];
  if (reader.kind != BlockKind::kPlain) return -1;
  for (const Expr& load : LoadsOf(reader.value)) {
    if (load->index != buffer) continue;
    std::set<int> used;
    const std::vector<int64_t>& shape = program.buffers[buffer].shape;
    for (size_t d = 0; d < shape.size(); ++d) {
      const Expr& index = load->operands[d];
      if (shape[d] == 1 && IsIntLiteral(index, 0)) continue;
      if (index->op != ExprOp::kIter || !used.insert(index->index).second) return -1;
      if (reader.iters[index->index].extent != shape[d]) return -1;
    }
    for (int i = 0; i < static_cast<int>(reader.iters.size()); ++i) {
      if (reader.iters[i].extent > 1 && !used.contains(i)) return -1;
    }
  }
  return readers[0];
}

bool IsExpensive(const Expr& value) {
  bool expensive = false;
  Visit(value, [&](const Expr& e) { expensive |= IsTranscendental(e->op); });
  return expensive;
}

bool ContainsSelect(const Expr& value) {
  bool found = false;
  Visit(value, [&](const Expr& e) { found |= e->op == ExprOp::kSelect; });
  return found;
}

bool IsContiguousAlong(const Program& program, BlockId id, int iter) {
  const Block& block = program.blocks[id];
  const int iter_count = static_cast<int>(block.iters.size());
  auto contiguous = [&](BufferId buffer, const std::vector<Expr>& indices) {
    if (!program.buffers[buffer].layout.empty()) return false;
    for (size_t d = 0; d < indices.size(); ++d) {
      const std::optional<LinearForm> form = ToLinear(indices[d], iter_count);
      if (!form) return false;
      const int64_t step = form->coefficients[iter];
      const bool innermost = d + 1 == indices.size();
      if (step != 0 && !(innermost && step == 1)) return false;
    }
    return true;
  };
  if (!contiguous(block.output, block.output_index)) return false;
  const std::vector<Expr> loads = LoadsOf(block.value);
  return std::all_of(loads.begin(), loads.end(),
                     [&](const Expr& load) { return contiguous(load->index, load->operands); });
}

}  // namespace bayloom
