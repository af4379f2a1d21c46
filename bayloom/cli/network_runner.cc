// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/cli/network_runner.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "bayloom/base/result.h"
#include "bayloom/graph/import.h"

namespace bayloom::cli {
namespace {

void CheckInputs(const graph::Graph& graph, const std::vector<tensor::HostTensor>& inputs) {
  if (inputs.size() != graph.inputs.size()) {
    throw InputError(fmt::format("the model takes {} inputs, but there are {}", graph.inputs.size(),
                                 inputs.size()));
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    const graph::Value& value = graph.values[graph.inputs[i]];
    if (inputs[i].dtype != value.dtype || inputs[i].shape != value.shape) {
      throw InputError(fmt::format("input '{}' has to be {}, but is {}", value.name,
                                   graph::ToString(value.dtype, value.shape),
                                   graph::ToString(inputs[i].dtype, inputs[i].shape)));
    }
  }
}

}  // namespace

std::vector<tensor::HostTensor> ReadTensors(const std::string& folder, const std::string& kind) {
  std::vector<tensor::HostTensor> tensors;
  while (true) {
    const std::string path = fmt::format("{}/{}_{}.pb", folder, kind, tensors.size());
    if (!std::filesystem::exists(path)) break;
    tensors.push_back(graph::ReadOnnxTensor(path));
  }
  if (tensors.empty()) throw InputError(fmt::format("there is no {}_0.pb in {}", kind, folder));
  return tensors;
}

NetworkRunner::NetworkRunner(const tuning::TunedNetwork& network,
                             std::vector<tensor::HostTensor> inputs, graph::Branches branches)
    : graph_(network.network.graph),
      executor_(network.network, network.Programs(), network.target, branches,
                network.SmallPrograms()) {
  const graph::Graph& graph = network.network.graph;
  CheckInputs(graph, inputs);
  const auto allocate = [&](size_t bytes) {
    memory_.push_back(codegen::AllocateAligned(static_cast<int64_t>(bytes)));
    return memory_.back().get();
  };
  for (const tensor::HostTensor& input : inputs) {
    void* data = allocate(input.data.size());
    std::copy(input.data.begin(), input.data.end(), static_cast<std::byte*>(data));
    input_data_.push_back(data);
  }
  for (const graph::GraphOutput& output : graph.outputs) {
    const graph::Value& value = graph.values[output.value];
    shapes_.push_back(tensor::HostTensor::Zeros(value.dtype, value.shape));
    output_data_.push_back(allocate(shapes_.back().data.size()));
  }
}

void NetworkRunner::KeepStates(const graph::Graph& graph) {
  for (const graph::State& state : graph.states) {
    input_data_[std::ranges::find(graph.inputs, state.past) - graph.inputs.begin()] = nullptr;
    for (size_t i = 0; i < graph.outputs.size(); ++i) {
      if (graph.outputs[i].value == state.present) output_data_[i] = nullptr;
    }
  }
}

std::vector<tensor::HostTensor> NetworkRunner::outputs() const {
  std::vector<tensor::HostTensor> outputs = shapes_;
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (!graph_.found.empty()) {
      outputs[i] = tensor::HostTensor::Zeros(
          outputs[i].dtype, graph::ShapeAt(graph_, graph_.outputs[i].value, executor_.Lengths()));
    }
    const auto* data = static_cast<const std::byte*>(output_data_[i]);
    std::copy(data, data + outputs[i].data.size(), outputs[i].data.begin());
  }
  return outputs;
}

}  // namespace bayloom::cli
