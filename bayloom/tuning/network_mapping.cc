#include "bayloom/tuning/network_mapping.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "bayloom/base/clock.h"
#include "bayloom/base/hash.h"
#include "bayloom/base/result.h"
#include "bayloom/mapspace/transplant.h"
#include "bayloom/scheduling/task_scheduler.h"

namespace bayloom {
namespace {

/// Turns in which a layer would have its equal share.
constexpr int64_t kTurns = 20;

/// How unlike the sizes of two layers are: octaves, in all dimensions together.
double Distance(const NetworkMapping::Layer& layer, const NetworkMapping::Layer& other) {
  const Architecture& architecture = layer.mapspace->architecture();
  const std::vector<double> a = DescribeTask(layer.layer.problem, architecture, *layer.mapspace);
  const std::vector<double> b = DescribeTask(other.layer.problem, architecture, *layer.mapspace);
  return std::transform_reduce(a.begin(), a.end(), b.begin(), 0.0, std::plus(),
                               [](double x, double y) { return std::abs(x - y); });
}

/// What one unit of a layer's value counts for in the network's.
double WeightOf(const NetworkLayer& layer, MapObjective objective) {
  const bool per_mac = objective == MapObjective::kEnergy;
  return layer.count * (per_mac ? static_cast<double>(layer.problem.Macs()) : 1.0);
}

}  // namespace

NetworkMapping::NetworkMapping(std::vector<NetworkLayer> layers, const Architecture& architecture,
                               std::span<const Directive> constraints,
                               const EvaluatorFactory& make_evaluator,
                               NetworkMappingOptions options)
    : options_(std::move(options)) {
  if (layers.empty()) throw InputError("the network has no convolution or matrix product");
  const uint64_t seed = options_.search.seed;
  for (NetworkLayer& layer : layers) {
    const int index = static_cast<int>(layers_.size());
    Layer& added = layers_.emplace_back();
    added.mapspace = std::make_unique<Mapspace>(layer.problem, architecture, constraints);
    added.model = std::make_unique<AnalyticalModel>(layer.problem, architecture, options_.counting);
    MapperOptions search = options_.search;
    search.seed = Hasher().Add(seed).Add(index).Digest();
    search.max_evaluations = options_.max_evaluations;
    added.evaluator = make_evaluator(*added.mapspace, *added.model, search);
    added.search = std::make_unique<MapperSearch>(options_.mapper, *added.mapspace, *added.model,
                                                  *added.evaluator, search);
    TaskProgress& progress = progress_.emplace_back();
    progress.name = layer.name;
    progress.weight = WeightOf(layer, options_.objective);
    progress.work = static_cast<double>(layer.problem.Macs());
    added.layer = std::move(layer);
  }
  for (Layer& layer : layers_) {
    layer.offered.assign(layers_.size(), 0);
    for (const Layer& other : layers_) layer.distance.push_back(Distance(layer, other));
  }
}

NetworkMapping::~NetworkMapping() = default;

int64_t NetworkMapping::evaluations() const {
  int64_t sum = 0;
  for (const Layer& layer : layers_) sum += layer.search->result().evaluations;
  return sum;
}

void NetworkMapping::Run(const std::function<void()>& observe) {
  const int64_t share = options_.max_evaluations / static_cast<int64_t>(layers_.size());
  const int64_t turn = std::max<int64_t>(1, share / kTurns);
  TaskSchedulerOptions scheduling;
  scheduling.seed = options_.search.seed;
  scheduling.max_trials = options_.max_evaluations;
  scheduling.trials_per_slot = static_cast<int>(turn);
  const auto scheduler = CreateTaskScheduler(options_.scheduler, scheduling);
  const double begin = MonotonicSeconds();
  while (true) {
    const int64_t left = options_.max_evaluations - evaluations();
    if (left <= 0) {
      end_ = MapperEnd::kEvaluations;
    } else if (options_.search.stop && options_.search.stop()) {
      end_ = MapperEnd::kStopped;
    } else if (seconds_ >= options_.max_seconds) {
      end_ = MapperEnd::kTime;
    } else if (const int next = scheduler->Next(progress_); next >= 0) {
      Turn(next, std::min(turn, left));
      seconds_ = MonotonicSeconds() - begin;
      observe();
      continue;
    } else {
      end_ = MapperEnd::kExhausted;
    }
    return;
  }
}

void NetworkMapping::Exchange(int layer) {
  Layer& own = layers_[layer];
  int nearest = -1;
  for (int other = 0; other < static_cast<int>(layers_.size()); ++other) {
    const MapperResult& known = layers_[other].search->result();
    if (other == layer || !known.best || known.value == own.offered[other]) continue;
    if (nearest < 0 || own.distance[other] < own.distance[nearest]) nearest = other;
  }
  if (nearest < 0) return;
  const Layer& giver = layers_[nearest];
  const MapperResult& known = giver.search->result();
  own.offered[nearest] = known.value;
  const std::optional<Mapping> planted =
      Transplant(*known.best, giver.layer.problem, *own.mapspace, *own.model);
  if (planted) own.search->Offer(*planted);
}

void NetworkMapping::Turn(int layer, int64_t evaluations) {
  Exchange(layer);
  MapperSearch& search = *layers_[layer].search;
  search.Continue(search.result().evaluations + evaluations);
  const MapperResult& result = search.result();
  TaskProgress& progress = progress_[layer];
  auto next = result.improvements.begin();
  for (int64_t i = progress.trials() + 1; i <= result.evaluations; ++i) {
    double best = progress.best();
    next = std::lower_bound(next, result.improvements.end(), i,
                            [](const MapperResult::Improvement& improvement, int64_t count) {
                              return improvement.evaluations < count;
                            });
    if (next != result.improvements.end() && next->evaluations == i) best = next->value;
    progress.best_after_trial.push_back(best);
  }
  progress.slot_ends.push_back(progress.trials());
  progress.finished = search.finished();
}

NetworkMapping::Totals NetworkMapping::Sum() const {
  Totals totals;
  for (const Layer& layer : layers_) {
    const MapperResult& result = layer.search->result();
    if (!result.best) continue;
    const Evaluation evaluation = layer.model->Evaluate(*result.best);
    const double count = layer.layer.count;
    totals.energy_pj += count * evaluation.energy_pj;
    totals.cycles += count * static_cast<double>(evaluation.cycles);
    totals.macs += count * static_cast<double>(evaluation.macs);
    ++totals.mapped;
  }
  return totals;
}

}  // namespace bayloom
