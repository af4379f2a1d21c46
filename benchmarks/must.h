// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdlib>
#include <iostream>
#include <utility>

#include "bayloom/base/result.h"

namespace bayloom {

/// A Result's value; ends the program with the reason if there is none.
template <typename T>
T Must(Result<T> result) {
  if (result) return *std::move(result);
  std::cerr << result.error().message << "\n";
  std::exit(1);
}

}  // namespace bayloom
