// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "bayloom/target/target.h"

namespace bayloom::tuning {

/// A processor with two cores.
inline target::Target TwoCores() {
  target::Target target;
  target.name = "test";
  target.cores = 2;
  return target;
}

}  // namespace bayloom::tuning
