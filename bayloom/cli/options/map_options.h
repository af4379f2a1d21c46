// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <iterator>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bayloom/accelerator/network_mapping.h"
#include "bayloom/cli/options/define_option.h"
#include "bayloom/cli/options/learn_from_option.h"
#include "bayloom/cli/options/model_option.h"
#include "bayloom/cli/options/sparsity_option.h"
#include "bayloom/cli/options/workers_option.h"

namespace CLI {
class App;
}

namespace bayloom::cli {

/// The command line of `bayloom map`.
struct MapArguments {
  ModelOption network;
  SparsityOption sparsity;
  DefineOption define;
  std::vector<std::string> ops;       ///< operations, in short
  std::vector<std::string> problems;  ///< files of operations
  std::string architecture;
  std::vector<std::string> constraints;
  std::string mapping;
  std::string certificate;  ///< file to write
  std::string check;        ///< file of a certificate
  std::string mapper;
  std::vector<std::string> objectives = {"energy"};
  std::string evaluator = "model";
  std::string timeout = "10m";
  int jobs = 1;
  WorkersOption workers;
  bool sandbox = false;
  std::string tiles = "divisor";
  std::string orders = "permutation";
  std::string reuse = "exact";
  std::string mappings = "even";
  std::string scheduler;
  std::optional<int64_t> evaluations;
  bool fuse = false;
  std::string cores;  ///< "mesh:2x2,..."; empty: one
  std::optional<int64_t> tile_evaluations;
  std::string time;
  int64_t victory = 0;
  uint64_t seed = 0;
  std::string database;
  bool resume = false;
  LearnFromOption learn_from;
  std::optional<int64_t> warm_start_model;
  std::optional<int> top_k;
  std::string out;
  bool why = false;
  bool json = false;

  /// Refuses what no kind of run can do. What only some can do, see map_kind.h.
  void Check() const;
  /// Refuses an --out that cannot be written; makes its folder if it is one.
  void PrepareOut(bool is_folder) const;
  /// What they say of a run over so many layers. Throws InputError for what they cannot.
  accelerator::MapOptions Options(int64_t layers) const;
  std::vector<mapspace::Directive> Constraints() const;
  /// --arch with what --sparse adds to it.
  mapspace::Architecture LoadArchitecture() const;
  /// The same for the mappings of an operation that are asked for (--mappings).
  mapspace::Architecture LoadArchitectureFor(const mapspace::Problem& of,
                                             std::span<const mapspace::Directive> rules) const;
  /// Whether a network or several operations are mapped.
  bool HasSeveralLayers() const { return !network.path.empty() || OperationCount() > 1; }
  int64_t OperationCount() const { return std::ssize(ops) + std::ssize(problems); }
  /// The network's file, "3 operations", or what the only operation is called.
  std::string SubjectName() const;
  /// The only --op or --problem, with what the options say of its tensors.
  mapspace::Problem LoadProblem() const;
  /// The network's layers, or the operations; equal ones are one.
  std::vector<accelerator::NetworkLayer> LoadLayers() const;
};

/// Tells the user of keys in Timeloop's files that change its result and have no effect here.
void SayWithoutEffect(const mapspace::Architecture& architecture);

/// The options --tile-encoding and --order-encoding.
void AddEncodingOptions(CLI::App& command, std::string& tiles, std::string& orders);
void AddMapOptions(MapArguments& arguments, CLI::App& map);

}  // namespace bayloom::cli
