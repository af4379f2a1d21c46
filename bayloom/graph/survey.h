// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "bayloom/graph/found_lengths.h"
#include "bayloom/graph/graph.h"
#include "bayloom/graph/import.h"

namespace bayloom::graph {

/// A node that is refused.
struct NodeRefusal {
  std::string node;
  std::string op;   ///< with its domain, if that is not ONNX's own
  int version = 0;  ///< of the domain's operator set
  std::string reason;
  /// Where the reason is that something is known at run time only: the inputs that it depends on.
  std::vector<std::string> inputs;
  /// Where a bound is all that is needed: what it has to be given for.
  std::string bound;
};

/// An operator of a model, inner graphs and functions included.
struct OperatorUse {
  std::string op;  ///< with its domain, if that is not ONNX's own
  int version = 0;
  int64_t nodes = 0;    ///< as the file has them
  int64_t refused = 0;  ///< of all copies that functions and loops make
};

/// What a model takes or computes: "image", "float32[batch, 3, 224, 224]".
struct DescribedTensor {
  std::string name;
  std::string type;
};

/// The numbers that the file contains, by element type ("float32", "string").
struct ParameterCount {
  std::string type;
  int64_t count = 0;
  int64_t bytes = 0;  ///< as the file stores them
};

/// What a model needs and what of it is supported.
struct ModelSurvey {
  std::string producer;
  int64_t ir_version = 0;
  std::map<std::string, int64_t> operator_sets;  ///< by domain; ONNX's own is "ai.onnx"
  std::vector<DescribedTensor> inputs, outputs;
  std::vector<ParameterCount> parameters;
  std::vector<OperatorUse> operators;      ///< sorted by name
  std::vector<OpenDimension> open;         ///< all that the model leaves open
  std::vector<OpenDimension> missing;      ///< those of them that the options do not give
  std::vector<std::string> shapeless;      ///< inputs without a shape in model and options
  std::map<std::string, int64_t> assumed;  ///< extents with which the nodes were examined instead
  std::vector<NodeRefusal> refusals;       ///< in the order of the nodes
  int64_t unexamined_nodes = 0;            ///< behind refused ones: their operators are supported
  std::vector<std::string> problems;       ///< refused, but of no node
  std::vector<Symbol> symbols;             ///< dimensions that are given ranges
  std::vector<FoundBound> found;           ///< lengths that the network finds when it runs
  /// The network, if all of it is supported, with the extents given and assumed, and the largest
  /// ones of those that stay open.
  std::optional<Graph> graph;
  /// The same with open dimensions, where options.symbols name some, or the network finds lengths,
  /// and nothing is missing.
  std::optional<Graph> open_graph;

  bool IsSupported() const { return refusals.empty() && problems.empty(); }
  /// Whether it can be imported with the options as they are.
  bool IsComplete() const { return IsSupported() && missing.empty() && shapeless.empty(); }
};

/// Examines all nodes of a model, where ImportOnnx ends at the first that is refused. Extents that
/// are not given are assumed: a refusal may be due to them. Throws InputError for files that are no
/// models and for options that do not fit the model.
ModelSurvey SurveyOnnx(const std::string& path, const ImportOptions& options = {});

}  // namespace bayloom::graph
