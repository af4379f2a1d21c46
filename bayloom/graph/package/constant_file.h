// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>

#include "bayloom/base/descriptor.h"
#include "bayloom/graph/network_plan.h"

namespace bayloom::graph {

/// The constants of a library's plans in a file, so that none is in memory longer than it takes to
/// write it; what is equal is there once.
class ConstantFile : public ConstantSink {
 public:
  /// Throws SystemError where the file cannot be created.
  explicit ConstantFile(std::string path);

  /// Throws SystemError where the disk fails.
  int64_t Add(std::span<const std::byte> constant) override;

  int64_t bytes() const { return bytes_; }

 private:
  bool IsAt(int64_t position, std::span<const std::byte> constant) const;
  [[noreturn]] void Fail(int error) const;

  std::string path_;
  base::Descriptor file_;
  int64_t bytes_ = 0;
  std::multimap<size_t, int64_t> positions_;  // by hashes
};

}  // namespace bayloom::graph
