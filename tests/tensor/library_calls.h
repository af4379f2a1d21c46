// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cmath>
#include <limits>
#include <vector>

#include "bayloom/base/random.h"
#include "bayloom/tensor/library_call.h"

namespace bayloom::testing {

/// A call of the library, and what it is called with; the last argument is the result.
struct SampleCall {
  tensor::Workload workload;
  std::vector<tensor::HostTensor> arguments;

  tensor::LibraryCall call() const { return *tensor::AsCall(workload.stages[0].value); }
};

inline constexpr tensor::DType kNumberTypes[] = {
    tensor::DType::kInt8,     tensor::DType::kInt16,   tensor::DType::kInt32,
    tensor::DType::kInt64,    tensor::DType::kUInt8,   tensor::DType::kUInt16,
    tensor::DType::kUInt32,   tensor::DType::kUInt64,  tensor::DType::kFloat16,
    tensor::DType::kBFloat16, tensor::DType::kFloat32, tensor::DType::kFloat64};

/// Few different values, so that many are equal; of floats now and then one that is no number.
inline tensor::HostTensor RandomNumbers(tensor::DType dtype, std::vector<int64_t> shape,
                                        base::RandomStream& random, bool finite = false) {
  tensor::HostTensor tensor = tensor::HostTensor::Zeros(dtype, std::move(shape));
  constexpr double kOdd[] = {std::numeric_limits<double>::quiet_NaN(),
                             std::numeric_limits<double>::infinity(),
                             -std::numeric_limits<double>::infinity(), -0.0};
  for (int64_t i = 0; i < tensor.ElementCount(); ++i) {
    const int64_t integer = random.UniformInt(12) - (tensor::IsUnsigned(dtype) ? 0 : 6);
    if (!tensor::IsFloat(dtype)) {
      tensor.SetInt(i, integer);
    } else if (!finite && random.UniformInt(16) == 0) {
      tensor.Set(i, kOdd[random.UniformInt(4)]);
    } else {
      tensor.Set(i, static_cast<double>(integer) / 4);
    }
  }
  return tensor;
}

/// Indices for an axis of that extent, some negative.
inline tensor::HostTensor RandomIndices(int64_t extent, std::vector<int64_t> shape,
                                        base::RandomStream& random) {
  tensor::HostTensor tensor = tensor::HostTensor::Zeros(tensor::DType::kInt64, std::move(shape));
  for (int64_t i = 0; i < tensor.ElementCount(); ++i) {
    tensor.SetInt(i, random.UniformInt(2 * extent) - extent);
  }
  return tensor;
}

/// The workload of one call with these operands.
inline SampleCall MakeSampleCall(tensor::LibraryKernel kernel, tensor::DType result,
                                 std::vector<int64_t> shape,
                                 std::vector<tensor::HostTensor> operands,
                                 const std::vector<int64_t>& numbers) {
  tensor::WorkloadBuilder builder(tensor::ToString(kernel));
  std::vector<tensor::Tensor> tensors;
  for (const tensor::HostTensor& operand : operands) {
    tensors.push_back(builder.Input("x", operand.shape, operand.dtype));
  }
  const tensor::Tensor y =
      builder.Call("y", shape, tensor::MakeCall(kernel, result, tensors, numbers));
  operands.push_back(tensor::HostTensor::Zeros(result, shape));
  return {builder.Build({y}), std::move(operands)};
}

inline SampleCall SampleTopK(tensor::DType dtype, int64_t outer, int64_t n, int64_t inner,
                             int64_t k, bool largest, base::RandomStream& random) {
  return MakeSampleCall(tensor::LibraryKernel::kTopK, tensor::DType::kInt64, {outer, k, inner},
                        {RandomNumbers(dtype, {outer, n, inner}, random)},
                        {outer, n, inner, k, largest});
}

inline SampleCall SampleArgExtreme(tensor::DType dtype, int64_t outer, int64_t n, int64_t inner,
                                   bool largest, bool last, base::RandomStream& random) {
  return MakeSampleCall(tensor::LibraryKernel::kArgExtreme, tensor::DType::kInt64, {outer, inner},
                        {RandomNumbers(dtype, {outer, n, inner}, random)},
                        {outer, n, inner, largest, last});
}

inline SampleCall SampleScan(tensor::DType dtype, int64_t outer, int64_t n, int64_t inner,
                             bool product, bool exclusive, bool reverse,
                             base::RandomStream& random) {
  return MakeSampleCall(tensor::LibraryKernel::kScan, dtype, {outer, n, inner},
                        {RandomNumbers(dtype, {outer, n, inner}, random, true)},
                        {outer, n, inner, product, exclusive, reverse});
}

inline SampleCall SampleScatterRows(tensor::DType dtype, int64_t reduction, int64_t tuples,
                                    const std::vector<int64_t>& dims, int64_t row,
                                    base::RandomStream& random) {
  std::vector<int64_t> shape = dims;
  shape.push_back(row);
  const auto depth = static_cast<int64_t>(dims.size());
  tensor::HostTensor indices =
      RandomIndices(*std::min_element(dims.begin(), dims.end()), {tuples, depth}, random);
  std::vector<int64_t> numbers = {reduction, tuples, depth, row};
  numbers.insert(numbers.end(), dims.begin(), dims.end());
  return MakeSampleCall(tensor::LibraryKernel::kScatterRows, dtype, shape,
                        {RandomNumbers(dtype, shape, random), std::move(indices),
                         RandomNumbers(dtype, {tuples, row}, random)},
                        numbers);
}

inline SampleCall SampleScatterElements(tensor::DType dtype, int64_t reduction, int64_t axis,
                                        const std::vector<int64_t>& dims,
                                        const std::vector<int64_t>& index_dims,
                                        base::RandomStream& random) {
  std::vector<int64_t> numbers = {reduction, axis, static_cast<int64_t>(dims.size())};
  numbers.insert(numbers.end(), dims.begin(), dims.end());
  numbers.insert(numbers.end(), index_dims.begin(), index_dims.end());
  return MakeSampleCall(
      tensor::LibraryKernel::kScatterElements, dtype, dims,
      {RandomNumbers(dtype, dims, random), RandomIndices(dims[axis], index_dims, random),
       RandomNumbers(dtype, index_dims, random)},
      numbers);
}

/// A small call of any kernel and type.
inline SampleCall RandomCall(base::RandomStream& random) {
  const auto flag = [&] { return random.UniformInt(2) == 1; };
  const auto extent = [&](int64_t limit) { return 1 + random.UniformInt(limit); };
  const tensor::DType dtype = kNumberTypes[random.UniformInt(std::size(kNumberTypes))];
  const int64_t outer = extent(4), n = extent(40), inner = flag() ? 1 : extent(70);
  switch (random.UniformInt(5)) {
    case 0:
      return SampleTopK(dtype, outer, n, inner, extent(n), flag(), random);
    case 1:
      return SampleArgExtreme(dtype, outer, n, inner, flag(), flag(), random);
    case 2:
      return SampleScan(dtype, outer, n, inner, flag(), flag(), flag(), random);
    case 3: {
      std::vector<int64_t> dims(extent(3));
      for (int64_t& dim : dims) dim = extent(5);
      return SampleScatterRows(dtype, random.UniformInt(5), extent(12), dims, extent(80), random);
    }
    default: {
      std::vector<int64_t> dims(extent(3)), index_dims;
      for (int64_t& dim : dims) dim = extent(9);
      for (int64_t dim : dims) index_dims.push_back(extent(dim));
      const int64_t axis = random.UniformInt(static_cast<int64_t>(dims.size()));
      index_dims[axis] = extent(12);
      return SampleScatterElements(dtype, random.UniformInt(5), axis, dims, index_dims, random);
    }
  }
}

/// How long a dimension of so many is in a run.
inline tensor::HostTensor LengthOf(int64_t most, base::RandomStream& random) {
  tensor::HostTensor length = tensor::HostTensor::Zeros(tensor::DType::kInt64, {1});
  length.SetInt(0, random.UniformInt(most + 1));
  return length;
}

/// A call that finds the number of its rows, now and then more than it has memory for.
inline SampleCall SampleFinding(tensor::LibraryKernel kernel, base::RandomStream& random) {
  const auto extent = [&](int64_t most) { return 1 + random.UniformInt(most); };
  const int64_t n = extent(40);
  if (kernel == tensor::LibraryKernel::kNonZero) {
    tensor::HostTensor mask = tensor::HostTensor::Zeros(tensor::DType::kBool, {n});
    for (int64_t i = 0; i < n; ++i) mask.SetInt(i, random.UniformInt(2));
    const int64_t capacity = extent(n);
    return MakeSampleCall(kernel, tensor::DType::kInt64, {capacity + 1},
                          {std::move(mask), LengthOf(n, random)}, {n, capacity});
  }
  if (kernel == tensor::LibraryKernel::kUnique) {
    const tensor::DType dtype = kNumberTypes[random.UniformInt(std::size(kNumberTypes))];
    const int64_t outer = extent(2), inner = extent(3);
    return MakeSampleCall(kernel, tensor::DType::kInt64, {n + 1, 3},
                          {RandomNumbers(dtype, {outer, n, inner}, random), LengthOf(n, random)},
                          {outer, n, inner, random.UniformInt(2)});
  }
  const int64_t batches = extent(2), classes = extent(3), capacity = extent(batches * classes * n);
  tensor::HostTensor limits = tensor::HostTensor::Zeros(tensor::DType::kInt64, {4});
  const int64_t most[] = {batches, classes, n, n};
  for (int64_t k = 0; k < 4; ++k) limits.SetInt(k, random.UniformInt(most[k] + 1));
  tensor::HostTensor thresholds = tensor::HostTensor::Zeros(tensor::DType::kFloat32, {2});
  thresholds.Set(0, random.Uniform());
  thresholds.Set(1, random.Uniform() - 0.5);
  return MakeSampleCall(kernel, tensor::DType::kInt64, {capacity + 1, 3},
                        {RandomNumbers(tensor::DType::kFloat32, {batches, n, 4}, random, true),
                         RandomNumbers(tensor::DType::kFloat32, {batches, classes, n}, random),
                         std::move(limits), std::move(thresholds)},
                        {batches, classes, n, random.UniformInt(2), capacity});
}

}  // namespace bayloom::testing
