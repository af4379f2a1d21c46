// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
}
namespace bayloom::graph {
struct Graph;
struct TaskGraph;
}  // namespace bayloom::graph
namespace bayloom::record {
class Store;
}
namespace bayloom::tuning {
struct NetworkPrecision;
}

namespace bayloom::cli {

/// The options --precision and --precision-tolerance, and what was decided by them.
class PrecisionOption {
 public:
  PrecisionOption();

  void AddTo(CLI::App& command);
  /// From now on what the store's sessions have decided is used for the same networks.
  void Learn(record::Store& store) const;
  /// Options that are not given are as the last session of this name has them, if there is one.
  void Resume(record::Store& store, const std::string& subject);
  /// The graph as calls of tasks, optimized, in this precision. Says on standard error what has
  /// been decided.
  graph::TaskGraph TasksOf(graph::Graph graph) const;
  /// Whether another type than float32 is asked for.
  bool IsReduced() const { return name_.value_or("f32") != "f32"; }
  /// What was decided for the networks so far, as sessions keep it; null for float32.
  nlohmann::json Json() const;
  /// Adds that to an object under "precision", unless it is null.
  void AddTo(nlohmann::json& shown) const;
  /// The options as they are written on a command line.
  std::vector<std::string> Arguments() const;

 private:
  double Tolerance() const;
  tuning::NetworkPrecision Decide(const graph::Graph& simplified) const;

  std::optional<std::string> name_;
  std::optional<double> tolerance_;
  std::shared_ptr<std::vector<tuning::NetworkPrecision>> known_, used_;
};

}  // namespace bayloom::cli
