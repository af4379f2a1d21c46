// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bayloom/base/random.h"
#include "bayloom/codegen/gpu/race_checker.h"
#include "bayloom/codegen/gpu/stand_in.h"
#include "bayloom/codegen/gpu/stand_in_machine.h"
#include "bayloom/target/gpu_limits.h"
#include "bayloom/target/wgmma_instruction.h"

namespace bayloom::codegen {

/// Runs blocks of threads on this processor, one after the other. Each thread is a fiber that runs
/// until it waits for others: at a barrier for all threads of the block, in a shuffle and in
/// products of matrices for those of its warp or group of
/// four warps. Asynchronous copies are carried out as late as may
/// be, when a thread waits for them; until then what they will overwrite is full of NaNs.
///
/// Fibers are switched by Boost.Context's lower interface, which needs nothing of the code that
/// runs in them: a fiber that found something wrong is left where it is, without unwinding.
class FiberBlock {
 public:
  FiberBlock(int threads, StandInOptions options);
  ~FiberBlock();
  FiberBlock(const FiberBlock&) = delete;
  FiberBlock& operator=(const FiberBlock&) = delete;

  /// Returns what went wrong, in words; nullopt if nothing did.
  std::optional<std::string> Run(StandInKernel kernel, void* const* pointers, void* shared,
                                 int64_t block, RaceChecker& checker);
  int64_t barriers() const { return barriers_; }
  int64_t copies() const { return copies_; }
  int64_t products() const { return products_; }

 private:
  struct Copy;
  struct Thread;
  enum class State : uint8_t { kReady, kAtBarrier, kInWarp, kInGroup, kDone };
  /// What the threads of a warp do together: all the same, with the same parameters.
  enum class Together : uint8_t { kShuffle, kLoadMatrices, kMultiply };
  static constexpr size_t kWarpSize = target::kWarpThreads;
  static constexpr size_t kGroupSize = target::WgmmaInstruction::kThreads;

  static void OnBarrier(StandInCalls* self);
  static uint32_t OnShuffle(StandInCalls* self, uint32_t bits, uint32_t lanes);
  static void OnLoadMatrices(StandInCalls* self, uint32_t buffer, const void* row, uint32_t count,
                             uint32_t transposed, uint32_t* registers);
  static void OnMultiply(StandInCalls* self, uint32_t type, uint32_t* registers);
  static void OnMultiplyInGroup(StandInCalls* self, uint32_t type, const StandInPanelPart* parts,
                                uint32_t columns, uint32_t* registers);
  static void OnWaitForGroup(StandInCalls* self);
  /// Checks the thread's share of what its group reads.
  static void CheckPanels(Thread& thread, std::span<const StandInPanelPart> parts,
                          uint32_t columns);
  static void OnAccess(StandInCalls* self, uint32_t buffer, const void* pointer, uint32_t bytes,
                       uint32_t is_write);
  static void OnCopy(StandInCalls* self, uint32_t to_buffer, void* to, uint32_t from_buffer,
                     const void* from, uint32_t bytes, uint32_t valid);
  static void OnCommit(StandInCalls* self);
  static void OnWait(StandInCalls* self, uint32_t groups);
  static void Wait(Thread& thread, State state);
  /// Stops the thread for ever if something went wrong.
  static void StopAt(Thread& thread, std::optional<std::string> fault);
  /// Nor products of its group.
  void CheckNoCopies(const Thread& thread);
  std::optional<std::string> FinishCopy(const Thread& thread, const Copy& copy);
  void Start(StandInKernel kernel, void* const* pointers, void* shared, int64_t block);
  void Resume(Thread& thread);
  void RunReadyThreads();
  /// Lets the warps, or groups of warps, go on whose threads, `size` each, have all come to what
  /// they do together. False if there are none.
  bool FinishAll(size_t size, bool (FiberBlock::*finish)(std::span<Thread>));
  bool FinishWarp(std::span<Thread> warp);
  bool FinishGroup(std::span<Thread> group);
  /// Finds out whether all of these threads, so many of them, wait in a state for the same; says so
  /// in words if only some do.
  bool HaveCome(std::span<Thread> threads, size_t count, State state, const char* what);
  /// Lets all go on if all are at the barrier. False at the end.
  bool FinishBarrier();

  const StandInOptions options_;
  base::RandomStream random_;
  std::byte* stacks_ = nullptr;
  std::vector<Thread> threads_;
  std::vector<int> turns_;  ///< the order in which threads run
  RaceChecker* checker_ = nullptr;
  int64_t block_ = 0;
  int epoch_ = 0;
  int64_t barriers_ = 0, copies_ = 0, products_ = 0;
  std::optional<std::string> fault_;
};

}  // namespace bayloom::codegen
