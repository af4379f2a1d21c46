// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/graph/open/corner.h"

#include <algorithm>
#include <cstring>

namespace bayloom::graph {
namespace {

/// Calls visit(byte in the whole, byte in the part, bytes) for all rows of the part, while it
/// returns true.
template <typename Visit>
bool ForEachRow(tensor::DType dtype, const std::vector<int64_t>& whole,
                const std::vector<int64_t>& part, const Visit& visit) {
  const int64_t element = tensor::ByteSize(dtype);
  int64_t row = element, rows = 1;
  size_t outer = part.size();  // dimensions outside of rows
  while (outer > 0) {
    --outer;
    row *= part[outer];
    if (part[outer] != whole[outer]) break;
  }
  for (size_t d = 0; d < outer; ++d) rows *= part[d];
  int64_t inner = element;
  for (size_t d = outer; d < whole.size(); ++d) inner *= whole[d];
  for (int64_t i = 0; row > 0 && i < rows; ++i) {
    int64_t rest = i, stride = inner, from = 0;
    for (size_t d = outer; d-- > 0; stride *= whole[d]) {
      from += rest % part[d] * stride;
      rest /= part[d];
    }
    if (!visit(from, i * row, row)) return false;
  }
  return true;
}

}  // namespace

bool IsCorner(const tensor::HostTensor& whole, const tensor::HostTensor& part) {
  if (whole.dtype != part.dtype || whole.shape.size() != part.shape.size()) return false;
  for (size_t d = 0; d < whole.shape.size(); ++d) {
    if (part.shape[d] > whole.shape[d]) return false;
  }
  return ForEachRow(
      whole.dtype, whole.shape, part.shape, [&](int64_t from, int64_t to, int64_t bytes) {
        return std::memcmp(whole.data.data() + from, part.data.data() + to, bytes) == 0;
      });
}

tensor::HostTensor CornerOf(const tensor::HostTensor& whole, const std::vector<int64_t>& shape) {
  tensor::HostTensor part = tensor::HostTensor::Zeros(whole.dtype, shape);
  ForEachRow(whole.dtype, whole.shape, shape, [&](int64_t from, int64_t to, int64_t bytes) {
    std::memcpy(part.data.data() + to, whole.data.data() + from, bytes);
    return true;
  });
  return part;
}

}  // namespace bayloom::graph
