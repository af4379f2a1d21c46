// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>

#include "bayloom/mapspace/architecture.h"
#include "bayloom/mapspace/technology.h"
#include "bayloom/search/scenario.h"
#include "bayloom/space/configuration.h"

namespace bayloom::accelerator {

/// Architectures with open decisions: a file of parameters, constraints on them, and an
/// architecture in which `$(expression)` stands for what is computed of them.
///
///     parameters:
///       rows: {type: ordinal, values: [4, 8, 16], default: 8}
///       kilobytes: {type: ordinal, values: [32, 64, 128], scale: log, default: 64}
///     constraints:
///     - rows * kilobytes <= 1024
///     architecture:
///       subtree:
///       - name: chip
///         local:
///         - {name: Buffer, class: SRAM, attributes: {sizeKB: $(kilobytes), word-bits: 8}}
///         ...
///
/// Expressions are in the language of constraints; the name of a parameter alone stands for its
/// value, texts included. docs/design.md is its manual.
class DesignSpace {
 public:
  /// Reads a file. Throws InputError naming file, line and key, also for expressions that have no
  /// value in the default design, or in a random one where there is none.
  static DesignSpace Load(const std::string& path);
  static DesignSpace Parse(const std::string& text, const std::string& path);

  /// Parameters and constraints, as a scenario without an evaluator and an objective. Its text is
  /// the whole file, with what is no part of a scenario as comments.
  const search::Scenario& scenario() const { return scenario_; }
  const space::Space& space() const { return *scenario_.space; }
  /// The technology that the file names; empty if it names none.
  const std::string& technology() const { return technology_; }
  /// What Parse was given.
  const std::string& text() const { return text_; }
  const std::string& path() const { return path_; }

  /// The file with a configuration's values in place of the expressions.
  std::string TextOf(const space::Configuration& configuration) const;
  /// One architecture of the space. Throws InputError where these values make none, such as
  /// multipliers that do not fill the rows of their mesh.
  mapspace::Architecture ArchitectureOf(const space::Configuration& configuration,
                                        const mapspace::Technology& technology) const;

 private:
  search::Scenario scenario_;
  std::string text_;
  std::string path_;
  std::string technology_;
};

}  // namespace bayloom::accelerator
