// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "bayloom/codegen/ir/expression.h"
#include "bayloom/codegen/ir/loop_emitter.h"
#include "bayloom/plan/cpu/cpu_plan.h"

namespace bayloom::codegen {

/// What all functions of a module have in common.
struct ModuleState {
  const tensor::Program& program;
  const plan::CpuPlan& plan;
  llvm::Module& module;
  const AliasScopes& scopes;
  std::string symbol;
  int parallel_loops = 0;  ///< outlined so far
};

/// The loops of a tile of sums that is being emitted.
class TileLoops {
 public:
  virtual ~TileLoops() = default;
  /// Steps that the digit takes inside the tile: all it has, unless the tile cuts it.
  virtual int64_t StepsOf(tensor::DigitId digit) const = 0;
  /// Runs a loop that the tile runs in a way of its own; false for others.
  virtual bool Iterate(tensor::LoopId loop, bool unroll, const LoopEmitter::Body& body) = 0;
};

/// What the emitters of one function share: where they emit, what digits and memory are there, and
/// how loops are run.
class NestContext {
 public:
  using Body = LoopEmitter::Body;

  /// `function` has an entry block that ends in `anchor`; `arguments` are available there.
  NestContext(ModuleState& module, llvm::Function* function, llvm::Instruction* anchor,
              MemoryEmitter::Arguments arguments);

  /// A variable, which Promote() makes a register.
  llvm::AllocaInst* NewSlot(llvm::Type* type);
  void Promote();

  /// Runs `body` for all iterations of a loop other than a parallel one.
  void Iterate(tensor::LoopId loop, bool unroll, const Body& body);
  void IterateDigits(const std::vector<tensor::DigitId>& digits, size_t from, bool unroll,
                     const Body& body);
  /// How many of `steps` steps a digit takes in a loop that starts here, `scale` apart: fewer where
  /// what follows is beyond open axes' bounds; an i64, at least 1.
  llvm::Value* TripsOf(tensor::DigitId digit, int64_t steps, int64_t scale);
  /// A loop of as many; the digit becomes scale times its running value.
  void RunLoop(tensor::DigitId digit, int64_t steps, int64_t scale, const Body& body);
  /// From here on the digit, which runs in a loop of its own, is within the bound of its axis.
  void NoteWithin(tensor::DigitId digit);
  /// Runs `body` for every chunk of lanes, in a loop where there are more than `max_unrolled`.
  void IterateChunks(const plan::VectorLoop& vector, int64_t max_unrolled,
                     const std::function<void(const plan::Chunk&)>& body);
  /// Steps that a digit takes inside the tiles that are being emitted.
  int64_t StepsOf(tensor::DigitId digit) const;

  ModuleState& module;
  const tensor::Program& program;
  const plan::CpuPlan& plan;
  IrBuilder builder;
  Digits digits;
  AddressBuilder addresses;
  const MemoryEmitter::Arguments arguments;
  MemoryEmitter memory;
  EmitState state;
  LoopEmitter loops;
  std::vector<TileLoops*> tiles;  ///< being emitted, outermost first

 private:
  std::vector<llvm::AllocaInst*> slots_;
  std::set<tensor::DigitId> within_;  ///< those whose loops end at the bound of their only axis
};

}  // namespace bayloom::codegen
