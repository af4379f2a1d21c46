// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "bayloom/base/result.h"
#include "bayloom/tensor/trace.h"

namespace bayloom::sketch {

/// Which of the derivations (derivations.h) make design spaces. If nothing else is said, all whose
/// results are about as exact as those of the definition.
class DerivationChoice {
 public:
  DerivationChoice() = default;
  /// "all" (the default), "none", or names with commas between them. Fails for a name that is not
  /// known.
  static Result<DerivationChoice> Parse(std::string_view text);

  bool Contains(const std::string& name) const;
  /// Whether a trace has no derivation but those that are contained.
  bool Allows(const tensor::Trace& trace) const;
  bool is_default() const { return !names_; }
  /// What Parse understands; equal for equal choices.
  std::string ToString() const;

 private:
  std::optional<std::set<std::string>> names_;  ///< nullopt: the default
};

}  // namespace bayloom::sketch
