// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/graph/import/frozen_input.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "bayloom/graph/builder.h"

namespace bayloom::graph {
namespace {

std::string ToText(const std::vector<std::optional<int64_t>>& shape) {
  std::vector<std::string> extents;
  for (const auto& extent : shape) extents.push_back(extent ? std::to_string(*extent) : "?");
  return fmt::format("[{}]", fmt::join(extents, ", "));
}

}  // namespace

tensor::HostTensor ConvertFrozen(const tensor::HostTensor& tensor, tensor::DType dtype) {
  if (tensor.dtype == dtype) return tensor;
  tensor::HostTensor converted = tensor::HostTensor::Zeros(dtype, tensor.shape);
  for (int64_t i = 0; i < tensor.ElementCount(); ++i) {
    const double value = tensor.Get(i);
    bool is_kept = false;
    if (tensor::IsFloat(dtype)) {
      converted.Set(i, value);
      is_kept = std::isfinite(converted.Get(i)) == std::isfinite(value);
    } else if (tensor::IsFloat(tensor.dtype)) {
      constexpr double kExact = 0x1p53;
      if (std::trunc(value) == value && std::abs(value) <= kExact) {
        converted.SetInt(i, static_cast<int64_t>(value));
        is_kept = converted.Get(i) == value;
      }
    } else {
      const int64_t integer = tensor.GetInt(i);
      converted.SetInt(i, integer);
      // uint64 is read by its bits.
      const bool any_unsigned = tensor::IsUnsigned(tensor.dtype) || tensor::IsUnsigned(dtype);
      is_kept = converted.GetInt(i) == integer && (integer >= 0 || !any_unsigned);
    }
    if (!is_kept) throw FrozenValueError(fmt::format("{} is no {}", value, ToString(dtype)));
  }
  return converted;
}

std::vector<int64_t> FitFrozenShape(const tensor::HostTensor& tensor,
                                    const std::vector<std::optional<int64_t>>& declared) {
  bool fits = tensor.shape.size() == declared.size();
  for (size_t d = 0; fits && d < declared.size(); ++d) {
    fits = !declared[d] || *declared[d] == tensor.shape[d];
  }
  if (fits) return tensor.shape;
  // A number stands for a tensor of one element however many dimensions that has.
  std::vector<int64_t> shape;
  for (const auto& extent : declared) shape.push_back(extent.value_or(1));
  const bool is_whole = std::ranges::all_of(declared, [](const auto& e) { return e.has_value(); });
  const int64_t count = tensor.ElementCount();
  if ((is_whole || count == 1) && CheckedElementCount(shape) == count) return shape;
  throw FrozenValueError(fmt::format("they are of shape [{}], the input of shape {}",
                                     fmt::join(tensor.shape, ", "), ToText(declared)));
}

}  // namespace bayloom::graph
