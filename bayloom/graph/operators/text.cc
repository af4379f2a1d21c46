// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

/// TfIdfVectorizer over numbers: how often the n-grams of a pool occur in each row.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "bayloom/graph/operators/apply.h"

namespace bayloom::graph {
namespace {

using tensor::Expr;

/// The n-grams of one length that are looked for.
struct GramsOfLength {
  int64_t length;
  std::vector<int64_t> tokens;       ///< of all, one after the other
  std::vector<int64_t> coordinates;  ///< of each in the output

  int64_t count() const { return std::ssize(coordinates); }
};

struct GramPool {
  std::vector<GramsOfLength> grams;
  int64_t output_size = 0;
  bool is_in_order = true;  ///< the n-th n-gram of the pool has the coordinate n
};

std::vector<int64_t> Coordinates(OperatorContext& context, GramPool& pool) {
  constexpr int64_t kMaxOutput = 1 << 24;
  std::vector<int64_t> coordinates = context.Ints("ngram_indexes");
  if (coordinates.empty()) context.Refuse("there are no n-grams");
  for (size_t k = 0; k < coordinates.size(); ++k) {
    if (coordinates[k] < 0 || coordinates[k] >= kMaxOutput) {
      context.Refuse(fmt::format("the coordinate {} of an n-gram", coordinates[k]));
    }
    pool.output_size = std::max(pool.output_size, coordinates[k] + 1);
    pool.is_in_order = pool.is_in_order && coordinates[k] == static_cast<int64_t>(k);
  }
  if (std::set<int64_t>(coordinates.begin(), coordinates.end()).size() != coordinates.size()) {
    context.Refuse("two n-grams with one coordinate are not supported");
  }
  return coordinates;
}

/// Element n - 1 of `ngram_counts` says where in the pool the n-grams of length n begin.
GramPool ReadPool(OperatorContext& context) {
  if (context.HasAttribute("pool_strings")) context.Refuse("n-grams of strings are not supported");
  const std::vector<int64_t> tokens = context.Ints("pool_int64s");
  std::vector<int64_t> starts = context.Ints("ngram_counts");
  const int64_t shortest = context.Int("min_gram_length"), longest = context.Int("max_gram_length");
  if (shortest < 1 || longest < shortest) context.Refuse("the lengths of n-grams");
  GramPool pool;
  const std::vector<int64_t> coordinates = Coordinates(context, pool);
  starts.push_back(std::ssize(tokens));
  int64_t next = 0;  // of the coordinates
  for (int64_t length = 1; length < std::ssize(starts); ++length) {
    const int64_t first = starts[length - 1], size = starts[length] - first;
    if (first < 0 || size < 0 || starts[length] > std::ssize(tokens) || size % length != 0 ||
        next + size / length > std::ssize(coordinates)) {
      context.Refuse("ngram_counts, ngram_indexes and the pool do not fit each other");
    }
    const auto begin = coordinates.begin() + next;
    next += size / length;
    if (size == 0 || length < shortest || length > longest) continue;
    const auto from = tokens.begin() + first;
    GramsOfLength grams{length, {from, from + size}, {begin, begin + size / length}};
    std::set<std::vector<int64_t>> distinct;
    for (auto at = from; at != from + size; at += length) distinct.emplace(at, at + length);
    if (std::ssize(distinct) != grams.count()) context.Refuse("an n-gram is in the pool twice");
    pool.grams.push_back(std::move(grams));
  }
  if (next != std::ssize(coordinates)) {
    context.Refuse("ngram_counts, ngram_indexes and the pool do not fit each other");
  }
  return pool;
}

/// How often each n-gram occurs in each row: [rows, n-grams]. Between its tokens may be the same
/// number of others, up to `max_skips`.
tensor::Tensor CountGrams(OperatorContext& context, const tensor::Tensor& rows,
                          const GramsOfLength& grams, int64_t max_skips) {
  const tensor::Tensor table = IntConstant(context, grams.tokens, {grams.count(), grams.length});
  const int64_t width = rows.shape()[1];
  const int64_t skips = grams.length == 1 ? 1 : max_skips + 1;
  return context.builder().Reduce(
      "tfidfvectorizer.count", {rows.shape()[0], grams.count()}, {{"s", skips}, {"p", width}},
      tensor::Reduction::kSum, [&](const Exprs& at, const Exprs& over) {
        const Expr step = over[0] + Expr(1);
        Expr occurs = tensor::BoolLiteral(true);
        for (int64_t j = grams.length; j-- > 0;) {
          const Expr place = over[1] + step * Expr(j);
          const Expr token = tensor::Cast(tensor::DType::kInt64, rows(at[0], place));
          occurs = tensor::Select(place < Expr(width),
                                  tensor::Equal(token, table(at[1], Expr(j))) && occurs,
                                  tensor::BoolLiteral(false));
        }
        return tensor::Select(occurs, tensor::Literal(1, tensor::DType::kFloat32),
                              tensor::Literal(0, tensor::DType::kFloat32));
      });
}

/// Per coordinate of the output: the factor of its count.
std::vector<float> Weights(OperatorContext& context, const GramPool& pool) {
  const std::vector<float> weights = context.Floats("weights");
  if (weights.empty()) return std::vector<float>(pool.output_size, 1);
  if (std::ssize(weights) != pool.output_size || !pool.is_in_order) {
    // ONNX's text has them in the pool's order, its reference and onnxruntime in the output's.
    context.Refuse("weights are supported for n-grams in the order of their coordinates only");
  }
  return weights;
}

void TfIdfVectorizer(OperatorContext& context) {
  const tensor::Tensor x = context.Input(0);
  if (Rank(x) > 2) context.Refuse("the input has more than 2 dimensions");
  const std::string mode = context.String("mode");
  if (mode != "TF" && mode != "IDF" && mode != "TFIDF") {
    context.RefuseAttribute("mode", mode, "has to be TF, IDF or TFIDF");
  }
  const int64_t max_skips = context.Int("max_skip_count");
  if (max_skips < 0) context.Refuse("max_skip_count is negative");
  const GramPool pool = ReadPool(context);
  GraphBuilder& builder = context.builder();
  const int64_t count = Rank(x) == 2 ? x.shape()[0] : 1;
  const tensor::Tensor rows =
      Rank(x) == 2 ? x : builder.View(x, {1, CheckedElementCount(x.shape())});
  // What is at which coordinate: a column of the counts behind each other, or nothing.
  std::vector<int64_t> column(pool.output_size, -1);
  std::vector<tensor::Tensor> counts = {Filled(context, 0, tensor::DType::kFloat32, {count, 1})};
  int64_t columns = 1;
  for (const GramsOfLength& grams : pool.grams) {
    counts.push_back(CountGrams(context, rows, grams, std::min(max_skips, rows.shape()[1])));
    for (const int64_t coordinate : grams.coordinates) column[coordinate] = columns++;
  }
  std::ranges::replace(column, -1, 0);  // the column of zeros
  const tensor::Tensor joined = Concatenate(context, counts, 1);
  const tensor::Tensor places = IntConstant(context, column, {pool.output_size});
  tensor::HostTensor factors =
      tensor::HostTensor::Zeros(tensor::DType::kFloat32, {pool.output_size});
  const std::vector<float> weights = Weights(context, pool);
  for (int64_t i = 0; i < pool.output_size; ++i) factors.Set(i, mode == "TF" ? 1 : weights[i]);
  const tensor::Tensor factor = builder.Constant("weights", std::move(factors));
  const tensor::Tensor y =
      builder.Map("tfidfvectorizer", {count, pool.output_size}, [&](const Exprs& at) {
        const Expr frequency = joined(at[0], WrappedIndex(places(at[1]), columns));
        const Expr zero = LiteralLike(0, frequency);
        return mode == "IDF" ? tensor::Select(zero < frequency, factor(at[1]), zero)
                             : frequency * factor(at[1]);
      });
  context.SetOutput(0, Rank(x) == 2 ? y : builder.View(y, {pool.output_size}));
}

}  // namespace

std::span<const Operator> TextOperators() {
  static const Operator operators[] = {{"TfIdfVectorizer", TfIdfVectorizer}};
  return operators;
}

}  // namespace bayloom::graph
