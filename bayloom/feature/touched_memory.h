// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>
#include <vector>

#include "bayloom/feature/block_nest.h"
#include "bayloom/plan/memory_plan.h"
#include "bayloom/tensor/access.h"

namespace bayloom::feature {

/// A program's buffers as they lie in memory: intermediates shrunk to their allocation, layouts
/// applied.
class BufferPlaces {
 public:
  explicit BufferPlaces(const tensor::Program& program);
  /// As a processor's code has them: what is kept in an output takes no room of its own.
  BufferPlaces(const tensor::Program& program, const plan::MemoryPlan& memory);

  struct Place {
    std::vector<int64_t> shape;    ///< physical extents, outermost first
    std::vector<int64_t> strides;  ///< elements between neighbours along each of them
    int64_t elements = 1;
    std::optional<tensor::Allocation> allocation;  ///< intermediates only
  };
  const Place& Of(tensor::BufferId buffer) const { return places_[buffer]; }
  /// Of all of them together.
  double Bytes() const { return bytes_; }

 private:
  void Add(const tensor::Program& program, tensor::BufferId id,
           std::optional<tensor::Allocation> allocation);

  std::vector<Place> places_;
  double bytes_ = 0;
};

/// How a block touches one buffer.
struct BufferTouch {
  static constexpr double kUnmoved = -1;

  tensor::BufferId buffer = -1;
  bool read = false;
  bool write = false;
  double element_bytes = 0;
  /// [p]: elements in the bounding box of all accesses while the p innermost axes run and the
  /// others stand still; p = 0 .. number of axes. What is read and written counts as written.
  std::vector<double> elements;
  /// Per axis: elements of memory one step moves the access by (the least over the accesses), or
  /// kUnmoved when no index depends on it.
  std::vector<double> strides;
  /// Bytes of the contiguous runs that the region touched by the whole nest consists of.
  double run_bytes = 0;

  double UniqueBytes() const { return element_bytes * elements.back(); }
};

/// Analyses the memory touched by one block after the other, keeping its own memory.
class TouchAnalysis {
 public:
  TouchAnalysis(const tensor::Program& program, const BufferPlaces& plan)
      : program_(program), plan_(plan), axis_of_digit_(program.digit_extents.size(), -1) {}

  /// The buffers the block touches in order of first access; valid until the next call.
  const std::vector<BufferTouch>& Analyze(tensor::BlockId block, const BlockNest& nest);

 private:
  /// An index along one physical dimension.
  struct PhysicalIndex {
    int64_t constant = 0;
    bool affine = true;
    size_t row = 0;  ///< its coefficients, one per axis, start here in coefficients_
  };
  struct PhysicalAccess {
    int touch;
    bool is_write;
    size_t first_index;  ///< in indices_; one index per physical dimension
  };

  void AddAccess(const tensor::Access& access);
  int TouchOf(tensor::BufferId buffer);
  PhysicalIndex& NewIndex();
  void AddTerms(const tensor::Affine& index, int64_t scale, PhysicalIndex& out);
  void AddLayoutIndex(const tensor::Affine& index, const tensor::LayoutAxis& axis, bool outermost);
  void DescribeTouch(int touch, const BlockNest& nest);
  double MeasureDimension(size_t dimension, int64_t size, const BlockNest& nest,
                          std::vector<double>& elements);
  bool Widen(size_t dimension, size_t axis, int64_t steps);
  void MeasureStrides(const BufferPlaces::Place& place, BufferTouch& touch) const;

  const tensor::Program& program_;
  const BufferPlaces& plan_;
  std::vector<int> axis_of_digit_;
  size_t axis_count_ = 0;
  std::vector<PhysicalAccess> accesses_;
  std::vector<PhysicalIndex> indices_;
  std::vector<int64_t> coefficients_;
  std::vector<BufferTouch> touches_;
  // Of the touch being described: where its accesses' indices start, and their bounds.
  std::vector<size_t> first_indices_;
  std::vector<tensor::IndexRange> bounds_;
};

}  // namespace bayloom::feature
