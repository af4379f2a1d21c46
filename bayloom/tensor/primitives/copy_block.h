// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>

#include "bayloom/tensor/primitives/region.h"

namespace bayloom::tensor {

/// "local", "shared", "global"
std::string ToString(StorageScope scope);

/// Appends a buffer like `buffer`, kept inside the program: "<buffer>.<scope>".
BufferId NewCache(Program& program, BufferId buffer, StorageScope scope);

/// Appends a block that copies a region (relative to `place`) of one buffer to the same place in
/// another of the same shape, with a nest of one loop per dimension.
BlockId PlaceCopy(Program& program, const std::string& name, BufferId from, BufferId to,
                  const Region& region, Place place);

}  // namespace bayloom::tensor
