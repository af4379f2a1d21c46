// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <stdexcept>

namespace bayloom::model {

/// A model cannot be fitted to its observations, or predicts no numbers: a search with the model
/// goes on without it.
class FitFailure : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace bayloom::model
