// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "bayloom/base/random.h"
#include "bayloom/base/result.h"
#include "bayloom/target/gpu_limits.h"
#include "bayloom/tensor/trace.h"

namespace bayloom::sketch {

/// How an iterator of a product is tiled: the factors that a sampling step of a trace decides, in
/// the order of digits.
///
///   spatial     blocks, strides, threads, elements next to each other
///   reduction   steps from one stage to the next, steps within one
struct TiledAxis {
  int step = -1;  ///< of the trace
  int64_t extent = 1;
  bool spatial = true;

  int parts() const { return spatial ? 4 : 2; }
};

/// An operand staged in shared memory: bytes * product over dimensions of the extent of what one
/// stage needs, 1 + sum over axes of stride * (tile - 1), at most the dimension's.
struct StagedOperand {
  struct Term {
    size_t axis;
    int64_t stride;
  };
  struct Dimension {
    int64_t extent;
    std::vector<Term> terms;
  };
  int64_t bytes = 4;  ///< of an element
  std::vector<Dimension> dimensions;
};

/// What the tiles of one product may not exceed: known constraints of a design space.
struct TileLimits {
  std::vector<TiledAxis> axes;
  std::vector<StagedOperand> operands;
  int min_threads = 1;
  int max_threads = 1024;
  int64_t max_elements = 64;  ///< accumulators of a thread
  /// Of the box around them, which code generation keeps in registers up to this size.
  int64_t max_box = 256;
  int64_t max_shared_bytes = 48 << 10;

  using Decisions = std::vector<std::optional<tensor::Decision>>;

  /// Says which limit the decisions (by step of the trace) exceed; axes that are not decided are
  /// taken for 1.
  Status Check(const Decisions& decisions) const;
  /// Draws tiles of all axes, uniformly from those that keep the limits. Fails if none are found.
  Status Draw(Decisions& decisions, base::RandomStream& random) const;
};

}  // namespace bayloom::sketch
