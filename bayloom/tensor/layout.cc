// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <cstring>

#include "bayloom/tensor/interpreter.h"

namespace bayloom::tensor {
namespace {

/// Walks a buffer in physical order. Physical places are consecutive; the row-major place moves
/// by a fixed step along each axis of the layout.
class LayoutWalk {
 public:
  explicit LayoutWalk(const Buffer& buffer) {
    std::vector<int64_t> strides(buffer.shape.size());
    int64_t stride = 1;
    for (size_t d = buffer.shape.size(); d-- > 0; stride *= buffer.shape[d]) strides[d] = stride;
    for (const LayoutAxis& axis : buffer.layout) {
      if (axis.extent == 1) continue;
      const int64_t step = axis.stride * strides[axis.dimension];
      // Neighbouring axes that one longer step-by-step run covers are one axis.
      if (!axes_.empty() && axes_.back().step == step * axis.extent) {
        axes_.back() = {axes_.back().extent * axis.extent, step};
      } else {
        axes_.push_back({axis.extent, step});
      }
    }
    if (axes_.empty()) axes_.push_back({1, 1});
  }

  /// run(first row-major place, step, count) for every run along the innermost axis, in order.
  template <typename Run>
  void ForEachRun(Run&& run) const {
    const Axis inner = axes_.back();
    std::vector<int64_t> position(axes_.size() - 1);
    int64_t place = 0;
    for (;;) {
      run(place, inner.step, inner.extent);
      size_t a = position.size();
      for (; a > 0; --a) {
        const Axis& axis = axes_[a - 1];
        place += axis.step;
        if (++position[a - 1] < axis.extent) break;
        place -= axis.step * axis.extent;
        position[a - 1] = 0;
      }
      if (a == 0) return;
    }
  }

 private:
  struct Axis {
    int64_t extent, step;
  };
  std::vector<Axis> axes_;
};

template <size_t kBytes>
void Pack(const LayoutWalk& walk, const std::byte* row_major, std::byte* packed) {
  walk.ForEachRun([&](int64_t place, int64_t step, int64_t count) {
    const std::byte* from = row_major + place * static_cast<int64_t>(kBytes);
    if (step == 1) {
      std::memcpy(packed, from, static_cast<size_t>(count) * kBytes);
    } else {
      for (int64_t i = 0; i < count; ++i) {
        std::memcpy(packed + i * static_cast<int64_t>(kBytes),
                    from + i * step * static_cast<int64_t>(kBytes), kBytes);
      }
    }
    packed += count * static_cast<int64_t>(kBytes);
  });
}

template <size_t kBytes>
void Unpack(const LayoutWalk& walk, const std::byte* packed, std::byte* row_major) {
  walk.ForEachRun([&](int64_t place, int64_t step, int64_t count) {
    std::byte* to = row_major + place * static_cast<int64_t>(kBytes);
    if (step == 1) {
      std::memcpy(to, packed, static_cast<size_t>(count) * kBytes);
    } else {
      for (int64_t i = 0; i < count; ++i) {
        std::memcpy(to + i * step * static_cast<int64_t>(kBytes),
                    packed + i * static_cast<int64_t>(kBytes), kBytes);
      }
    }
    packed += count * static_cast<int64_t>(kBytes);
  });
}

enum class Direction : uint8_t { kPack, kUnpack };

int64_t ByteCount(const Buffer& buffer) { return buffer.ElementCount() * ByteSize(buffer.dtype); }

void Reorder(const Buffer& buffer, const std::byte* from, std::byte* to, Direction direction) {
  if (buffer.layout.empty()) {
    std::memcpy(to, from, static_cast<size_t>(ByteCount(buffer)));
    return;
  }
  const LayoutWalk walk(buffer);
  const bool pack = direction == Direction::kPack;
  switch (ByteSize(buffer.dtype)) {
    case 1:
      pack ? Pack<1>(walk, from, to) : Unpack<1>(walk, from, to);
      break;
    case 2:
      pack ? Pack<2>(walk, from, to) : Unpack<2>(walk, from, to);
      break;
    case 4:
      pack ? Pack<4>(walk, from, to) : Unpack<4>(walk, from, to);
      break;
    default:
      pack ? Pack<8>(walk, from, to) : Unpack<8>(walk, from, to);
      break;
  }
}

}  // namespace

void PackLayout(const Buffer& buffer, const std::byte* row_major, std::byte* packed) {
  if (!buffer.transform) return Reorder(buffer, row_major, packed, Direction::kPack);
  const std::vector<std::byte> transformed = buffer.transform->Apply(buffer.dtype, row_major);
  Reorder(buffer, transformed.data(), packed, Direction::kPack);
}

std::vector<std::byte> PackLayout(const Buffer& buffer, const std::byte* row_major) {
  std::vector<std::byte> packed(ByteCount(buffer));
  PackLayout(buffer, row_major, packed.data());
  return packed;
}

std::vector<std::byte> UnpackLayout(const Buffer& buffer, const std::byte* packed) {
  std::vector<std::byte> row_major(ByteCount(buffer));
  Reorder(buffer, packed, row_major.data(), Direction::kUnpack);
  return row_major;
}

void ScatterSlice(const Buffer& buffer, const std::byte* row_major, std::byte* memory) {
  const std::vector<int64_t>& whole = buffer.MemoryShape();
  const size_t rank = buffer.shape.size();
  const int64_t row = rank == 0 ? 1 : buffer.shape.back();
  const int64_t bytes = ByteSize(buffer.dtype), count = buffer.ElementCount();
  for (int64_t first = 0; first < count; first += row) {
    int64_t place = 0, stride = 1, rest = first;
    for (size_t d = rank; d-- > 0; stride *= whole[d], rest /= buffer.shape[d]) {
      place += rest % buffer.shape[d] * stride;
    }
    std::memcpy(memory + place * bytes, row_major + first * bytes,
                static_cast<size_t>(row * bytes));
  }
}

}  // namespace bayloom::tensor
