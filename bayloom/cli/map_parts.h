// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>

#include "bayloom/accelerator/bottlenecks.h"
#include "bayloom/cli/options/map_options.h"
#include "bayloom/remote/pool.h"

namespace bayloom::cli {

// What several kinds of run of `bayloom map` do.

/// Has the run's mappings evaluated by the workers, if there are any; they outlive the run.
std::unique_ptr<remote::WorkerPool> Delegate(const MapArguments& arguments,
                                             accelerator::MapOptions& options);

trial::StopReason RunWithProgress(accelerator::NetworkMapping& run, const WorkersOption& workers);

/// Why no mapping of a layer was found: the last evaluation's failure if there was one, else what
/// leaves none.
std::string WhyUnmapped(const accelerator::NetworkMapping::Layer& layer);
/// A search that found nothing for this layer: throws CheckFailed with the reason.
[[noreturn]] void FailWithoutMapping(const accelerator::NetworkMapping::Layer& layer);

/// A value of the first objective, in its unit where it is the model's.
std::string FormatValueOf(const MapArguments& arguments, double value);

/// What is proved of a mapping, a line.
std::string DescribeProof(const mapspace::Certificate& certificate);

/// What parts of an accelerator cost, and what doubling them changes; empty for none.
struct WhyText {
  std::string text;
  nlohmann::json json;
};
/// Maps the layers again with each memory doubled (accelerator::DoubleParts); shows how far it is.
WhyText ExplainMappings(std::span<const accelerator::NetworkLayer> layers,
                        const mapspace::Architecture& architecture,
                        std::span<const mapspace::Directive> constraints,
                        const accelerator::MapOptions& options,
                        std::span<const std::optional<mapspace::Mapping>> known,
                        std::span<const accelerator::PartCost> parts);

/// A mapping, also into --out, and what the evaluator and the model say of it.
void DeliverMapping(const mapspace::Mapping& mapping, double value,
                    const mapspace::AnalyticalModel& model, const MapArguments& arguments,
                    nlohmann::json about);

/// Writes the problem of a network's layer, and its mapping if there is one, into a folder, as
/// timeloop-model takes them. `number` counts the layers from 1.
void WriteMappedLayer(const std::string& folder, int number, const std::string& name,
                      const mapspace::Problem& problem,
                      const std::optional<mapspace::Mapping>& mapping,
                      const mapspace::Architecture& architecture);

}  // namespace bayloom::cli
