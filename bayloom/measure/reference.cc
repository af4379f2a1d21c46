// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/measure/reference.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <utility>
#include <vector>

#include "bayloom/base/random.h"
#include "bayloom/measure/task_memory.h"
#include "bayloom/measure/test_data.h"
#include "bayloom/tensor/interpreter.h"

namespace bayloom::measure {
namespace {

/// Of an output at each point; the fewest of all points together, at least its corners.
constexpr int64_t kMaxSamples = 64, kMinSamples = 8;
/// Terms that all samples together may sum up: the definition is evaluated slowly.
constexpr double kMaxSampledTerms = 1e6;
/// Share of the sample that may differ where rounding decides between values far apart.
constexpr double kSampleOutliers = 0.05;

/// An element of an output and its value by definition.
struct SamplePoint {
  size_t point;  ///< of the task's
  size_t parameter;
  int64_t place;
  double value;
};

std::vector<int64_t> IndexOf(int64_t element, const std::vector<int64_t>& shape) {
  std::vector<int64_t> index(shape.size());
  for (size_t d = shape.size(); d-- > 0; element /= shape[d]) index[d] = element % shape[d];
  return index;
}

/// Where an element lies in memory.
int64_t PlaceOf(const tensor::Buffer& buffer, const std::vector<int64_t>& index) {
  int64_t place = 0;
  for (size_t d = 0; d < index.size(); ++d) place = place * buffer.MemoryShape()[d] + index[d];
  return place;
}

double TermsPerElement(const tensor::Workload& workload) {
  double terms = 1;
  for (const tensor::Stage& stage : workload.stages) {
    double own = 1;
    for (const tensor::Iter& iter : stage.iters) {
      if (iter.kind == tensor::IterKind::kReduction) own *= static_cast<double>(iter.extent);
    }
    terms += own;
  }
  return terms;
}

/// The shape that there is of a buffer with these values of the sizes.
std::vector<int64_t> ShapeWithin(const tensor::Buffer& buffer, const std::vector<int64_t>& sizes) {
  std::vector<int64_t> shape = buffer.shape;
  for (size_t d = 0; d < buffer.bounds.size(); ++d) {
    const tensor::BufferId size = buffer.bounds[d].size;
    if (size >= 0) shape[d] = std::min(shape[d], sizes[static_cast<size_t>(size)]);
  }
  return shape;
}

int64_t ElementCount(const std::vector<int64_t>& shape) {
  return std::accumulate(shape.begin(), shape.end(), int64_t{1}, std::multiplies<>());
}

void SetSizes(const std::vector<int64_t>& sizes, std::vector<tensor::HostTensor>& arguments) {
  for (size_t s = 0; s < sizes.size(); ++s) arguments[s].SetInt(0, sizes[s]);
}

/// The corners of every output and some elements between them, at each of the points.
std::vector<SamplePoint> EvaluateSample(const tensor::Workload& workload,
                                        std::vector<tensor::HostTensor> arguments,
                                        const std::vector<std::vector<int64_t>>& points,
                                        uint64_t seed) {
  const int64_t point_count = std::ssize(points);
  const double affordable =
      kMaxSampledTerms / TermsPerElement(workload) / static_cast<double>(point_count);
  const auto fewest = static_cast<double>(std::max<int64_t>(2, kMinSamples / point_count));
  const auto count = static_cast<int64_t>(std::clamp<double>(affordable, fewest, kMaxSamples));
  base::RandomStream random(seed);
  std::vector<SamplePoint> sample;
  const std::vector<tensor::BufferId> parameters = workload.Parameters();
  for (size_t point = 0; point < points.size(); ++point) {
    SetSizes(points[point], arguments);
    tensor::PointEvaluator evaluator(workload, arguments);
    for (size_t p = 0; p < parameters.size(); ++p) {
      const tensor::Buffer& buffer = workload.buffers[parameters[p]];
      if (buffer.role != tensor::BufferRole::kOutput) continue;
      const std::vector<int64_t> shape = ShapeWithin(buffer, points[point]);
      const int64_t elements = ElementCount(shape);
      for (int64_t i = 0; i < std::min(count, elements); ++i) {
        const int64_t element = i == 0 ? 0 : i == 1 ? elements - 1 : random.UniformInt(elements);
        const std::vector<int64_t> index = IndexOf(element, shape);
        sample.push_back(
            {point, p, PlaceOf(buffer, index), evaluator.Evaluate(parameters[p], index)});
      }
    }
  }
  return sample;
}

bool MostlyFinite(const std::vector<SamplePoint>& sample) {
  const auto finite = std::count_if(sample.begin(), sample.end(), [](const SamplePoint& point) {
    return std::isfinite(point.value);
  });
  return 4 * finite >= 3 * static_cast<int64_t>(sample.size());
}

/// Sets what ElementsWithin needs.
void DescribeBounds(const tensor::Buffer& buffer, TaskParameter& parameter) {
  if (buffer.bounds.empty()) return;
  parameter.extents = buffer.shape;
  parameter.strides.resize(buffer.shape.size());
  int64_t stride = 1;
  for (size_t d = buffer.shape.size(); d-- > 0; stride *= buffer.MemoryShape()[d]) {
    parameter.strides[d] = stride;
  }
  for (const tensor::Bound& bound : buffer.bounds) parameter.bounds.push_back(bound.size);
}

/// The workload's points, which are timed, and the largest lengths, with which nothing lies beyond
/// a bound.
void DescribePoints(const tensor::Workload& workload, TaskMessage& task) {
  if (workload.SizeCount() == 0) return;
  std::vector<int64_t> largest;
  for (int size = 0; size < workload.SizeCount(); ++size) {
    largest.push_back(workload.buffers[static_cast<size_t>(size)].range.largest);
  }
  task.points = workload.points;
  if (task.points.empty()) task.points = {largest};
  task.timed = std::ssize(task.points);
  if (std::ranges::count(task.points, largest) == 0) task.points.push_back(largest);
}

TaskMessage DescribeTask(const tensor::Workload& workload) {
  TaskMessage task;
  DescribePoints(workload, task);
  for (tensor::BufferId id : workload.Parameters()) {
    const tensor::Buffer& buffer = workload.buffers[id];
    const bool has_gaps = !buffer.slice_of.empty();
    TaskParameter& parameter = task.parameters.emplace_back(
        TaskParameter{buffer.name, buffer.dtype, buffer.role,
                      has_gaps ? std::vector<int64_t>{buffer.MemorySpan()} : buffer.shape, has_gaps,
                      task.data_bytes});
    DescribeBounds(buffer, parameter);
    const int64_t bytes = WholePages(parameter.ByteCount());
    task.data_bytes += bytes;
    if (buffer.role == tensor::BufferRole::kOutput) task.result_bytes += bytes;
  }
  task.data_bytes += (std::ssize(task.points) - 1) * task.result_bytes;
  task.tolerance = ToleranceOf(workload);
  task.has_cold_constants = workload.has_cold_constants;
  return task;
}

/// Fails unless the results in shared memory are those of the definition.
Status CheckSample(const TaskData& data, const TaskMemoryView& view,
                   const std::vector<SamplePoint>& sample) {
  Tolerance tolerance = data.message.tolerance;
  if (tolerance.outliers > 0) tolerance.outliers = kSampleOutliers;
  for (size_t p = 0; p < data.message.parameters.size(); ++p) {
    const TaskParameter& parameter = data.message.parameters[p];
    tensor::HostTensor actual = tensor::HostTensor::Zeros(parameter.dtype, {0}), expected = actual;
    const auto bytes = static_cast<size_t>(tensor::ByteSize(parameter.dtype));
    for (const SamplePoint& point : sample) {
      if (point.parameter != p) continue;
      const int64_t offset =
          parameter.offset + static_cast<int64_t>(point.point) * data.message.result_bytes;
      const std::byte* at = view.at(offset) + point.place * static_cast<int64_t>(bytes);
      actual.data.insert(actual.data.end(), at, at + bytes);
      expected.data.resize(expected.data.size() + bytes);
      expected.Set(static_cast<int64_t>(expected.data.size() / bytes) - 1, point.value);
    }
    const Status same =
        CheckOutput(parameter.name, parameter.dtype, actual.data.data(), expected.data.data(),
                    static_cast<int64_t>(actual.data.size() / bytes), tolerance);
    if (!same) return Error{"among the sampled elements, " + same.error().message};
  }
  return Ok();
}

}  // namespace

Result<Reference> Reference::Make(const tensor::Workload& workload,
                                  std::span<const ReferenceKernel> kernels, Runner& runner,
                                  uint64_t seed, const StopCheck& stop) {
  std::vector<tensor::HostTensor> arguments;
  std::vector<SamplePoint> sample;
  Reference reference;
  TaskData& data = reference.data_;
  data.message = DescribeTask(workload);
  for (DataRange range : {DataRange::kSymmetric, DataRange::kPositive, DataRange::kAboveOne}) {
    arguments = MakeArguments(workload, seed, range);
    sample = EvaluateSample(workload, arguments, data.message.points, seed);
    if (MostlyFinite(sample)) break;
  }
  AllocateTaskMemory(data);
  const TaskMemoryView view(data);
  const std::vector<tensor::BufferId> parameters = workload.Parameters();
  for (size_t i = 0; i < arguments.size(); ++i) {
    tensor::ScatterSlice(workload.buffers[parameters[i]], arguments[i].data.data(),
                         view.at(data.message.parameters[i].offset));
  }
  arguments.clear();

  std::string failure;
  for (const ReferenceKernel& kernel : kernels) {
    Result<TrialMessage> trial = kernel();
    if (!trial) {
      failure = trial.error().message;
      continue;
    }
    trial->is_reference = true;
    const trial::Outcome outcome = runner.Run(data, *trial, stop);
    const Status right =
        outcome.ok() ? CheckSample(data, view, sample) : Status(Error{outcome.reason});
    if (right) {
      reference.seconds_ = outcome.value;
      return reference;
    }
    failure = right.error().message;
  }
  return Error{kNoReference + failure};
}

Reference& Reference::operator=(Reference&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(seconds_, other.seconds_);
  return *this;
}

Reference::~Reference() {
  if (data_.descriptor >= 0) close(data_.descriptor);
}

}  // namespace bayloom::measure
