// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/experimental/strategy/domain_reduction.h"

#include <algorithm>
#include <cmath>

namespace bayloom::experimental {
namespace {

constexpr double kZoom = 0.9;         ///< eta: of a window whose optimum stays
constexpr double kPan = 1.0;          ///< gamma_pan: of one whose optimum moves on
constexpr double kOscillation = 0.7;  ///< gamma_osc: of one whose optimum moves to and fro
constexpr double kMinWidth = 2;       ///< a rank to both sides

}  // namespace

DomainReduction::DomainReduction(const space::Space& space) {
  for (int i = 0; i < space.size(); ++i) {
    domain_.push_back({0, static_cast<double>(space.parameter(i).Cardinality() - 1)});
    optimum_.push_back(domain_.back().most / 2);
    move_.push_back(0);
  }
  windows_ = domain_;
}

void DomainReduction::Update(const space::Configuration& best) {
  for (size_t i = 0; i < windows_.size(); ++i) {
    const double width = windows_[i].most - windows_[i].least;
    if (width <= 0) continue;
    const double x = best.coordinates[i];
    const double move = std::clamp(2 * (x - optimum_[i]) / width, -1.0, 1.0);
    const double product = move * move_[i];
    const double trend = std::copysign(std::sqrt(std::abs(product)), product);
    const double gamma = 0.5 * (kPan * (1 + trend) + kOscillation * (1 - trend));
    const double contraction = kZoom + std::abs(move) * (gamma - kZoom);
    const double half = std::max(kMinWidth, contraction * width) / 2;
    windows_[i].least = std::clamp(x - half, domain_[i].least, x);
    windows_[i].most = std::clamp(x + half, x, domain_[i].most);
    optimum_[i] = x;
    move_[i] = move;
  }
}

}  // namespace bayloom::experimental
