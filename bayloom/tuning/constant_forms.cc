// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/tuning/constant_forms.h"

#include <algorithm>
#include <functional>
#include <string_view>
#include <vector>

#include "bayloom/base/hash.h"

namespace bayloom::tuning {
namespace {

/// Smaller ones may lie there twice.
constexpr size_t kLargeBytes = 64 << 10;

/// A constant of a call, and its buffer in the programs.
struct CallConstant {
  const tensor::HostTensor* constant;
  tensor::BufferId buffer;
};

std::vector<CallConstant> LargeConstantsOf(const graph::TaskGraph& network,
                                           const tensor::Workload& workload,
                                           const graph::TaskCall& call) {
  std::vector<CallConstant> constants;
  const std::vector<tensor::BufferId> parameters = workload.Parameters();
  for (size_t p = 0; p < parameters.size(); ++p) {
    if (workload.buffers[parameters[p]].role != tensor::BufferRole::kConstant) continue;
    const auto& constant = network.graph.values[call.parameters[p]].constant;
    if (constant && constant->data.size() >= kLargeBytes) {
      constants.push_back({constant.get(), parameters[p]});
    }
  }
  return constants;
}

uint64_t FormOf(const tensor::Buffer& buffer) {
  base::Hasher hasher;
  for (const tensor::LayoutAxis& axis : buffer.layout) {
    hasher.Add(static_cast<uint64_t>(axis.dimension));
    hasher.Add(static_cast<uint64_t>(axis.stride)).Add(static_cast<uint64_t>(axis.extent));
  }
  return hasher.Add(buffer.transform ? buffer.transform->Hash() : 0).Digest();
}

}  // namespace

ConstantForms::Key ConstantForms::KeyOf(const tensor::HostTensor& constant) {
  const std::string_view bytes(reinterpret_cast<const char*>(constant.data.data()),
                               constant.data.size());
  base::Hasher hasher;
  for (const int64_t extent : constant.shape) hasher.Add(static_cast<uint64_t>(extent));
  return {hasher.Add(static_cast<uint64_t>(constant.dtype)).Digest(),
          std::hash<std::string_view>()(bytes)};
}

void ConstantForms::Add(const graph::TaskGraph& network,
                        std::span<const tensor::Program* const> programs) {
  for (const graph::TaskCall& call : network.calls) {
    const tensor::Workload& workload = network.tasks[call.task].workload;
    for (const CallConstant& each : LargeConstantsOf(network, workload, call)) {
      forms_.try_emplace(KeyOf(*each.constant), FormOf(programs[call.task]->buffers[each.buffer]));
    }
  }
}

std::optional<ConstantForms::Wanted> ConstantForms::Of(const graph::TaskGraph& network,
                                                       const graph::GraphTask& task) const {
  std::map<tensor::BufferId, uint64_t> wanted;
  for (const int call : task.calls) {
    for (const CallConstant& each : LargeConstantsOf(network, task.workload, network.calls[call])) {
      const auto known = forms_.find(KeyOf(*each.constant));
      if (known == forms_.end()) continue;
      if (wanted.emplace(each.buffer, known->second).first->second != known->second) {
        return std::nullopt;
      }
    }
  }
  if (wanted.empty()) return std::nullopt;
  base::Hasher key;
  for (const auto& [buffer, form] : wanted) key.Add(static_cast<uint64_t>(buffer)).Add(form);
  return Wanted{[wanted](const tensor::Program& program) {
                  return std::ranges::all_of(wanted, [&](const auto& each) {
                    return FormOf(program.buffers[each.first]) == each.second;
                  });
                },
                key.Digest()};
}

}  // namespace bayloom::tuning
