#include "bayloom/cost/xgboost_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <sstream>

#include "bayloom/base/clock.h"
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

}  // namespace

XgboostModel::XgboostModel(XgboostOptions options) : options_(options), random_(options.seed) {}

std::vector<double> XgboostModel::Predict(std::span<const FeatureMatrix* const> programs) {
  std::vector<double> scores(programs.size(), 0);
  if (!booster_) {
    for (double& score : scores) score = random_.Uniform();
    return scores;
  }
  std::vector<float> rows;
  for (const FeatureMatrix* program : programs) {
    AppendRows(*program, rows);
  }
  const std::vector<float> predictions = booster_->Predict(Shape(rows));
  size_t row = 0;
  for (size_t i = 0; i < programs.size(); ++i) {
    for (int r = 0; r < programs[i]->rows; ++r) scores[i] += predictions[row++];
  }
  return scores;
}

BatchMetrics XgboostModel::Update(std::span<const Sample> batch) {
  std::vector<const FeatureMatrix*> programs;
  for (const Sample& sample : batch) programs.push_back(&sample.features);
  const int known = booster_ ? samples() : 0;
  const std::vector<double> predicted = Predict(programs);
  for (const Sample& sample : batch) bests_.Add(sample);
  BatchMetrics metrics = EvaluateBatch(predicted, batch, bests_);
  metrics.training_samples = known;

  const double start = MonotonicSeconds();
  samples_.insert(samples_.end(), batch.begin(), batch.end());
  if (samples() >= options_.random_until && !batch.empty()) {
    const bool grown = samples() >= fitted_samples_ * (1 + options_.refit_growth);
    grown ? Fit() : Extend();
  }
  metrics.update_seconds = MonotonicSeconds() - start;
  return metrics;
}

void XgboostModel::Fit() {
  columns_ = VaryingColumns();
  const std::vector<float> rows = TrainingRows();
  if (rows.empty()) return;
  booster_.emplace(Shape(rows), TreeParameters());
  booster_->SetAttribute(kColumnsAttribute, fmt::format("{}", fmt::join(columns_, " ")));
  fitted_samples_ = samples();
  Boost(options_.max_rounds);
}

void XgboostModel::Extend() {
  booster_->SetTrainingData(Shape(TrainingRows()));
  Boost(options_.rounds_per_batch);
}

/// Adds trees, but none after the training loss was least.
void XgboostModel::Boost(int rounds) {
  const PackSum objective(RowCounts(), Labels());
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

std::vector<double> XgboostModel::Labels() const {
  std::vector<double> labels;
  for (const Sample& sample : samples_) labels.push_back(bests_.Label(sample.task, sample.seconds));
  return labels;
}

std::vector<int> XgboostModel::RowCounts() const {
  std::vector<int> counts;
  for (const Sample& sample : samples_) counts.push_back(sample.features.rows);
  return counts;
}

std::vector<int> XgboostModel::VaryingColumns() const {
  const auto first = std::find_if(samples_.begin(), samples_.end(),
                                  [](const Sample& sample) { return sample.features.rows > 0; });
  std::vector<int> varying;
  for (int column = 0; column < kTreeColumns && first != samples_.end(); ++column) {
    const float value = ValueOf(first->features, 0, column);
    const bool varies = std::any_of(first, samples_.end(), [&](const Sample& sample) {
      for (int row = 0; row < sample.features.rows; ++row) {
        if (ValueOf(sample.features, row, column) != value) return true;
      }
      return false;
    });
    if (varies) varying.push_back(column);
  }
  if (varying.empty()) varying.push_back(kRowsColumn);  // trees need something to look at
  return varying;
}

std::vector<float> XgboostModel::TrainingRows() const {
  std::vector<float> rows;
  for (const Sample& sample : samples_) AppendRows(sample.features, rows);
  return rows;
}

void XgboostModel::AppendRows(const FeatureMatrix& program, std::vector<float>& rows) const {
  for (int row = 0; row < program.rows; ++row) {
    for (int column : columns_) rows.push_back(ValueOf(program, row, column));
  }
}

DenseRows XgboostModel::Shape(const std::vector<float>& rows) const {
  const int columns = static_cast<int>(columns_.size());
  return {rows, static_cast<int>(rows.size()) / columns, columns};
}

Booster::Parameters XgboostModel::TreeParameters() const {
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

std::string XgboostModel::Save() const { return booster_ ? booster_->Save() : ""; }

Status XgboostModel::Load(std::string_view bytes) {
  try {
    Booster booster(bytes, TreeParameters());
    std::istringstream text(booster.Attribute(kColumnsAttribute));
    std::vector<int> columns;
    for (int column; text >> column;) {
      if (column < 0 || column >= kTreeColumns) return Error{"saved trees use unknown columns"};
      columns.push_back(column);
    }
    if (columns.empty()) return Error{"saved trees do not say which feature columns they use"};
    columns_ = std::move(columns);
    booster_.emplace(std::move(booster));
    fitted_samples_ = 0;
    return Ok();
  } catch (const std::runtime_error& error) {
    return Error{error.what()};
  }
}

}  // namespace bayloom
