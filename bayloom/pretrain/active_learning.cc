// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/pretrain/active_learning.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <tuple>
#include <utility>

#include "bayloom/base/clock.h"
#include "bayloom/base/result.h"

namespace bayloom::pretrain {
namespace {

/// Models whose disagreement is the uncertainty of their mean.
constexpr int kCommittee = 3;

/// Adds the seconds of its life to an account.
class Stopwatch {
 public:
  explicit Stopwatch(double& account) : account_(account), start_(base::MonotonicSeconds()) {}
  ~Stopwatch() { account_ += base::MonotonicSeconds() - start_; }
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

 private:
  double& account_;
  double start_;
};

/// Brings every column to mean 0 and variance 1 over all rows, so that distances are no matter of
/// units.
void Standardize(cost::EncodedRows& rows) {
  const size_t count = rows.values.size() / rows.columns;
  for (int column = 0; column < rows.columns; ++column) {
    double sum = 0, squares = 0;
    for (size_t i = column; i < rows.values.size(); i += rows.columns) {
      sum += rows.values[i];
      squares += static_cast<double>(rows.values[i]) * rows.values[i];
    }
    const double mean = sum / static_cast<double>(count);
    const double variance = squares / static_cast<double>(count) - mean * mean;
    const double scale = variance > 1e-12 ? 1 / std::sqrt(variance) : 0;
    for (size_t i = column; i < rows.values.size(); i += rows.columns) {
      rows.values[i] = static_cast<float>((rows.values[i] - mean) * scale);
    }
  }
}

/// The first `head` rows, and the others.
std::pair<cost::DenseRows, cost::DenseRows> Cut(const cost::EncodedRows& rows, size_t head) {
  const std::span<const float> values(rows.values);
  const size_t cut = head * rows.columns;
  const auto row_count = [&](size_t size) { return static_cast<int>(size / rows.columns); };
  return {{values.first(cut), row_count(cut), rows.columns},
          {values.subspan(cut), row_count(values.size() - cut), rows.columns}};
}

}  // namespace

/// What a selection method asks for, of a task's open programs and then of its measured ones.
struct ActiveLearning::Scored {
  std::vector<int64_t> places;  ///< of open programs
  std::vector<double> scores, measured_scores, measured_labels, uncertainty;
  cost::EncodedRows features, representation;

  cost::SelectionTask View() const {
    cost::SelectionTask view;
    view.scores = scores;
    view.uncertainty = uncertainty;
    view.measured_scores = measured_scores;
    view.measured_labels = measured_labels;
    if (features.columns > 0) {
      std::tie(view.features, view.measured_features) = Cut(features, places.size());
    }
    if (representation.columns > 0) {
      std::tie(view.representation, view.measured_representation) =
          Cut(representation, places.size());
    }
    return view;
  }
};

ActiveLearning::ActiveLearning(record::ProgramPool& pool, ActiveLearningOptions options)
    : pool_(pool),
      options_(std::move(options)),
      selection_(cost::CreateSelection(options_.selection, options_.selection_options)),
      model_(cost::CreateThroughputModel(options_.model, options_.seed)),
      random_(options_.seed) {
  if (selection_->needs().uncertainty) {
    for (int i = 1; i <= kCommittee; ++i) {
      committee_.push_back(cost::CreateThroughputModel(options_.model, options_.seed + i));
    }
  }
}

void ActiveLearning::AddTask(record::TaskId id, std::vector<int64_t> open,
                             const std::map<int64_t, Label>& measured) {
  std::sort(open.begin(), open.end());
  tasks_.push_back({.id = id, .open = std::move(open), .samples = {}});
  Learn(tasks_.back(), measured);
}

void ActiveLearning::Run(const Labeller& labeller,
                         const std::function<void(const Round&)>& on_round) {
  const auto stopped = [&] { return options_.stop && options_.stop(); };
  const int64_t per_round = std::max<int64_t>(1, options_.budget / options_.rounds);
  for (int round = 1; measured() < options_.budget && !stopped(); ++round) {
    if (measured() > 0) Train();
    const size_t before = samples_.size();
    // The last round takes what dividing has left over.
    const int64_t left = options_.budget - measured();
    const std::vector<int> shares = Shares(left < 2 * per_round ? left : per_round);
    for (size_t i = 0; i < tasks_.size() && !stopped(); ++i) {
      if (shares[i] == 0) continue;
      const std::vector<int64_t> chosen = Choose(tasks_[i], shares[i]);
      std::map<int64_t, Label> labels;
      {
        const Stopwatch watch(times_.measure);
        labels = labeller(tasks_[i].id, chosen);
      }
      Learn(tasks_[i], labels);
    }
    if (samples_.size() == before) break;
    if (on_round) on_round({round, measured(), LabelsFrom(before), times_});
  }
}

void ActiveLearning::Finish() {
  const bool any = std::any_of(samples_.begin(), samples_.end(), [](const cost::Sample& sample) {
    return sample.seconds.has_value();
  });
  if (!any) throw InputError("nothing to learn from: no program was measured");
  Train();
}

void ActiveLearning::Train() {
  const Stopwatch watch(times_.train);
  model_->Fit(samples_);
  for (const auto& member : committee_) {
    std::vector<cost::Sample> resampled;
    for (size_t i = 0; i < samples_.size(); ++i) {
      resampled.push_back(samples_[random_.UniformInt(static_cast<int64_t>(samples_.size()))]);
    }
    member->Fit(resampled);
  }
}

/// How many programs each task is to give: the same part of what it has, rounded up or down by
/// systematic sampling (every `wanted`-th part of all open programs, in random order of the tasks,
/// from a random start).
std::vector<int> ActiveLearning::Shares(int64_t wanted) {
  std::vector<int> shares(tasks_.size(), 0);
  std::vector<size_t> order(tasks_.size());
  std::iota(order.begin(), order.end(), size_t{0});
  random_.Shuffle(order);
  int64_t open = 0;
  for (const Task& task : tasks_) open += static_cast<int64_t>(task.open.size());
  if (open == 0) return shares;
  const double part = std::min(1.0, static_cast<double>(wanted) / static_cast<double>(open));
  const double start = random_.Uniform();
  int64_t before = 0;
  const auto given = [&] { return static_cast<int>(part * static_cast<double>(before) + start); };
  for (const size_t i : order) {
    const int already = given();
    before += static_cast<int64_t>(tasks_[i].open.size());
    shares[i] = std::min(given() - already, static_cast<int>(tasks_[i].open.size()));
  }
  return shares;
}

std::vector<int64_t> ActiveLearning::Choose(Task& task, int count) {
  std::vector<int64_t> chosen;
  if (!model_->fitted()) {
    std::vector<int64_t> shuffled = task.open;
    random_.Shuffle(shuffled);
    shuffled.resize(std::min<size_t>(shuffled.size(), count));
    return shuffled;
  }
  const Scored scored = Score(task);
  const Stopwatch watch(times_.select);
  for (const int index : selection_->Select(scored.View(), count, random_)) {
    chosen.push_back(scored.places[index]);
  }
  return chosen;
}

ActiveLearning::Scored ActiveLearning::Score(const Task& task) {
  const cost::SelectionNeeds needs = selection_->needs();
  Scored scored;
  const auto add = [&](std::span<const feature::FeatureMatrix* const> programs,
                       std::vector<double>& scores) {
    const auto append = [](cost::EncodedRows& to, const cost::EncodedRows& more) {
      to.columns = more.columns;
      to.values.insert(to.values.end(), more.values.begin(), more.values.end());
    };
    const std::vector<double> predicted = model_->Predict(programs);
    scores.insert(scores.end(), predicted.begin(), predicted.end());
    if (needs.features)
      append(scored.features, cost::Encode(programs, cost::RowEncoding::kRowPerProgram));
    if (needs.representation) append(scored.representation, model_->Represent(programs));
  };
  const Stopwatch watch(times_.predict);
  pool_.Visit(task.id, record::ProgramPool::Part::kFeatures,
              [&](int64_t first, std::span<const record::PoolProgram> programs) {
                std::vector<const feature::FeatureMatrix*> open;
                const auto end = first + static_cast<int64_t>(programs.size());
                auto place = std::lower_bound(task.open.begin(), task.open.end(), first);
                for (; place != task.open.end() && *place < end; ++place) {
                  const feature::FeatureMatrix& features = programs[*place - first].features;
                  if (features.rows == 0) continue;
                  open.push_back(&features);
                  scored.places.push_back(*place);
                }
                if (open.empty()) return;
                add(open, scored.scores);
                if (!needs.uncertainty) return;
                const std::vector<double> spread = Disagreement(open);
                scored.uncertainty.insert(scored.uncertainty.end(), spread.begin(), spread.end());
              });
  const std::vector<const feature::FeatureMatrix*> measured = MeasuredFeatures(task);
  if (!measured.empty()) add(measured, scored.measured_scores);
  for (const size_t i : task.samples) {
    scored.measured_labels.push_back(bests_.Label(samples_[i].task, samples_[i].seconds));
  }
  if (needs.features && scored.features.columns > 0) Standardize(scored.features);
  return scored;
}

std::vector<const feature::FeatureMatrix*> ActiveLearning::MeasuredFeatures(
    const Task& task) const {
  std::vector<const feature::FeatureMatrix*> features;
  for (const size_t i : task.samples) features.push_back(&samples_[i].features);
  return features;
}

std::vector<double> ActiveLearning::Disagreement(
    std::span<const feature::FeatureMatrix* const> programs) const {
  std::vector<double> sum(programs.size(), 0), squares(programs.size(), 0);
  for (const auto& member : committee_) {
    const std::vector<double> scores = member->Predict(programs);
    for (size_t i = 0; i < scores.size(); ++i) {
      sum[i] += scores[i];
      squares[i] += scores[i] * scores[i];
    }
  }
  for (size_t i = 0; i < sum.size(); ++i) {
    squares[i] = std::max(0.0, squares[i] / kCommittee - std::pow(sum[i] / kCommittee, 2));
  }
  return squares;
}

void ActiveLearning::Learn(Task& task, const std::map<int64_t, Label>& labels) {
  std::vector<int64_t> places;
  for (const auto& [place, label] : labels) places.push_back(place);
  std::erase_if(task.open, [&](int64_t place) { return labels.contains(place); });
  std::vector<record::PoolProgram> programs = pool_.At(task.id, places);
  for (size_t i = 0; i < places.size(); ++i) {
    if (programs[i].features.rows == 0) continue;
    task.samples.push_back(samples_.size());
    samples_.push_back({.task = static_cast<uint64_t>(task.id),
                        .features = std::move(programs[i].features),
                        .seconds = labels.at(places[i])});
    bests_.Add(samples_.back());
  }
}

std::vector<double> ActiveLearning::LabelsFrom(size_t first) const {
  std::vector<double> labels;
  for (size_t i = first; i < samples_.size(); ++i) {
    labels.push_back(bests_.Label(samples_[i].task, samples_[i].seconds));
  }
  return labels;
}

}  // namespace bayloom::pretrain
