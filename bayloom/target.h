// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

/// Module target: what machines there are and what they can do: targets, their instructions for dot
/// products, the machine model (rates of arithmetic, caches, memory, threads), targets and machines
/// as JSON.

#include "bayloom/target/alignment.h"
#include "bayloom/target/arm_processor.h"
#include "bayloom/target/dot_instruction.h"
#include "bayloom/target/emulated.h"
#include "bayloom/target/gpu_limits.h"
#include "bayloom/target/gpu_machine.h"
#include "bayloom/target/machine_model.h"
#include "bayloom/target/mma_instruction.h"
#include "bayloom/target/named_target.h"
#include "bayloom/target/target.h"
#include "bayloom/target/target_check.h"
#include "bayloom/target/target_json.h"
#include "bayloom/target/wgmma_instruction.h"

namespace bayloom {

using target::Target;

}  // namespace bayloom
