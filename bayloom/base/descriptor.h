// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <unistd.h>

#include <cerrno>
#include <utility>

namespace bayloom::base {

/// What this process has open under a number: a file, an end of a pipe. Closed in the end unless it
/// is released; -1: nothing.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(other.Release()) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~Descriptor() { Close(); }

  int number() const { return number_; }
  /// The number, which is the caller's to close now.
  int Release() { return std::exchange(number_, -1); }
  /// 0, or the number of the error: some file systems say only now that writing failed.
  int Close() {
    if (number_ < 0) return 0;
    return close(Release()) == 0 ? 0 : errno;
  }

 private:
  int number_ = -1;
};

}  // namespace bayloom::base
