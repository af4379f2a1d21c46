// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/base/random.h"

#include <bit>
#include <cmath>

namespace bayloom::base {

RandomStream::RandomStream(uint64_t seed) {
  for (uint64_t& word : state_) {
    seed += 0x9e3779b97f4a7c15;
    uint64_t z = seed;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    word = z ^ (z >> 31);
  }
}

uint64_t RandomStream::Next() {
  const uint64_t result = std::rotl(state_[1] * 5, 7) * 9;
  const uint64_t t = state_[1] << 17;
  state_[2] ^= state_[0];
  state_[3] ^= state_[1];
  state_[1] ^= state_[2];
  state_[0] ^= state_[3];
  state_[2] ^= t;
  state_[3] = std::rotl(state_[3], 45);
  return result;
}

int64_t RandomStream::UniformInt(int64_t bound) {
  const uint64_t n = static_cast<uint64_t>(bound);
  const uint64_t threshold = -n % n;  // the part of the range that would bias the remainder
  uint64_t draw = Next();
  while (draw < threshold) draw = Next();
  return static_cast<int64_t>(draw % n);
}

double RandomStream::Uniform() { return static_cast<double>(Next() >> 11) * 0x1.0p-53; }

double RandomStream::Normal() {
  const double radius = std::sqrt(-2.0 * std::log(1.0 - Uniform()));
  return radius * std::cos(2.0 * M_PI * Uniform());
}

int RandomStream::Weighted(std::span<const double> weights) {
  double total = 0;
  for (double w : weights) total += w;
  double point = Uniform() * total;
  int last = 0;
  for (int i = 0; i < static_cast<int>(weights.size()); ++i) {
    if (weights[i] <= 0) continue;
    last = i;
    if (point < weights[i]) return i;
    point -= weights[i];
  }
  return last;
}

RandomStream RandomStream::Fork() { return RandomStream(Next()); }

}  // namespace bayloom::base
