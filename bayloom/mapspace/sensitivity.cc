#include "bayloom/mapspace/sensitivity.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "bayloom/base/result.h"

namespace bayloom {
namespace {

class RestrictedEncoding final : public MappingEncoding {
 public:
  RestrictedEncoding(std::unique_ptr<MappingEncoding> whole, Configuration fixed,
                     std::vector<int> varying)
      : whole_(std::move(whole)), fixed_(std::move(fixed)), varying_(std::move(varying)) {
    space_ = Subspace(whole_->space(), varying_);
  }

  std::optional<Mapping> Decode(const Configuration& configuration) const override {
    Configuration all = fixed_;
    for (size_t i = 0; i < varying_.size(); ++i) {
      all.coordinates[varying_[i]] = configuration.coordinates[i];
    }
    return whole_->Decode(all);
  }

  Result<Configuration> Encode(const Mapping& mapping) const override {
    const Result<Configuration> all = whole_->Encode(mapping);
    if (!all) return all;
    Configuration configuration;
    for (int i : varying_) configuration.coordinates.push_back(all->coordinates[i]);
    return configuration;
  }

 private:
  std::unique_ptr<MappingEncoding> whole_;
  Configuration fixed_;
  std::vector<int> varying_;
};

}  // namespace

EncodingSensitivity RankEncoding(const MappingEncoding& encoding,
                                 const std::function<Outcome(const Mapping&)>& evaluate,
                                 int64_t samples, uint64_t seed) {
  RandomStream random(seed);
  std::vector<Configuration> configurations;
  std::vector<double> values;
  EncodingSensitivity sensitivity;
  double least = std::numeric_limits<double>::infinity();
  for (int64_t i = 0; i < samples; ++i) {
    std::optional<Configuration> drawn = encoding.space()->Sample(random);
    const std::optional<Mapping> mapping = drawn ? encoding.Decode(*drawn) : std::nullopt;
    if (!mapping) continue;
    const Outcome outcome = evaluate(*mapping);
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
  sensitivity.ranking = RankParameters(encoding.space(), configurations, values, random);
  return sensitivity;
}

std::unique_ptr<MappingEncoding> KeepTop(std::unique_ptr<MappingEncoding> encoding,
                                         const EncodingSensitivity& sensitivity, int count) {
  std::vector<int> varying;
  for (const ParameterSensitivity& parameter : sensitivity.ranking) {
    if (static_cast<int>(varying.size()) < count) varying.push_back(parameter.parameter);
  }
  std::ranges::sort(varying);
  return std::make_unique<RestrictedEncoding>(std::move(encoding), sensitivity.best,
                                              std::move(varying));
}

}  // namespace bayloom
