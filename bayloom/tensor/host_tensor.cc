// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/tensor/interpreter.h"
#include "bayloom/tensor/scalar.h"

namespace bayloom::tensor {

HostTensor HostTensor::Zeros(DType dtype, std::vector<int64_t> shape) {
  HostTensor tensor{dtype, std::move(shape), {}};
  tensor.data.resize(static_cast<size_t>(tensor.ElementCount() * ByteSize(dtype)));
  return tensor;
}

int64_t HostTensor::ElementCount() const {
  int64_t count = 1;
  for (int64_t extent : shape) count *= extent;
  return count;
}

double HostTensor::Get(int64_t element) const {
  const std::byte* at = data.data() + element * ByteSize(dtype);
  return IsFloat(dtype) ? LoadFloat(dtype, at) : IntToFloat(dtype, LoadInt(dtype, at));
}

int64_t HostTensor::GetInt(int64_t element) const {
  const std::byte* at = data.data() + element * ByteSize(dtype);
  return IsFloat(dtype) ? FloatToInt(DType::kInt64, LoadFloat(dtype, at)) : LoadInt(dtype, at);
}

void HostTensor::Set(int64_t element, double value) {
  std::byte* at = data.data() + element * ByteSize(dtype);
  if (IsFloat(dtype)) {
    StoreFloat(dtype, at, value);
  } else {
    StoreInt(dtype, at, FloatToInt(dtype, value));
  }
}

void HostTensor::SetInt(int64_t element, int64_t value) {
  std::byte* at = data.data() + element * ByteSize(dtype);
  if (IsFloat(dtype)) {
    StoreFloat(dtype, at, static_cast<double>(value));
  } else {
    StoreInt(dtype, at, value);
  }
}

}  // namespace bayloom::tensor
