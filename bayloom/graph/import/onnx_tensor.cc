// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/graph/import/onnx_tensor.h"

#include <fmt/format.h>
#include <onnx/onnx_pb.h>

#include <array>
#include <bit>
#include <cstring>
#include <fstream>
#include <unordered_set>

#include "bayloom/base/result.h"
#include "bayloom/base/single_line.h"
#include "bayloom/graph/builder.h"
#include "bayloom/graph/import.h"
#include "bayloom/graph/import/external_data.h"
#include "bayloom/graph/import/small_types.h"

static_assert(std::endian::native == std::endian::little, "ONNX stores raw data little-endian");

namespace bayloom::graph {
namespace {

using onnx::TensorProto;

/// ONNX's numbers of our element types, in DType's order. It has none of tf32.
constexpr std::array<int, 13> kOnnxTypes = {
    TensorProto::BOOL,   TensorProto::INT8,    TensorProto::INT16,    TensorProto::INT32,
    TensorProto::INT64,  TensorProto::UINT8,   TensorProto::UINT16,   TensorProto::UINT32,
    TensorProto::UINT64, TensorProto::FLOAT16, TensorProto::BFLOAT16, TensorProto::FLOAT,
    TensorProto::DOUBLE};

void CheckSize(int64_t have, int64_t need, const char* what) {
  if (have != need) throw InputError(fmt::format("{} {} where {} are needed", have, what, need));
}

/// Elements from one of the typed lists; the list's element may be wider than the tensor's.
template <typename To, typename List>
std::vector<std::byte> FromList(const List& list, int64_t count) {
  CheckSize(list.size(), count, "elements");
  std::vector<std::byte> data(count * sizeof(To));
  for (int64_t i = 0; i < count; ++i) {
    const To element = static_cast<To>(list.Get(static_cast<int>(i)));
    std::memcpy(data.data() + i * sizeof(To), &element, sizeof(To));
  }
  return data;
}

std::vector<std::byte> FromTypedData(const TensorProto& proto, tensor::DType dtype, int64_t count) {
  switch (dtype) {
    case tensor::DType::kFloat32:
      return FromList<float>(proto.float_data(), count);
    case tensor::DType::kFloat64:
      return FromList<double>(proto.double_data(), count);
    case tensor::DType::kInt64:
      return FromList<int64_t>(proto.int64_data(), count);
    case tensor::DType::kUInt64:
      return FromList<uint64_t>(proto.uint64_data(), count);
    case tensor::DType::kUInt32:
      return FromList<uint32_t>(proto.uint64_data(), count);
    case tensor::DType::kInt32:
      return FromList<int32_t>(proto.int32_data(), count);
    case tensor::DType::kInt16:
      return FromList<int16_t>(proto.int32_data(), count);
    case tensor::DType::kUInt16:
    case tensor::DType::kFloat16:
    case tensor::DType::kBFloat16:
      return FromList<uint16_t>(proto.int32_data(), count);
    case tensor::DType::kInt8:
      return FromList<int8_t>(proto.int32_data(), count);
    case tensor::DType::kUInt8:
      return FromList<uint8_t>(proto.int32_data(), count);
    case tensor::DType::kBool:
      return FromList<bool>(proto.int32_data(), count);
    case tensor::DType::kTFloat32:  // no type of ONNX
      break;
  }
  return {};
}

}  // namespace

std::string Printable(const std::string& text) { return base::SingleLine(text); }

tensor::DType DTypeFromOnnx(int data_type) {
  for (size_t i = 0; i < kOnnxTypes.size(); ++i) {
    if (kOnnxTypes[i] == data_type) return static_cast<tensor::DType>(i);
  }
  if (const SmallType* small = FindSmallType(data_type)) {
    throw InputError(fmt::format("element type {} is not supported here", small->name));
  }
  switch (data_type) {
    case TensorProto::STRING:
      throw InputError("element type string is not supported");
    case TensorProto::COMPLEX64:
    case TensorProto::COMPLEX128:
      throw InputError("complex element types are not supported");
    default:
      throw InputError(fmt::format("unknown element type {}", data_type));
  }
}

int DTypeToOnnx(tensor::DType dtype) {
  const auto number = static_cast<size_t>(dtype);
  return number < kOnnxTypes.size() ? kOnnxTypes[number] : TensorProto::UNDEFINED;
}

std::string OnnxName(tensor::DType dtype) {
  if (dtype == tensor::DType::kFloat32) return "float";
  return dtype == tensor::DType::kFloat64 ? "double" : tensor::ToString(dtype);
}

namespace {

/// Elements of small types as the list of numbers has them: a byte of packed elements each, but 6
/// bits are a number each.
std::vector<std::byte> SmallFromTypedData(const TensorProto& proto, const SmallType& type,
                                          int64_t count) {
  if (type.bits != 6) return FromList<uint8_t>(proto.int32_data(), type.PackedBytes(count));
  CheckSize(proto.int32_data_size(), count, "elements");
  std::vector<std::byte> packed(type.PackedBytes(count) + 1);
  for (int64_t i = 0; i < count; ++i) {
    const int64_t bit = i * type.bits;
    const uint32_t pattern = (proto.int32_data(static_cast<int>(i)) & 0x3F) << (bit % 8);
    packed[bit / 8] |= std::byte(pattern & 0xFF);
    packed[bit / 8 + 1] |= std::byte(pattern >> 8);
  }
  return packed;
}

std::vector<std::byte> RawData(const TensorProto& proto, int64_t bytes, const DataFolder& folder) {
  if (proto.data_location() == TensorProto::EXTERNAL) return ReadExternal(proto, folder, bytes);
  const std::string& raw = proto.raw_data();
  CheckSize(static_cast<int64_t>(raw.size()), bytes, "bytes of data");
  const auto* first = reinterpret_cast<const std::byte*>(raw.data());
  return {first, first + raw.size()};
}

}  // namespace

tensor::HostTensor TensorFromOnnx(const TensorProto& proto, const DataFolder& folder) {
  const SmallType* small = FindSmallType(proto.data_type());
  const tensor::DType dtype = small ? small->holder : DTypeFromOnnx(proto.data_type());
  if (proto.has_segment()) throw InputError("a tensor in segments is not supported");
  const std::vector<int64_t> shape(proto.dims().begin(), proto.dims().end());
  const int64_t count = CheckedElementCount(shape);
  const bool is_raw = proto.data_location() == TensorProto::EXTERNAL || proto.has_raw_data();
  if (small) {
    return UnpackSmall(*small,
                       is_raw ? RawData(proto, small->PackedBytes(count), folder)
                              : SmallFromTypedData(proto, *small, count),
                       shape);
  }
  tensor::HostTensor tensor{dtype, shape, {}};
  tensor.data = is_raw ? RawData(proto, count * tensor::ByteSize(dtype), folder)
                       : FromTypedData(proto, dtype, count);
  if (dtype == tensor::DType::kBool) {
    for (std::byte& value : tensor.data) value = std::byte(value != std::byte(0));
  }
  return tensor;
}

tensor::HostTensor TensorFromSparse(const onnx::SparseTensorProto& proto,
                                    const DataFolder& folder) {
  constexpr int64_t kMaxElements = int64_t{1} << 31;
  const std::vector<int64_t> shape(proto.dims().begin(), proto.dims().end());
  const int64_t elements = CheckedElementCount(shape);
  if (elements > kMaxElements) throw InputError(fmt::format("{} elements are too many", elements));
  const tensor::HostTensor values = TensorFromOnnx(proto.values(), folder);
  const tensor::HostTensor indices = TensorFromOnnx(proto.indices(), folder);
  const int64_t count = values.ElementCount(), rank = static_cast<int64_t>(shape.size());
  const bool is_linear = indices.shape == std::vector<int64_t>{count};
  if (indices.dtype != tensor::DType::kInt64 ||
      (!is_linear && indices.shape != std::vector<int64_t>{count, rank})) {
    throw InputError(fmt::format("sparse data: indices {} do not fit {} values of {} dimensions",
                                 ToString(indices.dtype, indices.shape), count, rank));
  }
  tensor::HostTensor dense = tensor::HostTensor::Zeros(values.dtype, shape);
  const int64_t size = tensor::ByteSize(values.dtype);
  std::unordered_set<int64_t> places;
  for (int64_t i = 0; i < count; ++i) {
    int64_t at = is_linear ? indices.GetInt(i) : 0;
    for (int64_t d = 0; d < (is_linear ? 0 : rank); ++d) {
      const int64_t index = indices.GetInt(i * rank + d);
      if (index < 0 || index >= shape[d]) at = elements;
      if (at < elements) at = at * shape[d] + index;
    }
    if (at < 0 || at >= elements) {
      throw InputError(fmt::format("sparse data: the index of value {} lies outside of {}", i,
                                   ToString(values.dtype, shape)));
    }
    if (!places.insert(at).second) {
      throw InputError(fmt::format("sparse data: value {} has the index of another one", i));
    }
    std::memcpy(dense.data.data() + at * size, values.data.data() + i * size, size);
  }
  return dense;
}

tensor::HostTensor ReadOnnxTensor(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw InputError(fmt::format("{}: cannot be read", path));
  TensorProto proto;
  if (!proto.ParseFromIstream(&file)) throw InputError(fmt::format("{}: not a tensor", path));
  try {
    return TensorFromOnnx(proto, DataFolderOf(path));
  } catch (const InputError& error) {
    throw InputError(fmt::format("{}: {}", path, error.what()));
  }
}

}  // namespace bayloom::graph
