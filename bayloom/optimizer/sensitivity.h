// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <memory>
#include <span>
#include <vector>

#include "bayloom/base/random.h"
#include "bayloom/model/sobol_index.h"
#include "bayloom/space/configuration.h"
#include "bayloom/space/space.h"

namespace bayloom::optimizer {

/// How much of the variation of an objective a parameter is responsible for.
struct ParameterSensitivity {
  int parameter;  ///< its position in the space
  model::SobolIndex index;
};

/// Sobol indices of all parameters that vary, the largest total index first, through a Gaussian
/// process that has learnt these trials (Kannan 2023, sec. V-C). Parameters count as independent:
/// known constraints are not looked at. Confidence intervals are those of the estimate from the
/// process, not of the process. With n trials it takes time with the cube of n; at least two
/// trials. Empty where the process cannot be fitted.
std::vector<ParameterSensitivity> RankParameters(
    std::shared_ptr<const space::Space> space, std::span<const space::Configuration> configurations,
    std::span<const double> values, base::RandomStream& random);

/// A space of some of a space's parameters, in this order, without its constraints. The space is
/// shared.
std::shared_ptr<const space::Space> Subspace(const std::shared_ptr<const space::Space>& space,
                                             std::span<const int> parameters);

}  // namespace bayloom::optimizer
