// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <nlohmann/json_fwd.hpp>

#include "bayloom/base/result.h"
#include "bayloom/target/target.h"

namespace bayloom::target {

/// Refuses a target from elsewhere that no machine is like: without threads or vectors, with so
/// many that numbers made of them overflow, or with a machine whose times are no times.
Status CheckTarget(const Target& target);

/// The target that a file or a worker describes; fails where it is none, naming the field.
Result<Target> CheckedTarget(const nlohmann::json& json);

}  // namespace bayloom::target
