// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

#include "bayloom/base/result.h"
#include "tests/graph/naive_attention.h"
#include "tests/graph/one_operator.h"
#include "tests/graph/pass_checks.h"

namespace bayloom::graph {
namespace {

using tensor::DType;
using tensor::HostTensor;

class AttentionTest : public ::testing::Test {
 protected:
  HostTensor q_ = RandomTensor({2, 6, 4, 8}, 1), k_ = RandomTensor({2, 3, 5, 8}, 2);
  HostTensor v_ = RandomTensor({2, 3, 5, 7}, 3);
  NaiveAttention naive_{q_, k_, v_, 1 / std::sqrt(8.0)};
};

TEST_F(AttentionTest, SharesKeysAmongHeads) {
  ExpectClose(RunOperator({.op = "Attention", .inputs = {q_, k_, v_}, .opset = 23})[0],
              naive_.Outputs());
}

TEST_F(AttentionTest, HidesLaterKeys) {
  naive_.bias = [](int64_t, int64_t, int64_t i, int64_t j) { return j <= i ? 0 : kHidden; };
  ExpectClose(RunOperator({.op = "Attention",
                           .inputs = {q_, k_, v_},
                           .attributes = {{"is_causal", int64_t{1}}},
                           .opset = 23})[0],
              naive_.Outputs());
}

TEST_F(AttentionTest, QueriesThatSeeNothingGiveZeros) {
  HostTensor mask = RandomIntegers(DType::kBool, {4, 5}, 0, 2, 4);
  for (int64_t j = 0; j < 5; ++j) mask.SetInt(2 * 5 + j, 0);
  naive_.bias = [&](int64_t, int64_t, int64_t i, int64_t j) {
    return mask.GetInt(i * 5 + j) ? 0 : kHidden;
  };
  ExpectClose(RunOperator({.op = "Attention", .inputs = {q_, k_, v_, mask}, .opset = 23})[0],
              naive_.Outputs());
}

TEST_F(AttentionTest, CountsKeysThatAreNoPadding) {
  const HostTensor lengths = Integers(DType::kInt64, {2}, {5, 3});
  naive_.bias = [&](int64_t b, int64_t, int64_t i, int64_t j) {
    return j < lengths.GetInt(b) && j <= i + lengths.GetInt(b) - 4 ? 0 : kHidden;
  };
  ExpectClose(RunOperator({.op = "Attention",
                           .inputs = {q_, k_, v_, {}, {}, {}, lengths},
                           .attributes = {{"is_causal", int64_t{1}}},
                           .opset = 24})[0],
              naive_.Outputs());
}

/// One token per sequence joins caches of different lengths.
TEST_F(AttentionTest, GroupQueryAttentionAppendsToEachCache) {
  const int64_t heads = 4, shared = 2, size = 8, capacity = 6;
  const HostTensor q = RandomTensor({2, 1, heads * size}, 5);
  const HostTensor k = RandomTensor({2, 1, shared * size}, 6);
  const HostTensor v = RandomTensor({2, 1, shared * size}, 7);
  HostTensor keys = RandomTensor({2, shared, capacity, size}, 8);
  HostTensor values = RandomTensor({2, shared, capacity, size}, 9);
  const std::vector<int64_t> last = {5, 3};
  const auto outputs =
      RunOperator({.op = "GroupQueryAttention",
                   .inputs = {q, k, v, keys, values, Integers(DType::kInt32, {2}, last),
                              Integers(DType::kInt32, {}, {capacity})},
                   .attributes = {{"num_heads", heads}, {"kv_num_heads", shared}},
                   .domain = "com.microsoft",
                   .constants = {6},
                   .outputs = 3});
  for (int64_t b = 0; b < 2; ++b) {
    for (int64_t h = 0; h < shared; ++h) {
      for (int64_t c = 0; c < size; ++c) {
        const int64_t at = ((b * shared + h) * capacity + last[b]) * size + c;
        keys.Set(at, k.Get((b * shared + h) * size + c));
        values.Set(at, v.Get((b * shared + h) * size + c));
      }
    }
  }
  HostTensor queries = q;  // one position: [batch, heads, 1, size] has the same order
  queries.shape = {2, heads, 1, size};
  const NaiveAttention naive{
      queries, keys, values, 1 / std::sqrt(8.0),
      [&](int64_t b, int64_t, int64_t, int64_t j) { return j <= last[b] ? 0 : kHidden; }};
  ExpectClose(outputs[0], naive.Outputs());
  EXPECT_EQ(outputs[1].data, keys.data);
  EXPECT_EQ(outputs[2].data, values.data);
}

TEST_F(AttentionTest, PaddingOfMultiHeadAttentionIsHidden) {
  const HostTensor q = RandomTensor({2, 4, 12}, 5), k = RandomTensor({2, 5, 12}, 6);
  const HostTensor v = RandomTensor({2, 5, 12}, 7);
  const HostTensor lengths = Integers(DType::kInt32, {2}, {5, 2});
  const auto attributes =
      std::vector<std::pair<std::string, OneOperator::Value>>{{"num_heads", int64_t{3}}};
  const HostTensor y = RunOperator({.op = "MultiHeadAttention",
                                    .inputs = {q, k, v, {}, lengths},
                                    .attributes = attributes,
                                    .domain = "com.microsoft"})[0];
  HostTensor changed = v;  // what is hidden does not matter
  for (int64_t i = (5 + 2) * 12; i < 2 * 5 * 12; ++i) changed.Set(i, 100);
  const HostTensor same = RunOperator({.op = "MultiHeadAttention",
                                       .inputs = {q, k, changed, {}, lengths},
                                       .attributes = attributes,
                                       .domain = "com.microsoft"})[0];
  EXPECT_EQ(y.data, same.data);
}

/// The products of rotated queries and keys depend on the distance of their positions only.
TEST(RotaryEmbedding, TurnsByPositions) {
  const int64_t size = 8, rows = 12;
  std::vector<double> cosines, sines;
  for (int64_t p = 0; p < rows; ++p) {
    for (int64_t c = 0; c < size / 2; ++c) {
      const double angle = static_cast<double>(p) / (1 + static_cast<double>(c));
      cosines.push_back(std::cos(angle));
      sines.push_back(std::sin(angle));
    }
  }
  const HostTensor x = RandomTensor({1, 2, 1, size}, 1);  // a query and a key as two heads
  for (int64_t interleaved : {0, 1}) {
    std::vector<double> products;
    for (int64_t shift : {0, 4}) {
      std::vector<HostTensor> turned;
      for (int64_t position : {5, 2}) {
        turned.push_back(RunOperator(
            {.op = "RotaryEmbedding",
             .inputs = {x, Floats({rows, size / 2}, cosines), Floats({rows, size / 2}, sines),
                        Integers(DType::kInt64, {1, 1}, {position + shift})},
             .attributes = {{"interleaved", interleaved}},
             .opset = 23})[0]);
      }
      double product = 0;
      for (int64_t c = 0; c < size; ++c) product += turned[0].Get(c) * turned[1].Get(size + c);
      products.push_back(product);
    }
    EXPECT_NEAR(products[0], products[1], 1e-5);
  }
}

TEST(TensorScatter, WritesAroundTheEnd) {
  const HostTensor cache = Floats({1, 4, 1}, {0, 1, 2, 3}), update = Floats({1, 2, 1}, {8, 9});
  const HostTensor start = Integers(DType::kInt64, {1}, {3});
  ExpectClose(RunOperator({.op = "TensorScatter",
                           .inputs = {cache, update, start},
                           .attributes = {{"mode", std::string("circular")}},
                           .opset = 24})[0],
              {9, 1, 2, 8});
  ExpectClose(RunOperator({.op = "TensorScatter", .inputs = {cache, update}, .opset = 24})[0],
              {8, 9, 2, 3});
}

}  // namespace
}  // namespace bayloom::graph
