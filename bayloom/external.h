// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

/// Module external: scenario files (Bayloom's, BaCO's, Kernel Tuner's); evaluators: commands,
/// processes, recorded spaces; searches of scenarios.

#include "bayloom/external/code_constraint.h"
#include "bayloom/external/command_template.h"
#include "bayloom/external/evaluator.h"
#include "bayloom/external/evaluator_options.h"
#include "bayloom/external/hypermapper_server.h"
#include "bayloom/external/line_server.h"
#include "bayloom/external/objective.h"
#include "bayloom/external/recorded_space.h"
#include "bayloom/external/scenario.h"
#include "bayloom/external/scenario_overrides.h"
#include "bayloom/external/stop_rules.h"
#include "bayloom/external/study.h"
#include "bayloom/external/study_task.h"
#include "bayloom/external/time_limit.h"
#include "bayloom/space.h"
#include "bayloom/trial.h"

namespace bayloom {

using external::LoadScenario;
using external::Scenario;

}  // namespace bayloom
