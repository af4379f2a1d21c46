// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/cost/throughput_model.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "bayloom/base/file.h"

namespace bayloom::cost {
namespace {

/// A file begins with this, the model's name and a line end.
constexpr std::string_view kMagic = "bayloom-model 1 ";

}  // namespace

std::vector<std::string> ThroughputModelNames() { return {"xgboost", "mlp", "mlp-squared"}; }

std::unique_ptr<ThroughputModel> CreateThroughputModel(const std::string& name, uint64_t seed) {
  if (name == "xgboost") return MakeTreesModel(seed);
  if (name == "mlp") return MakeMlpModel(seed);
  if (name == "mlp-squared") return MakeSquaredMlpModel(seed);
  throw InputError(fmt::format("there is no model '{}'; there are {}", name,
                               fmt::join(ThroughputModelNames(), ", ")));
}

void WriteModelFile(const ThroughputModel& model, const std::string& path) {
  base::WriteFile(path, fmt::format("{}{}\n{}", kMagic, model.name(), model.Save()));
}

std::unique_ptr<ThroughputModel> ReadModelFile(const std::string& path) {
  const std::string bytes = base::ReadFile(path);
  const size_t end = bytes.find('\n');
  const std::vector<std::string> names = ThroughputModelNames();
  std::string name;
  if (bytes.starts_with(kMagic) && end != std::string::npos) {
    name = bytes.substr(kMagic.size(), end - kMagic.size());
  }
  if (std::find(names.begin(), names.end(), name) == names.end()) {
    throw InputError(
        fmt::format("'{}' holds no model that this program knows; "
                    "'bayloom pretrain' writes one",
                    path));
  }
  std::unique_ptr<ThroughputModel> model = CreateThroughputModel(name, 0);
  const Status loaded = model->Load(std::string_view(bytes).substr(end + 1));
  if (!loaded) {
    throw InputError(fmt::format("the model in '{}' is damaged: {}", path, loaded.error().message));
  }
  return model;
}

}  // namespace bayloom::cost
