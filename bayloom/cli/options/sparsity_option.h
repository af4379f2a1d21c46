// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bayloom/mapspace/architecture.h"
#include "bayloom/mapspace/fused/fused_network.h"
#include "bayloom/mapspace/problem.h"
#include "bayloom/yaml/template/template.h"

namespace CLI {
class App;
}

namespace bayloom::cli {

/// The options --density, --word-bits, --sparse and --occupancy: what is known of zeros, and what
/// an architecture does about them.
class SparsityOption {
 public:
  void AddTo(CLI::App& command);

  /// Adds the optimizations of --sparse, a template with these variables, to the architecture.
  /// Throws InputError where densities are given and nothing makes use of them.
  void ApplyTo(mapspace::Architecture& architecture,
               const yaml::TemplateVariables& variables) const;
  /// Gives the tensors of a problem, by names without regard to case, their densities and word
  /// widths, and reads files of nonzeros. Throws InputError for a name that it does not have.
  void ApplyTo(mapspace::Problem& problem) const;
  /// The same of all layers of a network, whose densities must not say where nonzeros are. Throws
  /// InputError for a name that no layer has.
  void ApplyTo(std::span<mapspace::Problem* const> layers) const;
  /// The same of all products of a network, and of single tensors of it by their names or those of
  /// the operators that compute them: for the product that writes one and those that read it.
  void ApplyTo(mapspace::FusedNetwork& network) const;

 private:
  void SetAll(std::span<mapspace::Problem* const> problems,
              mapspace::Density (*parse)(const std::string&)) const;

  std::vector<std::string> densities_;  ///< "Weights=0.3"
  std::vector<std::string> word_bits_;  ///< "Weights=4"
  std::string sparse_;
  std::optional<std::string> occupancy_;
};

}  // namespace bayloom::cli
