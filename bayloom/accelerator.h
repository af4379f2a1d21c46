// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

/// Module accelerator: operations and networks mapped onto accelerators, layer by layer, in groups
/// that run tile by tile and on several cores; searches for accelerators; mappings and designs that
/// workers evaluate.

#include "bayloom/accelerator/bottlenecks.h"
#include "bayloom/accelerator/design_evaluator.h"
#include "bayloom/accelerator/design_search.h"
#include "bayloom/accelerator/design_space.h"
#include "bayloom/accelerator/design_trials.h"
#include "bayloom/accelerator/earlier_mappings.h"
#include "bayloom/accelerator/fused_layers.h"
#include "bayloom/accelerator/fused_mapping.h"
#include "bayloom/accelerator/multicore_mapping.h"
#include "bayloom/accelerator/network_layers.h"
#include "bayloom/accelerator/network_mapping.h"
#include "bayloom/accelerator/remote_designs.h"
#include "bayloom/accelerator/remote_mappings.h"
#include "bayloom/accelerator/stored_search.h"
#include "bayloom/graph.h"
#include "bayloom/mapspace.h"
#include "bayloom/search.h"

namespace bayloom {

using accelerator::DesignOptions;
using accelerator::DesignSearch;
using accelerator::DesignSpace;
using accelerator::MapOptions;
using accelerator::NetworkMapping;

}  // namespace bayloom
