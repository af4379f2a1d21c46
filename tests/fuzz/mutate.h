// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <span>
#include <string>

#include "bayloom/base/random.h"

namespace bayloom::fuzz {

/// One to four random changes of one of the seeds (not empty): of its bytes, of its tokens, or of
/// its structure as the reader knows it.
std::string Mutate(std::span<const std::string> seeds, base::RandomStream& random);

}  // namespace bayloom::fuzz
