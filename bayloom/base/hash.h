// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <string_view>

namespace bayloom::base {

/// A 64-bit running hash, the same on every platform and in every run (records keep it).
class Hasher {
 public:
  Hasher& Add(uint64_t value) {
    state_ ^= value + 0x9e3779b97f4a7c15 + (state_ << 6) + (state_ >> 2);
    state_ *= 0xff51afd7ed558ccd;
    state_ ^= state_ >> 33;
    return *this;
  }
  Hasher& Add(std::string_view text) {
    uint64_t h = 0xcbf29ce484222325;  // FNV-1a
    for (char c : text) h = (h ^ static_cast<unsigned char>(c)) * 0x100000001b3;
    return Add(h).Add(text.size());
  }
  uint64_t Digest() const { return state_; }

 private:
  uint64_t state_ = 0x243f6a8885a308d3;
};

}  // namespace bayloom::base
