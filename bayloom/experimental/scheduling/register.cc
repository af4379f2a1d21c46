// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/experimental/scheduling/schedulers.h"
#include "bayloom/experimental/variants.h"

namespace bayloom::experimental {

void RegisterSchedulers() {
  using scheduling::TaskSchedulerOptions;
  auto& schedulers = scheduling::TaskSchedulers();
  schedulers.RegisterExperimental(
      {"epsilon-greedy",
       "the largest expected gain, with a small probability any",
       {[](const TaskSchedulerOptions& options) { return MakeEpsilonGreedyScheduler(options); },
        true}});
  schedulers.RegisterExperimental(
      {"softmax",
       "at random, with a probability that grows with the expected gain",
       {[](const TaskSchedulerOptions& options) { return MakeSoftmaxScheduler(options); }, true}});
  schedulers.RegisterExperimental({"dynamic-round-robin",
                                   "in turn those that still improve",
                                   {[](const TaskSchedulerOptions& options) {
                                     return MakeDynamicScheduler(
                                         scheduling::MakeRoundRobinScheduler(options), options);
                                   }}});
  schedulers.RegisterExperimental({"dynamic-random",
                                   "any of those that still improve",
                                   {[](const TaskSchedulerOptions& options) {
                                     return MakeDynamicScheduler(
                                         scheduling::MakeRandomScheduler(options), options);
                                   }}});
}

}  // namespace bayloom::experimental
