// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/plan/memory_plan.h"

#include <algorithm>
#include <stdexcept>

#include "bayloom/plan/in_place_plan.h"
#include "bayloom/target/alignment.h"

namespace bayloom::plan {
namespace {

constexpr int64_t kMaxStackBytes = 16 << 10;  // of all buffers in one function together

/// Vectorized loops among `scope` and what is around it, outermost first.
std::vector<tensor::LoopId> VectorizedAround(const tensor::Program& program,
                                             tensor::NodeRef scope) {
  std::vector<tensor::LoopId> loops;
  for (tensor::LoopId loop : program.LoopsAround(scope)) {
    if (program.loops[loop].kind == tensor::LoopKind::kVectorized) loops.push_back(loop);
  }
  if (scope.is_loop() && program.loops[scope.id].kind == tensor::LoopKind::kVectorized) {
    loops.push_back(scope.id);
  }
  return loops;
}

bool HasParallelLoopBelow(const tensor::Program& program, tensor::NodeRef node) {
  for (tensor::NodeRef child : program.BodyOf(node)) {
    if (!child.is_loop()) continue;
    if (program.loops[child.id].kind == tensor::LoopKind::kParallel) return true;
    if (HasParallelLoopBelow(program, child)) return true;
  }
  return false;
}

int64_t ElementCount(const tensor::Buffer& buffer, const std::vector<int64_t>& shape) {
  int64_t count = 1;
  for (int64_t extent : shape) count *= extent;
  return buffer.layout.empty() ? count : buffer.ElementCount();
}

/// Row-major strides.
std::vector<int64_t> Strides(const std::vector<int64_t>& shape) {
  std::vector<int64_t> strides(shape.size(), 1);
  for (size_t i = shape.size(); i-- > 1;) strides[i - 1] = strides[i] * shape[i];
  return strides;
}

std::optional<tensor::Affine> AffineOf(const tensor::Block& block, const tensor::Expr& e) {
  if (e->dtype != tensor::DType::kInt64) return std::nullopt;
  return tensor::ComposeIndex(e, block.bindings);
}

/// Makes PlacedAccesses of one block.
class Placer {
 public:
  Placer(const tensor::Program& program, const MemoryPlan& memory, const tensor::Block& block)
      : program_(program), memory_(memory), block_(block) {}

  Result<PlacedAccess> Place(tensor::BufferId buffer, const std::vector<tensor::Expr>& indices,
                             bool is_write);

 private:
  PlacedAccess PlaceDynamic(const tensor::Access& access, const std::vector<tensor::Expr>& indices);
  PlacedAccess PlaceInLayout(const tensor::Access& access,
                             const std::vector<tensor::Expr>& indices);

  const tensor::Program& program_;
  const MemoryPlan& memory_;
  const tensor::Block& block_;
};

Result<PlacedAccess> Placer::Place(tensor::BufferId buffer,
                                   const std::vector<tensor::Expr>& indices, bool is_write) {
  tensor::Access access{buffer, is_write, {}};
  access.indices.reserve(indices.size());
  bool affine = true;
  for (const tensor::Expr& index : indices) {
    access.indices.push_back(AffineOf(block_, index));
    affine = affine && access.indices.back();
  }
  const BufferPlace& place = memory_.buffers[buffer];
  PlacedAccess placed;
  placed.buffer = buffer;
  const tensor::Allocation* allocation = place.allocation ? &*place.allocation : nullptr;
  if (auto offset = affine ? tensor::LinearOffset(program_, access, allocation) : std::nullopt) {
    if (place.lane_count == 1) {
      placed.affine = *std::move(offset);
    } else {
      placed.affine.Add(*offset, place.lane_count);
    }
  } else {
    const bool in_layout = !program_.buffers[buffer].layout.empty();
    if (in_layout && is_write) {
      return Error{"block '" + block_.name + "' writes '" + program_.buffers[buffer].name +
                   "' at indices that do not fit its layout"};
    }
    placed = in_layout ? PlaceInLayout(access, indices) : PlaceDynamic(access, indices);
  }
  placed.affine.Add(place.lane_position);
  return placed;
}

PlacedAccess Placer::PlaceDynamic(const tensor::Access& access,
                                  const std::vector<tensor::Expr>& indices) {
  const tensor::Buffer& buffer = program_.buffers[access.buffer];
  const BufferPlace& place = memory_.buffers[access.buffer];
  const bool shrunk = place.allocation.has_value();
  const std::vector<int64_t> strides =
      Strides(shrunk ? place.allocation->shape : buffer.MemoryShape());
  PlacedAccess placed;
  placed.buffer = access.buffer;
  for (size_t d = 0; d < indices.size(); ++d) {
    const int64_t stride = strides[d] * place.lane_count;
    if (access.indices[d]) {
      placed.affine.Add(*access.indices[d], stride);
    } else {
      placed.dynamic.push_back({indices[d], stride, buffer.shape[d]});
    }
    if (shrunk) placed.affine.Add(place.allocation->origin[d], -stride);
  }
  return placed;
}

/// The coordinate of an index along an axis of a layout.
tensor::Expr CoordinateOf(const tensor::Expr& index, const tensor::LayoutAxis& axis,
                          int64_t extent) {
  const auto literal = [](int64_t value) { return tensor::IntLiteral(value); };
  tensor::Expr coordinate =
      axis.stride == 1 ? index : tensor::FloorDiv(index, literal(axis.stride));
  const bool is_slowest = axis.stride * axis.extent >= extent;
  return is_slowest ? coordinate : tensor::FloorMod(coordinate, literal(axis.extent));
}

/// Of a buffer without lanes and allocation, as all are that have a layout.
PlacedAccess Placer::PlaceInLayout(const tensor::Access& access,
                                   const std::vector<tensor::Expr>& indices) {
  const tensor::Buffer& buffer = program_.buffers[access.buffer];
  PlacedAccess placed;
  placed.buffer = access.buffer;
  std::vector<bool> fits(indices.size());
  for (size_t d = 0; d < indices.size(); ++d) {
    if (!access.indices[d]) continue;
    const auto part =
        tensor::LayoutOffset(program_, buffer, static_cast<int>(d), *access.indices[d]);
    fits[d] = part.has_value();
    if (part) placed.affine.Add(*part);
  }
  int64_t stride = 1;
  for (auto axis = buffer.layout.rbegin(); axis != buffer.layout.rend(); ++axis) {
    const auto d = static_cast<size_t>(axis->dimension);
    if (!fits[d]) {
      placed.dynamic.push_back(
          {CoordinateOf(indices[d], *axis, buffer.shape[d]), stride, axis->extent});
    }
    stride *= axis->extent;
  }
  return placed;
}

/// Places an intermediate in an output's memory where that can be.
bool KeepInOutput(const tensor::Program& program, tensor::BufferId buffer, MemoryPlan& plan) {
  BufferPlace& place = plan.buffers[buffer];
  if (place.lane_count > 1) return false;
  const tensor::BufferId output = OutputThatKeeps(program, buffer);
  const bool taken = std::ranges::any_of(
      plan.buffers, [&](const BufferPlace& other) { return other.kept_in == output; });
  if (output < 0 || taken) return false;
  const std::vector<tensor::BufferId> parameters = program.Parameters();
  place = BufferPlace{};
  place.position = std::ranges::find(parameters, output) - parameters.begin();
  place.bytes =
      program.buffers[output].MemorySpan() * tensor::ByteSize(program.buffers[output].dtype);
  place.kept_in = output;
  return true;
}

}  // namespace

void ExpandOverLanes(const tensor::Program& program, BufferPlace& place) {
  const std::vector<tensor::LoopId> loops = VectorizedAround(program, place.allocation->scope);
  for (auto loop = loops.rbegin(); loop != loops.rend(); ++loop) {
    const std::vector<tensor::DigitId>& digits = program.loops[*loop].digits;
    for (auto digit = digits.rbegin(); digit != digits.rend(); ++digit) {
      place.lane_position.Add(*digit, place.lane_count);
      place.lane_count *= program.digit_extents[*digit];
    }
  }
}

tensor::LoopId ParallelLoopAround(const tensor::Program& program, tensor::NodeRef node) {
  for (tensor::LoopId loop : program.LoopsAround(node)) {
    if (program.loops[loop].kind == tensor::LoopKind::kParallel) return loop;
  }
  if (node.is_loop() && program.loops[node.id].kind == tensor::LoopKind::kParallel) return node.id;
  return -1;
}

namespace {

/// Smaller ones may be in a cache from the run before.
constexpr int64_t kMinStreamBytes = int64_t{1} << 19;

/// Queries that share keys and values.
constexpr int64_t kMostSharing = 8;

/// Whether one block reads the buffer, each element for at most so many of its results.
bool IsReadFor(int64_t most, const tensor::Program& program, tensor::BufferId id) {
  const std::vector<tensor::BlockId> readers = program.ReadersOf(id);
  if (readers.size() != 1) return false;
  const tensor::Block& block = program.blocks[readers[0]];
  if (!block.value.defined()) return false;
  std::vector<bool> moves(block.iters.size(), false);
  int loads = 0;
  tensor::Visit(block.value, [&](const tensor::Expr& e) {
    if (e->op != tensor::ExprOp::kLoad || e->index != id) return;
    ++loads;
    for (const tensor::Expr& index : e->operands) {
      tensor::Visit(index, [&](const tensor::Expr& part) {
        if (part->op == tensor::ExprOp::kIter) moves[part->index] = true;
      });
    }
  });
  int64_t sharing = 1;
  for (size_t i = 0; i < block.iters.size(); ++i) {
    const bool is_spatial = block.iters[i].kind == tensor::IterKind::kSpatial;
    if (is_spatial && !moves[i]) sharing *= block.iters[i].extent;
  }
  return loads == 1 && sharing <= most;
}

/// Constants that are read once; and what is as long as the caller says, as the keys and values are
/// that a decoder keeps.
bool IsStream(const tensor::Program& program, tensor::BufferId id) {
  const tensor::Buffer& buffer = program.buffers[id];
  if (buffer.MemorySpan() * tensor::ByteSize(buffer.dtype) < kMinStreamBytes) return false;
  if (buffer.role == tensor::BufferRole::kConstant) return IsReadFor(1, program, id);
  const bool is_open = std::ranges::any_of(
      buffer.bounds, [](const tensor::Bound& bound) { return bound.is_open(); });
  return buffer.role == tensor::BufferRole::kInput && is_open &&
         IsReadFor(kMostSharing, program, id);
}

}  // namespace

MemoryPlan PlanMemory(const tensor::Program& program) {
  MemoryPlan plan;
  plan.buffers.resize(program.buffers.size());
  const std::vector<tensor::BufferId> parameters = program.Parameters();
  std::map<tensor::LoopId, int64_t> stack_bytes;  // by the parallel loop whose body is a function
  for (size_t id = 0; id < program.buffers.size(); ++id) {
    const tensor::Buffer& buffer = program.buffers[id];
    BufferPlace& place = plan.buffers[id];
    if (buffer.role != tensor::BufferRole::kIntermediate) {
      const auto at = std::ranges::find(parameters, static_cast<tensor::BufferId>(id));
      place.position = at - parameters.begin();
      place.bytes = buffer.MemorySpan() * tensor::ByteSize(buffer.dtype);
      place.is_stream = IsStream(program, static_cast<tensor::BufferId>(id));
      continue;
    }
    if (program.WriterOf(static_cast<tensor::BufferId>(id)) < 0) continue;  // inlined away
    place.allocation = tensor::AllocationOf(program, static_cast<tensor::BufferId>(id));
    ExpandOverLanes(program, place);
    place.bytes = ElementCount(buffer, place.allocation->shape) * place.lane_count *
                  tensor::ByteSize(buffer.dtype);
    const tensor::NodeRef scope = place.allocation->scope;
    const tensor::LoopId parallel = ParallelLoopAround(program, scope);
    const int64_t size = target::AlignUp(place.bytes);
    const bool one_function = parallel >= 0 || !HasParallelLoopBelow(program, scope);
    if (one_function && stack_bytes[parallel] + size <= kMaxStackBytes) {
      place.place = MemoryKind::kStack;
      stack_bytes[parallel] += size;
      continue;
    }
    if (KeepInOutput(program, static_cast<tensor::BufferId>(id), plan)) continue;
    place.place = parallel >= 0 ? MemoryKind::kWorker : MemoryKind::kShared;
    int64_t& part = parallel >= 0 ? plan.worker_bytes : plan.shared_bytes;
    place.position = part;
    part += size;
  }
  return plan;
}

Result<BlockAccesses> PlaceLoadsAndStore(const tensor::Program& program, const MemoryPlan& memory,
                                         const tensor::Block& block) {
  Placer placer(program, memory, block);
  BlockAccesses accesses;
  Result<PlacedAccess> store = placer.Place(block.output, block.output_index, true);
  if (!store) return store.error();
  accesses.store = *store;
  std::optional<Error> failure;
  const auto visit = [&](const tensor::Expr& e) {
    if (e->op == tensor::ExprOp::kLoad && !accesses.loads.contains(e.get())) {
      Result<PlacedAccess> load = placer.Place(e->index, e->operands, false);
      if (load) {
        accesses.loads.emplace(e.get(), *load);
      } else {
        failure = load.error();
      }
    }
  };
  if (block.value.defined()) tensor::Visit(block.value, visit);
  if (failure) return *failure;
  return accesses;
}

void AddAffineExpressions(const tensor::Block& block, BlockAccesses& accesses) {
  if (!block.value.defined()) return;
  tensor::Visit(block.value, [&](const tensor::Expr& e) {
    if (e->op == tensor::ExprOp::kLoad || e->dtype != tensor::DType::kInt64) return;
    if (const auto affine = AffineOf(block, e)) accesses.affine.emplace(e.get(), *affine);
  });
}

}  // namespace bayloom::plan
