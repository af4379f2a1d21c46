// Apart from the rest of `bayloom map`: a graph's values and a space's have one name.
#include "bayloom/cli/model_option.h"
#include "bayloom/graph/graph.h"
#include "bayloom/tuning/network_layers.h"

namespace bayloom {

std::vector<NetworkLayer> LoadLayers(const ModelOption& model) {
  return LayersOf(model.LoadGraph());
}

}  // namespace bayloom
