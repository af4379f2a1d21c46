// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/cli/options/model_option.h"

#include <fmt/format.h>

#include <CLI/App.hpp>
#include <filesystem>
#include <utility>

#include "bayloom/base/result.h"
#include "bayloom/base/single_line.h"
#include "bayloom/base/text_limits.h"
#include "bayloom/graph/decoder.h"
#include "bayloom/graph/partial.h"
#include "bayloom/graph/tasks.h"
#include "bayloom/tuning/tuning_subject.h"

namespace bayloom::cli {
namespace {

/// The options of a shape, for what takes fixed sizes only.
const graph::ImportOptions& FixedSizes(const ModelShape& shape) {
  if (shape.options.symbols.empty()) return shape.options;
  const graph::Symbol& first = shape.options.symbols.front();
  throw InputError(
      fmt::format("--dim {}: networks in parts take no ranges; give a size, such as {}={}",
                  base::SingleLine(first.ToString()), base::SingleLine(first.name), first.largest));
}

}  // namespace

CLI::Option* ModelOption::AddTo(CLI::App& command) {
  shapes.AddTo(command);
  return command.add_option("model", path, "ONNX file");
}

void ModelOption::AddPartialTo(CLI::App& command, const std::string& help) {
  command.add_flag("--partial", partial, help);
}

ModelShape ModelOption::OnlyShape() const {
  std::vector<ModelShape> all = shapes.All();
  if (all.size() > 1) {
    throw InputError(
        fmt::format("--dim: several sizes ({}, {}, ...) are for 'tune' and 'compile'; give one",
                    base::SingleLine(all[0].label), base::SingleLine(all[1].label)));
  }
  return std::move(all.front());
}

graph::Graph ModelOption::LoadGraph() const { return ImportWithAdvice(path, OnlyShape().options); }

graph::PartialNetwork ModelOption::LoadPartial() const {
  return ImportPartialWithAdvice(path, FixedSizes(OnlyShape()));
}

graph::TaskGraph ModelOption::Load() const { return Load(OnlyShape()); }

graph::TaskGraph ModelOption::Load(const ModelShape& shape) const {
  graph::TaskGraph network = precision.TasksOf(ImportWithAdvice(path, shape.options));
  // States that a step replaces are the model's, and no caches.
  const bool keeps = !network.graph.states.empty() || graph::AsDecoder(network.graph);
  if (!shapes.cache.empty() && !keeps) {
    const std::string& reason = network.graph.fixed_caches;
    throw InputError(fmt::format(
        "--cache: {} keeps nothing from one run to the next{}; the length of its past has to be "
        "open: --dim past_sequence_length=0..2047",
        base::SingleLine(path, 200), reason.empty() ? "" : ": " + reason));
  }
  return network;
}

std::string ModelOption::SubjectName() const {
  // A file may be called in any bytes; what is recorded and printed is text.
  std::string name = std::filesystem::path(path).filename().string();
  for (const std::string& given : shapes.Given()) name += " " + given;
  if (partial) name += " in parts";
  return base::SingleLine(name, base::kMaxPathBytes);
}

tuning::TuningSubject ModelOption::Subject(bool for_gpu) const {
  tuning::TuningSubject subject = {.name = SubjectName(), .specs = {}};
  for (graph::TaskGraph& network : LoadAll()) {
    if (for_gpu) network = graph::ForGpu(std::move(network));
    tuning::AddNetwork(network, subject);
  }
  subject.load = [model = *this] { return model.LoadAll(); };
  return subject;
}

std::vector<graph::TaskGraph> ModelOption::LoadAll() const {
  std::vector<graph::TaskGraph> networks;
  if (partial) {
    graph::PartialNetwork network = LoadPartial();
    for (graph::PartialStep& step : network.steps) {
      if (step.part) networks.push_back(precision.TasksOf(*std::move(step.part)));
    }
    return networks;
  }
  for (const ModelShape& shape : shapes.All()) networks.push_back(Load(shape));
  return networks;
}

std::string ModelOption::DefaultDatabase() const {
  if (path.empty()) return "operators.db";
  return std::filesystem::path(path).stem().string() + ".db";
}

}  // namespace bayloom::cli
