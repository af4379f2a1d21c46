#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <optional>
#include <utility>

#include "bayloom/base/random.h"
#include "bayloom/cost/score_loss.h"
#include "bayloom/cost/throughput_model.h"
#include "bayloom/model/adam.h"
#include "bayloom/model/segment_network.h"

namespace bayloom {
namespace {

// TenSet's settings (Zheng et al. 2021), but that small data sets get more epochs.
constexpr int kBatch = 512;
constexpr int kRankEpochs = 50;
constexpr int kSquaredEpochs = 100;
constexpr int kLeastSteps = 400;

/// What of the samples the network is trained on.
struct TrainingSet {
  std::vector<const FeatureMatrix*> programs;
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
      : seed_(seed), ranks_(ranks), scales_(kFeatureColumns, 0.0f) {}

  std::string name() const override { return ranks_ ? "mlp" : "mlp-squared"; }
  bool fitted() const override { return network_.has_value(); }

  void Fit(std::span<const Sample> samples) override {
    const TrainingSet set = LabelledSet(samples);
    if (set.programs.empty()) return;
    LearnScales(set.programs);
    network_.emplace(SegmentNetworkShape{.inputs = kFeatureColumns}, seed_);
    Train(set);
    Calibrate(set);
  }

  std::vector<double> Predict(std::span<const FeatureMatrix* const> programs) const override {
    const auto [rows, segments] = Rows(programs);
    std::vector<double> scores;
    for (const float raw : network_->Forward(rows, segments)) {
      scores.push_back(ranks_ ? intercept_ + slope_ * raw : 1 / (1 + std::exp(-raw)));
    }
    return scores;
  }

  /// The last layer's inputs.
  EncodedRows Represent(std::span<const FeatureMatrix* const> programs) const override {
    const auto [rows, segments] = Rows(programs);
    return {network_->shape().width, network_->Embed(rows, segments),
            std::vector<int>(programs.size(), 1)};
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
    SegmentNetwork network({.inputs = kFeatureColumns}, 0);
    std::vector<float> scales(kFeatureColumns);
    std::vector<double> line(2);
    const bool whole = Take<float>(bytes, scales) && Take<double>(bytes, line) &&
                       Take<float>(bytes, network.parameters()) && bytes.empty();
    if (!whole) return Error{"it has another size than the network's weights"};
    scales_ = std::move(scales);
    intercept_ = line[0];
    slope_ = line[1];
    network_.emplace(std::move(network));
    return Ok();
  }

 private:
  /// Columns become parts of the largest value that the training set has.
  void LearnScales(std::span<const FeatureMatrix* const> programs) {
    std::vector<float> largest(kFeatureColumns, 0.0f);
    for (const FeatureMatrix* program : programs) {
      for (size_t i = 0; i < program->values.size(); ++i) {
        float& most = largest[i % kFeatureColumns];
        most = std::max(most, std::abs(program->values[i]));
      }
    }
    for (int i = 0; i < kFeatureColumns; ++i) scales_[i] = largest[i] > 0 ? 1 / largest[i] : 0;
  }

  std::pair<std::vector<float>, std::vector<int>> Rows(
      std::span<const FeatureMatrix* const> programs) const {
    std::vector<float> rows;
    std::vector<int> segments;
    for (const FeatureMatrix* program : programs) {
      segments.push_back(program->rows);
      for (size_t i = 0; i < program->values.size(); ++i) {
        rows.push_back(program->values[i] * scales_[i % kFeatureColumns]);
      }
    }
    return {std::move(rows), std::move(segments)};
  }

  void Train(const TrainingSet& set) {
    const size_t batches = (set.programs.size() + kBatch - 1) / kBatch;
    const int usual = ranks_ ? kRankEpochs : kSquaredEpochs;
    const int epochs = std::max(usual, kLeastSteps / static_cast<int>(batches));
    Adam adam(network_->parameters().size(), {});
    RandomStream random(seed_);
    std::vector<size_t> order(set.programs.size());
    std::iota(order.begin(), order.end(), size_t{0});
    for (int epoch = 0; epoch < epochs; ++epoch) {
      random.Shuffle(order);
      for (size_t first = 0; first < order.size(); first += kBatch) {
        std::vector<const FeatureMatrix*> programs;
        std::vector<double> labels;
        for (size_t i = first; i < std::min(first + kBatch, order.size()); ++i) {
          programs.push_back(set.programs[order[i]]);
          labels.push_back(set.labels[order[i]]);
        }
        const auto [rows, segments] = Rows(programs);
        SegmentNetwork::Tape tape;
        const std::vector<float> scores = network_->Forward(rows, segments, &tape);
        const ScoreLoss loss =
            ranks_ ? LambdaRankLoss(scores, labels) : SquaredLoss(scores, labels);
        adam.Step(network_->Backward(tape, loss.gradient), network_->parameters());
      }
    }
  }

  /// Ranking leaves the scale of the scores open: the line through the labels gives them one.
  void Calibrate(const TrainingSet& set) {
    if (!ranks_) return;
    double n = 0, x = 0, y = 0, xx = 0, xy = 0;
    for (size_t first = 0; first < set.programs.size(); first += kBatch) {
      const size_t count = std::min<size_t>(kBatch, set.programs.size() - first);
      const auto [rows, segments] = Rows(std::span(set.programs).subspan(first, count));
      const std::vector<float> raw = network_->Forward(rows, segments);
      for (size_t i = 0; i < count; ++i) {
        const double label = set.labels[first + i];
        n += 1;
        x += raw[i];
        y += label;
        xx += static_cast<double>(raw[i]) * raw[i];
        xy += raw[i] * label;
      }
    }
    const double variance = xx - x * x / n;
    // Never a line that falls: it would turn the ranks round.
    slope_ = variance > 0 ? std::max(1e-6, (xy - x * y / n) / variance) : 1;
    intercept_ = (y - slope_ * x) / n;
  }

  uint64_t seed_;
  bool ranks_;
  std::vector<float> scales_;
  std::optional<SegmentNetwork> network_;
  double intercept_ = 0, slope_ = 1;
};

}  // namespace

std::unique_ptr<ThroughputModel> MakeMlpModel(uint64_t seed) {
  return std::make_unique<MlpModel>(seed, /*ranks=*/true);
}

std::unique_ptr<ThroughputModel> MakeSquaredMlpModel(uint64_t seed) {
  return std::make_unique<MlpModel>(seed, /*ranks=*/false);
}

}  // namespace bayloom
