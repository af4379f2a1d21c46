// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/graph/internal/onnx_tensor.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <onnx/onnx_pb.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <bit>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "bayloom/base/result.h"
#include "bayloom/graph/builder.h"
#include "bayloom/graph/import.h"

static_assert(std::endian::native == std::endian::little, "ONNX stores raw data little-endian");

namespace bayloom::graph {
namespace {

using onnx::TensorProto;

/// ONNX's numbers of our element types, in DType's order.
constexpr std::array<int, 13> kOnnxTypes = {
    TensorProto::BOOL,   TensorProto::INT8,    TensorProto::INT16,    TensorProto::INT32,
    TensorProto::INT64,  TensorProto::UINT8,   TensorProto::UINT16,   TensorProto::UINT32,
    TensorProto::UINT64, TensorProto::FLOAT16, TensorProto::BFLOAT16, TensorProto::FLOAT,
    TensorProto::DOUBLE};

/// A field of "location, offset, length" of external data; -1 if absent.
int64_t ExternalNumber(const std::string& key, const std::string& text) {
  int64_t value = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 0) {
    throw InputError(fmt::format("external data with {} '{}'", key, Printable(text)));
  }
  return value;
}

/// An open file; -1: none.
class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() {
    if (number_ >= 0) close(number_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int number() const { return number_; }

 private:
  int number_;
};

/// Opens a regular file in the directory or in a folder below it. A link on the way is not
/// followed: the file could be any of this machine, and its content would be part of what is
/// compiled.
int OpenBelow(const std::string& directory, const std::filesystem::path& relative) {
  int folder = open(directory.empty() ? "." : directory.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
  for (auto part = relative.begin(); part != relative.end() && folder >= 0; ++part) {
    const Descriptor in(folder);
    const bool last = std::next(part) == relative.end();
    // A pipe is opened without waiting for who writes to it, to be refused.
    const int flags = last ? O_RDONLY | O_NONBLOCK : O_PATH | O_DIRECTORY;
    folder = openat(in.number(), part->c_str(), flags | O_NOFOLLOW | O_CLOEXEC);
  }
  return folder;
}

std::vector<std::byte> ReadExternal(const TensorProto& proto, const std::string& directory,
                                    int64_t bytes) {
  std::string location;
  int64_t offset = 0, length = bytes;
  for (const auto& entry : proto.external_data()) {
    if (entry.key() == "location") location = entry.value();
    if (entry.key() == "offset") offset = ExternalNumber("offset", entry.value());
    if (entry.key() == "length") length = ExternalNumber("length", entry.value());
  }
  const std::filesystem::path relative(location);
  bool inside = !location.empty() && relative.is_relative();
  inside &= location.find('\0') == std::string::npos;
  for (const auto& part : relative) inside &= part != "..";
  if (!inside) {
    throw InputError(fmt::format("external data at '{}', which is not a file beside the model",
                                 Printable(location)));
  }
  const std::string path = Printable((std::filesystem::path(directory) / relative).string());
  const Descriptor file(OpenBelow(directory, relative));
  if (file.number() < 0 && (errno == ELOOP || errno == ENOTDIR)) {
    throw InputError(fmt::format(
        "external data in {}: has to be a file below the model's folder without links on the way",
        path));
  }
  struct stat status = {};
  if (file.number() < 0 || fstat(file.number(), &status) != 0 || !S_ISREG(status.st_mode)) {
    throw InputError(fmt::format("external data in {}: cannot be read", path));
  }
  if (length != bytes || offset > status.st_size || bytes > status.st_size - offset) {
    throw InputError(fmt::format("{} bytes of external data needed; {} has {} from offset {}",
                                 bytes, path, status.st_size, offset));
  }
  std::vector<std::byte> data(bytes);
  for (int64_t done = 0; done < bytes;) {
    const ssize_t count =
        pread(file.number(), data.data() + done, static_cast<size_t>(bytes - done), offset + done);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) throw InputError(fmt::format("external data in {}: cannot be read", path));
    done += count;
  }
  return data;
}

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
  }
  return {};
}

}  // namespace

std::string Printable(const std::string& text) {
  constexpr size_t kMaxLengthScale = 80;
  std::string result = text.substr(0, kMaxLengthScale);
  for (char& c : result) {
    if (c < ' ' || c > '~') c = '?';
  }
  return text.size() > kMaxLengthScale ? result + "..." : result;
}

tensor::DType DTypeFromOnnx(int data_type) {
  for (size_t i = 0; i < kOnnxTypes.size(); ++i) {
    if (kOnnxTypes[i] == data_type) return static_cast<tensor::DType>(i);
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

int DTypeToOnnx(tensor::DType dtype) { return kOnnxTypes[static_cast<size_t>(dtype)]; }

std::string OnnxName(tensor::DType dtype) {
  if (dtype == tensor::DType::kFloat32) return "float";
  return dtype == tensor::DType::kFloat64 ? "double" : tensor::ToString(dtype);
}

tensor::HostTensor TensorFromOnnx(const TensorProto& proto, const std::string& directory) {
  const tensor::DType dtype = DTypeFromOnnx(proto.data_type());
  if (proto.has_segment()) throw InputError("a tensor in segments is not supported");
  tensor::HostTensor tensor{dtype, {proto.dims().begin(), proto.dims().end()}, {}};
  const int64_t count = CheckedElementCount(tensor.shape);
  const int64_t bytes = count * tensor::ByteSize(dtype);
  if (proto.data_location() == TensorProto::EXTERNAL) {
    tensor.data = ReadExternal(proto, directory, bytes);
  } else if (proto.has_raw_data()) {
    const std::string& raw = proto.raw_data();
    CheckSize(static_cast<int64_t>(raw.size()), bytes, "bytes of data");
    const auto* first = reinterpret_cast<const std::byte*>(raw.data());
    tensor.data.assign(first, first + raw.size());
  } else {
    tensor.data = FromTypedData(proto, dtype, count);
  }
  if (dtype == tensor::DType::kBool) {
    for (std::byte& value : tensor.data) value = std::byte(value != std::byte(0));
  }
  return tensor;
}

tensor::HostTensor ReadOnnxTensor(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw InputError(fmt::format("{}: cannot be read", path));
  TensorProto proto;
  if (!proto.ParseFromIstream(&file)) throw InputError(fmt::format("{}: not a tensor", path));
  try {
    return TensorFromOnnx(proto, std::filesystem::path(path).parent_path().string());
  } catch (const InputError& error) {
    throw InputError(fmt::format("{}: {}", path, error.what()));
  }
}

}  // namespace bayloom::graph
