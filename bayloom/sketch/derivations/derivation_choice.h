// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "bayloom/base/result.h"

namespace bayloom::sketch {

/// Which of the derivations (derivations.h) make design spaces. All, if nothing else is said.
class DerivationChoice {
 public:
  DerivationChoice() = default;
  /// "all", "none", or names with commas between them. Fails for a name that is not known.
  static Result<DerivationChoice> Parse(std::string_view text);

  bool Contains(const std::string& name) const { return !names_ || names_->contains(name); }
  /// What Parse understands; equal for equal choices.
  std::string ToString() const;

 private:
  std::optional<std::set<std::string>> names_;  ///< nullopt: all there are
};

}  // namespace bayloom::sketch
