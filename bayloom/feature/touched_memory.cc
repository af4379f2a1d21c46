// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/feature/touched_memory.h"

#include <algorithm>
#include <cstdlib>

namespace bayloom::feature {

BufferPlaces::BufferPlaces(const tensor::Program& program) {
  for (size_t i = 0; i < program.buffers.size(); ++i) {
    const auto id = static_cast<tensor::BufferId>(i);
    const bool is_intermediate = program.buffers[i].role == tensor::BufferRole::kIntermediate;
    std::optional<tensor::Allocation> allocation;
    if (is_intermediate && program.WriterOf(id) >= 0)
      allocation = tensor::AllocationOf(program, id);
    Add(program, id, std::move(allocation));
  }
}

BufferPlaces::BufferPlaces(const tensor::Program& program, const plan::MemoryPlan& memory) {
  for (size_t i = 0; i < program.buffers.size(); ++i) {
    const double before = bytes_;
    Add(program, static_cast<tensor::BufferId>(i), memory.buffers[i].allocation);
    if (memory.buffers[i].kept_in >= 0) bytes_ = before;
  }
}

void BufferPlaces::Add(const tensor::Program& program, tensor::BufferId id,
                       std::optional<tensor::Allocation> allocation) {
  const tensor::Buffer& buffer = program.buffers[id];
  Place& place = places_.emplace_back();
  place.allocation = std::move(allocation);
  if (!buffer.layout.empty()) {
    for (const tensor::LayoutAxis& axis : buffer.layout) place.shape.push_back(axis.extent);
  } else {
    place.shape = place.allocation ? place.allocation->shape : buffer.MemoryShape();
  }
  place.strides.resize(place.shape.size());
  for (size_t d = place.shape.size(); d-- > 0;) {
    place.strides[d] = place.elements;
    place.elements *= place.shape[d];
  }
  bytes_ += static_cast<double>(place.elements * tensor::ByteSize(buffer.dtype));
}

const std::vector<BufferTouch>& TouchAnalysis::Analyze(tensor::BlockId block,
                                                       const BlockNest& nest) {
  axis_count_ = nest.axes.size();
  accesses_.clear();
  indices_.clear();
  coefficients_.clear();
  touches_.clear();
  for (size_t axis = 0; axis < axis_count_; ++axis) {
    axis_of_digit_[nest.axes[axis]] = static_cast<int>(axis);
  }
  for (const tensor::Access& access : tensor::AccessesOf(program_, block)) AddAccess(access);
  for (tensor::DigitId digit : nest.axes) axis_of_digit_[digit] = -1;

  const tensor::BlockKind kind = program_.blocks[block].kind;
  for (int touch = 0; touch < static_cast<int>(touches_.size()); ++touch) {
    if (touches_[touch].write &&
        (kind == tensor::BlockKind::kReduce || kind == tensor::BlockKind::kUpdate)) {
      touches_[touch].read = true;
    }
    DescribeTouch(touch, nest);
  }
  return touches_;
}

void TouchAnalysis::AddAccess(const tensor::Access& access) {
  const int touch = TouchOf(access.buffer);
  (access.is_write ? touches_[touch].write : touches_[touch].read) = true;
  accesses_.push_back({touch, access.is_write, indices_.size()});

  const tensor::Buffer& buffer = program_.buffers[access.buffer];
  const std::optional<tensor::Allocation>& allocation = plan_.Of(access.buffer).allocation;
  if (buffer.layout.empty()) {
    for (size_t d = 0; d < access.indices.size(); ++d) {
      PhysicalIndex& index = NewIndex();
      index.affine = access.indices[d].has_value();
      if (!index.affine) continue;
      AddTerms(*access.indices[d], 1, index);
      if (allocation) AddTerms(allocation->origin[d], -1, index);
    }
    return;
  }
  for (const tensor::LayoutAxis& axis : buffer.layout) {
    const std::optional<tensor::Affine>& logical = access.indices[axis.dimension];
    const bool outermost = axis.stride * axis.extent >= buffer.shape[axis.dimension];
    if (logical) {
      AddLayoutIndex(*logical, axis, outermost);
    } else {
      NewIndex().affine = false;
    }
  }
}

int TouchAnalysis::TouchOf(tensor::BufferId buffer) {
  for (size_t i = 0; i < touches_.size(); ++i) {
    if (touches_[i].buffer == buffer) return static_cast<int>(i);
  }
  BufferTouch& touch = touches_.emplace_back();
  touch.buffer = buffer;
  touch.element_bytes = tensor::ByteSize(program_.buffers[buffer].dtype);
  return static_cast<int>(touches_.size()) - 1;
}

TouchAnalysis::PhysicalIndex& TouchAnalysis::NewIndex() {
  PhysicalIndex& index = indices_.emplace_back();
  index.row = coefficients_.size();
  coefficients_.resize(coefficients_.size() + axis_count_, 0);
  return index;
}

void TouchAnalysis::AddTerms(const tensor::Affine& index, int64_t scale, PhysicalIndex& out) {
  out.constant += scale * index.constant;
  for (const tensor::Affine::Term& term : index.terms) {
    const int axis = axis_of_digit_[term.digit];
    if (axis >= 0) coefficients_[out.row + axis] += scale * term.coefficient;
  }
}

/// (index / stride) % extent as a sum of digits: those whose coefficients fall between the axis's
/// stride and the next one's. Not affine when a digit or the sum of digits reaches across.
void TouchAnalysis::AddLayoutIndex(const tensor::Affine& index, const tensor::LayoutAxis& axis,
                                   bool outermost) {
  PhysicalIndex& out = NewIndex();
  const int64_t next_stride = axis.stride * axis.extent;
  int64_t below = index.constant % axis.stride;
  int64_t reach = index.constant % next_stride / axis.stride;
  out.constant = reach;
  out.affine = index.constant >= 0;
  for (const tensor::Affine::Term& term : index.terms) {
    if (term.coefficient < 0) out.affine = false;
    if (term.coefficient >= next_stride && !outermost) {
      if (term.coefficient % next_stride != 0) out.affine = false;
      continue;
    }
    const int64_t steps = program_.digit_extents[term.digit] - 1;
    if (term.coefficient < axis.stride) {
      below += term.coefficient * steps;
      continue;
    }
    if (term.coefficient % axis.stride != 0) out.affine = false;
    reach += term.coefficient / axis.stride * steps;
    const int position = axis_of_digit_[term.digit];
    if (position >= 0) coefficients_[out.row + position] += term.coefficient / axis.stride;
  }
  if (below >= axis.stride || reach >= axis.extent) out.affine = false;
}

void TouchAnalysis::DescribeTouch(int touch_index, const BlockNest& nest) {
  BufferTouch& touch = touches_[touch_index];
  first_indices_.clear();
  for (const PhysicalAccess& access : accesses_) {
    const bool counts = access.is_write || !touch.write;  // stores alone describe what they hit
    if (access.touch == touch_index && counts) first_indices_.push_back(access.first_index);
  }
  const BufferPlaces::Place& place = plan_.Of(touch.buffer);
  touch.elements.assign(axis_count_ + 1, 1);
  double run = 1;  // contiguous elements of the whole region; negative: ended further inside
  for (size_t d = place.shape.size(); d-- > 0;) {
    const double extent = MeasureDimension(d, place.shape[d], nest, touch.elements);
    if (run > 0) run *= extent < static_cast<double>(place.shape[d]) ? -extent : extent;
  }
  touch.run_bytes = touch.element_bytes * std::abs(run);
  MeasureStrides(place, touch);
}

/// Multiplies elements[p] by the extent of the bounding box along one physical dimension while
/// the p innermost axes run; returns the last of these extents.
double TouchAnalysis::MeasureDimension(size_t dimension, int64_t size, const BlockNest& nest,
                                       std::vector<double>& elements) {
  bool affine = true;
  bounds_.clear();
  for (size_t first : first_indices_) {
    const PhysicalIndex& index = indices_[first + dimension];
    affine = affine && index.affine;
    bounds_.push_back({index.constant, index.constant});
  }
  int64_t extent = 1;
  for (size_t p = 0; p <= axis_count_; ++p) {
    const size_t axis = axis_count_ - p;
    if (!affine) {
      extent = p == 0 ? 1 : std::min(size, extent * nest.extents[axis]);
    } else if (p == 0 || Widen(dimension, axis, p == 0 ? 0 : nest.extents[axis] - 1)) {
      int64_t low = bounds_[0].min, high = bounds_[0].max;
      for (const tensor::IndexRange& bound : bounds_) {
        low = std::min(low, bound.min);
        high = std::max(high, bound.max);
      }
      extent = std::min(size, high - low + 1);
    }
    elements[p] *= static_cast<double>(extent);
  }
  return static_cast<double>(extent);
}

/// Lets an axis run `steps` steps; false if that moves no access along the dimension.
bool TouchAnalysis::Widen(size_t dimension, size_t axis, int64_t steps) {
  bool moved = false;
  for (size_t i = 0; i < first_indices_.size(); ++i) {
    const int64_t reach = steps * coefficients_[indices_[first_indices_[i] + dimension].row + axis];
    (reach < 0 ? bounds_[i].min : bounds_[i].max) += reach;
    moved = moved || reach != 0;
  }
  return moved;
}

void TouchAnalysis::MeasureStrides(const BufferPlaces::Place& place, BufferTouch& touch) const {
  touch.strides.assign(axis_count_, BufferTouch::kUnmoved);
  for (size_t axis = 0; axis < axis_count_; ++axis) {
    for (size_t first : first_indices_) {
      bool moved = false, affine = true;
      int64_t step = 0;
      for (size_t d = 0; d < place.shape.size(); ++d) {
        const int64_t coefficient = coefficients_[indices_[first + d].row + axis];
        affine = affine && indices_[first + d].affine;
        moved = moved || coefficient != 0;
        step += coefficient * place.strides[d];
      }
      if (!moved && affine) continue;
      const auto stride = static_cast<double>(moved ? std::abs(step) : place.elements);
      double& least = touch.strides[axis];
      least = least == BufferTouch::kUnmoved ? stride : std::min(least, stride);
    }
  }
}

}  // namespace bayloom::feature
