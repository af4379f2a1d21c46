// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>
#include <vector>

#include "bayloom/cli/options/precision_option.h"
#include "bayloom/cli/options/shape_options.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace bayloom::graph {
struct Graph;
struct PartialNetwork;
struct TaskGraph;
}  // namespace bayloom::graph
namespace bayloom::tuning {
struct TuningSubject;
}  // namespace bayloom::tuning

namespace bayloom::cli {

// What is loaded; graph/partial.h, graph/tasks.h and tuning/tuning_subject.h have them.

/// The argument that names a model, and the options that say which shapes its inputs have.
struct ModelOption {
  std::string path;
  ShapeOptions shapes;
  PrecisionOption precision;  ///< f32 where a command does not add it
  bool partial = false;

  /// Returns the argument, for the command to say whether it is required.
  CLI::Option* AddTo(CLI::App& command);
  /// Adds --partial with this help.
  void AddPartialTo(CLI::App& command, const std::string& help);
  /// The network as the file has it. Throws InputError for what cannot be used, several sizes of a
  /// dimension among it.
  graph::Graph LoadGraph() const;
  /// The network, optimized, as calls of tasks. Throws as LoadGraph.
  graph::TaskGraph Load() const;
  /// The same for one of the shapes. Throws InputError for what cannot be used.
  graph::TaskGraph Load(const ModelShape& shape) const;
  /// The network as parts and nodes that are left out. Throws as LoadGraph.
  graph::PartialNetwork LoadPartial() const;
  /// The network in all its shapes, or its parts. Throws as LoadGraph.
  std::vector<graph::TaskGraph> LoadAll() const;
  /// LoadAll() as what is to be tuned, `for_gpu` if on one,
  /// named as its file and those shapes.
  tuning::TuningSubject Subject(bool for_gpu) const;
  /// Its name.
  std::string SubjectName() const;
  /// The database of its records unless said otherwise: MODEL.db in the current folder; without a
  /// model operators.db.
  std::string DefaultDatabase() const;
  /// The shape, if each dimension has one size; else throws InputError.
  ModelShape OnlyShape() const;
};

}  // namespace bayloom::cli
