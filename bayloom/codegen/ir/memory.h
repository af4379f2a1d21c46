// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <map>
#include <tuple>
#include <vector>

#include "bayloom/codegen/ir/address.h"
#include "bayloom/plan/memory_plan.h"
#include "bayloom/plan/vector_plan.h"

namespace bayloom::codegen {

/// Tells LLVM that buffers do not overlap: a scope for each, shared by all functions of a module.
class AliasScopes {
 public:
  AliasScopes(llvm::LLVMContext& context, size_t buffers);
  /// A buffer is in the memory of another one.
  void Join(tensor::BufferId buffer, tensor::BufferId other) {
    own_[buffer] = own_[other];
    others_[buffer] = others_[other];
  }
  void Annotate(llvm::Instruction* access, tensor::BufferId buffer) const;

 private:
  std::vector<llvm::MDNode*> own_, others_;
};

/// Unrolled steps that go through memory one element at a time: this one, and all there are.
struct Steps {
  int64_t step = 0, count = 1;
};

/// Loads and stores of one function.
class MemoryEmitter {
 public:
  /// What the function got from its caller.
  struct Arguments {
    llvm::Value* parameters;
    llvm::Value* workspace;
    llvm::Value* worker_workspace;  ///< null outside of parallel loops
  };

  MemoryEmitter(const tensor::Program& program, const plan::MemoryPlan& plan,
                const AliasScopes& scopes, IrBuilder& builder, AddressBuilder& addresses,
                Arguments arguments);
  virtual ~MemoryEmitter() = default;

  /// Elements at `index` plus `dynamic` (i64, one or per lane; null for none), as a register
  /// value: a scalar when all lanes read the same element, else one per lane. Where `guard` (i1,
  /// one or per lane; null for true) is false, memory is not touched and the value is arbitrary.
  /// Where lanes lie far apart, the elements of all of `steps` are loaded together.
  llvm::Value* Load(tensor::BufferId buffer, const IndexValue& index, llvm::Value* dynamic,
                    plan::Chunk chunk, llvm::Value* guard, Steps steps = {});
  /// The bits in memory of `count` neighbouring elements from each place on, as one integer each.
  /// `dynamic`: as for Load, one for all lanes.
  llvm::Value* LoadBits(tensor::BufferId buffer, const IndexValue& index, llvm::Value* dynamic,
                        int count, plan::Chunk chunk, llvm::Value* guard);
  /// Stores a register value, a scalar meaning the same in all lanes.
  void Store(tensor::BufferId buffer, const IndexValue& index, plan::Chunk chunk,
             llvm::Value* value);

  /// Of the element at `index` in lane 0, for stores and instructions that access memory
  /// themselves.
  virtual llvm::Value* AddressOf(tensor::BufferId buffer, const IndexValue& index);

  /// What elements of so many bytes at `index` are aligned to.
  static llvm::Align AlignmentOf(const IndexValue& index, int64_t element_bytes);

  /// To be called where control flow joins or splits: what was loaded before may not be known
  /// or not be valid after.
  void ForgetLoads() { loaded_.clear(); }
  /// What has been loaded, by buffer: (running pointer, displacement, lanes, lanes and active lanes
  /// of the register, elements whose bits were asked for or 0) -> register value. Code that may be
  /// skipped and stores nothing leaves it as it was.
  using LoadKey = std::tuple<llvm::Value*, int64_t, std::vector<int64_t>, int, int, int>;
  using Loaded = std::map<tensor::BufferId, std::map<LoadKey, llvm::Value*>>;
  const Loaded& loaded() const { return loaded_; }
  void RestoreLoads(Loaded loaded) { loaded_ = std::move(loaded); }

 protected:
  /// The address of a buffer's first element, emitted where the function begins.
  virtual llvm::Value* MakeBase(tensor::BufferId buffer);
  /// `bytes` from a pointer on are about to be read or written where `guard` holds (an i1, one for
  /// all or one per equal part of the bytes; null for true).
  virtual void BeforeAccess(tensor::BufferId /*buffer*/, llvm::Value* /*pointer*/,
                            int64_t /*bytes*/, llvm::Value* /*guard*/, bool /*is_write*/) {}

  IrBuilder& builder() const { return builder_; }
  AddressBuilder& addresses() const { return addresses_; }
  llvm::Value* Base(tensor::BufferId buffer);
  int64_t ElementBytes(tensor::BufferId buffer) const;

 private:
  /// What is read at one place.
  struct Piece {
    tensor::BufferId buffer;
    llvm::Type* type;  ///< in memory
    int elements = 1;
    int64_t bytes() const { return type->getScalarSizeInBits() / 8; }
  };

  /// From registers of neighbours, of which each is loaded once; null where that does not pay.
  llvm::Value* LoadShuffled(tensor::BufferId buffer, const IndexValue& index, plan::Chunk chunk,
                            Steps steps);
  std::vector<llvm::Value*> LoadTransposed(tensor::BufferId buffer, const IndexValue& index,
                                           plan::Chunk chunk, int columns);
  llvm::Value* LoadNeighbours(tensor::BufferId buffer, const IndexValue& index, int64_t at,
                              int count);
  llvm::Value* LoadPieces(const Piece& piece, const IndexValue& index, llvm::Value* dynamic,
                          plan::Chunk chunk, llvm::Value* guard);
  LoadKey KeyOf(tensor::BufferId buffer, const IndexValue& index, plan::Chunk chunk, int count);
  llvm::Value* LoadScalar(const Piece& piece, llvm::Value* pointer, llvm::Align align,
                          llvm::Value* guard);
  void FetchAhead(llvm::Value* pointer);
  llvm::Value* LoadVector(const Piece& piece, llvm::Value* pointer, llvm::Align align,
                          plan::Chunk chunk, llvm::Value* guard);
  llvm::Value* Gather(const Piece& piece, llvm::Value* pointer, const IndexValue& index,
                      llvm::Value* dynamic, plan::Chunk chunk, llvm::Value* guard);
  llvm::Value* ActiveMask(plan::Chunk chunk) const;

  const tensor::Program& program_;
  const plan::MemoryPlan& plan_;
  const AliasScopes& scopes_;
  IrBuilder& builder_;
  AddressBuilder& addresses_;
  const Arguments arguments_;
  std::map<tensor::BufferId, llvm::Value*> bases_;
  Loaded loaded_;
};

}  // namespace bayloom::codegen
