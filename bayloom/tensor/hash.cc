// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/base/hash.h"

#include <bit>
#include <span>

#include "bayloom/tensor/async_copy.h"
#include "bayloom/tensor/program.h"
#include "bayloom/tensor/warp_matrices.h"

namespace bayloom::tensor {
namespace {

/// Hashes what a program or workload does. Parameters are known by their position among the
/// parameters; other buffers and digits by the order in which they are met. Names do not count.
class StructureHasher {
 public:
  StructureHasher(std::span<const Buffer> buffers, std::span<const BufferId> parameters)
      : buffers_(buffers), buffer_numbers_(buffers.size(), -1) {
    for (BufferId id : parameters) {
      buffer_numbers_[id] = next_buffer_++;
      AddBuffer(buffers[id]);
    }
  }

  void Add(uint64_t value) { hasher_.Add(value); }
  void AddSigned(int64_t value) { hasher_.Add(static_cast<uint64_t>(value)); }

  void AddBufferReference(BufferId id) {
    if (buffer_numbers_[id] < 0) {
      buffer_numbers_[id] = next_buffer_++;
      AddBuffer(buffers_[id]);
    }
    AddSigned(buffer_numbers_[id]);
  }

  void AddIters(std::span<const Iter> iters) {
    Add(iters.size());
    for (const Iter& iter : iters) {
      AddSigned(2 * iter.extent + static_cast<int64_t>(iter.kind));
      AddBound(iter.bound);
    }
  }

  void AddExpr(const Expr& e) {
    Add(static_cast<uint64_t>(e->op) << 16 | static_cast<uint64_t>(e->dtype) << 8 |
        e->operands.size());
    switch (e->op) {
      case ExprOp::kInt:
        return AddSigned(e->int_value);
      case ExprOp::kFloat:
        return Add(std::bit_cast<uint64_t>(e->float_value));
      case ExprOp::kIter:
        return AddSigned(e->index);
      case ExprOp::kLoad:
      case ExprOp::kSize:
        AddBufferReference(e->index);
        break;
      case ExprOp::kCall:
        AddSigned(e->index);
        break;
      default:
        break;
    }
    for (const Expr& operand : e->operands) AddExpr(operand);
  }

  uint64_t Digest() const { return hasher_.Digest(); }

 private:
  void AddBuffer(const Buffer& buffer) {
    Add(static_cast<uint64_t>(buffer.dtype) << 16 | static_cast<uint64_t>(buffer.role) << 8 |
        static_cast<uint64_t>(buffer.scope));
    Add(buffer.shape.size() << 32 | buffer.layout.size());
    for (int64_t extent : buffer.shape) AddSigned(extent);
    for (int64_t extent : buffer.slice_of) AddSigned(extent);
    for (const LayoutAxis& axis : buffer.layout) {
      AddSigned(axis.dimension);
      AddSigned(axis.stride);
      AddSigned(axis.extent);
    }
    if (buffer.transform) Add(buffer.transform->Hash());
    for (const Bound& bound : buffer.bounds) AddBound(bound);
    if (buffer.role == BufferRole::kSize) {
      AddSigned(buffer.range.smallest);
      AddSigned(buffer.range.largest);
    }
  }

  /// What is not open hashes as if nothing were.
  void AddBound(const Bound& bound) {
    if (!bound.is_open()) return;
    Add(uint64_t{5} << 32);
    AddSigned(bound.size);
    AddSigned(bound.step);
    AddSigned(bound.beyond);
  }

  std::span<const Buffer> buffers_;
  std::vector<int> buffer_numbers_;
  int next_buffer_ = 0;
  base::Hasher hasher_;
};

class ProgramHasher {
 public:
  explicit ProgramHasher(const Program& program)
      : program_(program),
        structure_(program.buffers, program.Parameters()),
        digit_numbers_(program.digit_extents.size(), -1) {
    while (next_digit_ < program.SizeCount()) {
      digit_numbers_[next_digit_] = next_digit_;
      ++next_digit_;
    }
  }

  uint64_t Hash() {
    AddBody(program_.roots);
    return structure_.Digest();
  }

 private:
  void AddBody(std::span<const NodeRef> body) {
    structure_.Add(body.size());
    for (NodeRef node : body) {
      if (node.is_loop()) {
        AddLoop(program_.loops[node.id]);
      } else {
        AddBlock(program_.blocks[node.id]);
      }
    }
  }

  void AddLoop(const Loop& loop) {
    structure_.Add(uint64_t{1} << 32 | static_cast<uint64_t>(loop.kind) << 16 | loop.digits.size());
    structure_.AddSigned(loop.unroll_max_step);
    if (loop.threads != 0) structure_.AddSigned(loop.threads);
    for (DigitId digit : loop.digits) {
      digit_numbers_[digit] = next_digit_++;
      structure_.AddSigned(program_.digit_extents[digit]);
    }
    AddBody(loop.body);
  }

  void AddBlock(const Block& block) {
    structure_.Add(uint64_t{2} << 32 | static_cast<uint64_t>(block.kind) << 16 |
                   static_cast<uint64_t>(block.reduction));
    structure_.AddIters(block.iters);
    if (block.guarded) structure_.Add(uint64_t{3} << 32);
    for (const Affine& binding : block.bindings) AddAffine(binding);
    structure_.AddBufferReference(block.output);
    for (const Expr& index : block.output_index) structure_.AddExpr(index);
    if (block.kind != BlockKind::kInit) structure_.AddExpr(block.value);
    const auto stages = block.annotations.find(kAsyncStages);
    if (stages != block.annotations.end() && stages->second > 1) {
      structure_.AddSigned(stages->second);
    }
    if (block.annotations.contains(kWarpGroups)) structure_.Add(uint64_t{4} << 32);
  }

  /// Terms are summed up after hashing each, since their order is that of the digits' ids.
  void AddAffine(const Affine& affine) {
    structure_.AddSigned(affine.constant);
    uint64_t terms = affine.terms.size();
    for (const Affine::Term& term : affine.terms) {
      terms += base::Hasher()
                   .Add(static_cast<uint64_t>(digit_numbers_[term.digit]))
                   .Add(static_cast<uint64_t>(term.coefficient))
                   .Digest();
    }
    structure_.Add(terms);
  }

  const Program& program_;
  StructureHasher structure_;
  std::vector<int> digit_numbers_;
  int next_digit_ = 0;
};

}  // namespace

uint64_t Program::StructuralHash() const { return ProgramHasher(*this).Hash(); }

uint64_t Workload::StructuralHash() const {
  StructureHasher hasher(buffers, Parameters());
  for (const Stage& stage : stages) {
    hasher.Add(static_cast<uint64_t>(stage.reduction));
    hasher.AddIters(stage.iters);
    hasher.AddBufferReference(stage.output);
    hasher.AddExpr(stage.value);
  }
  return hasher.Digest();
}

}  // namespace bayloom::tensor
