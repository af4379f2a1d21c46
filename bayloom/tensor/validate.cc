// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "bayloom/tensor/access.h"
#include "bayloom/tensor/library_call.h"
#include "bayloom/tensor/primitives/injective.h"
#include "bayloom/tensor/primitives/region.h"
#include "bayloom/tensor/program.h"

namespace bayloom::tensor {
namespace {

/// Walks the loop tree and checks what the invariants promise; the first violation ends it.
class Validator {
 public:
  explicit Validator(const Program& program)
      : program_(program),
        seen_loops_(program.loops.size()),
        seen_blocks_(program.blocks.size()),
        digit_in_scope_(program.digit_extents.size()),
        digit_owned_(program.digit_extents.size()) {
    for (int size = 0; size < program.SizeCount(); ++size) {
      digit_in_scope_[size] = digit_owned_[size] = true;
    }
  }

  Status Check() {
    CheckBody(NodeRef::Root());
    for (size_t i = 0; i < program_.loops.size(); ++i) {
      if (program_.loops[i].alive && !seen_loops_[i]) Fail("loop {} is not in the tree", i);
    }
    for (size_t i = 0; i < program_.blocks.size(); ++i) {
      if (program_.blocks[i].alive && !seen_blocks_[i]) {
        Fail("block {} is not in the tree", program_.blocks[i].name);
      }
    }
    for (size_t b = 0; b < program_.buffers.size(); ++b) {
      CheckLayout(program_.buffers[b]);
      CheckTransform(program_.buffers[b]);
      if (ok()) CheckBuffer(static_cast<BufferId>(b));
    }
    for (size_t i = 0; ok() && i < program_.loops.size(); ++i) {
      if (program_.loops[i].alive) CheckLoopKind(static_cast<LoopId>(i));
    }
    if (!ok()) return Error{message_};
    return Ok();
  }

 private:
  bool ok() const { return message_.empty(); }

  template <typename... Args>
  void Fail(fmt::format_string<Args...> format, Args&&... args) {
    if (ok()) message_ = fmt::format(format, std::forward<Args>(args)...);
  }

  // --- The tree --------------------------------------------------------------------------------

  void CheckBody(NodeRef node) {
    for (NodeRef child : program_.BodyOf(node)) {
      if (!ok()) return;
      if (program_.ParentOf(child) != node) return Fail("a node does not know its parent");
      if (child.is_loop()) {
        CheckLoop(child.id);
      } else {
        CheckBlock(child.id);
      }
    }
  }

  void CheckLoop(LoopId id) {
    const Loop& loop = program_.loops[id];
    if (!loop.alive || seen_loops_[id]) return Fail("loop {} is dead or twice in the tree", id);
    if (loop.digits.empty()) return Fail("loop {} has no digits", id);
    if (loop.body.empty()) return Fail("loop {} is empty", id);
    seen_loops_[id] = true;
    for (DigitId digit : loop.digits) {
      if (digit_owned_[digit]) return Fail("digit {} belongs to two loops", digit);
      if (program_.digit_extents[digit] < 1) return Fail("digit {} has no values", digit);
      digit_owned_[digit] = digit_in_scope_[digit] = true;
    }
    loops_around_.push_back(id);
    CheckBody(NodeRef::Loop(id));
    loops_around_.pop_back();
    for (DigitId digit : loop.digits) digit_in_scope_[digit] = false;
  }

  void CheckLoopKind(LoopId id) {
    const Loop& loop = program_.loops[id];
    if (Status status = CheckKindOfLoop(program_, id); !status) {
      return Fail("loop {} may not run in parallel: {}", id, status.error().message);
    }
    for (NodeRef child : loop.body) {
      if (loop.kind == LoopKind::kVectorized && child.is_loop() &&
          program_.loops[child.id].kind != LoopKind::kVectorized) {
        Fail("vectorized loop {} has a loop below that is not", id);
      }
    }
  }

  // --- Blocks ----------------------------------------------------------------------------------

  void CheckBlock(BlockId id) {
    const Block& block = program_.blocks[id];
    if (!block.alive || seen_blocks_[id])
      return Fail("block {} is dead or twice there", block.name);
    seen_blocks_[id] = true;
    order_.push_back(id);
    CheckKind(block);
    if (block.kind == BlockKind::kCall) return CheckCallBlock(block);
    if (block.bindings.size() != block.iters.size()) {
      return Fail("block {} does not bind each iterator", block.name);
    }
    for (size_t i = 0; i < block.iters.size(); ++i) CheckBinding(block, i);
    if (!ok()) return;
    CheckReductionOrder(block);
    CheckCoverage(block);
    CheckStore(block);
    if (block.kind != BlockKind::kInit) CheckLoads(block, block.value, false);
  }

  void CheckKind(const Block& block) {
    const bool reduces = std::any_of(block.iters.begin(), block.iters.end(), [](const Iter& iter) {
      return iter.kind == IterKind::kReduction;
    });
    const bool plain = block.kind == BlockKind::kPlain || block.kind == BlockKind::kCall;
    if (block.guarded && block.kind != BlockKind::kPlain) {
      Fail("block {} is guarded, but not plain", block.name);
    }
    if (plain != (block.reduction == Reduction::kNone)) {
      Fail("block {} has a reduction that does not suit its kind", block.name);
    }
    if (reduces && (plain || block.kind == BlockKind::kInit)) {
      Fail("block {} has reduction iterators it must not have", block.name);
    }
  }

  void CheckCallBlock(const Block& block) {
    const std::optional<LibraryCall> call = AsCall(block.value);
    if (!call || !loops_around_.empty() || program_.roots.size() != 1) {
      return Fail("block {} calls the library beside other blocks", block.name);
    }
    std::vector<CallTensor> operands;
    for (BufferId id : call->operands) operands.push_back(CallTensorOf(program_.buffers[id]));
    const Status status = CheckCall(*call, operands, CallTensorOf(program_.buffers[block.output]));
    if (!status) Fail("block {}: {}", block.name, status.error().message);
  }

  void CheckBinding(const Block& block, size_t i) {
    const Affine& binding = block.bindings[i];
    const std::string& name = block.iters[i].name;
    for (size_t t = 0; t < binding.terms.size(); ++t) {
      const Affine::Term& term = binding.terms[t];
      if (term.coefficient == 0 || (t > 0 && binding.terms[t - 1].digit >= term.digit)) {
        return Fail("the binding of {} in {} is not in normal form", name, block.name);
      }
      if (!digit_in_scope_[term.digit]) {
        return Fail("{} in {} is bound to a digit of no loop around it", name, block.name);
      }
    }
    const IndexRange range = RangeOf(program_, binding, digit_in_scope_);
    if (range.min < 0 || (range.max >= block.iters[i].extent && !block.guarded)) {
      return Fail("{} in {} runs over [{}, {}] instead of [0, {})", name, block.name, range.min,
                  range.max, block.iters[i].extent);
    }
    if (block.iters[i].kind == IterKind::kReduction && !IsMixedRadix(block, i)) {
      Fail("{} in {} does not visit every value exactly once", name, block.name);
    }
  }

  /// True if the digits of the binding count through the iterator's range, each value once.
  bool IsMixedRadix(const Block& block, size_t i) const {
    const Affine& binding = block.bindings[i];
    std::vector<Affine::Term> terms = binding.terms;
    std::erase_if(terms, [&](const auto& t) { return program_.digit_extents[t.digit] == 1; });
    std::sort(terms.begin(), terms.end(),
              [](const auto& a, const auto& b) { return a.coefficient < b.coefficient; });
    int64_t covered = 1;
    for (const Affine::Term& term : terms) {
      if (term.coefficient != covered || UsedElsewhere(block, i, term.digit)) return false;
      covered *= program_.digit_extents[term.digit];
    }
    return binding.constant == 0 && covered == block.iters[i].extent;
  }

  static bool UsedElsewhere(const Block& block, size_t i, DigitId digit) {
    for (size_t other = 0; other < block.bindings.size(); ++other) {
      if (other != i && block.bindings[other].CoefficientOf(digit) != 0) return true;
    }
    return false;
  }

  /// A loop that the block does not depend on repeats it. Around the whole reduction, with its
  /// initialization, that only wastes time; anywhere else it would combine values several times.
  void CheckReductionOrder(const Block& block) {
    if (block.kind == BlockKind::kPlain || block.kind == BlockKind::kInit) return;
    const std::vector<LoopId> initialized_in = LoopsAroundInit(block);
    bool reducing = false;
    for (LoopId loop : loops_around_) {
      const bool repeats_init =
          block.kind == BlockKind::kReduce ||
          std::find(initialized_in.begin(), initialized_in.end(), loop) != initialized_in.end();
      for (DigitId digit : program_.loops[loop].digits) {
        if (program_.digit_extents[digit] == 1) continue;
        const std::optional<IterKind> use = UseOf(block, digit);
        reducing |= use == IterKind::kReduction;
        if (!use && (reducing || !repeats_init)) {
          return Fail("a loop that {} does not depend on repeats a part of its reduction",
                      block.name);
        }
        if (reducing && repeats_init && block.kind == BlockKind::kUpdate) {
          return Fail("{} is initialized in the middle of its reduction", block.name);
        }
      }
    }
  }

  static std::optional<IterKind> UseOf(const Block& block, DigitId digit) {
    for (size_t i = 0; i < block.iters.size(); ++i) {
      if (block.bindings[i].CoefficientOf(digit) != 0) return block.iters[i].kind;
    }
    return std::nullopt;
  }

  /// Loops around the kInit block that belongs to a kUpdate block.
  std::vector<LoopId> LoopsAroundInit(const Block& block) const {
    if (block.kind != BlockKind::kUpdate) return {};
    for (size_t i = 0; i < program_.blocks.size(); ++i) {
      const Block& init = program_.blocks[i];
      if (init.alive && init.kind == BlockKind::kInit && init.output == block.output) {
        return program_.LoopsAround(NodeRef::Block(static_cast<BlockId>(i)));
      }
    }
    return {};
  }

  /// True if the digits of the binding reach every value of the iterator, some of them twice.
  bool CoversRange(const Block& block, size_t i) const {
    const Affine& binding = block.bindings[i];
    for (const Affine::Term& term : binding.terms) {
      if (program_.digit_extents[term.digit] > 1 && UsedElsewhere(block, i, term.digit))
        return false;
    }
    const IndexRange range = RangeOf(program_, binding, digit_in_scope_);
    const int64_t last = block.iters[i].extent - 1;
    return range.min == 0 && (block.guarded ? range.max >= last : range.max == last) &&
           IsDense(program_, binding.terms);
  }

  /// Every element of an output is written.
  void CheckCoverage(const Block& block) {
    if (program_.buffers[block.output].role != BufferRole::kOutput) return;
    for (size_t i = 0; i < block.iters.size(); ++i) {
      if (block.iters[i].kind == IterKind::kSpatial && !CoversRange(block, i)) {
        Fail("{} does not write all of its output along {}", block.name, block.iters[i].name);
      }
    }
  }

  void CheckStore(const Block& block) {
    const Buffer& buffer = program_.buffers[block.output];
    const bool is_input = IsPassedIn(buffer.role);
    if (is_input) return Fail("block {} writes the input {}", block.name, buffer.name);
    if (block.output_index.size() != buffer.shape.size()) {
      return Fail("block {} writes {} with a wrong number of indices", block.name, buffer.name);
    }
    for (size_t d = 0; d < buffer.shape.size(); ++d) {
      const std::optional<IndexRange> range = RangeOfIndex(block, block.output_index[d]);
      if (!range) return Fail("block {} writes at an index that is not linear", block.name);
      CheckInBounds(block, buffer, d, *range);
    }
    if (block.kind != BlockKind::kInit && block.value->dtype != buffer.dtype) {
      Fail("block {} writes {} into {} of {}", block.name, ToString(block.value->dtype),
           buffer.name, ToString(buffer.dtype));
    }
  }

  void CheckLoads(const Block& block, const Expr& e, bool guarded) {
    if (e->op == ExprOp::kIter &&
        (e->index < 0 || e->index >= static_cast<int>(block.iters.size()))) {
      return Fail("block {} uses an iterator it does not have", block.name);
    }
    if (e->op == ExprOp::kLoad) {
      if (e->index < 0 || e->index >= static_cast<int>(program_.buffers.size())) {
        return Fail("block {} reads a buffer that does not exist", block.name);
      }
      const Buffer& buffer = program_.buffers[e->index];
      if (e->dtype != buffer.dtype || e->operands.size() != buffer.shape.size()) {
        return Fail("block {} reads {} as something it is not", block.name, buffer.name);
      }
      for (size_t d = 0; !guarded && d < buffer.shape.size(); ++d) {
        const std::optional<IndexRange> range = RangeOfIndex(block, e->operands[d]);
        if (range) CheckInBounds(block, buffer, d, *range);
      }
    }
    for (size_t i = 0; i < e->operands.size(); ++i) {
      CheckLoads(block, e->operands[i], guarded || (e->op == ExprOp::kSelect && i > 0));
    }
  }

  /// A guarded block's iterators stay within their extents.
  std::optional<IndexRange> RangeOfIndex(const Block& block, const Expr& index) const {
    if (block.guarded) {
      std::vector<Span> spans;
      for (const Iter& iter : block.iters) spans.push_back({{}, 0, iter.extent - 1});
      const std::optional<Span> span = SpanOverIters(index, spans);
      if (!span) return std::nullopt;
      return IndexRange{span->min, span->max};
    }
    const std::optional<Affine> affine = ComposeIndex(index, block.bindings);
    if (!affine) return std::nullopt;
    return RangeOf(program_, *affine, digit_in_scope_);
  }

  void CheckInBounds(const Block& block, const Buffer& buffer, size_t d, const IndexRange& range) {
    if (range.min < 0 || range.max >= buffer.shape[d]) {
      Fail("block {} reaches [{}, {}] in dimension {} of {}, which has {}", block.name, range.min,
           range.max, d, buffer.name, buffer.shape[d]);
    }
  }

  // --- Buffers ---------------------------------------------------------------------------------

  /// The axes of each dimension are a mixed-radix split of it.
  void CheckLayout(const Buffer& buffer) {
    if (buffer.layout.empty()) return;
    std::vector<LayoutAxis> axes = buffer.layout;
    std::sort(axes.begin(), axes.end(), [](const LayoutAxis& a, const LayoutAxis& b) {
      return std::tie(a.dimension, a.stride, a.extent) < std::tie(b.dimension, b.stride, b.extent);
    });
    std::vector<int64_t> covered(buffer.shape.size(), 1);
    for (const LayoutAxis& axis : axes) {
      if (axis.dimension < 0 || axis.dimension >= static_cast<int>(covered.size()) ||
          axis.stride != covered[axis.dimension]) {
        return Fail("the layout of {} is not a split of its dimensions", buffer.name);
      }
      covered[axis.dimension] *= axis.extent;
    }
    if (covered != buffer.shape) Fail("the layout of {} does not cover it", buffer.name);
  }

  void CheckTransform(const Buffer& buffer) {
    if (!buffer.transform) return;
    if (buffer.role != BufferRole::kConstant || buffer.transform->Shape() != buffer.shape) {
      Fail("{} is not what its transform makes of a constant", buffer.name);
    }
  }

  /// Written once (with its initialization before), and before it is read.
  void CheckBuffer(BufferId id) {
    const Buffer& buffer = program_.buffers[id];
    const bool is_input = IsPassedIn(buffer.role);
    int writers = 0;
    bool initialized = false;
    for (BlockId block_id : order_) {
      const Block& block = program_.blocks[block_id];
      if (block.kind != BlockKind::kInit && Loads(block.value, id) && writers == 0 && !is_input) {
        return Fail("block {} reads {} before it is written", block.name, buffer.name);
      }
      if (block.output != id) continue;
      if (block.kind == BlockKind::kInit) {
        initialized = true;
        continue;
      }
      if (block.kind == BlockKind::kUpdate && !initialized) {
        return Fail("block {} updates what was not initialized", block.name);
      }
      if (++writers > 1) return Fail("{} has several writers", buffer.name);
    }
    if (buffer.role == BufferRole::kOutput && writers == 0) {
      Fail("the output {} is not written", buffer.name);
    }
  }

  const Program& program_;
  std::vector<bool> seen_loops_, seen_blocks_;
  std::vector<bool> digit_in_scope_, digit_owned_;
  std::vector<LoopId> loops_around_;
  std::vector<BlockId> order_;
  std::string message_;
};

}  // namespace

Status Validate(const Program& program) { return Validator(program).Check(); }

}  // namespace bayloom::tensor
