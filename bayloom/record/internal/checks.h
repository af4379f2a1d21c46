// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "bayloom/base/result.h"
#include "bayloom/target/target.h"

namespace bayloom::record {

/// Refuses a target from a file that no machine is like: without threads or vectors, or with so
/// many that numbers made of them overflow.
Status CheckTarget(const target::Target& target);

}  // namespace bayloom::record
