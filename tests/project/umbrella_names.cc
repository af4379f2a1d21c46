// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

// The names that the umbrella headers lift into bayloom are those of their modules.
#include <type_traits>

#include "bayloom/graph.h"
#include "bayloom/mapspace.h"
#include "bayloom/optimizer.h"
#include "bayloom/record.h"
#include "bayloom/search.h"
#include "bayloom/space.h"
#include "bayloom/target.h"
#include "bayloom/tensor.h"
#include "bayloom/trial.h"
#include "bayloom/tuning.h"

namespace {

static_assert(std::is_same_v<bayloom::Architecture, bayloom::mapspace::Architecture>);
static_assert(std::is_same_v<bayloom::Budget, bayloom::trial::Budget>);
static_assert(std::is_same_v<bayloom::Configuration, bayloom::space::Configuration>);
static_assert(std::is_same_v<bayloom::Graph, bayloom::graph::Graph>);
static_assert(std::is_same_v<bayloom::Mapping, bayloom::mapspace::Mapping>);
static_assert(std::is_same_v<bayloom::Mapspace, bayloom::mapspace::Mapspace>);
static_assert(std::is_same_v<bayloom::Optimizer, bayloom::optimizer::Optimizer>);
static_assert(std::is_same_v<bayloom::Outcome, bayloom::trial::Outcome>);
static_assert(std::is_same_v<bayloom::Problem, bayloom::mapspace::Problem>);
static_assert(std::is_same_v<bayloom::Program, bayloom::tensor::Program>);
static_assert(std::is_same_v<bayloom::Scenario, bayloom::search::Scenario>);
static_assert(std::is_same_v<bayloom::Schedule, bayloom::tensor::Schedule>);
static_assert(std::is_same_v<bayloom::Space, bayloom::space::Space>);
static_assert(std::is_same_v<bayloom::StopReason, bayloom::trial::StopReason>);
static_assert(std::is_same_v<bayloom::Store, bayloom::record::Store>);
static_assert(std::is_same_v<bayloom::Target, bayloom::target::Target>);
static_assert(std::is_same_v<bayloom::TaskGraph, bayloom::graph::TaskGraph>);
static_assert(std::is_same_v<bayloom::TunedNetwork, bayloom::tuning::TunedNetwork>);
static_assert(std::is_same_v<bayloom::Tuning, bayloom::tuning::Tuning>);
static_assert(std::is_same_v<bayloom::Workload, bayloom::tensor::Workload>);

}  // namespace
