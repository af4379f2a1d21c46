#include "bayloom/cost/throughput_trees.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <sstream>

#include "bayloom/cost/pack_sum.h"

namespace bayloom {
namespace {

constexpr char kColumnsAttribute[] = "bayloom_columns";

// What trees see of a row: its features, then its place in the program.
constexpr int kRowsColumn = kFeatureColumns;
constexpr int kPlaceColumn = kFeatureColumns + 1;
constexpr int kTreeColumns = kFeatureColumns + 2;

float ValueOf(const FeatureMatrix& program, int row, int column) {
  if (column == kRowsColumn) return static_cast<float>(program.rows);
  if (column == kPlaceColumn) return static_cast<float>(row);
  return program.Row(row)[column];
}

/// Columns that are not the same in all rows; never none, as trees need something to look at.
std::vector<int> VaryingColumns(std::span<const Sample> samples) {
  const auto first = std::find_if(samples.begin(), samples.end(),
                                  [](const Sample& sample) { return sample.features.rows > 0; });
  std::vector<int> varying;
  for (int column = 0; column < kTreeColumns && first != samples.end(); ++column) {
    const float value = ValueOf(first->features, 0, column);
    const bool varies = std::any_of(first, samples.end(), [&](const Sample& sample) {
      for (int row = 0; row < sample.features.rows; ++row) {
        if (ValueOf(sample.features, row, column) != value) return true;
      }
      return false;
    });
    if (varies) varying.push_back(column);
  }
  if (varying.empty()) varying.push_back(kRowsColumn);
  return varying;
}

PackSum ObjectiveOf(std::span<const Sample> samples) {
  TaskBests bests;
  for (const Sample& sample : samples) bests.Add(sample);
  std::vector<int> rows;
  std::vector<double> labels;
  for (const Sample& sample : samples) {
    rows.push_back(sample.features.rows);
    labels.push_back(bests.Label(sample.task, sample.seconds));
  }
  return PackSum(std::move(rows), std::move(labels));
}

}  // namespace

void ThroughputTrees::Fit(std::span<const Sample> samples) {
  columns_ = VaryingColumns(samples);
  const std::vector<float> rows = RowsOf(samples);
  if (rows.empty()) return;
  booster_.emplace(Shape(rows), Parameters());
  booster_->SetAttribute(kColumnsAttribute, fmt::format("{}", fmt::join(columns_, " ")));
  Boost(samples, options_.max_rounds);
}

void ThroughputTrees::Extend(std::span<const Sample> samples, int rounds) {
  if (!booster_) return Fit(samples);
  const std::vector<float> rows = RowsOf(samples);
  booster_->SetTrainingData(Shape(rows));
  Boost(samples, rounds);
}

/// Adds trees, but none after the training loss was least.
void ThroughputTrees::Boost(std::span<const Sample> samples, int rounds) {
  const PackSum objective = ObjectiveOf(samples);
  std::vector<float> gradient(objective.row_count()), curvature(objective.row_count());
  double least_loss = std::numeric_limits<double>::infinity();
  const int first = booster_->rounds();
  int best_round = 0;
  for (int round = 0; round <= rounds; ++round) {
    const std::span<const float> predictions = booster_->TrainingPredictions();
    const double loss = objective.Loss(predictions);
    if (loss < least_loss) {
      least_loss = loss;
      best_round = round;
    }
    if (round == rounds || round - best_round >= options_.patience) break;
    objective.Gradient(predictions, options_.learning_rate, gradient, curvature);
    booster_->Boost(gradient, curvature);
  }
  booster_->Truncate(std::max(1, first + best_round));
}

std::vector<double> ThroughputTrees::Predict(std::span<const FeatureMatrix* const> programs) const {
  std::vector<float> rows;
  for (const FeatureMatrix* program : programs) AppendRows(*program, rows);
  std::vector<double> scores(programs.size(), 0);
  if (rows.empty()) return scores;
  const std::vector<float> predictions = booster_->Predict(Shape(rows));
  size_t row = 0;
  for (size_t i = 0; i < programs.size(); ++i) {
    for (int r = 0; r < programs[i]->rows; ++r) scores[i] += predictions[row++];
  }
  return scores;
}

std::vector<float> ThroughputTrees::RowsOf(std::span<const Sample> samples) const {
  std::vector<float> rows;
  for (const Sample& sample : samples) AppendRows(sample.features, rows);
  return rows;
}

void ThroughputTrees::AppendRows(const FeatureMatrix& program, std::vector<float>& rows) const {
  for (int row = 0; row < program.rows; ++row) {
    for (int column : columns_) rows.push_back(ValueOf(program, row, column));
  }
}

DenseRows ThroughputTrees::Shape(const std::vector<float>& rows) const {
  const int columns = static_cast<int>(columns_.size());
  return {rows, static_cast<int>(rows.size()) / columns, columns};
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
    std::istringstream text(booster.Attribute(kColumnsAttribute));
    std::vector<int> columns;
    for (int column; text >> column;) {
      if (column < 0 || column >= kTreeColumns) return Error{"saved trees use unknown columns"};
      columns.push_back(column);
    }
    if (columns.empty()) return Error{"saved trees do not say which feature columns they use"};
    columns_ = std::move(columns);
    booster_.emplace(std::move(booster));
    return Ok();
  } catch (const std::runtime_error& error) {
    return Error{error.what()};
  }
}

}  // namespace bayloom
