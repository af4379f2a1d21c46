// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/cost/booster.h"

#include <fmt/format.h>
#include <xgboost/c_api.h>

#include <cmath>
#include <cstdint>
#include <limits>

#include "bayloom/model/fit_failure.h"

namespace bayloom::cost {
namespace {

void Check(int status) {
  if (status == 0) return;
  const std::string message = XGBGetLastError();  // further lines are a stack trace
  throw model::FitFailure("XGBoost: " + message.substr(0, message.find('\n')));
}

std::shared_ptr<void> OwnTrees(BoosterHandle handle) {
  return {handle, [](void* h) { XGBoosterFree(h); }};
}

std::shared_ptr<void> CopyRows(const DenseRows& rows) {
  DMatrixHandle handle = nullptr;
  Check(XGDMatrixCreateFromMat_omp(rows.values.data(), rows.rows, rows.columns,
                                   std::numeric_limits<float>::quiet_NaN(), &handle,
                                   /*nthread=*/1));
  return {handle, [](void* h) { XGDMatrixFree(h); }};
}

std::shared_ptr<void> NewTrees(DMatrixHandle data) {
  BoosterHandle handle = nullptr;
  Check(XGBoosterCreate(&data, data == nullptr ? 0 : 1, &handle));
  return OwnTrees(handle);
}

}  // namespace

Booster::Booster(const DenseRows& data, const Parameters& parameters)
    : data_(CopyRows(data)), trees_(NewTrees(data_.get())) {
  SetParameters(parameters);
}

Booster::Booster(std::string_view bytes, const Parameters& parameters) : trees_(NewTrees(nullptr)) {
  Check(XGBoosterLoadModelFromBuffer(trees_.get(), bytes.data(), bytes.size()));
  SetParameters(parameters);
}

void Booster::SetParameters(const Parameters& parameters) {
  for (const auto& [name, value] : parameters) {
    Check(XGBoosterSetParam(trees_.get(), name.c_str(), value.c_str()));
  }
}

void Booster::SetTrainingData(const DenseRows& data) { data_ = CopyRows(data); }

std::span<const float> Booster::TrainingPredictions() const {
  constexpr char kConfig[] =
      R"({"type": 1, "training": true, "iteration_begin": 0, "iteration_end": 0,
          "strict_shape": true})";
  const bst_ulong* shape = nullptr;
  bst_ulong dimensions = 0;
  const float* values = nullptr;
  Check(XGBoosterPredictFromDMatrix(trees_.get(), data_.get(), kConfig, &shape, &dimensions,
                                    &values));
  return {values, shape[0]};
}

void Booster::Boost(std::span<float> gradient, std::span<float> curvature) {
  Check(XGBoosterBoostOneIter(trees_.get(), data_.get(), gradient.data(), curvature.data(),
                              gradient.size()));
}

void Booster::Truncate(int rounds) {
  if (rounds >= this->rounds()) return;
  BoosterHandle sliced = nullptr;
  Check(XGBoosterSlice(trees_.get(), 0, rounds, 1, &sliced));
  trees_ = OwnTrees(sliced);
}

int Booster::rounds() const {
  int rounds = 0;
  Check(XGBoosterBoostedRounds(trees_.get(), &rounds));
  return rounds;
}

std::vector<float> Booster::Predict(const DenseRows& data) const {
  constexpr char kConfig[] =
      R"({"type": 1, "training": false, "iteration_begin": 0, "iteration_end": 0,
          "strict_shape": true, "missing": NaN, "cache_id": 0})";
  const std::string array =
      fmt::format(R"({{"data": [{}, true], "shape": [{}, {}], "typestr": "<f4", "version": 3}})",
                  reinterpret_cast<uintptr_t>(data.values.data()), data.rows, data.columns);
  const bst_ulong* shape = nullptr;
  bst_ulong dimensions = 0;
  const float* values = nullptr;
  Check(XGBoosterPredictFromDense(trees_.get(), array.c_str(), kConfig, nullptr, &shape,
                                  &dimensions, &values));
  return {values, values + shape[0]};
}

std::vector<double> Booster::ColumnGains(int columns) const {
  bst_ulong count = 0, dimensions = 0;
  const char** names = nullptr;
  const bst_ulong* shape = nullptr;
  const float* scores = nullptr;
  Check(XGBoosterFeatureScore(trees_.get(), R"({"importance_type": "total_gain"})", &count, &names,
                              &dimensions, &shape, &scores));
  std::vector<double> gains(columns, 0);
  for (bst_ulong i = 0; i < count; ++i) gains.at(std::stoi(names[i] + 1)) = scores[i];  // "f12"
  return gains;
}

std::string Booster::Attribute(const std::string& name) const {
  const char* value = nullptr;
  int found = 0;
  Check(XGBoosterGetAttr(trees_.get(), name.c_str(), &value, &found));
  return found ? value : "";
}

void Booster::SetAttribute(const std::string& name, const std::string& value) {
  Check(XGBoosterSetAttr(trees_.get(), name.c_str(), value.c_str()));
}

std::string Booster::Save() const {
  bst_ulong length = 0;
  const char* bytes = nullptr;
  Check(XGBoosterSaveModelToBuffer(trees_.get(), R"({"format": "ubj"})", &length, &bytes));
  return {bytes, length};
}

}  // namespace bayloom::cost
