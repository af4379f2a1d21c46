// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/graph/package/constant_object.h"

#include <functional>
#include <string_view>
#include <utility>

#include "bayloom/codegen/abi.h"

namespace bayloom::graph {

ConstantObject::ConstantObject(std::string path, std::string symbol, target::TargetKind kind)
    : object_(std::move(path), std::move(symbol), kind) {}

int64_t ConstantObject::Add(std::span<const std::byte> constant) {
  const std::string_view bytes(reinterpret_cast<const char*>(constant.data()), constant.size());
  const size_t hash = std::hash<std::string_view>()(bytes);
  const auto [first, last] = positions_.equal_range(hash);
  for (auto known = first; known != last; ++known) {
    if (object_.IsAt(known->second, bytes)) return known->second;
  }
  const int64_t position = object_.bytes(), size = std::ssize(bytes);
  object_.Append(bytes);
  object_.Append(std::string(static_cast<size_t>(target::AlignUp(size) - size), '\0'));
  positions_.emplace(hash, position);
  return position;
}

}  // namespace bayloom::graph
