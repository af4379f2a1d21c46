// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

/// Module graph: ONNX import, graph passes, fusion, task extraction, executor, packaging.
///
///     const TaskGraph network = ExtractTasks(ImportOnnx("resnet18.onnx"));
///
/// Reading order: `graph.h` and `builder.h`; `import.h` with `import/refusal_policy.h`; one
/// handler, such as `operators/pooling.cc`; `open/import_open.h` (dimensions whose lengths are
/// known when the network runs); `passes/passes.h` and `passes/optimize.cc` (their order);
/// `tasks/fusion.h` and `tasks.h`; `executor.h`; `network_plan.h` and `package.h` (libraries).

#include "bayloom/graph/builder.h"
#include "bayloom/graph/call_kinds.h"
#include "bayloom/graph/decoder.h"
#include "bayloom/graph/executor.h"
#include "bayloom/graph/extent_sum.h"
#include "bayloom/graph/fixed_caches.h"
#include "bayloom/graph/graph.h"
#include "bayloom/graph/import.h"
#include "bayloom/graph/length.h"
#include "bayloom/graph/network_plan.h"
#include "bayloom/graph/package.h"
#include "bayloom/graph/partial.h"
#include "bayloom/graph/passes/passes.h"
#include "bayloom/graph/precision.h"
#include "bayloom/graph/precision_choice.h"
#include "bayloom/graph/random_inputs.h"
#include "bayloom/graph/survey.h"
#include "bayloom/graph/tasks.h"
#include "bayloom/tensor.h"

namespace bayloom {

using graph::ExtractTasks;
using graph::ForGpu;
using graph::Graph;
using graph::ImportOnnx;
using graph::TaskGraph;

}  // namespace bayloom
