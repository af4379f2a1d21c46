// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <span>
#include <string>
#include <vector>

#include "bayloom/mapspace/architecture.h"
#include "bayloom/mapspace/mapping.h"
#include "bayloom/mapspace/problem.h"
#include "bayloom/yaml/template/template.h"

namespace bayloom::mapspace {

/// Timeloop's files (versions 0.2 to 0.4, with those of sparse tensors). Each reader looks for its
/// own section, so that one file may hold several. Files may be templates of version 0.4
/// (yaml/template/template.h), to whose variables `variables` gives values; texts that are parsed
/// are not. All throw InputError naming file, line and key.

/// `problem:` with `shape:` (dimensions, coefficients, data-spaces) and the bounds beside it or
/// under `instance:`, and there `densities:`. A data space may have `word-bits:`, which is
/// Bayloom's own. Files of nonzeros are found from the folder of the problem's file; they are read
/// with it, but not with a text, of which models read them.
Problem ReadProblem(const std::string& file, const yaml::TemplateVariables& variables = {});
Problem ParseProblemYaml(const std::string& text, const std::string& file);

/// `arch:` / `architecture:`, either `arithmetic:` and `storage:` (innermost first) or a tree of
/// `subtree:` and `local:` (version 0.2, 0.3; outermost first); with its `constraints:` if it has
/// any, and `sparse_optimizations:` beside it. Energies are `vector-access-energy` and `energy`
/// where given, in pJ, else those of `technology`, or without one those of SramAccessEnergy and its
/// like. A unit with `enabled: false` is left out, and constraints on it with it. Files of ZigZag
/// (formats/zigzag.h) and, by their name's `.m`, of MAESTRO (formats/maestro.h) are read, too.
Architecture ReadArchitecture(const std::string& file, const Technology* technology = nullptr,
                              const yaml::TemplateVariables& variables = {});
Architecture ParseArchitectureYaml(const std::string& text, const std::string& file,
                                   const Technology* technology = nullptr);

/// `sparse_optimizations:` of a file of its own, added to those that the architecture has.
void AddSparseOptimizations(const std::string& file, Architecture& architecture,
                            const yaml::TemplateVariables& variables = {});

/// `constraints:`, `architecture_constraints:`, `mapspace_constraints:`,
/// `extra_mapping_constraints:` or `mapspace:`; a list, or one under `targets:`.
std::vector<Directive> ReadConstraints(const std::string& file,
                                       const yaml::TemplateVariables& variables = {});

/// The same of a text.
std::vector<Directive> ParseConstraintsYaml(const std::string& text, const std::string& file);

/// `mapping:`, a list of directives that say everything; factors not named are 1, tensors not
/// named are kept.
Mapping ReadMapping(const std::string& file, const Problem& problem,
                    const Architecture& architecture,
                    const yaml::TemplateVariables& variables = {});
Mapping ParseMappingYaml(const std::string& text, const std::string& file, const Problem& problem,
                         const Architecture& architecture);

/// The other way round: what timeloop-model reads.
std::string PrintMappingYaml(const Mapping& mapping, const Problem& problem,
                             const Architecture& architecture);
std::string PrintProblemYaml(const Problem& problem);
std::string PrintArchitectureYaml(const Architecture& architecture);
/// `constraints:` as it stands within `arch:`; nothing if there are none.
std::string PrintConstraintsYaml(std::span<const Directive> constraints);

}  // namespace bayloom::mapspace
