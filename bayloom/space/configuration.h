// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <bit>
#include <cstdint>
#include <functional>
#include <vector>

#include "bayloom/base/hash.h"

namespace bayloom::space {

/// One coordinate per parameter, in the order of the space: the value itself of a real parameter,
/// the rank within its domain of every other kind (ranks are below 2^53, hence exact).
struct Configuration {
  std::vector<double> coordinates;

  bool operator==(const Configuration&) const = default;

  uint64_t Hash() const {
    base::Hasher hasher;
    for (double c : coordinates) hasher.Add(std::bit_cast<uint64_t>(c + 0.0));  // -0 hashes as 0
    return hasher.Digest();
  }
};

/// Of configurations that mean the same, the one that stands for all of them; what it gives, it
/// gives back unchanged. Empty where every configuration means something else.
using CanonicalForm = std::function<Configuration(const Configuration&)>;

}  // namespace bayloom::space

template <>
struct std::hash<bayloom::space::Configuration> {
  size_t operator()(const bayloom::space::Configuration& c) const noexcept { return c.Hash(); }
};
