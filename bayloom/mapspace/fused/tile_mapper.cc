// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/mapspace/fused/tile_mapper.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <utility>

#include "bayloom/base/hash.h"
#include "bayloom/base/result.h"
#include "bayloom/mapspace/adapt_mapping.h"

namespace bayloom::mapspace {
namespace {

/// Densities and widths of words make no difference to what a mapping is.
bool SameLoops(const Problem& a, const Problem& b) {
  return a.dimensions == b.dimensions &&
         std::ranges::equal(a.tensors, b.tensors, [](const DataSpace& x, const DataSpace& y) {
           return x.name == y.name && x.axes == y.axes && x.read_write == y.read_write;
         });
}

/// Octaves between the bounds of two problems with the same loops.
double Octaves(const Problem& a, const Problem& b) {
  double octaves = 0;
  for (size_t d = 0; d < a.bounds.size(); ++d) {
    octaves +=
        std::abs(std::log2(static_cast<double>(a.bounds[d]) / static_cast<double>(b.bounds[d])));
  }
  return octaves;
}

/// Without those that would fix what InsideOf leaves free.
std::vector<Directive> ConstraintsInside(std::vector<Directive> constraints,
                                         const Architecture& architecture, int home) {
  std::erase_if(constraints, [&](const Directive& directive) {
    const int level = architecture.LevelNamed(directive.target);
    return level > home || (level == home && directive.kind != Directive::Kind::kSpatial);
  });
  return constraints;
}

/// Null where the constraints' factors do not divide the tile's bounds, so that they leave no
/// mapping. (That they name what is there, whole layers have shown.)
std::unique_ptr<Mapspace> MapspaceOf(const Problem& tile, const Architecture& architecture,
                                     const std::vector<Directive>& constraints) {
  try {
    return std::make_unique<Mapspace>(tile, architecture, constraints);
  } catch (const InputError&) {
    return nullptr;
  }
}

}  // namespace

TileMapper::TileMapper(Architecture architecture, std::vector<Directive> constraints,
                       TileMapperOptions options)
    : architecture_(std::move(architecture)),
      constraints_(std::move(constraints)),
      options_(std::move(options)) {}

TileMapper::Key TileMapper::KeyOf(const Problem& problem, int level) {
  std::string key = fmt::format("{} {}", level, problem.Describe());
  for (const DataSpace& tensor : problem.tensors) {
    key += tensor.read_write ? " +" : " ";
    for (const std::vector<AxisTerm>& axis : tensor.axes) {
      for (const AxisTerm& term : axis)
        key += fmt::format("{}*{},", term.coefficient, term.dimension);
      key += ';';
    }
  }
  return key;
}

void TileMapper::AddLayer(const Problem& problem, const Mapping& mapping) {
  layers_.emplace_back(problem, mapping);
}

void TileMapper::Restore(const Problem& problem, RetentionLevel home,
                         std::optional<Mapping> mapping) {
  MappedTile tile{.problem = problem, .home = home, .mapping = std::move(mapping), .cost = {}};
  if (tile.mapping) {
    const OnChipModel model(problem, architecture_, home, options_.counting);
    const Status fits = CheckMapping(*tile.mapping, problem, model.inside().architecture());
    if (!fits) throw InputError(fits.error().message);
    tile.cost = model.EvaluateWithForms(*tile.mapping);
  }
  tiles_.insert_or_assign(KeyOf(problem, home.level), std::move(tile));
}

std::vector<Mapping> TileMapper::Suggestions(const Problem& problem, RetentionLevel home,
                                             const Mapspace& mapspace,
                                             const AnalyticalModel& model) const {
  std::vector<Mapping> suggestions;
  const auto suggest = [&](const Mapping& mapping, const Problem& from) {
    std::optional<Mapping> adapted = AdaptMapping(mapping, from, mapspace, model);
    if (adapted) suggestions.push_back(*std::move(adapted));
  };
  const MappedTile* nearest = nullptr;
  double least = std::numeric_limits<double>::infinity();
  for (const auto& [key, tile] : tiles_) {
    if (!tile.mapping || tile.home.level != home.level || !SameLoops(tile.problem, problem)) {
      continue;
    }
    const double octaves = Octaves(tile.problem, problem);
    if (octaves < least) {
      least = octaves;
      nearest = &tile;
    }
  }
  if (nearest != nullptr) suggest(*nearest->mapping, nearest->problem);
  const std::pair<Problem, Mapping>* layer = nullptr;
  for (const auto& known : layers_) {
    if (!SameLoops(known.first, problem)) continue;
    if (layer == nullptr || Octaves(known.first, problem) < Octaves(layer->first, problem)) {
      layer = &known;
    }
  }
  if (layer != nullptr) {
    Mapping inside = layer->second;
    inside.levels.resize(static_cast<size_t>(home.level) + 1);
    suggest(inside, layer->first);
  }
  return suggestions;
}

const MappedTile* TileMapper::Map(const Problem& problem, RetentionLevel home) {
  const Key key = KeyOf(problem, home.level);
  const auto known = tiles_.find(key);
  if (known != tiles_.end()) return &known->second;
  const OnChipModel model(problem, architecture_, home, options_.counting);
  const std::vector<Directive> constraints =
      ConstraintsInside(constraints_, architecture_, home.level);
  const std::unique_ptr<Mapspace> mapspace =
      MapspaceOf(problem, model.inside().architecture(), constraints);
  MappedTile tile{.problem = problem, .home = home, .mapping = {}, .cost = {}};
  if (mapspace && !Search(key, *mapspace, model, tile)) return nullptr;
  if (tile.mapping) tile.cost = model.EvaluateWithForms(*tile.mapping);
  ++mapped_;
  evaluations_ += tile.evaluations;
  if (on_mapped_) on_mapped_(tile);
  return &tiles_.insert_or_assign(key, std::move(tile)).first->second;
}

bool TileMapper::Search(const Key& key, const Mapspace& mapspace, const OnChipModel& model,
                        MappedTile& tile) const {
  const auto evaluator = MakeHomeEvaluator(model, options_.search.objectives[0]);
  MapperOptions search = options_.search;
  search.run.seed = base::Hasher().Add(search.run.seed).Add(key).Digest();
  MapperTask task(options_.mapper, mapspace, model.inside(), *evaluator, search);
  for (const Mapping& mapping : Suggestions(tile.problem, tile.home, mapspace, model.inside())) {
    task.Suggest(mapping);
  }
  run::ScheduledRun<Mapping> run({.budget = search.run.budget, .scheduler = "round-robin"});
  run.AddTask(task, {.name = tile.problem.name});
  const trial::StopReason end = run.Run();
  tile.mapping = task.result().best;
  tile.evaluations = task.result().evaluations;
  return end != trial::StopReason::kStopped;
}

}  // namespace bayloom::mapspace
