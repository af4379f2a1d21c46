// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>
#include <utility>

#include "bayloom/base/result.h"

namespace bayloom::base {

/// What is wrong with the value of an option. Libraries know options by their names in code, such
/// as "objective"; the command line says "--objective: ...".
class OptionError final : public InputError {
 public:
  OptionError(std::string option, const std::string& message)
      : InputError(option + ": " + message), option_(std::move(option)) {}

  const std::string& option() const { return option_; }

 private:
  std::string option_;
};

}  // namespace bayloom::base

namespace bayloom {
using base::OptionError;
}  // namespace bayloom
