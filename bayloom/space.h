// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

/// Module space: what may be tried: parameters, constraints, chain of trees, encodings.
///
///     Space::Builder builder;
///     builder.Add(MakeReal("x", -2, 2)).Add(MakeInteger("k", 0, 8));
///     builder.AddConstraint("k >= 2 or x < 1");
///     const std::shared_ptr<const Space> space = *builder.Build();
///
/// Reading order: `parameter.h` and `value.h`; `constraint.h` and `expression.h`; `space.h`;
/// `chain_of_trees.h` with `tree.h` (what is feasible); `propagation.h` and
/// `constraint_solver.h` (how that is found without trying all); `encoding.h`.

#include "bayloom/space/chain_of_trees.h"
#include "bayloom/space/configuration.h"
#include "bayloom/space/configuration_json.h"
#include "bayloom/space/constraint.h"
#include "bayloom/space/domain.h"
#include "bayloom/space/encoding.h"
#include "bayloom/space/evaluate_expression.h"
#include "bayloom/space/expression.h"
#include "bayloom/space/operation.h"
#include "bayloom/space/parameter.h"
#include "bayloom/space/space.h"
#include "bayloom/space/tree.h"
#include "bayloom/space/value.h"

namespace bayloom {

using space::Configuration;
using space::MakeCategorical;
using space::MakeFactorization;
using space::MakeInteger;
using space::MakeOrdinal;
using space::MakePermutation;
using space::MakeReal;
using space::Space;

}  // namespace bayloom
