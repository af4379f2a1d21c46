// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace bayloom::graph {

/// The value of a sum of extents such as "past + 1" or "past+sequence", which people write and
/// exporters call dimensions. `extent_of` gives the extent of a dimension by its name. nullopt: it
/// is no sum of two terms or more, or one of them has no extent.
std::optional<int64_t> ExtentOfSum(
    const std::string& text,
    const std::function<std::optional<int64_t>(const std::string&)>& extent_of);

}  // namespace bayloom::graph
