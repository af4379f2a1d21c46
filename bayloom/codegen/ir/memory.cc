// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/codegen/ir/memory.h"

#include <llvm/IR/MDBuilder.h>

#include <algorithm>
#include <bit>
#include <numeric>

#include "bayloom/codegen/abi.h"
#include "bayloom/codegen/ir/shuffle.h"

namespace bayloom::codegen {
namespace {

/// True if the active lanes' elements, so many each, lie next to each other.
bool IsContiguous(const IndexValue& index, plan::Chunk chunk, int elements = 1) {
  if (index.lanes.empty()) return false;
  for (int l = 0; l < chunk.active; ++l) {
    if (index.lanes[l] != l * elements) return false;
  }
  return true;
}

bool IsScalar(const llvm::Value* value) { return !value || !value->getType()->isVectorTy(); }

}  // namespace

AliasScopes::AliasScopes(llvm::LLVMContext& context, size_t buffers) {
  llvm::MDBuilder builder(context);
  llvm::MDNode* domain = builder.createAnonymousAliasScopeDomain("buffers");
  std::vector<llvm::Metadata*> scopes;
  for (size_t i = 0; i < buffers; ++i) {
    scopes.push_back(builder.createAnonymousAliasScope(domain));
  }
  for (size_t i = 0; i < buffers; ++i) {
    std::vector<llvm::Metadata*> others = scopes;
    others.erase(others.begin() + static_cast<int64_t>(i));
    own_.push_back(llvm::MDNode::get(context, scopes[i]));
    others_.push_back(llvm::MDNode::get(context, others));
  }
}

void AliasScopes::Annotate(llvm::Instruction* access, tensor::BufferId buffer) const {
  access->setMetadata(llvm::LLVMContext::MD_alias_scope, own_[buffer]);
  access->setMetadata(llvm::LLVMContext::MD_noalias, others_[buffer]);
}

MemoryEmitter::MemoryEmitter(const tensor::Program& program, const plan::MemoryPlan& plan,
                             const AliasScopes& scopes, IrBuilder& builder,
                             AddressBuilder& addresses, Arguments arguments)
    : program_(program),
      plan_(plan),
      scopes_(scopes),
      builder_(builder),
      addresses_(addresses),
      arguments_(arguments) {}

llvm::Value* MemoryEmitter::MakeBase(tensor::BufferId buffer) {
  const plan::BufferPlace& place = plan_.buffers[buffer];
  switch (place.place) {
    case plan::MemoryKind::kParameter: {
      llvm::Value* at = addresses_.OffsetPointer(
          arguments_.parameters, place.position * static_cast<int64_t>(sizeof(void*)));
      llvm::LoadInst* base = builder_.CreateLoad(builder_.getPtrTy(), at);
      llvm::LLVMContext& context = builder_.getContext();
      base->setMetadata(llvm::LLVMContext::MD_invariant_load, llvm::MDNode::get(context, {}));
      base->setMetadata(llvm::LLVMContext::MD_nonnull, llvm::MDNode::get(context, {}));
      return base;
    }
    case plan::MemoryKind::kStack: {
      llvm::Type* bytes = llvm::ArrayType::get(builder_.getInt8Ty(), place.bytes);
      llvm::AllocaInst* base = builder_.CreateAlloca(bytes);
      base->setAlignment(llvm::Align(target::kBufferAlignment));
      return base;
    }
    case plan::MemoryKind::kShared:
      return addresses_.OffsetPointer(arguments_.workspace, place.position);
    case plan::MemoryKind::kWorker:
      return addresses_.OffsetPointer(arguments_.worker_workspace, place.position);
  }
  return nullptr;
}

int64_t MemoryEmitter::ElementBytes(tensor::BufferId buffer) const {
  return tensor::ByteSize(program_.buffers[buffer].dtype);
}

llvm::Value* MemoryEmitter::Base(tensor::BufferId buffer) {
  llvm::Value*& base = bases_[buffer];
  if (!base) base = addresses_.AtEntry([&] { return MakeBase(buffer); });
  return base;
}

llvm::Align MemoryEmitter::AlignmentOf(const IndexValue& index, int64_t element_bytes) {
  int64_t step = std::gcd(target::kBufferAlignment, index.constant * element_bytes);
  for (const IndexValue::Term& term : index.terms) {
    step = std::gcd(step, term.coefficient * element_bytes);
  }
  return llvm::Align(static_cast<uint64_t>(step));
}

llvm::Value* MemoryEmitter::ActiveMask(plan::Chunk chunk) const {
  std::vector<llvm::Constant*> lanes;
  for (int l = 0; l < chunk.width; ++l) lanes.push_back(builder_.getInt1(l < chunk.active));
  return llvm::ConstantVector::get(lanes);
}

/// A pointer that must not be followed is replaced by the buffer's own, which may be.
llvm::Value* MemoryEmitter::LoadScalar(const Piece& piece, llvm::Value* pointer, llvm::Align align,
                                       llvm::Value* guard) {
  if (!IsScalar(guard)) guard = builder_.CreateOrReduce(guard);
  BeforeAccess(piece.buffer, pointer, piece.bytes(), guard, false);
  if (guard) pointer = builder_.CreateSelect(guard, pointer, Base(piece.buffer));
  llvm::LoadInst* load = builder_.CreateAlignedLoad(piece.type, pointer, align);
  scopes_.Annotate(load, piece.buffer);
  return load;
}

/// Half a page beyond what is loaded now; nothing happens where there is no memory.
void MemoryEmitter::FetchAhead(llvm::Value* pointer) {
  constexpr int64_t kAhead = 2048;
  constexpr uint32_t kRead = 0, kNearest = 3, kData = 1;
  llvm::Value* ahead = addresses_.OffsetPointer(pointer, kAhead);
  builder_.CreateIntrinsic(
      llvm::Intrinsic::prefetch, {ahead->getType()},
      {ahead, builder_.getInt32(kRead), builder_.getInt32(kNearest), builder_.getInt32(kData)});
}

llvm::Value* MemoryEmitter::LoadVector(const Piece& piece, llvm::Value* pointer, llvm::Align align,
                                       plan::Chunk chunk, llvm::Value* guard) {
  llvm::Type* type = WithLanes(piece.type, chunk.width);
  const bool whole = chunk.active == chunk.width;
  llvm::Instruction* load = nullptr;
  BeforeAccess(piece.buffer, pointer, chunk.active * piece.bytes(), guard, false);
  if (plan_.buffers[piece.buffer].is_stream) FetchAhead(pointer);
  if (whole && guard && IsScalar(guard) &&
      plan_.buffers[piece.buffer].bytes >= chunk.width * piece.bytes()) {
    pointer = builder_.CreateSelect(guard, pointer, Base(piece.buffer));
    guard = nullptr;
  }
  if (whole && !guard) {
    load = builder_.CreateAlignedLoad(type, pointer, align);
  } else {
    llvm::Value* mask = ActiveMask(chunk);
    if (guard) mask = builder_.CreateAnd(mask, Splat(builder_, guard, chunk.width));
    load =
        builder_.CreateMaskedLoad(type, pointer, align, mask, llvm::Constant::getNullValue(type));
  }
  scopes_.Annotate(load, piece.buffer);
  return load;
}

llvm::Value* MemoryEmitter::Gather(const Piece& piece, llvm::Value* pointer,
                                   const IndexValue& index, llvm::Value* dynamic, plan::Chunk chunk,
                                   llvm::Value* guard) {
  const int64_t bytes = piece.bytes() / piece.elements;
  llvm::Value* result = llvm::Constant::getNullValue(WithLanes(piece.type, chunk.width));
  for (int l = 0; l < chunk.active; ++l) {
    llvm::Value* at = pointer;
    if (!index.lanes.empty()) at = addresses_.OffsetPointer(at, index.lanes[l] * bytes);
    if (dynamic) {
      llvm::Value* offset = builder_.CreateExtractElement(dynamic, l);
      at = builder_.CreatePtrAdd(at, builder_.CreateMul(offset, builder_.getInt64(bytes)));
    }
    llvm::Value* lane_guard = IsScalar(guard) ? guard : builder_.CreateExtractElement(guard, l);
    llvm::Value* element =
        LoadScalar(piece, at, llvm::Align(static_cast<uint64_t>(bytes)), lane_guard);
    result = builder_.CreateInsertElement(result, element, l);
  }
  return result;
}

llvm::Value* MemoryEmitter::LoadPieces(const Piece& piece, const IndexValue& index,
                                       llvm::Value* dynamic, plan::Chunk chunk,
                                       llvm::Value* guard) {
  const int64_t bytes = piece.bytes() / piece.elements;
  llvm::Value* running = addresses_.RunningPointer(Base(piece.buffer), index, bytes);
  llvm::Align align = AlignmentOf(index, bytes);
  llvm::Value* pointer = addresses_.OffsetPointer(running, index.constant * bytes);
  if (dynamic && IsScalar(dynamic)) {
    pointer = builder_.CreatePtrAdd(pointer, builder_.CreateMul(dynamic, builder_.getInt64(bytes)));
    align = llvm::Align(static_cast<uint64_t>(bytes));
  }
  if (index.lanes.empty() && IsScalar(dynamic)) return LoadScalar(piece, pointer, align, guard);
  if (IsScalar(dynamic) && IsContiguous(index, chunk, piece.elements)) {
    return LoadVector(piece, pointer, align, chunk, guard);
  }
  return Gather(piece, pointer, index, IsScalar(dynamic) ? nullptr : dynamic, chunk, guard);
}

MemoryEmitter::LoadKey MemoryEmitter::KeyOf(tensor::BufferId buffer, const IndexValue& index,
                                            plan::Chunk chunk, int count) {
  const int64_t bytes = tensor::ByteSize(program_.buffers[buffer].dtype);
  const bool uniform = index.lanes.empty();
  return {addresses_.RunningPointer(Base(buffer), index, bytes),
          index.constant,
          index.lanes,
          uniform ? 1 : chunk.width,
          uniform ? 1 : chunk.active,
          count};
}

llvm::Value* MemoryEmitter::LoadNeighbours(tensor::BufferId buffer, const IndexValue& index,
                                           int64_t at, int count) {
  IndexValue first = index;
  first.constant += at;
  first.lanes.resize(count == 1 ? 0 : count);
  std::iota(first.lanes.begin(), first.lanes.end(), 0);
  return Load(buffer, first, nullptr, {0, count, count}, nullptr);
}

/// The lanes' elements at `index` and behind each of them, `columns` of a matrix with a row for
/// each lane.
std::vector<llvm::Value*> MemoryEmitter::LoadTransposed(tensor::BufferId buffer,
                                                        const IndexValue& index, plan::Chunk chunk,
                                                        int columns) {
  std::vector<llvm::Value*> rows;
  for (int l = 0; l < chunk.active; ++l) {
    rows.push_back(LoadNeighbours(buffer, index, index.lanes[l], columns));
  }
  rows.resize(chunk.width, llvm::Constant::getNullValue(rows[0]->getType()));
  return Transposed(builder_, std::move(rows));
}

llvm::Value* MemoryEmitter::LoadShuffled(tensor::BufferId buffer, const IndexValue& index,
                                         plan::Chunk chunk, Steps steps) {
  if (index.lanes.empty() || IsContiguous(index, chunk)) return nullptr;
  if (program_.buffers[buffer].dtype == tensor::DType::kBool) return nullptr;  // of single bits
  if (const auto windows = WindowsOver(index.lanes, chunk.active)) {
    std::vector<llvm::Value*> values;
    for (int64_t begin : windows->begins) {
      values.push_back(LoadNeighbours(buffer, index, begin, windows->width));
    }
    return TakeFromWindows(builder_, *windows, values, chunk.width);
  }
  const int64_t columns = std::min<int64_t>(
      static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(steps.count))), chunk.width);
  if (columns < 2) return nullptr;
  // The last ones may overlap with those before.
  const int64_t shift = std::min<int64_t>(0, steps.count - columns - steps.step);
  IndexValue at = index;
  at.constant += shift;
  llvm::Value* result = nullptr;
  for (llvm::Value* value : LoadTransposed(buffer, at, chunk, static_cast<int>(columns))) {
    loaded_[buffer][KeyOf(buffer, at, chunk, 0)] = value;
    if (at.constant == index.constant) result = value;
    ++at.constant;
  }
  return result;
}

llvm::Value* MemoryEmitter::Load(tensor::BufferId buffer, const IndexValue& index,
                                 llvm::Value* dynamic, plan::Chunk chunk, llvm::Value* guard,
                                 Steps steps) {
  const tensor::DType dtype = program_.buffers[buffer].dtype;
  const Piece piece{buffer, MemoryType(builder_.getContext(), dtype)};
  const auto load = [&] {
    return FromMemory(builder_, LoadPieces(piece, index, dynamic, chunk, guard), dtype);
  };
  if (dynamic || guard) return load();
  llvm::Value*& known = loaded_[buffer][KeyOf(buffer, index, chunk, 0)];
  if (!known) known = LoadShuffled(buffer, index, chunk, steps);
  if (!known) known = load();
  return known;
}

llvm::Value* MemoryEmitter::LoadBits(tensor::BufferId buffer, const IndexValue& index,
                                     llvm::Value* dynamic, int count, plan::Chunk chunk,
                                     llvm::Value* guard) {
  const auto bits = static_cast<unsigned>(8 * tensor::ByteSize(program_.buffers[buffer].dtype));
  const Piece piece{buffer, builder_.getIntNTy(bits * static_cast<unsigned>(count)), count};
  if (guard || dynamic) return LoadPieces(piece, index, dynamic, chunk, guard);
  llvm::Value*& known = loaded_[buffer][KeyOf(buffer, index, chunk, count)];
  if (!known) known = LoadPieces(piece, index, nullptr, chunk, nullptr);
  return known;
}

llvm::Value* MemoryEmitter::AddressOf(tensor::BufferId buffer, const IndexValue& index) {
  const int64_t bytes = ElementBytes(buffer);
  return addresses_.OffsetPointer(addresses_.RunningPointer(Base(buffer), index, bytes),
                                  index.constant * bytes);
}

void MemoryEmitter::Store(tensor::BufferId buffer, const IndexValue& index, plan::Chunk chunk,
                          llvm::Value* value) {
  const tensor::DType dtype = program_.buffers[buffer].dtype;
  const int64_t bytes = tensor::ByteSize(dtype);
  const llvm::Align align = AlignmentOf(index, bytes);
  llvm::Value* pointer = AddressOf(buffer, index);
  value = ToMemory(builder_, value, dtype);
  loaded_.erase(buffer);
  const auto store = [&](llvm::Value* element, llvm::Value* at, llvm::Align alignment) {
    BeforeAccess(buffer, at, LanesOf(element) * bytes, nullptr, true);
    scopes_.Annotate(builder_.CreateAlignedStore(element, at, alignment), buffer);
  };
  if (chunk.width == 1) return store(value, pointer, align);
  if (IsContiguous(index, chunk)) {
    value = Splat(builder_, value, chunk.width);
    if (chunk.active == chunk.width) return store(value, pointer, align);
    BeforeAccess(buffer, pointer, chunk.active * bytes, nullptr, true);
    scopes_.Annotate(builder_.CreateMaskedStore(value, pointer, align, ActiveMask(chunk)), buffer);
    return;
  }
  const llvm::Align element_align(static_cast<uint64_t>(bytes));
  for (int l = 0; l < chunk.active; ++l) {
    llvm::Value* element = IsScalar(value) ? value : builder_.CreateExtractElement(value, l);
    const int64_t lane = index.lanes.empty() ? 0 : index.lanes[l];
    store(element, addresses_.OffsetPointer(pointer, lane * bytes), element_align);
  }
}

}  // namespace bayloom::codegen
