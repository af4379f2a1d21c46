// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

/// Module tuning: tuning tasks and sessions; what networks are put together from; programs without
/// trials; programs that workers measure.
///
///     const TaskGraph network = ExtractTasks(ImportOnnx("resnet18.onnx"));
///     Tuning tuning(NetworkSubject("resnet18", network), target, store, evaluator,
///                   {.run = {.budget = {.trials = 1000}}});
///     tuning.Run();
///     const TunedNetwork tuned = TunedNetwork::Choose(network, target, {.store = &store});

#include "bayloom/codegen.h"
#include "bayloom/graph.h"
#include "bayloom/measure.h"
#include "bayloom/record.h"
#include "bayloom/run.h"
#include "bayloom/target.h"
#include "bayloom/tensor.h"
#include "bayloom/trial.h"
#include "bayloom/tuning/build_batch.h"
#include "bayloom/tuning/cold_constants.h"
#include "bayloom/tuning/constant_forms.h"
#include "bayloom/tuning/default_comparison.h"
#include "bayloom/tuning/division.h"
#include "bayloom/tuning/earlier_trials.h"
#include "bayloom/tuning/first_programs.h"
#include "bayloom/tuning/keep_programs.h"
#include "bayloom/tuning/learner.h"
#include "bayloom/tuning/measure_evaluator.h"
#include "bayloom/tuning/measured_candidate.h"
#include "bayloom/tuning/measured_target.h"
#include "bayloom/tuning/network_precision.h"
#include "bayloom/tuning/network_turns.h"
#include "bayloom/tuning/prior.h"
#include "bayloom/tuning/program_evaluator.h"
#include "bayloom/tuning/program_repeats.h"
#include "bayloom/tuning/remote_kernels.h"
#include "bayloom/tuning/remote_programs.h"
#include "bayloom/tuning/restore.h"
#include "bayloom/tuning/session.h"
#include "bayloom/tuning/session_log.h"
#include "bayloom/tuning/session_state.h"
#include "bayloom/tuning/tune.h"
#include "bayloom/tuning/tuned_network.h"
#include "bayloom/tuning/tuning_subject.h"
#include "bayloom/tuning/tuning_task.h"

namespace bayloom {

using tuning::MeasureEvaluator;
using tuning::NetworkSubject;
using tuning::OperatorSubject;
using tuning::TunedNetwork;
using tuning::TuneOptions;
using tuning::Tuning;

}  // namespace bayloom
