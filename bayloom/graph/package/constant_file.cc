// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/graph/package/constant_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <functional>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "bayloom/base/file.h"
#include "bayloom/base/system_error.h"
#include "bayloom/codegen/abi.h"

namespace bayloom::graph {
namespace {

std::string_view AsText(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace

ConstantFile::ConstantFile(std::string path)
    : path_(std::move(path)),
      file_(open(path_.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666)) {
  if (file_.number() < 0) Fail(errno);
}

int64_t ConstantFile::Add(std::span<const std::byte> constant) {
  const size_t hash = std::hash<std::string_view>()(AsText(constant));
  const auto [first, last] = positions_.equal_range(hash);
  for (auto known = first; known != last; ++known) {
    if (IsAt(known->second, constant)) return known->second;
  }
  const int64_t position = bytes_;
  const auto size = static_cast<int64_t>(constant.size());
  const std::string padding(static_cast<size_t>(target::AlignUp(size) - size), '\0');
  for (const std::string_view part : {AsText(constant), std::string_view(padding)}) {
    if (const int error = base::WriteAll(file_.number(), part)) Fail(error);
  }
  bytes_ += target::AlignUp(size);
  positions_.emplace(hash, position);
  return position;
}

bool ConstantFile::IsAt(int64_t position, std::span<const std::byte> constant) const {
  std::vector<std::byte> there(std::min<size_t>(constant.size(), size_t{1} << 20));
  while (!constant.empty()) {
    const size_t wanted = std::min(constant.size(), there.size());
    const ssize_t bytes = pread(file_.number(), there.data(), wanted, position);
    if (bytes < 0 && errno == EINTR) continue;
    if (bytes < 0) Fail(errno);
    if (bytes == 0) return false;  // the file ends before
    const auto count = static_cast<size_t>(bytes);
    if (std::memcmp(there.data(), constant.data(), count) != 0) return false;
    constant = constant.subspan(count);
    position += bytes;
  }
  return true;
}

void ConstantFile::Fail(int error) const {
  throw SystemError(
      fmt::format("cannot write '{}': {}", path_, std::generic_category().message(error)));
}

}  // namespace bayloom::graph
