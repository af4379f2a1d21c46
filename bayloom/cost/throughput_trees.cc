// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/cost/throughput_trees.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <sstream>

#include "bayloom/cost/pack_sum.h"

namespace bayloom::cost {
namespace {

constexpr char kColumnsAttribute[] = "bayloom_columns";
constexpr char kEncodingAttribute[] = "bayloom_encoding";

/// Columns that are not the same in all rows; never none, as trees need something to look at.
std::vector<int> VaryingColumns(const EncodedRows& encoded) {
  std::vector<int> varying;
  for (int column = 0; column < encoded.columns; ++column) {
    for (size_t i = column; i < encoded.values.size(); i += encoded.columns) {
      if (encoded.values[i] == encoded.values[column]) continue;
      varying.push_back(column);
      break;
    }
  }
  if (varying.empty()) varying.push_back(0);
  return varying;
}

std::vector<double> LabelsOf(std::span<const Sample> samples) {
  TaskBests bests;
  for (const Sample& sample : samples) bests.Add(sample);
  std::vector<double> labels;
  for (const Sample& sample : samples) {
    labels.push_back(bests.Label(sample.task, sample.seconds));
  }
  return labels;
}

std::vector<double> PriorsOf(std::span<const Sample> samples) {
  std::vector<double> priors;
  for (const Sample& sample : samples) priors.push_back(sample.prior);
  return priors;
}

}  // namespace

void ThroughputTrees::Fit(std::span<const Sample> samples) {
  const EncodedRows encoded = Encode(FeaturesOf(samples), options_.encoding);
  if (encoded.values.empty()) return;
  columns_ = VaryingColumns(encoded);
  const std::vector<float> selected = SelectColumns(encoded);
  booster_.emplace(Shape(selected), Parameters());
  booster_->SetAttribute(kEncodingAttribute, EncodingName());
  booster_->SetAttribute(kColumnsAttribute, fmt::format("{}", fmt::join(columns_, " ")));
  Boost(samples, encoded, options_.max_rounds);
}

void ThroughputTrees::Extend(std::span<const Sample> samples, int rounds) {
  if (!booster_) return Fit(samples);
  const EncodedRows encoded = Encode(FeaturesOf(samples), options_.encoding);
  const std::vector<float> selected = SelectColumns(encoded);
  booster_->SetTrainingData(Shape(selected));
  Boost(samples, encoded, rounds);
}

/// Adds trees, but none after the training loss was least.
void ThroughputTrees::Boost(std::span<const Sample> samples, const EncodedRows& encoded,
                            int rounds) {
  const PackSum objective(encoded.rows, LabelsOf(samples), PriorsOf(samples));
  std::vector<float> gradient(objective.row_count()), curvature(objective.row_count());
  double min_loss = std::numeric_limits<double>::infinity();
  const int first = booster_->rounds();
  int best_round = 0;
  for (int round = 0; round <= rounds; ++round) {
    const std::span<const float> predictions = booster_->TrainingPredictions();
    const double loss = objective.Loss(predictions);
    if (loss < min_loss * (1 - options_.min_improvement)) {
      min_loss = loss;
      best_round = round;
    }
    if (round == rounds || round - best_round >= options_.patience) break;
    objective.Gradient(predictions, options_.learning_rate, gradient, curvature);
    booster_->Boost(gradient, curvature);
  }
  booster_->Truncate(std::max(1, first + best_round));
}

std::vector<double> ThroughputTrees::Predict(
    std::span<const feature::FeatureMatrix* const> programs) const {
  const EncodedRows encoded = Encode(programs, options_.encoding);
  std::vector<double> scores(programs.size(), 0);
  if (encoded.values.empty()) return scores;
  const std::vector<float> selected = SelectColumns(encoded);
  const std::vector<float> predictions = booster_->Predict(Shape(selected));
  size_t row = 0;
  for (size_t i = 0; i < programs.size(); ++i) {
    for (int r = 0; r < encoded.rows[i]; ++r) scores[i] += predictions[row++];
  }
  return scores;
}

EncodedRows ThroughputTrees::UsedColumns(
    std::span<const feature::FeatureMatrix* const> programs) const {
  EncodedRows encoded = Encode(programs, options_.encoding);
  return {static_cast<int>(columns_.size()), SelectColumns(encoded), std::move(encoded.rows)};
}

std::vector<double> ThroughputTrees::ColumnGains() const {
  return booster_->ColumnGains(static_cast<int>(columns_.size()));
}

std::vector<float> ThroughputTrees::SelectColumns(const EncodedRows& encoded) const {
  std::vector<float> selected;
  selected.reserve(encoded.values.size() / encoded.columns * columns_.size());
  for (size_t row = 0; row < encoded.values.size(); row += encoded.columns) {
    for (int column : columns_) selected.push_back(encoded.values[row + column]);
  }
  return selected;
}

DenseRows ThroughputTrees::Shape(const std::vector<float>& selected) const {
  const int columns = static_cast<int>(columns_.size());
  return {selected, static_cast<int>(selected.size()) / columns, columns};
}

std::string ThroughputTrees::EncodingName() const {
  return options_.encoding == RowEncoding::kRowPerStore ? "row-per-store" : "row-per-program";
}

Booster::Parameters ThroughputTrees::Parameters() const {
  return {{"booster", "gbtree"},
          {"tree_method", "hist"},
          {"max_depth", fmt::format("{}", options_.max_depth)},
          {"gamma", fmt::format("{}", options_.min_gain)},
          {"min_child_weight", "0"},
          {"eta", fmt::format("{}", options_.learning_rate)},
          {"base_score", "0"},
          {"seed", fmt::format("{}", options_.seed)},
          {"nthread", "1"},
          {"verbosity", "0"},
          {"disable_default_eval_metric", "1"}};
}

std::string ThroughputTrees::Save() const { return booster_ ? booster_->Save() : ""; }

Status ThroughputTrees::Load(std::string_view bytes) {
  try {
    Booster booster(bytes, Parameters());
    if (booster.Attribute(kEncodingAttribute) != EncodingName()) {
      return Error{
          fmt::format("the saved trees were not grown on the encoding '{}'", EncodingName())};
    }
    const int known_columns = Encode({}, options_.encoding).columns;
    std::istringstream text(booster.Attribute(kColumnsAttribute));
    std::vector<int> columns;
    for (int column; text >> column;) {
      if (column < 0 || column >= known_columns) {
        return Error{fmt::format("the saved trees use a column {}, which there is not", column)};
      }
      columns.push_back(column);
    }
    if (columns.empty()) return Error{"the saved trees do not say which columns they use"};
    columns_ = std::move(columns);
    booster_.emplace(std::move(booster));
    return Ok();
  } catch (const std::runtime_error& error) {
    return Error{error.what()};
  }
}

}  // namespace bayloom::cost
