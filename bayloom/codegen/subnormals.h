// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "bayloom/codegen/runtime/bayloom_runtime.h"

namespace bayloom::codegen {

/// While it lives, this thread's arithmetic takes subnormal numbers for zeros, as compiled networks
/// do.
class SubnormalsAreZeros {
 public:
  SubnormalsAreZeros() : before_(bayloom_flush_subnormals()) {}
  ~SubnormalsAreZeros() { bayloom_restore_floats(before_); }
  SubnormalsAreZeros(const SubnormalsAreZeros&) = delete;
  SubnormalsAreZeros& operator=(const SubnormalsAreZeros&) = delete;

 private:
  uint64_t before_;
};

}  // namespace bayloom::codegen
