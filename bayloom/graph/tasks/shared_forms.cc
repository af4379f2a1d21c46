// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/graph/tasks/shared_forms.h"

#include <algorithm>
#include <cstring>

namespace bayloom::graph {
namespace {

/// Smaller constants may be there twice.
constexpr int64_t kMinBytes = 1 << 20;
/// Who reads at most one of so many elements can read them in any order.
constexpr int64_t kLittle = 4;

/// A constant as an argument of a call.
struct Use {
  int task;
  size_t parameter;
  ValueId value;
};

class Sharing {
 public:
  Sharing(const TaskGraph& network, const std::vector<const tensor::Program*>& programs)
      : network_(network), shared_{programs, {}} {
    for (const TaskCall& call : network.calls) {
      for (size_t i = 0; i < call.parameters.size(); ++i) {
        const ValueId value = network.storage[call.parameters[i]].whole;
        const Use use = {call.task, i, value};
        if (IsLargeConstant(use)) (ReadsLittle(use) ? few_ : all_).push_back(use);
      }
    }
  }

  SharingPrograms Run() {
    for (const Use& use : few_) {
      for (const Use& other : all_) {
        if (Share(use, other)) break;
      }
    }
    return std::move(shared_);
  }

 private:
  const tensor::Program& ProgramOf(const Use& use) const { return *shared_.programs[use.task]; }

  const tensor::Buffer& BufferOf(const Use& use) const {
    return ProgramOf(use).buffers[ProgramOf(use).Parameters()[use.parameter]];
  }

  const std::vector<std::byte>& DataOf(const Use& use) const {
    return network_.graph.values[use.value].constant->data;
  }

  bool IsLargeConstant(const Use& use) const {
    const Value& value = network_.graph.values[use.value];
    if (!value.constant || std::ssize(value.constant->data) < kMinBytes) return false;
    const tensor::Buffer& buffer = BufferOf(use);
    return buffer.shape.size() == 2 && !buffer.transform && buffer.slice_of.empty();
  }

  bool ReadsLittle(const Use& use) const {
    const tensor::Program& program = ProgramOf(use);
    const tensor::BufferId buffer = program.Parameters()[use.parameter];
    int64_t reads = 0;
    for (const tensor::BlockId id : program.BlocksInOrder()) {
      int64_t points = 1;
      for (const tensor::Iter& iter : program.blocks[id].iters) points *= iter.extent;
      tensor::Visit(program.blocks[id].value, [&](const tensor::Expr& e) {
        if (e->op == tensor::ExprOp::kLoad && e->index == buffer) reads += points;
      });
    }
    return reads <= BufferOf(use).ElementCount() / kLittle;
  }

  /// Whether the first now takes its constant as the other does.
  bool Share(const Use& use, const Use& other) {
    const std::vector<int64_t>& shape = BufferOf(use).shape;
    const std::vector<int64_t>& like = BufferOf(other).shape;
    if (BufferOf(use).dtype != BufferOf(other).dtype) return false;
    const bool equal = shape == like && (use.value == other.value || DataOf(use) == DataOf(other));
    const bool transposed =
        !equal && shape[0] == like[1] && shape[1] == like[0] && IsTransposed(use, other);
    if (equal || transposed) SetLayout(use, AxesOf(BufferOf(other), transposed));
    return equal || transposed;
  }

  /// The order of the buffer in memory; `transposed`: for a buffer with its dimensions exchanged.
  static std::vector<tensor::LayoutAxis> AxesOf(const tensor::Buffer& buffer, bool transposed) {
    std::vector<tensor::LayoutAxis> axes = buffer.layout;
    if (axes.empty()) axes = {{0, 1, buffer.shape[0]}, {1, 1, buffer.shape[1]}};
    for (tensor::LayoutAxis& axis : axes) {
      if (transposed) axis.dimension = 1 - axis.dimension;
    }
    return axes;
  }

  /// Whether the other has at [j, i] what this has at [i, j].
  bool IsTransposed(const Use& use, const Use& other) const {
    const std::vector<int64_t>& shape = BufferOf(use).shape;
    const auto size = static_cast<size_t>(tensor::ByteSize(BufferOf(use).dtype));
    const std::byte* const data = DataOf(use).data();
    const std::byte* const transposed = DataOf(other).data();
    constexpr int64_t kBlock = 64;  // of rows, which stay in cache
    for (int64_t top = 0; top < shape[0]; top += kBlock) {
      for (int64_t j = 0; j < shape[1]; ++j) {
        for (int64_t i = top; i < std::min(top + kBlock, shape[0]); ++i) {
          const std::byte* const here = data + static_cast<size_t>(i * shape[1] + j) * size;
          const std::byte* const there = transposed + static_cast<size_t>(j * shape[0] + i) * size;
          if (std::memcmp(here, there, size) != 0) return false;
        }
      }
    }
    return true;
  }

  void SetLayout(const Use& use, std::vector<tensor::LayoutAxis> layout) {
    auto program = std::make_unique<tensor::Program>(ProgramOf(use));
    program->buffers[program->Parameters()[use.parameter]].layout = std::move(layout);
    shared_.programs[use.task] = program.get();
    shared_.replaced.push_back(std::move(program));
  }

  const TaskGraph& network_;
  SharingPrograms shared_;
  std::vector<Use> few_, all_;  ///< who reads little of a constant, and who reads much
};

}  // namespace

SharingPrograms ShareForms(const TaskGraph& network,
                           const std::vector<const tensor::Program*>& programs) {
  return Sharing(network, programs).Run();
}

}  // namespace bayloom::graph
