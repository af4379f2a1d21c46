// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

// Trained cost models.

#include "bayloom/base/random.h"
#include "bayloom/cost/model_file.h"
#include "tests/fuzz/reader.h"

namespace bayloom::fuzz {
namespace {

std::vector<cost::Sample> Samples() {
  base::RandomStream random(1);
  std::vector<cost::Sample> samples(20);
  for (cost::Sample& sample : samples) {
    sample.features.rows = 1;
    sample.features.values.assign(feature::kFeatureColumns, 0);
    sample.features.values[3] = static_cast<float>(random.Uniform());
    sample.seconds = 1 + sample.features.values[3];
  }
  return samples;
}

}  // namespace

std::vector<std::string> Seeds() {
  std::vector<std::string> seeds;
  for (const char* name : {"xgboost", "mlp-squared"}) {
    const auto model = cost::CreateThroughputModel(name, 1);
    model->Fit(Samples());
    seeds.push_back(cost::PackModel(*model));
  }
  return seeds;
}

void Read(const std::string& input) {
  static const std::vector<cost::Sample> kSamples = Samples();
  const auto model = cost::UnpackModel(input);
  if (!model) throw InputError(model.error().message);
  (void)(*model)->Predict(cost::FeaturesOf(kSamples));
}

std::optional<std::string> MutateStructure(const std::string&, base::RandomStream&) {
  return std::nullopt;
}

}  // namespace bayloom::fuzz
