// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/codegen/gpu/fiber_block.h"

#include <fmt/format.h>
#include <llvm/Support/Compiler.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <boost/context/detail/fcontext.hpp>
#include <cstring>
#include <deque>
#include <iterator>
#include <new>
#include <numeric>
#include <span>
#include <utility>

#include "bayloom/codegen/gpu/warp_arithmetic.h"

namespace bayloom::codegen {
namespace {

namespace fiber = boost::context::detail;

constexpr size_t kStackBytes = 128 << 10;  // a kernel's arrays end at 64 KiB
constexpr int kUnknown = 0xff;  // bytes that are being copied: NaN in all types of floats

}  // namespace

struct FiberBlock::Copy {
  int to_buffer = 0, from_buffer = 0;
  std::byte* to = nullptr;
  const std::byte* from = nullptr;
  uint32_t bytes = 0, valid = 0;
};

struct FiberBlock::Thread : StandInCalls {
  FiberBlock* block = nullptr;
  int number = 0;
  State state = State::kDone;
  fiber::fcontext_t self = nullptr;    ///< where the thread goes on
  fiber::fcontext_t caller = nullptr;  ///< where the block goes on
  // What it does with its warp.
  Together together = Together::kShuffle;
  uint32_t parameter = 0;  ///< the same for all threads
  uint32_t bits = 0;       ///< of a shuffle
  const void* row = nullptr;
  uint32_t* registers = nullptr;
  std::array<StandInPanelPart, 2> parts;  ///< of its group's product
  uint32_t columns = 0;
  /// Products that were not waited for.
  std::vector<std::pair<std::array<StandInPanelPart, 2>, uint32_t>> products;
  std::vector<Copy> begun;               ///< since the last group
  std::deque<std::vector<Copy>> groups;  ///< not waited for, oldest first
  StandInKernel kernel = nullptr;
  void* const* pointers = nullptr;
  void* shared = nullptr;

  /// Waits until all threads of the warp have come, and what they do is done.
  void Join(Together what, uint32_t with) {
    together = what;
    parameter = with;
    Wait(*this, State::kInWarp);
  }
  Accessor accessor() const { return {block->block_, number, block->epoch_}; }

  static void Enter(fiber::transfer_t from) {
    auto& thread = *static_cast<Thread*>(from.data);
    thread.caller = from.fctx;
    thread.kernel(thread.pointers, thread.shared, &thread, static_cast<uint32_t>(thread.number),
                  static_cast<uint32_t>(thread.block->block_));
    thread.block->CheckNoCopies(thread);
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

FiberBlock::~FiberBlock() {
  // What is mapped there next has nothing of fibers that were left where they were.
  __asan_unpoison_memory_region(stacks_, kStackBytes * threads_.size());
  munmap(stacks_, kStackBytes * threads_.size());
}

std::optional<std::string> FiberBlock::Run(StandInKernel kernel, void* const* pointers,
                                           void* shared, int64_t block, RaceChecker& checker) {
  checker_ = &checker;
  checker.BeginBlock();
  Start(kernel, pointers, shared, block);
  do {
    RunReadyThreads();
  } while (!fault_ && (FinishAll(kWarpSize, &FiberBlock::FinishWarp) ||
                       FinishAll(kGroupSize, &FiberBlock::FinishGroup) || FinishBarrier()));
  return fault_;
}

void FiberBlock::Start(StandInKernel kernel, void* const* pointers, void* shared, int64_t block) {
  block_ = block;
  epoch_ = 0;
  fault_.reset();
  // Fibers that were left where they were are forgotten.
  __asan_unpoison_memory_region(stacks_, kStackBytes * threads_.size());
  for (size_t i = 0; i < threads_.size(); ++i) {
    Thread& thread = threads_[i];
    thread.barrier = OnBarrier;
    thread.shuffle = OnShuffle;
    thread.load_matrices = OnLoadMatrices;
    thread.multiply = OnMultiply;
    thread.multiply_in_group = OnMultiplyInGroup;
    thread.wait_for_group = OnWaitForGroup;
    thread.access = OnAccess;
    thread.copy = OnCopy;
    thread.commit = OnCommit;
    thread.wait = OnWait;
    thread.begun.clear();
    thread.groups.clear();
    thread.products.clear();
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
  thread.Join(Together::kShuffle, lanes);
  return thread.bits;
}

void FiberBlock::OnLoadMatrices(StandInCalls* self, uint32_t buffer, const void* row,
                                uint32_t count, uint32_t transposed, uint32_t* registers) {
  auto& thread = *static_cast<Thread*>(self);
  const bool names_row =
      static_cast<size_t>(thread.number) % kWarpSize < size_t{count} * kMatrixRows;
  if (names_row) {
    if (reinterpret_cast<uintptr_t>(row) % kMatrixRowBytes != 0) {
      StopAt(thread, fmt::format("matrices: thread {} of block {} names a row that is not aligned "
                                 "to {} bytes",
                                 thread.number, thread.block->block_, kMatrixRowBytes));
    }
    StopAt(thread, thread.block->checker_->Check(static_cast<int>(buffer),
                                                 static_cast<const std::byte*>(row),
                                                 kMatrixRowBytes, false, thread.accessor()));
  }
  thread.row = row;
  thread.registers = registers;
  thread.Join(Together::kLoadMatrices, 2 * count + transposed);
}

void FiberBlock::OnMultiply(StandInCalls* self, uint32_t type, uint32_t* registers) {
  auto& thread = *static_cast<Thread*>(self);
  thread.registers = registers;
  thread.Join(Together::kMultiply, type);
}

void FiberBlock::CheckPanels(Thread& thread, std::span<const StandInPanelPart> parts,
                             uint32_t columns) {
  const size_t lines[] = {target::WgmmaInstruction::kRows, columns};
  for (size_t side = 0; side < parts.size(); ++side) {
    for (size_t piece = static_cast<size_t>(thread.number) % kGroupSize; piece < 2 * lines[side];
         piece += kGroupSize) {
      StopAt(thread, thread.block->checker_->Check(
                         static_cast<int>(parts[side].buffer), PanelPiece(parts[side], piece),
                         target::kSwizzledPieceBytes, false, thread.accessor()));
    }
  }
}

void FiberBlock::OnMultiplyInGroup(StandInCalls* self, uint32_t type, const StandInPanelPart* parts,
                                   uint32_t columns, uint32_t* registers) {
  auto& thread = *static_cast<Thread*>(self);
  thread.parts = {parts[0], parts[1]};
  thread.columns = columns;
  thread.registers = registers;
  thread.parameter = type;
  CheckPanels(thread, thread.parts, columns);
  thread.products.emplace_back(thread.parts, columns);
  Wait(thread, State::kInGroup);
}

void FiberBlock::OnWaitForGroup(StandInCalls* self) {
  auto& thread = *static_cast<Thread*>(self);
  for (const auto& [parts, columns] : thread.products) CheckPanels(thread, parts, columns);
  thread.products.clear();
}

void FiberBlock::OnAccess(StandInCalls* self, uint32_t buffer, const void* pointer, uint32_t bytes,
                          uint32_t is_write) {
  auto& thread = *static_cast<Thread*>(self);
  StopAt(thread, thread.block->checker_->Check(static_cast<int>(buffer),
                                               static_cast<const std::byte*>(pointer), bytes,
                                               is_write != 0, thread.accessor()));
}

void FiberBlock::StopAt(Thread& thread, std::optional<std::string> fault) {
  if (!fault) return;
  thread.block->fault_ = std::move(fault);
  Wait(thread, State::kDone);
}

void FiberBlock::OnCopy(StandInCalls* self, uint32_t to_buffer, void* to, uint32_t from_buffer,
                        const void* from, uint32_t bytes, uint32_t valid) {
  auto& thread = *static_cast<Thread*>(self);
  RaceChecker& checker = *thread.block->checker_;
  const Copy copy{static_cast<int>(to_buffer),
                  static_cast<int>(from_buffer),
                  static_cast<std::byte*>(to),
                  static_cast<const std::byte*>(from),
                  bytes,
                  valid};
  if (reinterpret_cast<uintptr_t>(to) % bytes != 0 ||
      (valid > 0 && reinterpret_cast<uintptr_t>(from) % bytes != 0)) {
    StopAt(thread, fmt::format("copy: thread {} of block {} copies {} bytes from or to an address "
                               "that is not aligned to as many",
                               thread.number, thread.block->block_, bytes));
  }
  StopAt(thread, checker.Check(copy.from_buffer, copy.from, valid, false, thread.accessor()));
  StopAt(thread, checker.BeginCopy(copy.to_buffer, copy.to, bytes, thread.accessor()));
  std::memset(copy.to, kUnknown, bytes);
  thread.begun.push_back(copy);
  ++thread.block->copies_;
}

void FiberBlock::OnCommit(StandInCalls* self) {
  auto& thread = *static_cast<Thread*>(self);
  thread.groups.push_back(std::exchange(thread.begun, {}));
}

void FiberBlock::OnWait(StandInCalls* self, uint32_t groups) {
  auto& thread = *static_cast<Thread*>(self);
  while (thread.groups.size() > groups) {
    for (const Copy& copy : thread.groups.front()) {
      StopAt(thread, thread.block->FinishCopy(thread, copy));
    }
    thread.groups.pop_front();
  }
}

std::optional<std::string> FiberBlock::FinishCopy(const Thread& thread, const Copy& copy) {
  if (auto fault =
          checker_->Check(copy.from_buffer, copy.from, copy.valid, false, thread.accessor())) {
    return fault;
  }
  std::memset(copy.to, 0, copy.bytes);
  std::memcpy(copy.to, copy.from, copy.valid);
  return checker_->EndCopy(copy.to_buffer, copy.to, copy.bytes, thread.accessor());
}

/// At the end of a thread.
void FiberBlock::CheckNoCopies(const Thread& thread) {
  const bool none =
      thread.begun.empty() && std::ranges::all_of(thread.groups, &std::vector<Copy>::empty);
  if ((none && thread.products.empty()) || fault_) return;
  fault_ = fmt::format("{}: thread {} of block {} ends without having waited for its {}",
                       none ? "matrices" : "copy", thread.number, block_,
                       none ? "group's products" : "copies");
}

void FiberBlock::RunReadyThreads() {
  if (options_.order == StandInOptions::Order::kRandom) random_.Shuffle(turns_);
  for (int turn : turns_) {
    Thread& thread = threads_[static_cast<size_t>(turn)];
    if (thread.state == State::kReady) Resume(thread);
    if (fault_) return;
  }
}

bool FiberBlock::FinishAll(size_t size, bool (FiberBlock::*finish)(std::span<Thread>)) {
  bool any = false;
  const std::span<Thread> all(threads_);
  for (size_t begin = 0; begin < all.size() && !fault_; begin += size) {
    any |= (this->*finish)(all.subspan(begin, std::min(size, all.size() - begin)));
  }
  return any && !fault_;
}

bool FiberBlock::HaveCome(std::span<Thread> threads, size_t count, State state, const char* what) {
  const auto waits = [&](const Thread& thread) { return thread.state == state; };
  const auto first = std::ranges::find_if(threads, waits);
  if (first == threads.end()) return false;
  const auto elsewhere = std::ranges::find_if(threads, [&](const Thread& thread) {
    return !waits(thread) || thread.together != first->together ||
           thread.parameter != first->parameter || thread.columns != first->columns;
  });
  if (elsewhere == threads.end() && threads.size() == count) return true;
  const int missing =
      elsewhere != threads.end() ? elsewhere->number : static_cast<int>(threads_.size());
  const bool is_shuffle = state == State::kInWarp && first->together == Together::kShuffle;
  fault_ = fmt::format("{}: in block {}, thread {} does not take part in what its {} does",
                       is_shuffle ? "shuffle" : "matrices", block_, missing, what);
  return false;
}

bool FiberBlock::FinishGroup(std::span<Thread> group) {
  if (!HaveCome(group, kGroupSize, State::kInGroup, "group of warps")) return false;
  OfGroup<uint32_t*> sums;
  for (size_t i = 0; i < kGroupSize; ++i) sums[i] = group[i].registers;
  MultiplyPanels(static_cast<tensor::DType>(group[0].parameter), group[0].parts.data(),
                 group[0].columns, sums);
  ++products_;
  for (Thread& thread : group) thread.state = State::kReady;
  return true;
}

bool FiberBlock::FinishWarp(std::span<Thread> warp) {
  if (!HaveCome(warp, kWarpSize, State::kInWarp, "warp")) return false;
  const Thread* const first = &warp.front();
  std::array<uint32_t*, kWarpSize> registers;
  std::array<const void*, kWarpSize> rows;
  std::array<uint32_t, kWarpSize> bits;
  for (size_t i = 0; i < kWarpSize; ++i) {
    registers[i] = warp[i].registers;
    rows[i] = warp[i].row;
    if (first->together == Together::kShuffle) bits[i] = warp[i ^ warp[i].parameter].bits;
  }
  const uint32_t parameter = first->parameter;
  switch (first->together) {
    case Together::kShuffle:
      for (size_t i = 0; i < kWarpSize; ++i) warp[i].bits = bits[i];
      break;
    case Together::kLoadMatrices:
      LoadMatrices(rows, parameter / 2, parameter % 2 != 0, registers);
      break;
    case Together::kMultiply:
      MultiplyMatrices(static_cast<tensor::DType>(parameter), registers);
      ++products_;
      break;
  }
  for (Thread& thread : warp) thread.state = State::kReady;
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
