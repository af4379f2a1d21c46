// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/mapspace/sensitivity.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "bayloom/base/result.h"

namespace bayloom::mapspace {
namespace {

class RestrictedEncoding final : public MappingEncoding {
 public:
  RestrictedEncoding(std::unique_ptr<MappingEncoding> whole, space::Configuration fixed,
                     std::vector<int> varying)
      : whole_(std::move(whole)), fixed_(std::move(fixed)), varying_(std::move(varying)) {
    space_ = optimizer::Subspace(whole_->space(), varying_);
  }

  std::optional<Mapping> Decode(const space::Configuration& configuration) const override {
    space::Configuration all = fixed_;
    for (size_t i = 0; i < varying_.size(); ++i) {
      all.coordinates[varying_[i]] = configuration.coordinates[i];
    }
    return whole_->Decode(all);
  }

  Result<space::Configuration> Encode(const Mapping& mapping) const override {
    const Result<space::Configuration> all = whole_->Encode(mapping);
    if (!all) return all;
    space::Configuration configuration;
    for (int i : varying_) configuration.coordinates.push_back(all->coordinates[i]);
    return configuration;
  }

 private:
  std::unique_ptr<MappingEncoding> whole_;
  space::Configuration fixed_;
  std::vector<int> varying_;
};

}  // namespace

EncodingSensitivity RankEncoding(const MappingEncoding& encoding,
                                 const std::function<trial::Outcome(const Mapping&)>& evaluate,
                                 int64_t samples, uint64_t seed) {
  base::RandomStream random(seed);
  std::vector<space::Configuration> configurations;
  std::vector<double> values;
  EncodingSensitivity sensitivity;
  double least = std::numeric_limits<double>::infinity();
  for (int64_t i = 0; i < samples; ++i) {
    std::optional<space::Configuration> drawn = encoding.space()->Sample(random);
    const std::optional<Mapping> mapping = drawn ? encoding.Decode(*drawn) : std::nullopt;
    if (!mapping) continue;
    const trial::Outcome outcome = evaluate(*mapping);
    if (!outcome.ok()) continue;
    if (outcome.value < least) {
      least = outcome.value;
      sensitivity.best = *drawn;
    }
    configurations.push_back(*std::move(drawn));
    values.push_back(outcome.value);
  }
  if (values.size() < 2) {
    throw InputError("too few mappings can be evaluated to tell which parameters matter");
  }
  sensitivity.ranking = optimizer::RankParameters(encoding.space(), configurations, values, random);
  return sensitivity;
}

std::unique_ptr<MappingEncoding> KeepTop(std::unique_ptr<MappingEncoding> encoding,
                                         const EncodingSensitivity& sensitivity, int count) {
  std::vector<int> varying;
  for (const optimizer::ParameterSensitivity& parameter : sensitivity.ranking) {
    if (static_cast<int>(varying.size()) < count) varying.push_back(parameter.parameter);
  }
  std::ranges::sort(varying);
  return std::make_unique<RestrictedEncoding>(std::move(encoding), sensitivity.best,
                                              std::move(varying));
}

}  // namespace bayloom::mapspace
