// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>
#include <vector>

#include "bayloom/base/result.h"
#include "bayloom/graph/decoder.h"

namespace bayloom::graph {

/// What follows from the tokens of a step and their places.
struct StepInputs {
  Length taken = 1;            ///< how many tokens a step takes
  std::optional<Length> past;  ///< how many rows states have before it, where they grow
  /// Parallel to the graph's inputs; nullopt: it does not follow from them. The past of growing
  /// states is kPast.
  std::vector<std::optional<DecoderInput>> kinds;
};

/// By types, shapes and names. `past` and `taken`: what is known from growing states. The error
/// says that the tokens are not found.
Result<StepInputs> FindStepInputs(const Graph& graph, const std::optional<Length>& past,
                                  const std::optional<Length>& taken);

}  // namespace bayloom::graph
