// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>

#include "bayloom/feature/register_nest.h"
#include "bayloom/target/target.h"

namespace bayloom::feature {

/// What the target's instructions take for the products of a tensorized loop
/// (target/dot_instruction.h), in vector multiply-adds.
struct DotWork {
  double combine = 1;  ///< adding all of the loop's products to a register of sums
  /// Until a loaded register of a factor can be used: it is widened, or moved into the other sign.
  double adapt_first = 0, adapt_second = 0;
  double pack = 0;  ///< putting elements together that do not lie next to each other
};

/// For the products of the nest. nullopt where they are summed up one by one, which the nest says
/// then, too: there is no instruction, or no lanes for it.
std::optional<DotWork> DotWorkOf(const tensor::Program& program, tensor::BlockId block,
                                 const BufferPlaces& places, const target::Target& target,
                                 RegisterNest& nest);

}  // namespace bayloom::feature
