// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cmath>
#include <vector>

#include "bayloom/base/random.h"
#include "bayloom/space/parameter.h"

namespace bayloom::space {

/// Maps numbers between two ends to [0, 1], linearly or by their logarithm.
class NumberScale {
 public:
  NumberScale(double lowest, double highest, Scale scale)
      : logarithmic_(scale == Scale::kLog),
        start_(Transform(lowest)),
        width_(Transform(highest) - start_) {}

  double ToUnit(double value) const {
    return width_ > 0 ? (Transform(value) - start_) / width_ : 0;
  }
  double FromUnit(double position) const {
    const double transformed = start_ + position * width_;
    return logarithmic_ ? std::exp(transformed) : transformed;
  }

 private:
  double Transform(double value) const { return logarithmic_ ? std::log(value) : value; }

  bool logarithmic_;
  double start_;
  double width_;
};

/// Throws InputError unless a logarithmic scale starts above zero.
void CheckScale(const std::string& name, double lowest, Scale scale);

/// Positions on [0, 1] close to one, as a local search tries them: draws from a normal
/// distribution cut off at the ends (Hellsten et al. 2023, as published with the paper).
std::vector<double> NearbyPositions(double position, base::RandomStream& random);

}  // namespace bayloom::space
