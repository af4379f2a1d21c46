// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

/// Module search: scenario files (Bayloom's, BaCO's, Kernel Tuner's); evaluators: commands,
/// processes, recorded spaces; studies, in memory and in a store; searches of several scenarios
/// under one budget.

#include "bayloom/record.h"
#include "bayloom/run.h"
#include "bayloom/search/code_constraint.h"
#include "bayloom/search/comma_list.h"
#include "bayloom/search/command_builder.h"
#include "bayloom/search/command_template.h"
#include "bayloom/search/context_table.h"
#include "bayloom/search/context_tree.h"
#include "bayloom/search/durable_study.h"
#include "bayloom/search/earlier_searches.h"
#include "bayloom/search/evaluator.h"
#include "bayloom/search/evaluator_options.h"
#include "bayloom/search/hypermapper_server.h"
#include "bayloom/search/kernel_definition.h"
#include "bayloom/search/line_server.h"
#include "bayloom/search/objective.h"
#include "bayloom/search/read_configuration.h"
#include "bayloom/search/recorded_space.h"
#include "bayloom/search/remote_configurations.h"
#include "bayloom/search/scenario.h"
#include "bayloom/search/scenario_overrides.h"
#include "bayloom/search/scenario_search.h"
#include "bayloom/search/stop_rules.h"
#include "bayloom/search/study.h"
#include "bayloom/search/study_task.h"
#include "bayloom/search/time_limit.h"
#include "bayloom/space.h"
#include "bayloom/trial.h"

namespace bayloom {

using search::LoadScenario;
using search::Scenario;
using search::ScenarioSearch;
using search::SearchOptions;

}  // namespace bayloom
