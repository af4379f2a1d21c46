// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

/// Module fleet: what workers try (programs, configurations, mappings), on both sides of the line
/// protocol.

#include "bayloom/fleet/benches.h"
#include "bayloom/fleet/configuration_trials.h"
#include "bayloom/fleet/design_trials.h"
#include "bayloom/fleet/kernel_trials.h"
#include "bayloom/fleet/mapping_trials.h"
#include "bayloom/fleet/program_trials.h"
