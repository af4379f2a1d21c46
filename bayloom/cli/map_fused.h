// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "bayloom/cli/options/map_options.h"

namespace bayloom::cli {

/// `bayloom map --fuse`: groups of operators on one core, and with --cores shared by several.
void MapFused(const MapArguments& arguments);

}  // namespace bayloom::cli
