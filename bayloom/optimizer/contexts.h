// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <memory>
#include <vector>

#include "bayloom/space/configuration.h"
#include "bayloom/space/space.h"

namespace bayloom::optimizer {

class ContextModel;
struct OptimizerOptions;

/// The same parameters searched in several contexts, such as sizes of a problem, each by an
/// optimizer of its own: what they share. The joint space has the parameters of all and, in their
/// places, the numbers or names that tell the contexts apart; of the optimizers' own spaces each
/// has a single value there.
struct ContextOptions {
  std::shared_ptr<const space::Space> joint;
  /// See MakeContextModel; null: the context learns of itself alone.
  std::shared_ptr<ContextModel> model = nullptr;
  /// Where in the joint space the context's own parameters are, and its coordinates there.
  std::vector<int> places;
  std::vector<double> coordinates;
};

/// What the optimizers of all contexts learn together. They must all be driven by one thread.
std::shared_ptr<ContextModel> MakeContextModel(std::shared_ptr<const space::Space> joint,
                                               const OptimizerOptions& options);

}  // namespace bayloom::optimizer
