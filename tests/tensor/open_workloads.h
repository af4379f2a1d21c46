// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bayloom/base/random.h"
#include "tests/tensor/workloads.h"

namespace bayloom::testing {

/// A workload over axes that are open, and the same one over axes of fixed lengths.
class OpenWorkloadWriter {
 public:
  using Exprs = tensor::WorkloadBuilder::Exprs;
  struct Extent {
    Extent(int64_t fixed) : extent(fixed) {}  // NOLINT: lengths read as numbers
    Extent(int64_t largest, tensor::BufferId size) : extent(largest), bound(size) {}
    int64_t extent;
    tensor::BufferId bound = -1;
    /// The length when the program runs.
    tensor::Expr length() const {
      return bound < 0 ? tensor::IntLiteral(extent) : tensor::SizeOf(bound);
    }
  };

  /// `fixed`: the lengths in place of the sizes, in their order; empty: they are open.
  explicit OpenWorkloadWriter(std::vector<int64_t> fixed) : b_("test"), fixed_(std::move(fixed)) {}

  Extent Size(const std::string& name, int64_t smallest, int64_t largest) {
    if (!fixed_.empty()) return fixed_.at(next_++);
    return {largest, b_.Size(name, {smallest, largest})};
  }
  tensor::Tensor Input(const std::string& name, const std::vector<Extent>& shape,
                       tensor::DType dtype = tensor::DType::kFloat32) {
    return Bounded(b_.Input(name, Extents(shape), dtype), shape);
  }
  tensor::Tensor Constant(const std::string& name, std::vector<int64_t> shape,
                          tensor::DType dtype = tensor::DType::kFloat32) {
    return b_.Constant(name, std::move(shape), dtype);
  }
  tensor::Tensor Compute(const std::string& name, const std::vector<Extent>& shape,
                         const std::function<tensor::Expr(const Exprs&)>& value) {
    return Bounded(b_.Compute(name, Extents(shape), value), shape);
  }
  tensor::Tensor Reduce(const std::string& name, const std::vector<Extent>& shape,
                        const std::vector<Extent>& reduced, tensor::Reduction reduction,
                        const std::function<tensor::Expr(const Exprs&, const Exprs&)>& value) {
    std::vector<tensor::WorkloadBuilder::Axis> axes;
    for (const Extent& axis : reduced) axes.push_back({"r", axis.extent, axis.bound});
    return Bounded(b_.Reduce(name, Extents(shape), axes, reduction, value), shape);
  }
  tensor::Workload Build(const std::vector<tensor::Tensor>& outputs) { return b_.Build(outputs); }

 private:
  static std::vector<int64_t> Extents(const std::vector<Extent>& shape) {
    std::vector<int64_t> extents;
    for (const Extent& extent : shape) extents.push_back(extent.extent);
    return extents;
  }
  tensor::Tensor Bounded(tensor::Tensor tensor, const std::vector<Extent>& shape) {
    for (size_t d = 0; d < shape.size(); ++d) {
      if (shape[d].bound >= 0) b_.Bound(tensor, static_cast<int>(d), shape[d].bound);
    }
    return tensor;
  }

  tensor::WorkloadBuilder b_;
  std::vector<int64_t> fixed_;
  size_t next_ = 0;
};

struct OpenWorkload {
  std::string name;
  std::function<tensor::Workload(OpenWorkloadWriter&)> write;

  tensor::Workload Open() const { return Fixed({}); }
  tensor::Workload Fixed(std::vector<int64_t> lengths) const {
    OpenWorkloadWriter writer(std::move(lengths));
    return write(writer);
  }
};
/// For GoogleTest.
inline void PrintTo(const OpenWorkload& open, std::ostream* out) { *out << open.name; }

inline tensor::Tensor OpenSoftmax(OpenWorkloadWriter& b, const tensor::Tensor& x,
                                  const OpenWorkloadWriter::Extent& rows,
                                  const OpenWorkloadWriter::Extent& columns) {
  const tensor::Tensor most = b.Reduce("most", {rows}, {columns}, tensor::Reduction::kMax,
                                       [&](const auto& s, const auto& r) { return x(s[0], r[0]); });
  const tensor::Tensor power = b.Compute("power", {rows, columns}, [&](const auto& i) {
    return tensor::Unary(tensor::ExprOp::kExp, x(i[0], i[1]) - most(i[0]));
  });
  const tensor::Tensor total =
      b.Reduce("total", {rows}, {columns}, tensor::Reduction::kSum,
               [&](const auto& s, const auto& r) { return power(s[0], r[0]); });
  return b.Compute("softmax", {rows, columns},
                   [&](const auto& i) { return power(i[0], i[1]) / total(i[0]); });
}

inline std::vector<OpenWorkload> OpenCatalogue() {
  using W = OpenWorkloadWriter;
  using tensor::Reduction;
  std::vector<OpenWorkload> all;
  all.push_back({"elementwise", [](W& b) {
                   const W::Extent n = b.Size("n", 1, 40);
                   const tensor::Tensor x = b.Input("x", {n, 9});
                   const tensor::Tensor y =
                       b.Compute("twice", {n, 9}, [&](const auto& i) { return x(i[0], i[1]) * 2; });
                   return b.Build({b.Compute("next", {n, 9},
                                             [&](const auto& i) { return y(i[0], i[1]) + 1; })});
                 }});
  all.push_back({"matmul_rows", [](W& b) {
                   const W::Extent n = b.Size("n", 1, 48);
                   const tensor::Tensor x = b.Input("x", {n, 20});
                   const tensor::Tensor w = b.Constant("w", {20, 32}), bias = b.Constant("c", {32});
                   const tensor::Tensor y = b.Reduce(
                       "product", {n, 32}, {20}, Reduction::kSum,
                       [&](const auto& s, const auto& r) { return x(s[0], r[0]) * w(r[0], s[1]); });
                   return b.Build({b.Compute("relu", {n, 32}, [&](const auto& i) {
                     return tensor::Max(y(i[0], i[1]) + bias(i[1]), tensor::FloatLiteral(0));
                   })});
                 }});
  all.push_back({"matmul_columns", [](W& b) {
                   const W::Extent n = b.Size("n", 1, 48);
                   const tensor::Tensor x = b.Input("x", {12, 10}), y = b.Input("y", {10, n});
                   return b.Build({b.Reduce("product", {12, n}, {10}, Reduction::kSum,
                                            [&](const auto& s, const auto& r) {
                                              return x(s[0], r[0]) * y(r[0], s[1]);
                                            })});
                 }});
  all.push_back({"matmul_sum", [](W& b) {
                   const W::Extent n = b.Size("n", 1, 64);
                   const tensor::Tensor x = b.Input("x", {12, n}), y = b.Input("y", {n, 24});
                   return b.Build({b.Reduce("product", {12, 24}, {n}, Reduction::kSum,
                                            [&](const auto& s, const auto& r) {
                                              return x(s[0], r[0]) * y(r[0], s[1]);
                                            })});
                 }});
  all.push_back({"softmax", [](W& b) {
                   const W::Extent n = b.Size("n", 1, 50), m = b.Size("m", 1, 36);
                   return b.Build({OpenSoftmax(b, b.Input("x", {n, m}), n, m)});
                 }});
  all.push_back({"attention", [](W& b) {
                   const W::Extent n = b.Size("n", 1, 32);
                   const tensor::Tensor q = b.Input("q", {n, 8}), k = b.Input("k", {n, 8});
                   const tensor::Tensor v = b.Input("v", {n, 16});
                   const tensor::Tensor scores = b.Reduce(
                       "scores", {n, n}, {8}, Reduction::kSum,
                       [&](const auto& s, const auto& r) { return q(s[0], r[0]) * k(s[1], r[0]); });
                   const tensor::Tensor p = OpenSoftmax(b, scores, n, n);
                   return b.Build({b.Reduce("mix", {n, 16}, {n}, Reduction::kSum,
                                            [&](const auto& s, const auto& r) {
                                              return p(s[0], r[0]) * v(r[0], s[1]);
                                            })});
                 }});
  all.push_back(
      {"convolution", [](W& b) {
         const W::Extent h = b.Size("h", 1, 12), w = b.Size("w", 1, 9);
         const tensor::Tensor x = b.Input("x", {h, w, 4});
         const tensor::Tensor f = b.Constant("f", {3, 3, 4, 8});
         const tensor::Tensor padded =
             b.Compute("padded", {h.extent + 2, w.extent + 2, 4}, [&](const auto& i) {
               const auto inside = [&](const tensor::Expr& at, const W::Extent& end) {
                 return tensor::Expr(0) < at && at < end.length() + 1;
               };
               return tensor::Select(inside(i[0], h) && inside(i[1], w),
                                     x(i[0] - 1, i[1] - 1, i[2]), tensor::FloatLiteral(0));
             });
         return b.Build({b.Reduce(
             "conv", {h, w, 8}, {3, 3, 4}, Reduction::kSum, [&](const auto& s, const auto& r) {
               return padded(s[0] + r[0], s[1] + r[1], r[2]) * f(r[0], r[1], r[2], s[2]);
             })});
       }});
  all.push_back({"mean", [](W& b) {
                   const W::Extent n = b.Size("n", 1, 70);
                   const tensor::Tensor x = b.Input("x", {n, 12});
                   const tensor::Tensor sum =
                       b.Reduce("sum", {12}, {n}, Reduction::kSum,
                                [&](const auto& s, const auto& r) { return x(r[0], s[0]); });
                   return b.Build({b.Compute("mean", {12}, [&](const auto& i) {
                     return sum(i[0]) / tensor::Cast(tensor::DType::kFloat32, n.length());
                   })});
                 }});
  all.push_back(
      {"append", [](W& b) {
         const W::Extent past = b.Size("past", 0, 20), now = b.Size("now", 1, 6);
         const W::Extent total = b.Size("total", 1, 26);
         const tensor::Tensor x = b.Input("x", {past.extent > 0 ? past : W::Extent(1), 5});
         const tensor::Tensor y = b.Input("y", {now, 5});
         return b.Build({b.Compute("both", {total, 5}, [&](const auto& i) {
           return tensor::Select(i[0] < past.length(), x(i[0], i[1]),
                                 y(i[0] - past.length(), i[1]));
         })});
       }});
  all.push_back({"gather", [](W& b) {
                   const W::Extent n = b.Size("n", 1, 30);
                   const tensor::Tensor ids = b.Input("ids", {n}, tensor::DType::kInt64);
                   const tensor::Tensor table = b.Constant("table", {7, 10});
                   return b.Build({b.Compute("rows", {n, 10}, [&](const auto& i) {
                     return table(tensor::FloorMod(ids(i[0]), 7), i[1]);
                   })});
                 }});
  // What is beyond the bound is an index outside of the table, and a divisor that may be zero.
  all.push_back({"gather_by_quotient", [](W& b) {
                   const W::Extent n = b.Size("n", 1, 30);
                   const tensor::Tensor ids = b.Input("ids", {n}, tensor::DType::kInt64);
                   const tensor::Tensor by = b.Input("by", {n}, tensor::DType::kInt64);
                   const tensor::Tensor table = b.Constant("table", {40, 10});
                   const tensor::Tensor at = b.Compute(
                       "at", {n}, [&](const auto& i) { return (ids(i[0]) + 8) / (by(i[0]) + 20); });
                   return b.Build({b.Compute("rows", {n, 10}, [&](const auto& i) {
                     return table(at(i[0]) + ids(i[0]) + 8, i[1]);
                   })});
                 }});
  all.push_back({"quantized", [](W& b) {
                   const W::Extent n = b.Size("n", 1, 33), k = b.Size("k", 1, 32);
                   const tensor::Tensor x = b.Input("x", {n, k}, tensor::DType::kUInt8);
                   const tensor::Tensor w = b.Constant("w", {32, 16}, tensor::DType::kInt8);
                   const auto wide = [](tensor::Expr e) {
                     return tensor::Cast(tensor::DType::kInt32, std::move(e));
                   };
                   return b.Build({b.Reduce("product", {n, 16}, {k}, Reduction::kSum,
                                            [&](const auto& s, const auto& r) {
                                              return wide(x(s[0], r[0])) * wide(w(r[0], s[1]));
                                            })});
                 }});
  return all;
}

/// Values for the sizes of a program: the ends of their ranges, and random ones.
inline std::vector<std::vector<int64_t>> SizesToTry(const tensor::Workload& workload, int random,
                                                    uint64_t seed) {
  base::RandomStream stream(seed);
  std::vector<std::vector<int64_t>> tries(static_cast<size_t>(random) + 2);
  for (int size = 0; size < workload.SizeCount(); ++size) {
    const tensor::SizeRange range = workload.buffers[size].range;
    for (size_t i = 0; i < tries.size(); ++i) {
      tries[i].push_back(i == 0   ? range.largest
                         : i == 1 ? range.smallest
                                  : range.smallest +
                                        stream.UniformInt(range.largest - range.smallest + 1));
    }
  }
  // Where a last size is the sum of those before, it follows from them.
  for (std::vector<int64_t>& values : tries) {
    if (workload.buffers[values.size() - 1].name != "total") continue;
    values.back() = 0;
    for (size_t i = 0; i + 1 < values.size(); ++i) values.back() += values[i];
  }
  return tries;
}

/// Calls visit(place in the tensor of largest extents, place in that of the run's) for all elements
/// within the bounds, both row-major. `sizes`: the values of the sizes.
template <typename Visit>
void ForEachWithinBounds(const tensor::Buffer& buffer, const std::vector<int64_t>& sizes,
                         const Visit& visit) {
  std::vector<int64_t> lengths = buffer.shape;
  for (size_t d = 0; d < lengths.size(); ++d) {
    if (buffer.BoundOf(d).is_open()) lengths[d] = sizes.at(buffer.BoundOf(d).size);
  }
  int64_t count = 1;
  for (int64_t length : lengths) count *= length;
  for (int64_t place = 0; place < count; ++place) {
    int64_t rest = place, stride = 1, in_largest = 0;
    for (size_t d = lengths.size(); d-- > 0; stride *= buffer.shape[d]) {
      in_largest += rest % lengths[d] * stride;
      rest /= lengths[d];
    }
    visit(in_largest, place);
  }
}

/// Random arguments of an open workload; beyond the bounds is what no result may depend on.
inline std::vector<tensor::HostTensor> OpenArguments(const tensor::Workload& workload,
                                                     const std::vector<int64_t>& sizes,
                                                     uint64_t seed) {
  std::vector<tensor::HostTensor> arguments = RandomArguments(workload, seed);
  const std::vector<tensor::BufferId> parameters = workload.Parameters();
  for (size_t p = 0; p < parameters.size(); ++p) {
    const tensor::Buffer& buffer = workload.buffers[parameters[p]];
    tensor::HostTensor& argument = arguments[p];
    if (buffer.role == tensor::BufferRole::kSize) argument.SetInt(0, sizes.at(parameters[p]));
    if (buffer.role != tensor::BufferRole::kInput || buffer.bounds.empty()) continue;
    tensor::HostTensor poisoned = argument;
    for (int64_t i = 0; i < argument.ElementCount(); ++i) {
      if (tensor::IsFloat(buffer.dtype)) {
        poisoned.Set(i, std::numeric_limits<double>::quiet_NaN());
      } else {
        poisoned.SetInt(i, 0x5555555555555555);
      }
    }
    ForEachWithinBounds(buffer, sizes, [&](int64_t at, int64_t) {
      if (tensor::IsFloat(buffer.dtype)) {
        poisoned.Set(at, argument.Get(at));
      } else {
        poisoned.SetInt(at, argument.GetInt(at));
      }
    });
    argument = std::move(poisoned);
  }
  return arguments;
}

/// The part of a tensor of an open workload that is within the bounds, dense.
inline tensor::HostTensor WithinBounds(const tensor::Buffer& buffer,
                                       const std::vector<int64_t>& sizes,
                                       const tensor::HostTensor& tensor) {
  std::vector<int64_t> lengths = buffer.shape;
  for (size_t d = 0; d < lengths.size(); ++d) {
    if (buffer.BoundOf(d).is_open()) lengths[d] = sizes.at(buffer.BoundOf(d).size);
  }
  tensor::HostTensor within = tensor::HostTensor::Zeros(buffer.dtype, lengths);
  ForEachWithinBounds(buffer, sizes, [&](int64_t at, int64_t place) {
    if (tensor::IsFloat(buffer.dtype)) {
      within.Set(place, tensor.Get(at));
    } else {
      within.SetInt(place, tensor.GetInt(at));
    }
  });
  return within;
}

}  // namespace bayloom::testing
