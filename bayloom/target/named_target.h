// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "bayloom/target/target.h"

namespace bayloom::target {

/// The names of targets that are processors in general, which code can be made for on any machine:
/// the levels x86-64-v2 (SSE 4.2; 2008), x86-64-v3 (AVX2 and FMA; 2013) and x86-64-v4 (AVX-512) of
/// the psABI.
std::vector<std::string_view> LevelNames();

/// The target of a level; nullopt for other names. `cores`: threads that parallel loops run on.
std::optional<Target> LevelTarget(std::string_view name, int cores);

}  // namespace bayloom::target
