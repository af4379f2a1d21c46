// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <memory>
#include <vector>

#include "bayloom/graph/builder.h"
#include "bayloom/graph/tasks.h"
#include "bayloom/target/target.h"
#include "bayloom/tensor/program.h"

namespace bayloom::graph {

/// Two layers whose weights are constants, a value used twice, a view, and three outputs: one of
/// the middle, the last, and the input passed through. The input is x [4, 24].
Graph TwoLayers();

/// A network with its default programs.
struct Compiled {
  TaskGraph network;
  std::vector<tensor::Program> untuned;
  std::vector<const tensor::Program*> programs;
};

std::unique_ptr<Compiled> Compile(Graph graph, const target::Target& target);

}  // namespace bayloom::graph
