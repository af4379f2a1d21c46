// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/measure/protocol.h"

#include <functional>
#include <numeric>
#include <utility>

#include "bayloom/measure/channel.h"

namespace bayloom::measure {

void Put(BodyWriter& writer, const std::vector<codegen::GpuLaunch>& launches) {
  writer.Put(uint64_t{launches.size()});
  for (const codegen::GpuLaunch& launch : launches) {
    writer.Put(launch.symbol);
    writer.Put(launch.blocks);
    writer.Put(launch.threads);
    writer.Put(launch.shared_bytes);
    writer.Put(launch.registers);
    writer.Put(launch.spill_bytes);
  }
}

void Get(BodyReader& reader, std::vector<codegen::GpuLaunch>& launches) {
  uint64_t count;
  reader.Get(count);
  for (uint64_t i = 0; i < count; ++i) {
    codegen::GpuLaunch& launch = launches.emplace_back();
    reader.Get(launch.symbol);
    reader.Get(launch.blocks);
    reader.Get(launch.threads);
    reader.Get(launch.shared_bytes);
    reader.Get(launch.registers);
    reader.Get(launch.spill_bytes);
  }
}

int64_t TaskParameter::ElementCount() const {
  return std::accumulate(shape.begin(), shape.end(), int64_t{1}, std::multiplies<>());
}

std::string TaskMessage::Encode() const {
  BodyWriter writer;
  writer.Put(data_bytes);
  writer.Put(tolerance);
  writer.Put(uint64_t{parameters.size()});
  for (const TaskParameter& parameter : parameters) {
    writer.Put(parameter.name);
    writer.Put(parameter.dtype);
    writer.Put(parameter.role);
    writer.Put(parameter.shape);
    writer.Put(parameter.has_gaps);
    writer.Put(parameter.offset);
  }
  return writer.Take();
}

TaskMessage TaskMessage::Decode(const std::string& body) {
  BodyReader reader(body);
  TaskMessage message;
  reader.Get(message.data_bytes);
  reader.Get(message.tolerance);
  uint64_t count;
  reader.Get(count);
  for (uint64_t i = 0; i < count; ++i) {
    TaskParameter& parameter = message.parameters.emplace_back();
    reader.Get(parameter.name);
    reader.Get(parameter.dtype);
    reader.Get(parameter.role);
    reader.Get(parameter.shape);
    reader.Get(parameter.has_gaps);
    reader.Get(parameter.offset);
  }
  return message;
}

TrialMessage TrialMessage::For(const tensor::Program& program, codegen::KernelObject kernel,
                               int threads) {
  TrialMessage trial;
  trial.kernel = std::move(kernel);
  for (tensor::BufferId id : program.Parameters()) {
    const tensor::Buffer& buffer = program.buffers[id];
    trial.layouts.push_back(buffer.layout);
    trial.transforms.push_back(buffer.transform ? *buffer.transform : tensor::ConstantTransform());
  }
  trial.threads = threads;
  return trial;
}

std::string TrialMessage::Encode() const {
  BodyWriter writer;
  writer.Put(kernel.symbol);
  writer.Put(kernel.object);
  writer.Put(kernel.shared_workspace_bytes);
  writer.Put(kernel.worker_workspace_bytes);
  Put(writer, kernel.launches);
  writer.Put(layouts);
  writer.Put(uint64_t{transforms.size()});
  for (const tensor::ConstantTransform& transform : transforms) {
    writer.Put(transform.source_shape);
    writer.Put(transform.matrices);
  }
  writer.Put(threads);
  writer.Put(is_reference);
  writer.Put(cut_seconds);
  writer.Put(timing);
  return writer.Take();
}

TrialMessage TrialMessage::Decode(const std::string& body) {
  BodyReader reader(body);
  TrialMessage message;
  reader.Get(message.kernel.symbol);
  reader.Get(message.kernel.object);
  reader.Get(message.kernel.shared_workspace_bytes);
  reader.Get(message.kernel.worker_workspace_bytes);
  Get(reader, message.kernel.launches);
  reader.Get(message.layouts);
  uint64_t count;
  reader.Get(count);
  for (uint64_t i = 0; i < count; ++i) {
    tensor::ConstantTransform& transform = message.transforms.emplace_back();
    reader.Get(transform.source_shape);
    reader.Get(transform.matrices);
  }
  reader.Get(message.threads);
  reader.Get(message.is_reference);
  reader.Get(message.cut_seconds);
  reader.Get(message.timing);
  return message;
}

std::string OutcomeMessage::Encode() const {
  BodyWriter writer;
  writer.Put(verdict);
  writer.Put(reason);
  writer.Put(seconds);
  writer.Put(spread);
  writer.Put(cut_short);
  writer.Put(clock_mhz);
  writer.Put(power_watts);
  writer.Put(registers);
  writer.Put(spill_bytes);
  return writer.Take();
}

OutcomeMessage OutcomeMessage::Decode(const std::string& body) {
  BodyReader reader(body);
  OutcomeMessage message;
  reader.Get(message.verdict);
  reader.Get(message.reason);
  reader.Get(message.seconds);
  reader.Get(message.spread);
  reader.Get(message.cut_short);
  reader.Get(message.clock_mhz);
  reader.Get(message.power_watts);
  reader.Get(message.registers);
  reader.Get(message.spill_bytes);
  return message;
}

}  // namespace bayloom::measure
