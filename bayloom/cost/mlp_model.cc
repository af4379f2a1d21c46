// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>

#include "bayloom/base/random.h"
#include "bayloom/cost/score_loss.h"
#include "bayloom/cost/throughput_model.h"
#include "bayloom/model/adam.h"
#include "bayloom/model/segment_network.h"

namespace bayloom::cost {
namespace {

// TenSet's settings (Zheng et al. 2021), but that small data sets get more epochs.
constexpr int kBatch = 512;
constexpr int kRankEpochs = 50;
constexpr int kSquaredEpochs = 100;
constexpr int kMinSteps = 400;
/// The part of all epochs that may go by without the loss getting smaller.
constexpr int kPatienceParts = 6;

/// Programs that are predicted at a time: what is computed of them stays in the cache.
constexpr size_t kBlock = 64;

/// What of the samples the network is trained on.
struct TrainingSet {
  std::vector<const feature::FeatureMatrix*> programs;
  std::vector<double> labels;
};

TrainingSet LabelledSet(std::span<const Sample> samples) {
  TaskBests bests;
  for (const Sample& sample : samples) bests.Add(sample);
  TrainingSet set;
  for (const Sample& sample : samples) {
    set.programs.push_back(&sample.features);
    set.labels.push_back(bests.Label(sample.task, sample.seconds));
  }
  return set;
}

template <typename Number>
void Append(std::string& bytes, std::span<const Number> numbers) {
  bytes.append(reinterpret_cast<const char*>(numbers.data()), numbers.size_bytes());
}

template <typename Number>
bool Take(std::string_view& bytes, std::span<Number> numbers) {
  if (bytes.size() < numbers.size_bytes()) return false;
  std::memcpy(numbers.data(), bytes.data(), numbers.size_bytes());
  bytes.remove_prefix(numbers.size_bytes());
  return true;
}

class MlpModel final : public ThroughputModel {
 public:
  MlpModel(uint64_t seed, bool ranks)
      : seed_(seed), ranks_(ranks), scales_(feature::kFeatureColumns, 0.0f) {}

  std::string name() const override { return ranks_ ? "mlp" : "mlp-squared"; }
  bool fitted() const override { return network_.has_value(); }

  void Fit(std::span<const Sample> samples) override {
    const TrainingSet set = LabelledSet(samples);
    if (set.programs.empty()) return;
    LearnScales(set.programs);
    network_.emplace(model::SegmentNetworkShape{.inputs = feature::kFeatureColumns}, seed_);
    Train(set);
    Calibrate(set);
  }

  std::vector<double> Predict(
      std::span<const feature::FeatureMatrix* const> programs) const override {
    std::vector<double> scores;
    ForEachBlock(programs, [&](const Scaled& block, model::SegmentNetwork::Tape& tape) {
      for (const float raw : network_->Forward(block.rows, block.segments, tape)) {
        scores.push_back(ranks_ ? intercept_ + slope_ * raw : 1 / (1 + std::exp(-raw)));
      }
    });
    return scores;
  }

  /// The last layer's inputs.
  EncodedRows Represent(std::span<const feature::FeatureMatrix* const> programs) const override {
    EncodedRows represented = {network_->shape().width, {}, std::vector<int>(programs.size(), 1)};
    ForEachBlock(programs, [&](const Scaled& block, model::SegmentNetwork::Tape& tape) {
      const std::span<const float> values = network_->Embed(block.rows, block.segments, tape);
      represented.values.insert(represented.values.end(), values.begin(), values.end());
    });
    return represented;
  }

  std::string Save() const override {
    if (!network_) return "";
    std::string bytes;
    Append<float>(bytes, scales_);
    Append<double>(bytes, std::vector{intercept_, slope_});
    Append<float>(bytes, network_->parameters());
    return bytes;
  }

  Status Load(std::string_view bytes) override {
    model::SegmentNetwork network({.inputs = feature::kFeatureColumns}, 0);
    std::vector<float> scales(feature::kFeatureColumns);
    std::vector<double> line(2);
    const bool whole = Take<float>(bytes, scales) && Take<double>(bytes, line) &&
                       Take<float>(bytes, network.parameters()) && bytes.empty();
    if (!whole) return Error{"it has another size than the network's weights"};
    const auto is_finite = [](double number) { return std::isfinite(number); };
    if (!std::ranges::all_of(scales, is_finite) || !std::ranges::all_of(line, is_finite) ||
        !std::ranges::all_of(network.parameters(), is_finite)) {
      return Error{"a weight of the network is not a finite number"};
    }
    scales_ = std::move(scales);
    intercept_ = line[0];
    slope_ = line[1];
    network_.emplace(std::move(network));
    return Ok();
  }

 private:
  /// Columns become parts of the largest value that the training set has.
  void LearnScales(std::span<const feature::FeatureMatrix* const> programs) {
    std::vector<float> largest(feature::kFeatureColumns, 0.0f);
    for (const feature::FeatureMatrix* program : programs) {
      for (size_t i = 0; i < program->values.size(); ++i) {
        float& most = largest[i % feature::kFeatureColumns];
        most = std::max(most, std::abs(program->values[i]));
      }
    }
    for (int i = 0; i < feature::kFeatureColumns; ++i)
      scales_[i] = largest[i] > 0 ? 1 / largest[i] : 0;
  }

  /// What the network is given of some programs.
  struct Scaled {
    std::vector<float> rows;
    std::vector<int> segments;
  };
  void Scale(std::span<const feature::FeatureMatrix* const> programs, Scaled& scaled) const {
    scaled.rows.clear();
    scaled.segments.clear();
    for (const feature::FeatureMatrix* program : programs) {
      scaled.segments.push_back(program->rows);
      const size_t start = scaled.rows.size();
      scaled.rows.insert(scaled.rows.end(), program->values.begin(), program->values.end());
      float* row = scaled.rows.data() + start;
      for (int i = 0; i < program->rows; ++i, row += feature::kFeatureColumns) {
        for (int column = 0; column < feature::kFeatureColumns; ++column)
          row[column] *= scales_[column];
      }
    }
  }

  template <typename Use>
  void ForEachBlock(std::span<const feature::FeatureMatrix* const> programs, const Use& use) const {
    Scaled block;
    model::SegmentNetwork::Tape tape;
    for (size_t first = 0; first < programs.size(); first += kBlock) {
      Scale(programs.subspan(first, std::min(kBlock, programs.size() - first)), block);
      use(block, tape);
    }
  }

  /// Stops early once the loss of whole epochs has not become smaller for a while.
  void Train(const TrainingSet& set) {
    const size_t batches = (set.programs.size() + kBatch - 1) / kBatch;
    const int usual = ranks_ ? kRankEpochs : kSquaredEpochs;
    const int epochs = std::max(usual, kMinSteps / static_cast<int>(batches));
    model::Adam adam(network_->parameters().size(), {});
    base::RandomStream random(seed_);
    std::vector<size_t> order(set.programs.size());
    std::iota(order.begin(), order.end(), size_t{0});
    Scaled scaled;
    model::SegmentNetwork::Tape tape;
    double min_loss = std::numeric_limits<double>::infinity();
    for (int epoch = 0, best = 0; epoch < epochs && epoch - best <= epochs / kPatienceParts;
         ++epoch) {
      random.Shuffle(order);
      double sum = 0;
      for (size_t first = 0; first < order.size(); first += kBatch) {
        std::vector<const feature::FeatureMatrix*> programs;
        std::vector<double> labels;
        for (size_t i = first; i < std::min(first + kBatch, order.size()); ++i) {
          programs.push_back(set.programs[order[i]]);
          labels.push_back(set.labels[order[i]]);
        }
        Scale(programs, scaled);
        const std::vector<float> scores = network_->Forward(scaled.rows, scaled.segments, tape);
        const ScoreLoss loss =
            ranks_ ? LambdaRankLoss(scores, labels) : SquaredLoss(scores, labels);
        sum += loss.value;
        adam.Step(network_->Backward(tape, loss.gradient), network_->parameters());
      }
      if (sum >= min_loss) continue;
      min_loss = sum;
      best = epoch;
    }
  }

  /// Ranking leaves the scale of the scores open: the line through the labels gives them one.
  void Calibrate(const TrainingSet& set) {
    if (!ranks_) return;
    double n = 0, x = 0, y = 0, xx = 0, xy = 0;
    auto label = set.labels.begin();
    ForEachBlock(set.programs, [&](const Scaled& block, model::SegmentNetwork::Tape& tape) {
      for (const float raw : network_->Forward(block.rows, block.segments, tape)) {
        n += 1;
        x += raw;
        y += *label;
        xx += static_cast<double>(raw) * raw;
        xy += raw * *label++;
      }
    });
    const double variance = xx - x * x / n;
    // Never a line that falls: it would turn the ranks round.
    slope_ = variance > 0 ? std::max(1e-6, (xy - x * y / n) / variance) : 1;
    intercept_ = (y - slope_ * x) / n;
  }

  uint64_t seed_;
  bool ranks_;
  std::vector<float> scales_;
  std::optional<model::SegmentNetwork> network_;
  double intercept_ = 0, slope_ = 1;
};

}  // namespace

std::unique_ptr<ThroughputModel> MakeMlpModel(uint64_t seed) {
  return std::make_unique<MlpModel>(seed, /*ranks=*/true);
}

std::unique_ptr<ThroughputModel> MakeSquaredMlpModel(uint64_t seed) {
  return std::make_unique<MlpModel>(seed, /*ranks=*/false);
}

}  // namespace bayloom::cost
