#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>

#include "bayloom/tensor/target.h"

namespace bayloom {

nlohmann::json TargetToJson(const Target& target);
/// Throws nlohmann::json::exception where a field is missing or of another kind.
Target TargetFromJson(const nlohmann::json& json);
/// Hash of everything but the name.
uint64_t HashOf(const Target& target);

}  // namespace bayloom
