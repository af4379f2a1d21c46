// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/codegen/internal/gpu/fiber_block.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <boost/context/detail/fcontext.hpp>
#include <new>
#include <numeric>
#include <span>

namespace bayloom::codegen {
namespace {

namespace fiber = boost::context::detail;

constexpr size_t kStackBytes = 64 << 10;  // a kernel's arrays end at 16 KiB
constexpr size_t kWarpSize = 32;

}  // namespace

struct FiberBlock::Thread : StandInCalls {
  FiberBlock* block = nullptr;
  int number = 0;
  State state = State::kDone;
  fiber::fcontext_t self = nullptr;    ///< where the thread goes on
  fiber::fcontext_t caller = nullptr;  ///< where the block goes on
  uint32_t bits = 0, lanes = 0;        ///< of a shuffle
  StandInKernel kernel = nullptr;
  void* const* pointers = nullptr;
  void* shared = nullptr;

  static void Enter(fiber::transfer_t from) {
    auto& thread = *static_cast<Thread*>(from.data);
    thread.caller = from.fctx;
    thread.kernel(thread.pointers, thread.shared, &thread, static_cast<uint32_t>(thread.number),
                  static_cast<uint32_t>(thread.block->block_));
    Wait(thread, State::kDone);
  }
};

FiberBlock::FiberBlock(int threads, StandInOptions options)
    : options_(options),
      random_(options.seed),
      threads_(static_cast<size_t>(threads)),
      turns_(static_cast<size_t>(threads)) {
  void* memory = mmap(nullptr, kStackBytes * threads_.size(), PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  stacks_ = static_cast<std::byte*>(memory);
  std::iota(turns_.begin(), turns_.end(), 0);
  if (options.order == StandInOptions::Order::kBackward) std::ranges::reverse(turns_);
}

FiberBlock::~FiberBlock() { munmap(stacks_, kStackBytes * threads_.size()); }

std::optional<std::string> FiberBlock::Run(StandInKernel kernel, void* const* pointers,
                                           void* shared, int64_t block, RaceChecker& checker) {
  checker_ = &checker;
  checker.BeginBlock();
  Start(kernel, pointers, shared, block);
  do {
    RunReadyThreads();
  } while (!fault_ && (FinishShuffles() || FinishBarrier()));
  return fault_;
}

void FiberBlock::Start(StandInKernel kernel, void* const* pointers, void* shared, int64_t block) {
  block_ = block;
  epoch_ = 0;
  fault_.reset();
  for (size_t i = 0; i < threads_.size(); ++i) {
    Thread& thread = threads_[i];
    thread.barrier = OnBarrier;
    thread.shuffle = OnShuffle;
    thread.access = OnAccess;
    thread.block = this;
    thread.number = static_cast<int>(i);
    thread.state = State::kReady;
    thread.self = fiber::make_fcontext(stacks_ + kStackBytes * (i + 1), kStackBytes, Thread::Enter);
    thread.kernel = kernel;
    thread.pointers = pointers;
    thread.shared = shared;
  }
}

void FiberBlock::Wait(Thread& thread, State state) {
  thread.state = state;
  thread.caller = fiber::jump_fcontext(thread.caller, nullptr).fctx;
}

void FiberBlock::Resume(Thread& thread) {
  thread.self = fiber::jump_fcontext(thread.self, &thread).fctx;
}

void FiberBlock::OnBarrier(StandInCalls* self) {
  Wait(*static_cast<Thread*>(self), State::kAtBarrier);
}

uint32_t FiberBlock::OnShuffle(StandInCalls* self, uint32_t bits, uint32_t lanes) {
  auto& thread = *static_cast<Thread*>(self);
  thread.bits = bits;
  thread.lanes = lanes;
  Wait(thread, State::kInShuffle);
  return thread.bits;
}

void FiberBlock::OnAccess(StandInCalls* self, uint32_t buffer, const void* pointer, uint32_t bytes,
                          uint32_t is_write) {
  auto& thread = *static_cast<Thread*>(self);
  FiberBlock& block = *thread.block;
  const Accessor accessor{block.block_, thread.number, block.epoch_};
  block.fault_ =
      block.checker_->Check(static_cast<int>(buffer), static_cast<const std::byte*>(pointer), bytes,
                            is_write != 0, accessor);
  if (block.fault_) Wait(thread, State::kDone);  // for ever
}

void FiberBlock::RunReadyThreads() {
  if (options_.order == StandInOptions::Order::kRandom) random_.Shuffle(turns_);
  for (int turn : turns_) {
    Thread& thread = threads_[static_cast<size_t>(turn)];
    if (thread.state == State::kReady) Resume(thread);
    if (fault_) return;
  }
}

bool FiberBlock::FinishShuffles() {
  bool any = false;
  for (size_t begin = 0; begin < threads_.size() && !fault_; begin += kWarpSize) {
    any |= FinishShuffle(begin, std::min(begin + kWarpSize, threads_.size()));
  }
  return any && !fault_;
}

bool FiberBlock::FinishShuffle(size_t begin, size_t end) {
  const auto warp = std::span(threads_).subspan(begin, end - begin);
  const auto shuffles = [](const Thread& thread) { return thread.state == State::kInShuffle; };
  if (std::ranges::none_of(warp, shuffles)) return false;
  const auto elsewhere = std::ranges::find_if(warp, [&](const Thread& thread) {
    return !shuffles(thread) || thread.lanes != warp[0].lanes;
  });
  if (elsewhere != warp.end() || warp.size() < kWarpSize) {
    const int missing = elsewhere != warp.end() ? elsewhere->number : static_cast<int>(end);
    fault_ = fmt::format("shuffle: in block {}, thread {} does not take part in its warp's", block_,
                         missing);
    return false;
  }
  uint32_t got[kWarpSize];
  for (size_t i = 0; i < kWarpSize; ++i) got[i] = warp[i ^ warp[i].lanes].bits;
  for (size_t i = 0; i < kWarpSize; ++i) {
    warp[i].bits = got[i];
    warp[i].state = State::kReady;
  }
  return true;
}

bool FiberBlock::FinishBarrier() {
  if (fault_) return false;
  const auto waits = [](const Thread& thread) { return thread.state == State::kAtBarrier; };
  const auto ended = std::ranges::find_if_not(threads_, waits);
  if (ended == threads_.end()) {
    for (Thread& thread : threads_) thread.state = State::kReady;
    ++epoch_;
    ++barriers_;
    return true;
  }
  const auto waiting = std::ranges::find_if(threads_, waits);
  if (waiting != threads_.end()) {
    fault_ = fmt::format(
        "barrier: in block {}, thread {} waits after {} barriers, thread {} has "
        "ended",
        block_, waiting->number, epoch_, ended->number);
  }
  return false;
}

}  // namespace bayloom::codegen
