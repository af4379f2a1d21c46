// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>

#include "bayloom/target/target.h"

namespace bayloom::target {

/// With the measured machine, if the target has one, as "machine".
nlohmann::json TargetToJson(const Target& target);
/// Throws nlohmann::json::exception where a field is missing or of another kind.
Target TargetFromJson(const nlohmann::json& json);
/// Hash of everything but the name and the measured machine: the target's identity in databases.
uint64_t HashOf(const Target& target);

}  // namespace bayloom::target
