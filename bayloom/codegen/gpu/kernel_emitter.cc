// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/codegen/gpu/kernel_emitter.h"

#include <algorithm>

#include "bayloom/codegen/ir/arithmetic.h"
#include "bayloom/codegen/ir/reduction.h"

namespace bayloom::codegen {
namespace {

/// Iterations of a loop distributed to threads that one thread has, emitted one after the other;
/// more become a loop. Their indices are computed once, where the kernel begins.
constexpr int64_t kMaxUnrolledShare = 8;

int PointerCount(const tensor::Program& program) {
  return static_cast<int>(program.Parameters().size()) + 1;
}

}  // namespace

KernelEmitter::KernelEmitter(llvm::Module& module, const tensor::Program& program,
                             const plan::GpuPlan& plan, const plan::KernelPlan& kernel,
                             const AliasScopes& scopes, Machine& machine, const std::string& symbol)
    : program_(program),
      plan_(plan),
      kernel_(kernel),
      machine_(machine),
      function_(machine.BeginKernel(module, symbol, {PointerCount(program), kernel.threads})),
      builder_(llvm::BasicBlock::Create(module.getContext(), "entry", function_)),
      digits_(program),
      addresses_(builder_),
      memory_(program, plan, scopes, builder_, addresses_, machine, PointerCount(program) - 1),
      state_{program_, builder_, digits_, addresses_, memory_, {}, {}},
      loops_(function_, state_),
      anchor_(builder_.CreateAlloca(builder_.getInt8Ty())) {
  digits_.Add(plan.pipelines.size());
  addresses_.SetEntry(anchor_);
  llvm::FastMathFlags flags;
  flags.setAllowContract(true);
  builder_.setFastMathFlags(flags);
}

llvm::Function* KernelEmitter::Emit() {
  auto* work = llvm::BasicBlock::Create(builder_.getContext(), "work", function_);
  llvm::BranchInst* begin = builder_.CreateBr(work);
  builder_.SetInsertPoint(begin);
  DefineSizes();
  thread_ = machine_.ThreadIndex(builder_);
  kernel_.grid >= 0 ? EmitGrid(*work) : EmitBlocks(*work);
  builder_.CreateRetVoid();
  return function_;
}

void KernelEmitter::EmitBlocks(llvm::BasicBlock& work) {
  llvm::Value* exists = nullptr;
  if (kernel_.blocks > 1) {
    llvm::Value* block = machine_.BlockIndex(builder_);
    const std::map<tensor::DigitId, llvm::Value*> trips = GridTrips(block->getType());
    if (!trips.empty()) exists = builder_.CreateICmpULT(block, GridIterations(trips, block));
    for (llvm::Value* value : loops_.DefineDigits(kernel_.GridDigits(program_), block, trips)) {
      addresses_.DefineAtEntry(value);
    }
  }
  llvm::Value* first = kernel_.threads > 1 ? builder_.CreateICmpEQ(thread_, Number(0)) : nullptr;
  // What is hoisted to the entry comes after all of this.
  addresses_.SetEntry(function_->getEntryBlock().getTerminator()->getPrevNode());
  builder_.SetInsertPoint(&work);
  EmitIf(exists, [&] { EmitNodes(kernel_.Body(program_), {first, nullptr, 0, nullptr}); });
}

void KernelEmitter::EmitGrid(llvm::BasicBlock& work) {
  llvm::Value* block = builder_.CreateZExt(machine_.BlockIndex(builder_), builder_.getInt64Ty());
  llvm::Value* position = builder_.CreateAdd(
      builder_.CreateMul(block, builder_.getInt64(static_cast<uint64_t>(kernel_.threads))),
      builder_.CreateZExt(thread_, builder_.getInt64Ty()));
  const int64_t extent = program_.ExtentOf(kernel_.grid);
  if (extent < (int64_t{1} << 31)) {
    position = builder_.CreateTrunc(position, builder_.getInt32Ty());
  }
  const std::map<tensor::DigitId, llvm::Value*> trips = GridTrips(position->getType());
  llvm::Value* exists = nullptr;
  if (!trips.empty() || extent % kernel_.threads != 0) {
    exists = builder_.CreateICmpULT(position, GridIterations(trips, position));
  }
  for (llvm::Value* value :
       loops_.DefineDigits(program_.loops[kernel_.grid].digits, position, trips)) {
    addresses_.DefineAtEntry(value);
  }
  addresses_.SetEntry(function_->getEntryBlock().getTerminator()->getPrevNode());
  builder_.SetInsertPoint(&work);
  EmitIf(exists, [&] { EmitBody(kernel_.grid); });
}

// --- What threads do together --------------------------------------------------------------------

void KernelEmitter::EmitNodes(const std::vector<tensor::NodeRef>& nodes, const Team& team) {
  for (tensor::NodeRef node : nodes) {
    EmitNode(node, team);
    FinishGroupProducts();
  }
}

void KernelEmitter::EmitNode(tensor::NodeRef node, const Team& team) {
  if (kernel_.barriers.contains(plan::KeyOf(node))) Barrier();
  if (!plan::IsCollective(program_, node)) {
    return EmitIf(team.active, [&] { EmitTree(node); });
  }
  const tensor::Loop& loop = program_.loops[node.id];
  if (loop.kind == tensor::LoopKind::kCooperative) return EmitCooperative(node.id);
  if (loop.kind == tensor::LoopKind::kThreadReduce) return EmitThreadReduce(node.id, team);
  const auto nest = plan_.thread_nests.find(node.id);
  if (nest != plan_.thread_nests.end()) return EmitThreads(nest->second);
  const auto pipeline = plan_.pipelines.find(node.id);
  if (pipeline != plan_.pipelines.end()) return EmitPipeline(node.id, pipeline->second, team);
  IterateDigits(loop.digits, 0, plan_.unrolled.contains(node.id), true,
                [&] { EmitNodes(loop.body, team); });
}

void KernelEmitter::EmitThreads(const plan::ThreadNest& nest) {
  std::vector<tensor::DigitId> digits;
  for (tensor::LoopId loop : nest.loops) {
    const std::vector<tensor::DigitId>& own = program_.loops[loop].digits;
    digits.insert(digits.end(), own.begin(), own.end());
  }
  Team team;
  team.group = nest.group;
  team.nest = &nest;
  addresses_.AtEntry([&] {
    llvm::Value* place =
        nest.group > 1 ? builder_.CreateUDiv(thread_, Number(nest.group)) : thread_;
    for (llvm::Value* value : loops_.DefineDigits(digits, place)) addresses_.DefineAtEntry(value);
    if (nest.threads() < kernel_.threads) {
      team.active = team.member = builder_.CreateICmpULT(thread_, Number(nest.threads()));
    }
    if (nest.group > 1) {
      llvm::Value* leads =
          builder_.CreateICmpEQ(builder_.CreateURem(thread_, Number(nest.group)), Number(0));
      team.active = team.active ? builder_.CreateAnd(team.active, leads) : leads;
    }
    return thread_;
  });
  team.active = Both(team.active, ThreadsWithin(nest, digits));
  thread_digits_.insert(digits.begin(), digits.end());
  EmitNodes(program_.loops[nest.loops.back()].body, team);
  thread_digits_.clear();
  Forget(digits);
}

void KernelEmitter::EmitCooperative(tensor::LoopId loop) {
  llvm::Value* thread = addresses_.AtEntry([&] { return machine_.ThreadIndex(builder_); });
  EmitShare(loop, thread, kernel_.threads);
}

void KernelEmitter::EmitShare(tensor::LoopId loop, llvm::Value* first, int threads) {
  const int64_t extent = program_.ExtentOf(loop);
  const int64_t rounds = (extent + threads - 1) / threads;
  llvm::Value* within = IterationsWithin(program_.loops[loop].digits);
  llvm::Value* end = within ? builder_.CreateTrunc(within, builder_.getInt32Ty()) : Number(extent);
  if (rounds <= kMaxUnrolledShare) {
    for (int64_t round = 0; round < rounds; ++round) {
      llvm::Value* position =
          addresses_.AtEntry([&] { return builder_.CreateAdd(first, Number(round * threads)); });
      const bool is_whole = !within && (round + 1) * threads <= extent;
      EmitIteration(loop, position, is_whole ? nullptr : end, true);
    }
    return;
  }
  llvm::Value* count = builder_.getInt64(static_cast<uint64_t>(rounds));
  if (within) {
    const auto number = [&](int64_t n) { return builder_.getInt64(static_cast<uint64_t>(n)); };
    count = builder_.CreateUDiv(builder_.CreateAdd(within, number(threads - 1)), number(threads));
  }
  loops_.EmitLoop(builder_.getInt64(0), count, [&](llvm::PHINode* round) {
    llvm::Value* begin =
        builder_.CreateMul(builder_.CreateTrunc(round, builder_.getInt32Ty()), Number(threads));
    EmitIteration(loop, builder_.CreateAdd(begin, first),
                  within || extent % threads != 0 ? end : nullptr, false);
  });
}

void KernelEmitter::EmitIteration(tensor::LoopId loop, llvm::Value* position, llvm::Value* end,
                                  bool at_entry) {
  const std::vector<tensor::DigitId>& digits = program_.loops[loop].digits;
  llvm::Value* exists = nullptr;
  const auto define = [&] {
    if (end && llvm::isa<llvm::Constant>(end)) exists = builder_.CreateICmpULT(position, end);
    return loops_.DefineDigits(digits, position);
  };
  if (at_entry) {
    addresses_.AtEntry([&] {
      for (llvm::Value* value : define()) addresses_.DefineAtEntry(value);
      return position;
    });
  } else {
    const std::vector<llvm::Value*> values = define();
    addresses_.Define(values, &builder_.GetInsertBlock()->back(), loops_.depth());
  }
  if (end && !exists) exists = builder_.CreateICmpULT(position, end);
  EmitIf(exists, [&] { EmitBody(loop); });
  Forget(digits);
}

/// Each thread combines its share, then the threads combine theirs; the first one of the group
/// stores the result.
void KernelEmitter::EmitThreadReduce(tensor::LoopId loop, const Team& team) {
  const int threads = plan::ReducingThreads(program_, loop);
  const tensor::BlockId id = program_.BlocksBelow(tensor::NodeRef::Loop(loop)).front();
  const tensor::Block& block = program_.blocks[id];
  const tensor::DType dtype = program_.buffers[block.output].dtype;
  llvm::Type* type = RegisterType(builder_.getContext(), dtype, 1);
  llvm::Value* number = nullptr;  // in the group
  llvm::Value* member = team.member;
  llvm::Value* leads = nullptr;
  addresses_.AtEntry([&] {
    partial_ = builder_.CreateAlloca(type);
    number = threads == kernel_.threads ? thread_ : builder_.CreateURem(thread_, Number(threads));
    leads = builder_.CreateICmpEQ(number, Number(0));
    if (team.nest == nullptr && threads < kernel_.threads) {
      member = builder_.CreateICmpULT(thread_, Number(threads));
    }
    if (member) leads = builder_.CreateAnd(leads, member);
    return thread_;
  });
  builder_.CreateStore(NeutralValue(state_, block), partial_);
  shared_block_ = id;
  EmitIf(member, [&] { EmitShare(loop, number, threads); });
  shared_block_ = -1;
  llvm::Value* value = builder_.CreateLoad(type, partial_);
  value = Combine(block, value, std::min(threads, 32));
  if (threads > 32) value = CombineWarps(block, value, threads);
  EmitIf(leads, [&] {
    EmitWithin(id, [&] {
      const plan::PlacedAccess& store = plan_.accesses.at(id).store;
      llvm::Value* old = OldValue(state_, block, store);
      memory_.Store(block.output, digits_.Evaluate(store.affine), state_.chunk,
                    EmitBinary(builder_, CombiningOp(block.reduction), dtype, old, value));
    });
  });
}

/// The values of `threads` neighbouring threads of a warp, a power of two.
llvm::Value* KernelEmitter::Combine(const tensor::Block& block, llvm::Value* value, int threads) {
  const tensor::DType dtype = program_.buffers[block.output].dtype;
  for (int lanes = threads / 2; lanes > 0; lanes /= 2) {
    llvm::Value* other = machine_.Shuffle(builder_, value, lanes);
    value = EmitBinary(builder_, CombiningOp(block.reduction), dtype, value, other);
  }
  return value;
}

/// The values of a group's warps, through shared memory.
llvm::Value* KernelEmitter::CombineWarps(const tensor::Block& block, llvm::Value* value,
                                         int threads) {
  const tensor::DType dtype = program_.buffers[block.output].dtype;
  const int64_t bytes = tensor::ByteSize(dtype);
  const int warps = threads / 32, scratch = static_cast<int>(program_.buffers.size());
  llvm::Type* type = MemoryType(builder_.getContext(), dtype);
  const auto slot = [&](llvm::Value* index) {
    llvm::Value* base = builder_.CreatePtrAdd(
        machine_.SharedMemory(builder_),
        builder_.getInt64(static_cast<uint64_t>(kernel_.shared_bytes - kernel_.scratch_bytes)));
    llvm::Value* wide = builder_.CreateZExt(index, builder_.getInt64Ty());
    return builder_.CreatePtrAdd(
        base, builder_.CreateMul(wide, builder_.getInt64(static_cast<uint64_t>(bytes))));
  };
  llvm::Value* lane = builder_.CreateURem(thread_, Number(32));
  EmitIf(builder_.CreateICmpEQ(lane, Number(0)), [&] {
    llvm::Value* at = slot(builder_.CreateUDiv(thread_, Number(32)));
    machine_.BeforeAccess(builder_, scratch, at, bytes, nullptr, true);
    builder_.CreateStore(ToMemory(builder_, value, dtype), at);
  });
  Barrier();
  builder_.CreateStore(NeutralValue(state_, block), partial_);
  EmitIf(builder_.CreateICmpULT(lane, Number(warps)), [&] {
    llvm::Value* group = builder_.CreateUDiv(thread_, Number(threads));
    llvm::Value* at = slot(builder_.CreateAdd(builder_.CreateMul(group, Number(warps)), lane));
    machine_.BeforeAccess(builder_, scratch, at, bytes, nullptr, false);
    builder_.CreateStore(FromMemory(builder_, builder_.CreateLoad(type, at), dtype), partial_);
  });
  value = builder_.CreateLoad(partial_->getAllocatedType(), partial_);
  return Combine(block, value, 32);
}

void KernelEmitter::Barrier() {
  if (!plan_.group_products.empty()) machine_.ShareWithGroups(builder_);
  machine_.Barrier(builder_);
  memory_.ForgetLoads();
  matrices_.clear();
}

// --- What one thread does ------------------------------------------------------------------------

void KernelEmitter::EmitBody(tensor::LoopId loop) {
  for (tensor::NodeRef child : program_.loops[loop].body) EmitTree(child);
}

void KernelEmitter::EmitTree(tensor::NodeRef node) {
  if (node.is_block()) return EmitBlock(node.id);
  if (const tensor::BlockId block = BoundedHere(node); block >= 0) {
    llvm::Value* within = WithinBounds(program_.blocks[block]);
    within_.insert(block);
    EmitIf(within, [&] { EmitTree(node); });
    within_.erase(block);
    return;
  }
  if (const auto product = plan_.warp_products.find(node.id);
      product != plan_.warp_products.end()) {
    return EmitWarpProduct(product->second);
  }
  if (const auto product = plan_.group_products.find(node.id);
      product != plan_.group_products.end()) {
    return EmitGroupProduct(product->second);
  }
  const bool unroll = plan_.unrolled.contains(node.id);
  const auto vector = plan_.vector_loops.find(node.id);
  if (vector == plan_.vector_loops.end()) {
    IterateDigits(program_.loops[node.id].digits, 0, unroll, false, [&] { EmitBody(node.id); });
    return;
  }
  IterateDigits(vector->second.outer, 0, unroll, false, [&] {
    IterateLanes(vector->second, unroll, [&] { EmitBody(vector->second.loops.back()); });
  });
}

void KernelEmitter::IterateDigits(const std::vector<tensor::DigitId>& digits, size_t from,
                                  bool unroll, bool together, const Body& body) {
  if (from == digits.size()) return body();
  const int64_t extent = program_.digit_extents[digits[from]];
  const auto rest = [&] { IterateDigits(digits, from + 1, unroll, together, body); };
  if (unroll || extent == 1) {
    loops_.Repeat(digits[from], extent, rest);
  } else if (llvm::Value* trips = TripsOf(digits[from], together)) {
    loops_.RunLoop(digits[from], trips, extent, 1, rest);
  } else {
    loops_.RunLoop(digits[from], extent, 1, rest);
  }
}

void KernelEmitter::IterateLanes(const plan::VectorLoop& vector, bool unroll, const Body& body) {
  std::vector<plan::Chunk> chunks = vector.Chunks();
  if (!unroll && static_cast<int64_t>(chunks.size()) > plan::kMaxChunks) {
    const int64_t whole = vector.lane_count / vector.width;
    loops_.RunLoop(vector.lanes.back(), whole, vector.width, [&] {
      loops_.RunChunk(vector, {0, vector.width, vector.width}, body);
    });
    chunks.erase(chunks.begin(), chunks.begin() + whole);
  }
  for (const plan::Chunk& chunk : chunks) loops_.RunChunk(vector, chunk, body);
}

void KernelEmitter::EmitBlock(tensor::BlockId id) {
  if (const auto copy = plan_.async_copies.find(id); copy != plan_.async_copies.end()) {
    return EmitAsyncCopy(id, copy->second);
  }
  // What threads share of a reduction goes into registers.
  id == shared_block_ ? EmitStatement(id) : EmitWithin(id, [&] { EmitStatement(id); });
}

void KernelEmitter::EmitStatement(tensor::BlockId id) {
  const tensor::Block& block = program_.blocks[id];
  const plan::BlockAccesses& accesses = plan_.accesses.at(id);
  ExpressionEmitter values(state_, accesses);
  if (id == shared_block_) {
    llvm::Value* old = builder_.CreateLoad(partial_->getAllocatedType(), partial_);
    builder_.CreateStore(WithOneMore(state_, block, values, old), partial_);
    return;
  }
  llvm::Value* value = nullptr;
  if (block.kind == tensor::BlockKind::kInit) {
    value = NeutralValue(state_, block);
  } else if (block.kind == tensor::BlockKind::kPlain) {
    value = values.Emit(block.value);
  } else {
    value = WithOneMore(state_, block, values, OldValue(state_, block, accesses.store));
  }
  memory_.Store(block.output, digits_.Evaluate(accesses.store.affine), state_.chunk, value);
}

void KernelEmitter::EmitWithin(tensor::BlockId id, const Body& body) {
  const tensor::Block& block = program_.blocks[id];
  bool any = true;
  llvm::Value* within = block.guarded ? WithinExtents(block, any) : nullptr;
  if (!any) return;
  const bool ends = plan_.EndsAtBounds(block) && !within_.contains(id);
  if (ends) within = Both(within, WithinBounds(block));
  EmitIf(within, body);
}

llvm::Value* KernelEmitter::WithinExtents(const tensor::Block& block, bool& any) {
  llvm::Value* within = nullptr;
  for (size_t i = 0; i < block.iters.size(); ++i) {
    const int64_t extent = block.iters[i].extent;
    const tensor::IndexRange range = digits_.RangeOf(block.bindings[i]);
    if (range.max < extent) continue;
    any &= range.min < extent;
    within =
        Both(within, builder_.CreateICmpULT(addresses_.Scalar(digits_.Evaluate(block.bindings[i])),
                                            builder_.getInt64(static_cast<uint64_t>(extent))));
  }
  return within;
}

void KernelEmitter::EmitIf(llvm::Value* condition, const Body& body) {
  if (condition) return loops_.EmitIf(condition, body);
  body();
}

void KernelEmitter::Forget(const std::vector<tensor::DigitId>& digits) {
  for (tensor::DigitId digit : digits) {
    if (program_.digit_extents[digit] > 1) digits_[digit] = DigitValue{};
  }
}

}  // namespace bayloom::codegen
