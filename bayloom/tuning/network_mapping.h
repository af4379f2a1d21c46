#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bayloom/mapspace/mapper.h"
#include "bayloom/scheduling/task_progress.h"
#include "bayloom/tuning/network_layers.h"

namespace bayloom {

struct NetworkMappingOptions {
  std::string mapper = "genetic";
  /// Of every layer's search, but for its limits; each layer has a seed of its own.
  MapperOptions search;
  MapObjective objective = MapObjective::kEnergy;
  ReuseCounting counting = ReuseCounting::kExact;
  /// Divides the evaluations, a twentieth of a layer's share at a time.
  std::string scheduler = "gradient";
  /// Of all layers together.
  int64_t max_evaluations = 0;
  double max_seconds = std::numeric_limits<double>::infinity();
};

/// All layers of a network mapped onto an architecture: each a task, to whose search a scheduler
/// gives evaluations where they promise most for the whole network. Layers learn from each other:
/// at every turn a layer's search is offered the best mapping of another, transplanted.
class NetworkMapping {
 public:
  /// Makes the evaluator of a layer, which its mapspace and model outlive, and may add to how the
  /// layer is searched.
  using EvaluatorFactory = std::function<std::unique_ptr<MappingEvaluator>(
      const Mapspace& mapspace, const AnalyticalModel& model, MapperOptions& search)>;

  /// Throws InputError for what cannot be searched.
  NetworkMapping(std::vector<NetworkLayer> layers, const Architecture& architecture,
                 std::span<const Directive> constraints, const EvaluatorFactory& make_evaluator,
                 NetworkMappingOptions options);
  ~NetworkMapping();

  /// Searches until the evaluations are spent; `observe` is called after every turn of a layer.
  void Run(const std::function<void()>& observe);

  /// What is known of a layer.
  struct Layer {
    NetworkLayer layer;
    std::unique_ptr<Mapspace> mapspace;
    std::unique_ptr<AnalyticalModel> model;
    std::unique_ptr<MappingEvaluator> evaluator;
    std::unique_ptr<MapperSearch> search;
    /// Of every layer: how unlike this one it is, and the value of its best mapping when that was
    /// last offered to this one's search.
    std::vector<double> distance, offered;
  };
  const std::vector<Layer>& layers() const { return layers_; }

  /// All layers, as often as the network has them, by the model's account of the best mappings.
  struct Totals {
    double energy_pj = 0;
    double cycles = 0;  ///< one layer after the other
    double macs = 0;
    int mapped = 0;  ///< layers with a mapping

    double EnergyDelay() const { return energy_pj * cycles; }
  };
  Totals Sum() const;
  int64_t evaluations() const;
  double seconds() const { return seconds_; }
  MapperEnd end() const { return end_; }

 private:
  void Turn(int layer, int64_t evaluations);
  /// Offers a layer's search the best mapping of the layer most like it of those whose best it has
  /// not been offered yet.
  void Exchange(int layer);

  NetworkMappingOptions options_;
  std::vector<Layer> layers_;
  std::vector<TaskProgress> progress_;
  double seconds_ = 0;
  MapperEnd end_ = MapperEnd::kExhausted;
};

}  // namespace bayloom
