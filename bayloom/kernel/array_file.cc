// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/kernel/array_file.h"

#include <fmt/format.h>

#include <optional>

#include "bayloom/base/file.h"
#include "bayloom/base/result.h"

namespace bayloom::kernel {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr size_t kPrefixBytes = 10;  ///< of format 1.0: magic, version, length of the header
constexpr size_t kHeaderAlignment = 64;

/// NumPy's name of a type on a little-endian machine: "<f4".
std::string NumpyName(tensor::DType dtype) {
  const char kind = dtype == tensor::DType::kBool ? 'b'
                    : tensor::IsFloat(dtype)      ? 'f'
                    : tensor::IsUnsigned(dtype)   ? 'u'
                                                  : 'i';
  const int bytes = tensor::ByteSize(dtype);
  return fmt::format("{}{}{}", bytes == 1 ? '|' : '<', kind, bytes);
}

/// Where the elements begin; nullopt for a file that is none of NumPy's.
std::optional<size_t> ElementsBegin(std::string_view file, const std::string& path,
                                    tensor::DType dtype) {
  if (!file.starts_with(kMagic) || file.size() < kPrefixBytes + 2) return std::nullopt;
  const auto byte = [&](size_t at) { return static_cast<size_t>(static_cast<uint8_t>(file[at])); };
  const bool is_short = byte(6) == 1;
  size_t length = byte(8) | byte(9) << 8;
  if (!is_short) length |= byte(10) << 16 | byte(11) << 24;
  const size_t begin = is_short ? kPrefixBytes : kPrefixBytes + 2;
  if (length > file.size() - begin) throw InputError(fmt::format("'{}' is cut off", path));
  const std::string_view header = file.substr(begin, length);
  if (header.find(fmt::format("'{}'", NumpyName(dtype))) == std::string_view::npos) {
    throw InputError(
        fmt::format("'{}' does not hold elements of type {}", path, tensor::ToString(dtype)));
  }
  if (header.find("'fortran_order': True") != std::string_view::npos) {
    throw InputError(
        fmt::format("'{}' is in Fortran's order; numpy.ascontiguousarray helps", path));
  }
  return begin + length;
}

}  // namespace

std::string ReadArrayFile(const std::string& path, tensor::DType dtype, int64_t elements) {
  std::string file = base::ReadFile(path);
  if (const auto begin = ElementsBegin(file, path, dtype)) file.erase(0, *begin);
  const auto bytes = static_cast<size_t>(elements * tensor::ByteSize(dtype));
  if (file.size() != bytes) {
    throw InputError(fmt::format("'{}' has {} bytes of elements, and the array has {}", path,
                                 file.size(), bytes));
  }
  return file;
}

std::string NumpyFile(std::string_view bytes, tensor::DType dtype, int64_t elements) {
  std::string header = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({},), }}",
                                   NumpyName(dtype), elements);
  const size_t used = kPrefixBytes + header.size() + 1;
  header.append((kHeaderAlignment - used % kHeaderAlignment) % kHeaderAlignment, ' ');
  header += '\n';
  std::string file(kMagic);
  file += '\x01';
  file += '\0';
  file += static_cast<char>(header.size() & 0xff);
  file += static_cast<char>(header.size() >> 8);
  file += header;
  file += bytes;
  return file;
}

}  // namespace bayloom::kernel
