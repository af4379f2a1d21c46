// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/model/segment_network.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "bayloom/model/adam.h"

namespace bayloom::model {
namespace {

constexpr SegmentNetworkShape kSmall = {
    .inputs = 5, .width = 8, .encoder_layers = 2, .residual_layers = 2};
const std::vector<int> kSegments = {2, 1, 0, 3};

std::vector<float> RandomRows(uint64_t seed, int rows, int columns) {
  base::RandomStream random(seed);
  std::vector<float> values(static_cast<size_t>(rows) * columns);
  for (float& value : values) value = static_cast<float>(random.Normal());
  return values;
}

/// Biases are drawn too, so that no ReLU sits at its kink.
SegmentNetwork RandomNetwork(const SegmentNetworkShape& shape) {
  SegmentNetwork network(shape, 3);
  base::RandomStream random(4);
  for (float& parameter : network.parameters()) {
    parameter += static_cast<float>(0.2 * random.Normal());
  }
  return network;
}

TEST(SegmentNetwork, TheOrderOfASegmentsRowsDoesNotMatter) {
  const SegmentNetwork network = RandomNetwork(kSmall);
  std::vector<float> rows = RandomRows(1, 6, 5);
  SegmentNetwork::Tape tape;
  const std::vector<float> before = network.Forward(rows, kSegments, tape);
  ASSERT_EQ(before.size(), 4u);
  std::swap_ranges(rows.begin() + 3 * 5, rows.begin() + 4 * 5, rows.begin() + 5 * 5);
  const std::vector<float> after = network.Forward(rows, kSegments, tape);
  for (int i = 0; i < 4; ++i) EXPECT_NEAR(before[i], after[i], 1e-4);
  // Every segment by itself.
  const std::vector<int> one = {3};
  EXPECT_NEAR(network.Forward(std::span(rows).subspan(3 * 5), one, tape)[0], after[3], 1e-4);
}

TEST(SegmentNetwork, GradientEqualsFiniteDifferences) {
  for (const int residual : {0, 2}) {
    SegmentNetworkShape shape = kSmall;
    shape.residual_layers = residual;
    SegmentNetwork network = RandomNetwork(shape);
    const std::vector<float> rows = RandomRows(1, 6, 5), by_score = {0.3f, -1.0f, 0.5f, 0.8f};
    const auto loss = [&] {
      SegmentNetwork::Tape scratch;
      const std::vector<float> scores = network.Forward(rows, kSegments, scratch);
      return std::inner_product(scores.begin(), scores.end(), by_score.begin(), 0.0);
    };
    SegmentNetwork::Tape tape;
    network.Forward(rows, kSegments, tape);
    network.Backward(tape, by_score);  // a tape may be used again
    network.Forward(rows, kSegments, tape);
    const std::span<const float> gradient = network.Backward(tape, by_score);
    ASSERT_EQ(gradient.size(), network.parameters().size());
    for (size_t i = 0; i < gradient.size(); ++i) {
      float& parameter = network.parameters()[i];
      const float kept = parameter, step = 1e-3f;
      parameter = kept + step;
      const double above = loss();
      parameter = kept - step;
      const double below = loss();
      parameter = kept;
      EXPECT_NEAR(gradient[i], (above - below) / (2 * step), 0.02 + 0.02 * std::abs(gradient[i]))
          << "parameter " << i;
    }
  }
}

TEST(Adam, FindsTheMinimumOfAParabola) {
  std::vector<float> at = {3, -2};
  Adam adam(2, {.rate = 0.05, .decay = 0});
  for (int i = 0; i < 600; ++i) {
    adam.Step(std::vector<float>{2 * (at[0] - 1), 20 * (at[1] - 0.5f)}, at);
  }
  EXPECT_NEAR(at[0], 1, 1e-2);
  EXPECT_NEAR(at[1], 0.5, 1e-2);
}

TEST(Adam, TheFirstStepIsTheRateAlongEveryAxis) {
  std::vector<float> at = {0, 0};
  Adam adam(2, {.rate = 0.1, .decay = 0});
  adam.Step(std::vector<float>{1000, -0.01f}, at);
  EXPECT_NEAR(at[0], -0.1, 1e-3);
  EXPECT_NEAR(at[1], 0.1, 1e-3);
}

}  // namespace
}  // namespace bayloom::model
