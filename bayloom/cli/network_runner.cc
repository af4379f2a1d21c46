#include "bayloom/cli/network_runner.h"

#include <fmt/format.h>

#include <filesystem>

#include "bayloom/base/random.h"
#include "bayloom/base/result.h"
#include "bayloom/graph/import.h"

namespace bayloom {
namespace {

constexpr int64_t kIndexBound = 1000;

void CheckInputs(const Graph& graph, const std::vector<HostTensor>& inputs) {
  if (inputs.size() != graph.inputs.size()) {
    throw InputError(fmt::format("the model takes {} inputs, but there are {}", graph.inputs.size(),
                                 inputs.size()));
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Value& value = graph.values[graph.inputs[i]];
    if (inputs[i].dtype != value.dtype || inputs[i].shape != value.shape) {
      throw InputError(fmt::format("input '{}' has to be {}, but is {}", value.name,
                                   ToString(value.dtype, value.shape),
                                   ToString(inputs[i].dtype, inputs[i].shape)));
    }
  }
}

}  // namespace

std::vector<HostTensor> RandomInputs(const Graph& graph, uint64_t seed) {
  RandomStream random(seed);
  std::vector<HostTensor> inputs;
  for (ValueId input : graph.inputs) {
    const Value& value = graph.values[input];
    HostTensor tensor = HostTensor::Zeros(value.dtype, value.shape);
    const int64_t bound = value.dtype == DType::kBool  ? 2
                          : ByteSize(value.dtype) == 1 ? 100
                                                       : kIndexBound;
    for (int64_t i = 0; i < tensor.ElementCount(); ++i) {
      if (IsFloat(value.dtype)) {
        tensor.Set(i, random.Normal());
      } else {
        tensor.SetInt(i, random.UniformInt(bound));
      }
    }
    inputs.push_back(std::move(tensor));
  }
  return inputs;
}

std::vector<HostTensor> ReadTensors(const std::string& folder, const std::string& kind) {
  std::vector<HostTensor> tensors;
  while (true) {
    const std::string path = fmt::format("{}/{}_{}.pb", folder, kind, tensors.size());
    if (!std::filesystem::exists(path)) break;
    tensors.push_back(ReadOnnxTensor(path));
  }
  if (tensors.empty()) throw InputError(fmt::format("there is no {}_0.pb in {}", kind, folder));
  return tensors;
}

NetworkRunner::NetworkRunner(const TunedNetwork& network, std::vector<HostTensor> inputs)
    : inputs_(std::move(inputs)), executor_(network.network, network.Programs(), network.target) {
  const Graph& graph = network.network.graph;
  CheckInputs(graph, inputs_);
  for (const GraphOutput& output : graph.outputs) {
    const Value& value = graph.values[output.value];
    outputs_.push_back(HostTensor::Zeros(value.dtype, value.shape));
  }
  for (const HostTensor& input : inputs_) input_data_.push_back(input.data.data());
  for (HostTensor& output : outputs_) output_data_.push_back(output.data.data());
}

}  // namespace bayloom
