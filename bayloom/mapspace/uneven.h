// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <span>
#include <string_view>

#include "bayloom/mapspace/architecture.h"
#include "bayloom/mapspace/problem.h"

namespace bayloom::mapspace {

/// Where tensors have their places in the loop nest.
enum class MappingKind : uint8_t {
  kEven,    ///< all tensors of a memory hold the tile of the same loops, as in Timeloop
  kUneven,  ///< each tensor of a memory has a place of its own among its loops
};

/// Throws InputError for anything but "even" and "uneven".
MappingKind ParseMappingKind(std::string_view text);

/// The architecture of which even mappings are the uneven mappings of this one: memories that may
/// keep several tensors become as many levels, parts of the one memory ("Registers", "Registers#2",
/// ...; StorageLevel::is_part), of which each may keep some of the tensors and runs its own loops.
/// Memories whose loops or bounds of loops a constraint says stay as they are, and so does the
/// outermost, which keeps everything. Throws InputError if that makes more than kMaxLevels, and
/// where something is done about zeros.
Architecture SplitMemories(const Architecture& architecture, const Problem& problem,
                           std::span<const Directive> constraints = {});

}  // namespace bayloom::mapspace
