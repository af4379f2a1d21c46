// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <cmath>
#include <numeric>
#include <string>

#include "examples/models/layers.h"
#include "examples/models/models.h"

namespace bayloom::models {
namespace {

constexpr int64_t kLength = 128;
constexpr int64_t kVocabulary = 30522;
constexpr int64_t kPositions = 512;

struct BertSize {
  std::string name;
  int layers;
  int64_t width;
  int64_t heads;
};

/// The encoder, written with the primitive operators that exporters of opset 13 use.
class Bert {
 public:
  Bert(const BertSize& size, uint64_t seed) : g_(size.name, 13, seed), size_(size) {}

  GraphBuilder Build() && {
    const Value ids = g_.IndexInput("input_ids", {1, kLength});
    const int64_t head_width = size_.width / size_.heads;
    split_shape_ =
        g_.Constant("split_shape", {4}, std::vector{int64_t{1}, kLength, size_.heads, head_width});
    join_shape_ = g_.Constant("join_shape", {3}, std::vector{int64_t{1}, kLength, size_.width});
    root_width_ = Scalar("root_head_width", std::sqrt(static_cast<float>(head_width)));
    two_ = Scalar("two", 2);
    one_ = Scalar("one", 1);
    half_ = Scalar("half", 0.5F);
    root_two_ = Scalar("root_two", std::sqrt(2.0F));
    epsilon_ = Scalar("epsilon", 1e-12F);

    Value x = Embed(ids);
    for (int i = 0; i < size_.layers; ++i) x = Layer("layer." + std::to_string(i), x);
    g_.Output(x, {1, kLength, size_.width});
    return std::move(g_);
  }

 private:
  Value Scalar(const std::string& name, float value) {
    return g_.Constant(name, {}, std::vector{value});
  }

  Value Table(const std::string& name, int64_t rows) {
    return g_.Weight("embeddings." + name, {rows, size_.width}, 1, kAfterLinear);
  }

  Value Embed(const Value& ids) {
    std::vector<int64_t> positions(kLength);
    std::iota(positions.begin(), positions.end(), 0);
    const Value position_ids = g_.Constant("position_ids", {1, kLength}, positions);
    const Value type_ids =
        g_.Constant("token_type_ids", {1, kLength}, std::vector<int64_t>(kLength, 0));
    const Value words = g_.Node("Gather", {Table("word", kVocabulary), ids});
    const Value places = g_.Node("Gather", {Table("position", kPositions), position_ids});
    const Value types = g_.Node("Gather", {Table("token_type", 2), type_ids});
    const Value sum = g_.Node("Add", {g_.Node("Add", {words, types}), places});
    return LayerNorm("embeddings.norm", sum);
  }

  Value LayerNorm(const std::string& name, const Value& x) {
    const std::vector<Attribute> last_axis = {{"axes", std::vector<int64_t>{-1}}};
    const Value centered = g_.Node("Sub", {x, g_.Node("ReduceMean", {x}, last_axis)});
    const Value variance = g_.Node("ReduceMean", {g_.Node("Pow", {centered, two_})}, last_axis);
    const Value deviation = g_.Node("Sqrt", {g_.Node("Add", {variance, epsilon_})});
    const Value normal = g_.Node("Div", {centered, deviation});
    const Value scaled =
        g_.Node("Mul", {normal, g_.Uniform(name + ".weight", {size_.width}, 0.8F, 1.2F)});
    return g_.Node("Add", {scaled, g_.Uniform(name + ".bias", {size_.width}, -0.1F, 0.1F)});
  }

  /// x / 2 * (1 + erf(x / sqrt(2))).
  Value Gelu(const Value& x) {
    const Value erf = g_.Node("Erf", {g_.Node("Div", {x, root_two_})});
    return g_.Node("Mul", {g_.Node("Mul", {x, g_.Node("Add", {erf, one_})}), half_});
  }

  Value Attention(const std::string& name, const Value& x) {
    const auto heads = [&](const std::string& part) {
      return SplitHeads(g_, Dense(g_, name + part, x, size_.width, size_.width), split_shape_);
    };
    const Value query = heads(".query");
    const Value key = heads(".key");
    const Value value = heads(".value");
    const Value key_columns =
        g_.Node("Transpose", {key}, {{"perm", std::vector<int64_t>{0, 1, 3, 2}}});
    const Value scores = g_.Node("Div", {g_.Node("MatMul", {query, key_columns}), root_width_});
    const Value weights = g_.Node("Softmax", {scores}, {{"axis", int64_t{-1}}});
    const Value context = JoinHeads(g_, g_.Node("MatMul", {weights, value}), join_shape_);
    return Dense(g_, name + ".output", context, size_.width, size_.width);
  }

  Value Layer(const std::string& name, const Value& x) {
    const Value attended =
        LayerNorm(name + ".attention.norm", g_.Node("Add", {Attention(name + ".attention", x), x}));
    const Value wide =
        Gelu(Dense(g_, name + ".intermediate", attended, size_.width, 4 * size_.width));
    const Value narrow = Dense(g_, name + ".output", wide, 4 * size_.width, size_.width);
    return LayerNorm(name + ".output.norm", g_.Node("Add", {narrow, attended}));
  }

  GraphBuilder g_;
  BertSize size_;
  Value split_shape_, join_shape_, root_width_, two_, one_, half_, root_two_, epsilon_;
};

}  // namespace

GraphBuilder BertTiny(uint64_t seed) { return Bert({"bert_tiny", 2, 128, 2}, seed).Build(); }

GraphBuilder BertBase(uint64_t seed) { return Bert({"bert_base", 12, 768, 12}, seed).Build(); }

}  // namespace bayloom::models
