// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "bayloom/codegen/gpu/stand_in.h"
#include "tests/codegen/compiled.h"

namespace bayloom::testing {

inline target::GpuLimits Hopper() { return *target::FindGpuLimits("sm_90"); }
/// With the instructions that later GPUs do not have.
inline target::GpuLimits HopperAlone() { return *target::FindGpuLimits("sm_90a"); }

/// Runs a program for GPUs on the stand-in like Interpret; outputs that are not written are NaNs.
/// Returns what went wrong; `seen` is for what was counted.
inline Status RunOnStandIn(const tensor::Program& program, const codegen::StandIn& stand_in,
                           std::vector<tensor::HostTensor>& arguments,
                           const codegen::StandInOptions& options = {},
                           codegen::StandInCounts* seen = nullptr) {
  const std::vector<tensor::BufferId> parameters = program.Parameters();
  std::vector<codegen::AlignedMemory> memory;
  std::vector<void*> pointers;
  for (size_t i = 0; i < parameters.size(); ++i) {
    const tensor::Buffer& buffer = program.buffers[parameters[i]];
    const std::vector<std::byte> packed = tensor::PackLayout(buffer, arguments[i].data.data());
    memory.push_back(Allocate(packed.size()));
    pointers.push_back(memory.back().get());
    std::memcpy(pointers.back(), packed.data(), packed.size());
    if (buffer.role == tensor::BufferRole::kOutput) {
      std::memset(pointers.back(), 0xff, packed.size());
    }
  }
  const auto counts = stand_in.Run(pointers.data(), options);
  if (!counts) return counts.error();
  if (seen) *seen = *counts;
  for (size_t i = 0; i < parameters.size(); ++i) {
    const tensor::Buffer& buffer = program.buffers[parameters[i]];
    if (buffer.role != tensor::BufferRole::kOutput) continue;
    std::memcpy(arguments[i].data.data(), pointers[i], arguments[i].data.size());
  }
  return Ok();
}

/// Elements of outputs that are not close to what is expected.
inline int64_t CountWrong(const tensor::Program& program,
                          const std::vector<tensor::HostTensor>& actual,
                          const std::vector<tensor::HostTensor>& expected) {
  int64_t wrong = 0;
  const std::vector<tensor::BufferId> parameters = program.Parameters();
  for (size_t p = 0; p < parameters.size(); ++p) {
    if (program.buffers[parameters[p]].role != tensor::BufferRole::kOutput) continue;
    double scale = 0;
    for (int64_t i = 0; i < expected[p].ElementCount(); ++i) {
      if (std::isfinite(expected[p].Get(i))) scale = std::max(scale, std::abs(expected[p].Get(i)));
    }
    const bool is_float = tensor::IsFloat(expected[p].dtype);
    const double allowed = is_float ? ToleranceOf(expected[p].dtype) * scale : 0;
    for (int64_t i = 0; i < expected[p].ElementCount(); ++i) {
      const double a = actual[p].Get(i), e = expected[p].Get(i);
      wrong += !(a == e || (std::isnan(a) && std::isnan(e)) || std::abs(a - e) <= allowed);
    }
  }
  return wrong;
}

}  // namespace bayloom::testing
