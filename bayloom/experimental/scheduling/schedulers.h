// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <memory>

#include "bayloom/scheduling/task_scheduler.h"

/// The schedulers with which Zhang et al. 2021 compare DynaTune.

namespace bayloom::experimental {

/// "epsilon-greedy": the task with the largest expected gain (see
/// scheduling/learning_curve_forecast.h) in proportion to the time a slot takes, and with
/// probability `epsilon` any task (appendix A).
std::unique_ptr<scheduling::TaskScheduler> MakeEpsilonGreedyScheduler(
    const scheduling::TaskSchedulerOptions& options, double epsilon = 0.05);

/// "softmax": at random, with a probability that grows with the expected gain (appendix A). A task
/// is e times less likely for each `temperature` by which its gain is smaller, as a share of the
/// largest gain.
std::unique_ptr<scheduling::TaskScheduler> MakeSoftmaxScheduler(
    const scheduling::TaskSchedulerOptions& options, double temperature = 0.25);

/// "dynamic-NAME": the scheduler NAME among the tasks that found something better within their last
/// TaskSchedulerOptions::patience trials; among all if none did (section 5.3).
std::unique_ptr<scheduling::TaskScheduler> MakeDynamicScheduler(
    std::unique_ptr<scheduling::TaskScheduler> scheduler,
    const scheduling::TaskSchedulerOptions& options);

}  // namespace bayloom::experimental
