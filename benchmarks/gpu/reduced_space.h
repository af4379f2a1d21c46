// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "bayloom/sketch/design_space.h"

namespace bayloom {

/// A configuration of a reduced space: how a thread's rows, a thread's columns and a stage are cut.
struct ReducedConfiguration {
  std::array<int64_t, 2> threads = {1, 1}, strides = {1, 1}, near = {1, 1};  ///< of rows, columns
  int64_t steps = 1;                                                         ///< of a stage
};

/// A part of the design space of a matrix product on a GPU that is small enough to be measured
/// completely: operands staged in shared memory, one stage at a time, tiles whose parts inside a
/// thread are at most 4, and stages of 4 to 32 steps; the other decisions are fixed.
class ReducedSpace {
 public:
  /// `shape` as of "matmul:512,512,512". Throws InputError where there is no such product, or the
  /// target has no such design space.
  ReducedSpace(const std::string& shape, const target::Target& target);

  const std::string& shape() const { return shape_; }
  const sketch::SpaceGenerator& generator() const { return generator_; }
  /// All that divide the extents, those that exceed a limit of the GPU included.
  std::vector<ReducedConfiguration> Configurations() const;
  /// The configuration's program, or the limit that it exceeds.
  Result<sketch::Candidate> Make(const ReducedConfiguration& configuration) const;

  /// The space in Kernel Tuner's T1 format, with the limits as conditions or without.
  nlohmann::json Scenario(bool limits_are_known) const;
  static nlohmann::json ToJson(const ReducedConfiguration& configuration);

 private:
  std::string shape_;
  std::array<int64_t, 3> extents_ = {};
  sketch::SpaceGenerator generator_;
  int space_ = -1;
  std::array<int, 3> tile_steps_ = {};  ///< of the trace: rows, columns, reduction
};

}  // namespace bayloom
