// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "bayloom/tensor/constant_transform.h"
#include "bayloom/tensor/expr.h"

namespace bayloom::tensor {

/// Part a buffer plays for the caller of a compiled program.
enum class BufferRole : uint8_t {
  kInput,         ///< passed in at every call
  kConstant,      ///< passed in, never changes: its layout may be rewritten ahead of time
  kIntermediate,  ///< written and read inside
  kOutput,        ///< passed in to be written
  kSize,          ///< passed in: an int64 that says how far open axes reach
};

/// Whether it is there before the program runs.
constexpr bool IsPassedIn(BufferRole role) {
  return role != BufferRole::kIntermediate && role != BufferRole::kOutput;
}

/// Where a buffer lives. CPU programs use kGlobal and kLocal; the rest is for accelerators.
enum class StorageScope : uint8_t { kGlobal, kShared, kLocal };

/// One axis of a physical layout: coordinate = (logical index[dimension] / stride) % extent.
struct LayoutAxis {
  int dimension;
  int64_t stride;
  int64_t extent;
  bool operator==(const LayoutAxis&) const = default;
};

/// The values that a size may have.
struct SizeRange {
  int64_t smallest = 1;
  int64_t largest = 1;
  bool operator==(const SizeRange&) const = default;
};

/// How far an open axis reaches: iteration or element number i of it exists where i * step is below
/// the size, or that and `beyond`. Where several elements were put together, as vectors are, the
/// step is their number; windows reach beyond an axis.
struct Bound {
  BufferId size = -1;  ///< -1: the axis is not open
  int64_t step = 1;
  int64_t beyond = 0;
  bool is_open() const { return size >= 0; }
  bool operator==(const Bound&) const = default;
};

/// A dense tensor in memory.
///
/// An *open* axis is one whose length is known only when the program runs. Its extent is the
/// largest length, so that everything that is decided before (strides, tiles, the memory that is
/// needed) is decided for that; its bound is the size that says how far it reaches in a run. What
/// lies at or beyond the bound is in memory, but not specified.
struct Buffer {
  std::string name;
  DType dtype = DType::kFloat32;
  std::vector<int64_t> shape;  ///< logical extents, outermost first; empty for a scalar
  BufferRole role = BufferRole::kInput;
  StorageScope scope = StorageScope::kGlobal;
  /// Physical order, outermost axis first; empty means row-major over `shape`. The axes of each
  /// dimension together cover it exactly (a mixed-radix split of its extent).
  std::vector<LayoutAxis> layout;
  /// Shape of the tensor in whose memory the elements lie, for a slice of something larger: where
  /// it begins is what the caller passes. At least `shape` in each dimension; empty: no slice.
  std::vector<int64_t> slice_of;
  /// Of a constant of a program: how it is made from the caller's, `shape` being what comes out;
  /// null: it is the caller's.
  std::shared_ptr<const ConstantTransform> transform = {};
  std::vector<Bound> bounds = {};  ///< per dimension; empty: none is open
  SizeRange range = {};            ///< of a kSize

  Bound BoundOf(size_t dimension) const { return bounds.empty() ? Bound{} : bounds[dimension]; }
  int64_t ElementCount() const;
  /// The shape of the caller's tensor.
  const std::vector<int64_t>& CallerShape() const {
    return transform ? transform->source_shape : shape;
  }
  /// The extents that decide how far apart the elements lie (without a layout).
  const std::vector<int64_t>& MemoryShape() const { return slice_of.empty() ? shape : slice_of; }
  /// From the first element to behind the last, in elements.
  int64_t MemorySpan() const;
};

enum class IterKind : uint8_t { kSpatial, kReduction };

/// An iteration axis: it runs over [0, extent).
struct Iter {
  std::string name;
  int64_t extent;
  IterKind kind;
  /// Beyond it nothing is needed: spatial iterations may be left out, and those of a reduction
  /// combine the neutral element (ReduceWithin).
  Bound bound = {};
};

/// How a stage with reduction axes combines its values. The neutral element initializes.
enum class Reduction : uint8_t { kNone, kSum, kProduct, kMin, kMax };

/// The neutral element of the reduction in the given type.
Expr NeutralElement(Reduction reduction, DType dtype);
/// combine(a, b), e.g. a + b for kSum.
Expr Combine(Reduction reduction, Expr a, Expr b);

/// One computation of a workload:
///
///     output[s0, s1, ...] = value(s, r)                     without reduction axes
///     output[s0, s1, ...] = combine over all r of value(s, r)
///
/// The spatial iterators come first, one per output dimension and in its order. Where loops are
/// the wrong form, the value is a call of the library (library_call.h) that gives all elements.
struct Stage {
  std::string name;
  BufferId output;
  std::vector<Iter> iters;
  Expr value;
  Reduction reduction = Reduction::kNone;
};

/// What is to be computed: a DAG of stages in topological order. It says nothing about how. Sizes
/// are the first buffers.
struct Workload {
  std::string name;
  std::vector<Buffer> buffers;
  std::vector<Stage> stages;
  /// Values of the sizes, in their order, that stand for all that occur: what programs are judged
  /// by. They are no part of what is computed.
  std::vector<std::vector<int64_t>> points;
  /// Where it is used, the caches do not keep its constants until the next run, as other tasks'
  /// constants come between: programs are measured and judged so. No part of what is computed.
  bool has_cold_constants = false;

  /// The buffers a caller passes, in the order of compiled functions' arguments: sizes, inputs and
  /// constants in the order they were declared, then outputs in the order they are computed.
  std::vector<BufferId> Parameters() const;
  /// How many of the buffers are sizes.
  int SizeCount() const;
  /// Index of the stage writing `buffer`, or -1.
  int Producer(BufferId buffer) const;
  /// Arithmetic on floats (and integers in integer workloads) one run performs; a multiply-add
  /// counts two, indices count nothing. Where axes are open, the geometric mean over the points at
  /// which there is some.
  double Flops() const;
  /// Hash of what is computed, blind to names; equal workloads are one task.
  uint64_t StructuralHash() const;
};

/// A tensor while a workload is written: call it with indices to read an element.
///
///     WorkloadBuilder b("matmul");
///     Tensor a = b.Input("a", {m, k}), w = b.Input("w", {k, n});
///     Tensor c = b.Reduce("c", {m, n}, {{"k", k}}, Reduction::kSum,
///                         [&](auto s, auto r) { return a(s[0], r[0]) * w(r[0], s[1]); });
///     Workload workload = b.Build({c});
class Tensor {
 public:
  Tensor() = default;
  Tensor(BufferId id, DType dtype, std::vector<int64_t> shape)
      : id_(id), dtype_(dtype), shape_(std::move(shape)) {}

  template <typename... Index>
  Expr operator()(Index... index) const {
    return At({Expr(index)...});
  }
  Expr At(std::vector<Expr> indices) const { return Load(id_, dtype_, std::move(indices)); }
  BufferId id() const { return id_; }
  DType dtype() const { return dtype_; }
  const std::vector<int64_t>& shape() const { return shape_; }

 private:
  BufferId id_ = -1;
  DType dtype_ = DType::kFloat32;
  std::vector<int64_t> shape_;
};

class WorkloadBuilder {
 public:
  using Exprs = std::vector<Expr>;
  struct Axis {
    std::string name;
    int64_t extent;
    BufferId size = -1;  ///< which bounds it, if it is open
  };

  explicit WorkloadBuilder(std::string name);

  /// A size; all of them come before anything else.
  BufferId Size(std::string name, SizeRange range);
  Tensor Input(std::string name, std::vector<int64_t> shape, DType dtype = DType::kFloat32);
  Tensor Constant(std::string name, std::vector<int64_t> shape, DType dtype = DType::kFloat32);
  /// An elementwise stage; `value` gets one iterator per dimension of `shape`. `axis_names` names
  /// those iterators for the reader; without, they are i, j, k, ...
  Tensor Compute(std::string name, std::vector<int64_t> shape,
                 const std::function<Expr(const Exprs&)>& value,
                 std::vector<std::string> axis_names = {});
  /// A reduction; `value` gets the spatial and the reduction iterators. The element type is
  /// that of the value.
  Tensor Reduce(std::string name, std::vector<int64_t> shape, std::vector<Axis> reduction_axes,
                Reduction reduction, const std::function<Expr(const Exprs&, const Exprs&)>& value,
                std::vector<std::string> axis_names = {});
  /// Makes a dimension an open one that the size bounds. Its extent is the size's largest value.
  void Bound(const Tensor& tensor, int dimension, BufferId size);
  /// A call of the library (library_call.h); it has to be the only stage.
  Tensor Call(std::string name, std::vector<int64_t> shape, Expr call);
  /// Makes `outputs` the workload's outputs (each must be a computed tensor) and gives the whole.
  /// Throws std::invalid_argument where something computed is neither read nor an output.
  ///
  /// The builder makes names unique as it goes and throws std::invalid_argument on extents that
  /// are not positive, values of the wrong kind and reductions without axes.
  Workload Build(const std::vector<Tensor>& outputs);

 private:
  Tensor AddBuffer(std::string name, std::vector<int64_t> shape, DType dtype, BufferRole role);
  Tensor AddStage(std::string name, std::vector<int64_t> shape, std::vector<Iter> iters,
                  Reduction reduction, Expr value);

  Workload workload_;
};

}  // namespace bayloom::tensor
