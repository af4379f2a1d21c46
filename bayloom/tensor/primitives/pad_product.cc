// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>

#include <algorithm>

#include "bayloom/tensor/primitives.h"
#include "bayloom/tensor/primitives/region.h"
#include "bayloom/tensor/primitives/tree.h"

namespace bayloom::tensor {
namespace {

/// A product that is as Lower made it, and the extents that it is to have.
class ProductPadder {
 public:
  ProductPadder(Program& program, BlockId id, std::span<const int64_t> extents)
      : program_(program), id_(id), extents_(extents) {}

  Status Check() {
    if (Status s = CheckBlock(program_, id_); !s) return s;
    const Block& block = program_.blocks[id_];
    if (block.kind != BlockKind::kReduce || block.reduction != Reduction::kSum ||
        block.value->op != ExprOp::kMul) {
      return Error{fmt::format("cannot pad {}: it is no sum of products", block.name)};
    }
    if (extents_.size() != block.iters.size()) {
      return Error{
          fmt::format("cannot pad {}: it has {} iterators", block.name, block.iters.size())};
    }
    const auto sums_to_bound = [](const Iter& iter) {
      return iter.kind == IterKind::kReduction && iter.bound.is_open();
    };
    if (std::ranges::any_of(block.iters, sums_to_bound)) {
      return Error{fmt::format("cannot pad {}: it sums over an open axis", block.name)};
    }
    if (Status s = CheckNest(block); !s) return s;
    if (Status s = CheckOutput(block); !s) return s;
    for (const Expr& factor : block.value->operands) {
      if (Status s = AddFactor(block, factor); !s) return s;
    }
    return Ok();
  }

  std::vector<BlockId> Pad() {
    std::vector<BlockId> copies;
    for (const Operand& operand : operands_) {
      if (operand.shape != program_.buffers[operand.buffer].shape) {
        copies.push_back(AddCopy(operand));
      }
    }
    Block& block = program_.blocks[id_];
    const std::vector<LoopId> loops = program_.LoopsAround(NodeRef::Block(id_));
    for (size_t i = 0; i < extents_.size(); ++i) {
      block.iters[i].extent = extents_[i];
      program_.digit_extents[program_.loops[loops[i]].digits[0]] = extents_[i];
    }
    Buffer& output = program_.buffers[block.output];
    for (size_t d = 0; d < output.shape.size(); ++d) {
      const Expr& index = block.output_index[d];
      if (index->op == ExprOp::kIter) output.shape[d] = block.iters[index->index].extent;
    }
    block.annotations[kPaddedProduct] = 1;
    return copies;
  }

 private:
  struct Operand {
    BufferId buffer;
    std::vector<int64_t> shape;  ///< of all that is read
  };

  bool IsPadded(const Block& block, size_t iter) const {
    return extents_[iter] != block.iters[iter].extent;
  }

  /// One loop for each iterator, alone in its nest.
  Status CheckNest(const Block& block) const {
    const std::vector<LoopId> loops = program_.LoopsAround(NodeRef::Block(id_));
    bool plain = loops.size() == block.iters.size();
    for (size_t i = 0; plain && i < loops.size(); ++i) {
      const Loop& loop = program_.loops[loops[i]];
      const Affine& binding = block.bindings[i];
      plain = loop.digits.size() == 1 && loop.kind == LoopKind::kSerial && loop.body.size() == 1 &&
              binding.constant == 0 && binding.terms.size() == 1 &&
              binding.terms[0] == Affine::Term{loop.digits[0], 1};
      if (extents_[i] < block.iters[i].extent) {
        return Error{fmt::format("cannot pad {} of {} to {}: it has {} iterations",
                                 block.iters[i].name, block.name, extents_[i],
                                 block.iters[i].extent)};
      }
    }
    if (plain) return Ok();
    return Error{fmt::format("cannot pad {}: its loops have been changed", block.name)};
  }

  Status CheckOutput(const Block& block) const {
    const Buffer& buffer = program_.buffers[block.output];
    if (buffer.role != BufferRole::kIntermediate || !buffer.layout.empty()) {
      return Error{fmt::format("cannot pad {}: it writes the output {}", block.name, buffer.name)};
    }
    const Result<std::vector<int>> iters = IterOfDimension(program_, block);
    return iters ? Ok() : Status(iters.error());
  }

  /// Where a reduction is padded both factors have to be zero, so that their product is, for
  /// anything else that is in memory.
  Status AddFactor(const Block& block, const Expr& factor) {
    const Expr& load = factor->op == ExprOp::kCast ? factor->operands[0] : factor;
    const auto refuse = [&] {
      return Error{
          fmt::format("cannot pad {}: it reads more than elements at linear indices", block.name)};
    };
    if (load->op != ExprOp::kLoad || !program_.buffers[load->index].layout.empty()) return refuse();
    const bool known = std::ranges::count(operands_, load->index, &Operand::buffer) > 0;
    if (known) return refuse();
    Operand operand{load->index, program_.buffers[load->index].shape};
    std::vector<bool> alone(block.iters.size());
    for (size_t d = 0; d < load->operands.size(); ++d) {
      const auto form = ToLinear(load->operands[d], static_cast<int>(block.iters.size()));
      if (!form || form->constant < 0) return refuse();
      int64_t last = form->constant;
      int used = 0;
      for (size_t i = 0; i < form->coefficients.size(); ++i) {
        if (form->coefficients[i] < 0) return refuse();
        used += form->coefficients[i] != 0;
        last += form->coefficients[i] * (extents_[i] - 1);
      }
      for (size_t i = 0; i < form->coefficients.size(); ++i) {
        const bool whole = used == 1 && form->coefficients[i] == 1 && form->constant == 0 &&
                           operand.shape[d] == block.iters[i].extent;
        if (whole) alone[i] = true;
      }
      operand.shape[d] = std::max(operand.shape[d], last + 1);
    }
    for (size_t i = 0; i < block.iters.size(); ++i) {
      if (block.iters[i].kind != IterKind::kReduction || !IsPadded(block, i) || alone[i]) continue;
      return Error{fmt::format("cannot pad {} of {}: it is no dimension of {}", block.iters[i].name,
                               block.name, program_.buffers[load->index].name)};
    }
    operands_.push_back(std::move(operand));
    return Ok();
  }

  /// A block in front of the product that fills a larger buffer, which the product then reads.
  BlockId AddCopy(const Operand& operand) {
    Buffer padded = program_.buffers[operand.buffer];
    const DType dtype = padded.dtype;
    padded.name = FreshBufferName(program_, padded.name + ".padded");
    padded.role = BufferRole::kIntermediate;
    padded.scope = StorageScope::kGlobal;
    padded.slice_of.clear();
    padded.transform = nullptr;
    const std::vector<int64_t> inside = padded.shape;
    padded.shape = operand.shape;
    Block copy;
    copy.name = FreshBlockName(program_, padded.name);
    copy.output = static_cast<BufferId>(program_.buffers.size());
    Expr exists;
    std::vector<LoopId> loops;
    for (size_t d = 0; d < inside.size(); ++d) {
      const Expr iter = IterVar(static_cast<int>(d));
      copy.iters.push_back(
          {fmt::format("d{}", d), padded.shape[d], IterKind::kSpatial, padded.BoundOf(d)});
      copy.output_index.push_back(iter);
      const DigitId digit = NewDigit(program_, padded.shape[d]);
      Affine binding;
      binding.Add(digit, 1);
      copy.bindings.push_back(std::move(binding));
      loops.push_back(NewLoop(program_, {digit}));
      if (padded.shape[d] == inside[d]) continue;
      const Expr is_inside = iter < Expr(inside[d]);
      exists = exists.defined() ? exists && is_inside : is_inside;
    }
    copy.value = Select(exists, Load(operand.buffer, dtype, copy.output_index), Literal(0, dtype));
    program_.buffers.push_back(std::move(padded));
    program_.blocks.push_back(std::move(copy));
    const auto made = static_cast<BlockId>(program_.blocks.size()) - 1;
    const NodeRef top = ChildTowards(program_, NodeRef::Root(), NodeRef::Block(id_));
    InsertChild(program_, NodeRef::Root(), IndexInParent(program_, top),
                Nest(program_, loops, NodeRef::Block(made)));
    const BufferId buffer = program_.blocks[made].output;
    Expr& value = program_.blocks[id_].value;
    value = Rewrite(value, [&](const Expr& e) -> std::optional<Expr> {
      if (e->op != ExprOp::kLoad || e->index != operand.buffer) return std::nullopt;
      return Load(buffer, dtype, e->operands);
    });
    return made;
  }

  Program& program_;
  const BlockId id_;
  const std::span<const int64_t> extents_;
  std::vector<Operand> operands_;
};

}  // namespace

Result<std::vector<BlockId>> PadProduct(Program& program, BlockId block,
                                        std::span<const int64_t> extents) {
  ProductPadder padder(program, block, extents);
  if (Status s = padder.Check(); !s) return s.error();
  return padder.Pad();
}

}  // namespace bayloom::tensor
