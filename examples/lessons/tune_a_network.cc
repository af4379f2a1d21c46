// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

// Lesson 4: an ONNX network from file to tuned native code: import, optimize, tune every operator
// for a few trials, and run the network with the best programs.

#include <fmt/core.h>

#include <cstdio>

#include "bayloom/codegen.h"
#include "bayloom/graph.h"
#include "bayloom/measure.h"
#include "bayloom/tuning.h"

using namespace bayloom;

int main(int argc, char** argv) {
  if (const std::optional<int> code = measure::RunAsRunner(argc, argv)) return *code;
  if (argc != 2) {
    fmt::print(stderr, "usage: {} MODEL.onnx\n", argv[0]);
    return 2;
  }

  // From a file to tasks: each distinct operator once, with how often the network runs it.
  Graph graph = ImportOnnx(argv[1], {});
  graph::Optimize(graph);
  const TaskGraph network = ExtractTasks(std::move(graph));

  // What code is made for, and where trials are kept (in memory here; a path keeps them).
  const Target target = HostTarget(1);
  Store store(":memory:");

  Measurer measurer(target, {});
  MeasureEvaluator evaluator(measurer);
  Tuning tuning(NetworkSubject(argv[1], network), target, store, evaluator,
                {.run = {.budget = {.trials = 24}}, .strategy = "random"});
  tuning.Run();

  // The best program of every task, compiled together.
  const TunedNetwork tuned = TunedNetwork::Choose(network, target, {.store = &store});
  fmt::print("{} tasks, {} of them tuned, in {} trials\n", tuned.chosen.size(), tuned.TunedTasks(),
             tuning.session().Status().trials);
  return tuned.TunedTasks() > 0 ? 0 : 1;
}
