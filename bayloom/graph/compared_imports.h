// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <map>
#include <string>
#include <utility>

#include "bayloom/graph/unrolled_steps.h"

namespace bayloom::graph {

/// Parts of operators that are there for some lengths and not for others: the borders of a padding
/// that are 0 elements wide for some, a resizing to the size that an image has already. Once an
/// import has one that another does not have, all imports write it.
class OptionalParts {
 public:
  /// Of a part, by a name of its own, that `is_there` in this import: whether it was not there in
  /// another one, or the other way round.
  bool IsOptional(const std::string& part, bool is_there) {
    const auto [known, is_new] = parts_.emplace(part, Part{is_there});
    if (!is_new && known->second.is_there != is_there && !known->second.is_optional) {
      known->second.is_optional = has_new_ = true;
    }
    return known->second.is_optional;
  }

  /// Whether one was found to be optional since the last time that this was asked: imports before
  /// are other networks.
  bool TakeNew() { return std::exchange(has_new_, false); }

 private:
  struct Part {
    bool is_there;
    bool is_optional = false;
  };
  std::map<std::string, Part> parts_;
  bool has_new_ = false;
};

/// What imports of one model for several lengths tell each other, so that they are one network.
struct ComparedImports {
  UnrolledSteps steps;
  OptionalParts parts;
};

}  // namespace bayloom::graph
