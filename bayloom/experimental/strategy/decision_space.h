// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bayloom/experimental/strategy/rocke2024_options.h"
#include "bayloom/space/configuration.h"
#include "bayloom/space/space.h"
#include "bayloom/tensor/trace.h"

namespace bayloom::experimental {

/// Coordinates from `least` to `most`.
struct Window {
  double least, most;
};

/// The decisions of a trace that an optimizer can choose: perfect tiles and categories. Where a
/// stage is computed is none, for the choices follow from the tiles; nor is the number of parallel
/// jobs, which is chosen when the tiles are known (Rocke 2024, sections 3.3.2, 3.3.3).
///
/// Traces of one design space that agree in all other decisions, and in the extents that their
/// tiles split, have the same DecisionSpace: they are a group.
class DecisionSpace {
 public:
  /// Of a fully decided trace.
  DecisionSpace(const tensor::Trace& trace, TilingEncoding encoding);

  /// The group that a fully decided trace belongs to.
  static uint64_t GroupOf(const tensor::Trace& trace);

  /// One parameter a decision, named by its tag: "[v25,v26]_sample_perfect_tile_2_64" are the
  /// variables it defines, the parts and the extent, the same in all traces of the group.
  const std::shared_ptr<const space::Space>& space() const { return space_; }
  bool empty() const { return steps_.empty(); }
  /// The part of the space where every coordinate is in its window.
  std::shared_ptr<const space::Space> Within(std::span<const Window> windows) const;

  /// The decisions of a trace of the group; nullopt if it is not of the group.
  std::optional<space::Configuration> Encode(const tensor::Trace& trace) const;
  /// `trace`, of the group, decided again.
  tensor::Trace Decide(const tensor::Trace& trace, const space::Configuration& configuration) const;

 private:
  tensor::Trace trace_;     ///< one of the group
  std::vector<int> steps_;  ///< of the trace, one a parameter
  TilingEncoding encoding_;
  std::shared_ptr<const space::Space> space_;
};

}  // namespace bayloom::experimental
