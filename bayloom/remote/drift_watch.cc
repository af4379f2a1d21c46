// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/remote/drift_watch.h"

#include <algorithm>

namespace bayloom::remote {
namespace {

constexpr int kSuspicions = 2;

double Median(std::vector<double> values) {
  const auto middle = values.begin() + std::ssize(values) / 2;
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace

void DriftWatch::Begin(const std::vector<int>& workers) {
  probes_.clear();
  if (workers.size() < 2) return;  // nothing to compare with
  for (const int worker : workers) probes_[worker];
}

int DriftWatch::Due(int worker) const {
  const auto place = probes_.find(worker);
  return place == probes_.end() ? 0 : kProbes - place->second.asked;
}

void DriftWatch::Tell(int worker, std::optional<double> value) {
  const auto place = probes_.find(worker);
  if (place == probes_.end()) return;
  if (value && *value > 0) {
    place->second.values.push_back(*value);
  } else {
    probes_.erase(place);
  }
}

void DriftWatch::Forget(int worker) {
  probes_.erase(worker);
  suspected_.erase(worker);
}

std::vector<DriftWatch::Slow> DriftWatch::Conclude() {
  const bool is_complete = std::ranges::all_of(
      probes_, [](const auto& entry) { return std::ssize(entry.second.values) >= kProbes; });
  if (probes_.empty() || !is_complete) return {};
  std::map<int, double> medians;
  for (const auto& [worker, probes] : probes_) medians[worker] = Median(probes.values);
  probes_.clear();
  const auto fastest =
      std::ranges::min_element(medians, {}, [](const auto& entry) { return entry.second; });
  std::vector<Slow> slow;
  for (const auto& [worker, median] : medians) {
    const double ratio = median / fastest->second;
    if (ratio <= 1 + tolerance_) {
      suspected_.erase(worker);
    } else if (++suspected_[worker] >= kSuspicions) {
      slow.push_back({worker, fastest->first, ratio});
    }
  }
  return slow;
}

}  // namespace bayloom::remote
