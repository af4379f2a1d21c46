// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "tests/graph/open_models.h"

#include <onnx/onnx_pb.h>

#include "bayloom/graph/open/import_open.h"
#include "tests/graph/decoder_models.h"
#include "tests/graph/text_models.h"

namespace bayloom::graph {

ImportOptions OpenModel::Options() const {
  ImportOptions options;
  options.symbols = symbols;
  options.sums = sums;
  return options;
}

ImportOptions OpenModel::FixedOptions(const SymbolValues& lengths) const {
  ImportOptions options = Options();
  options.symbols.clear();
  for (size_t s = 0; s < symbols.size(); ++s) options.dimensions[symbols[s].name] = lengths[s];
  return options;
}

Graph OpenModel::Open() const { return ImportOpen("model", ParseModel(text, opset), Options()); }

Graph OpenModel::Imported() const { return ImportText(text, opset, Options()); }

Graph OpenModel::Fixed(const SymbolValues& lengths) const {
  return ImportText(text, opset, FixedOptions(lengths));
}

Graph OpenModel::ToCompare(const SymbolValues& lengths) const {
  KnownConstants initializers;
  ComparedImports imports;
  FoundLengths found({});
  const onnx::ModelProto model = ParseModel(text, opset);
  const auto import = [&](const SymbolValues& of) {
    return ImportToCompare("model", model, FixedOptions(of), initializers, imports, found,
                           has_ratios);
  };
  import(SamplePoints(symbols).front());  // the one that says how many steps are unrolled
  import(lengths);                        // tells which of these follow lengths
  // Which parts are optional.
  for (const SymbolValues& other : PointsToConfirm(symbols)) {
    import(other);
  }
  return import(lengths);
}

SymbolValues OpenModel::RandomLengths(base::RandomStream& stream) const {
  SymbolValues lengths;
  for (const Symbol& symbol : symbols) {
    lengths.push_back(symbol.smallest + stream.UniformInt(symbol.ValueCount()) * symbol.step);
  }
  return lengths;
}

namespace {

/// A quarter of an image, resized to half of it, beside that half.
std::string SkipModel(const std::string& resize) {
  return "g (float[1, 1, h, w] x) => (float[1, 2, i, j] z) "
         "{ y = MaxPool<kernel_shape = [2, 2], strides = [2, 2]>(x) s = Shape(y) "
         "q = MaxPool<kernel_shape = [2, 2], strides = [2, 2]>(y) r = Resize<" +
         resize + ">(q, , , s) z = Concat<axis = 1>(r, y) }";
}

}  // namespace

std::vector<OpenModel> OpenModels() {
  const Symbol batch = {"b", 1, 3}, sequence = {"s", 1, 24}, past = {"p", 0, 9};
  return {
      {"elementwise",
       {batch, sequence},
       "g (float[b, s, 4] x, float[4] y) => (float[b, s, 4] z) { t = Add(x, y) z = Relu(t) }"},
      {"matmul_of_rows",
       {batch, sequence},
       "g (float[b, s, 4] x) => (float[b, s, 3] z) "
       "<float[4, 3] w = {1,2,3,4,5,6,7,8,9,10,11,12}> { z = MatMul(x, w) }"},
      {"matmul_of_columns",
       {sequence},
       "g (float[2, s, 4] x, float[2, 4, s] y) => (float[2, s, s] z) { z = MatMul(x, y) }"},
      {"matmul_over_the_open_axis",
       {sequence},
       "g (float[2, s, 4] x, float[2, 3, s] y) => (float[2, 3, 4] z) { z = MatMul(y, x) }"},
      {"softmax", {sequence}, "g (float[3, s] x) => (float[3, s] z) { z = Softmax<axis = 1>(x) }"},
      {"lstm",
       {sequence},
       "g (float[s, 2, 3] x, float[1, 16, 3] w, float[1, 16, 4] r, float[1, 32] b) => "
       "(float[s, 1, 2, 4] y, float[1, 2, 4] h, float[1, 2, 4] c) "
       "{ y, h, c = LSTM<hidden_size = 4>(x, w, r, b) }"},
      {"lstm_of_two_directions",
       {sequence},
       "g (float[s, 1, 3] x, float[2, 16, 3] w, float[2, 16, 4] r, float[2, 1, 4] i) => "
       "(float[s, 2, 1, 4] y, float[2, 1, 4] h, float[2, 1, 4] c) "
       "{ y, h, c = LSTM<hidden_size = 4, direction = \"bidirectional\">(x, w, r, , , i, i) }"},
      {"gru_of_ragged_sequences",
       {sequence},
       "g (float[s, 2, 3] x, float[2, 12, 3] w, float[2, 12, 4] r, int32[2] l) => "
       "(float[s, 2, 2, 4] y, float[2, 2, 4] h) "
       "{ y, h = GRU<hidden_size = 4, direction = \"bidirectional\">(x, w, r, , l) }"},
      {"rnn_in_reverse_of_any_batch",
       {batch, {"s", 2, 18}},
       "g (float[s, b, 3] x, float[1, 4, 3] w, float[1, 4, 4] r) => "
       "(float[s, 1, b, 4] y, float[1, b, 4] h) "
       "{ y, h = RNN<hidden_size = 4, direction = \"reverse\">(x, w, r) }"},
      {"scan",
       {sequence},
       "g (float[s, 4] x, float[4] i) => (float[4] t, float[s, 4] y) "
       "{ t, y = Scan<num_scan_inputs = 1, scan_input_directions = [1], scan_output_directions = "
       "[1], body = b (float[4] a, float[4] e) => (float[4] c, float[4] d) "
       "{ m = Mul(a, e) c = Tanh(m) d = Add(c, e) }>(i, x) }"},
      {"loop_of_as_many_trips_as_rows",
       {{"s", 1, 18}},
       "g (float[s, 4] x, float[4] i) => (float[4] t, float[s, 4] y) <int64[1] k = {0}> "
       "{ h = Shape(x) n = Gather(h, k) t, y = Loop<body = b (int64 j, bool c, float[4] a) => "
       "(bool c, float[4] d, float[4] e) { r = Gather<axis = 0>(x, j) m = Mul(a, r) d = Tanh(m) "
       "e = Add(d, r) }>(n, , i) }"},
      {"mean",
       {batch, sequence},
       "g (float[b, s, 4] x) => (float[b, 4] z) { z = ReduceMean<axes = [1], keepdims = 0>(x) }"},
      {"transpose_of_heads",
       {batch, sequence},
       "g (float[b, s, 6] x) => (float[b, 2, s, 3] z) <int64[4] h = {0, 0, 2, 3}> "
       "{ y = Reshape(x, h) z = Transpose<perm = [0, 2, 1, 3]>(y) }"},
      {"rows_together",
       {batch, sequence},
       "g (float[b, s, 6] x) => (float[r, 6] z) <int64[2] h = {-1, 6}> { z = Reshape(x, h) }"},
      {"rows_apart",
       {batch, sequence},
       "g (float[b, s, 6] x) => (float[r, b, 6] z) <int64[1] k = {1}, int64[1] l = {6}, "
       "int64[1] i = {0}> { h = Shape(x) n = Gather(h, i) m = Gather(h, k) "
       "d = Concat<axis = 0>(m, n, l) z = Reshape(x, d) }"},
      {"flatten",
       {{"h", 8, 64, 8}, {"w", 16, 48, 16}},
       "g (float[1, 2, h, w] x) => (float[1, 2, q] z) <int64[3] d = {1, 2, -1}> "
       "{ y = MaxPool<kernel_shape = [2, 2], strides = [2, 2]>(x) z = Reshape(y, d) }"},
      {"convolution",
       {batch, {"h", 8, 64, 8}, {"w", 16, 48, 16}},
       "g (float[b, 1, h, w] x) => (float[b, 1, i, j] z) <float[1, 1, 3, 3] k = "
       "{1,2,3,4,5,6,7,8,9}> { z = Conv<pads = [1, 1, 1, 1], strides = [2, 2]>(x, k) }"},
      {"upsampling",
       {{"h", 8, 64, 8}, {"w", 16, 48, 16}},
       "g (float[1, 1, h, w] x) => (float[1, 1, i, j] z) <float[4] k = {1, 1, 2, 2}> "
       "{ z = Resize<mode = \"nearest\", coordinate_transformation_mode = \"asymmetric\", "
       "nearest_mode = \"floor\">(x, , k) }"},
      {"bilinear_upsampling",
       {{"h", 8, 64, 8}, {"w", 16, 48, 16}},
       "g (float[1, 1, h, w] x) => (float[1, 1, i, j] z) <float[4] k = {1, 1, 2, 2}> "
       "{ z = Resize<mode = \"linear\", coordinate_transformation_mode = \"half_pixel\">"
       "(x, , k) }"},
      {"halves",
       {{"h", 4, 50}, {"w", 4, 50}},
       "g (float[1, 2, h, w] x) => (float[1, 2, i, j] z) "
       "{ y = MaxPool<kernel_shape = [2, 2], strides = [2, 2]>(x) "
       "z = AveragePool<kernel_shape = [3, 3], strides = [2, 2], pads = [1, 1, 1, 1]>(y) }"},
      {"strided_convolutions",
       {batch, {"s", 20, 300}},
       "g (float[b, 1, s] x) => (float[b, 1, t] z) <float[1, 1, 10] k = {1,2,3,4,5,6,7,8,9,10}, "
       "float[1, 1, 3] l = {1, -1, 2}> { y = Conv<strides = [5]>(x, k) "
       "z = Conv<strides = [2], pads = [1, 1]>(y, l) }"},
      {"levels_behind_each_other",
       {{"h", 4, 50}, {"w", 4, 50}},
       "g (float[1, 2, h, w] x) => (float[1, 2, n] z) <int64[3] d = {1, 2, -1}> "
       "{ y = MaxPool<kernel_shape = [2, 2], strides = [2, 2]>(x) "
       "u = MaxPool<kernel_shape = [2, 2], strides = [2, 2]>(y) a = Reshape(x, d) "
       "b = Reshape(y, d) c = Reshape(u, d) z = Concat<axis = 2>(a, b, c) }"},
      {"linear_resizing_to_a_size",
       {{"h", 8, 50}, {"w", 8, 50}},
       SkipModel("mode = \"linear\", coordinate_transformation_mode = \"half_pixel\""),
       {},
       14,
       true},
      {"resizing_of_corners_to_a_size",
       {{"h", 8, 50}, {"w", 8, 50}},
       SkipModel("mode = \"linear\", coordinate_transformation_mode = \"align_corners\""),
       {},
       14,
       true},
      {"nearest_resizing_to_a_size",
       {{"h", 8, 50}, {"w", 8, 50}},
       SkipModel("mode = \"nearest\", coordinate_transformation_mode = \"asymmetric\", "
                 "nearest_mode = \"floor\""),
       {},
       14,
       true},
      {"padding_to_a_size",
       {{"h", 8, 50}, {"w", 8, 50}},
       "g (float[1, 1, h, w] x) => (float[1, 1, h, w] z) <int64[4] n = {0, 0, 0, 0}, "
       "float[4] k = {1, 1, 2, 2}> { y = MaxPool<kernel_shape = [2, 2], strides = [2, 2]>(x) "
       "r = Resize<mode = \"nearest\">(y, , k) s = Shape(x) t = Shape(r) d = Sub(s, t) "
       "p = Concat<axis = 0>(n, d) q = Pad(r, p) z = Add(q, x) }",
       {},
       14,
       true},
      {"border_before_the_first",
       {{"h", 8, 50}},
       "g (float[1, 1, h] x) => (float[1, 1, h] z) <float[3] k = {1, 1, 2}, int64[3] n = {0, 0, "
       "0}> "
       "{ y = MaxPool<kernel_shape = [2], strides = [2]>(x) r = Resize<mode = \"nearest\">(y, , k) "
       "s = Shape(x) t = Shape(r) d = Sub(s, t) p = Concat<axis = 0>(d, n) "
       "q = Pad<mode = \"edge\">(r, p) z = Add(q, x) }",
       {},
       14,
       true},
      {"batched_matmul",
       {batch, sequence},
       "g (float[b, s, 4] x, float[b, 4, 3] y) => (float[b, s, 3] z) { z = MatMul(x, y) }"},
      {"append",
       {past, {"s", 1, 6}},
       "g (float[2, p, 3] x, float[2, s, 3] y) => (float[2, t, 3] z) "
       "{ z = Concat<axis = 1>(x, y) }"},
      {"sum_of_lengths",
       {past, {"s", 1, 6}},
       "g (float[2, p, 3] x, float[2, s, 3] y, float[2, t] m) => (float[2, t, 3] z) "
       "<int64[1] a = {2}> { c = Concat<axis = 1>(x, y) n = Unsqueeze(m, a) z = Mul(c, n) }",
       {{"t", "p+s"}}},
      {"positions",
       {sequence},
       "g (float[s, 2] x) => (float[s, 2] z) <int64 zero = {0}, int64 one = {1}, int64[1] a = {1}, "
       "float[24, 2] table = {" +
           [] {
             std::string numbers = "0";
             for (int i = 1; i < 48; ++i) numbers += "," + std::to_string(i);
             return numbers;
           }() +
           "}> { h = Shape(x) n = Gather(h, zero) r = Range(zero, n, one) e = Gather(table, r) "
           "z = Add(x, e) }"},
      DecoderModel({{"p", 0, 20}, {"s", 1, 6}}),
      {"experts",
       {{"n", 1, 60}},
       "agraph (float[n,8] x, float[n,4] r, float[4,6,8] a, float[4,8,6] b) => (float[n,8] y) {"
       " y = com.microsoft.MoE <k = 2, activation_type = \"silu\"> (x, r, a, , b) }"},
      {"grouped_attention_behind_the_past",
       {{"p", 0, 20}, {"s", 1, 6}},
       "g (float[1, s, 64] q, float[1, s, 32] k, float[1, s, 32] v, float[1, 2, p, 16] x, "
       "float[1, 2, p, 16] y, int64[1, t] m) => (float[1, s, 64] z, float[1, 2, t, 16] a, "
       "float[1, 2, t, 16] b) <int64[1] one = {1}, int64 place = {1}> { "
       "n = ReduceSum<keepdims = 1>(m, one) l = Sub(n, one) h = Cast<to = 6>(l) c = Shape(m) "
       "d = Gather(c, place) w = Cast<to = 6>(d) z, a, b = com.microsoft.GroupQueryAttention"
       "<num_heads = 4, kv_num_heads = 2>(q, k, v, x, y, h, w) }",
       {{"t", "p+s"}}},
      {"positions_behind_the_past",
       {past, {"s", 1, 6}},
       "g (float[p, 2] x, float[s, 2] y) => (float[s, 2] z) <int64 zero = {0}, int64 one = {1}, "
       "int64[1] a = {1}> { h = Shape(x) n = Gather(h, zero) i = Shape(y) m = Gather(i, zero) "
       "t = Add(n, m) r = Range(n, t, one) f = Cast<to = 1>(r) u = Unsqueeze(f, a) "
       "z = Mul(y, u) }"},
      {"causal_mask",
       {past, {"s", 1, 6}},
       "g (float[s, t] x, float[p, 2] y) => (float[s, t] z) <int64 zero = {0}, int64 one = {1}, "
       "int64[1] a = {1}, float low = {-9}> { h = Shape(x) m = Gather(h, zero) "
       "n = Gather(h, one) k = Shape(y) p = Gather(k, zero) q = Add(p, m) r = Range(p, q, one) "
       "c = Range(zero, n, one) u = Unsqueeze(r, a) l = LessOrEqual(c, u) z = Where(l, x, low) }",
       {{"t", "p+s"}}},
      {"scale_by_a_length",
       {sequence},
       "g (float[s, 2] x) => (float[s, 2] z) <int64 zero = {0}> { h = Shape(x) "
       "n = Gather(h, zero) f = Cast<to = 1>(n) z = Div(x, f) }"},
      {"shape_as_output", {batch, sequence}, "g (float[b, s] x) => (int64[2] z) { z = Shape(x) }"},
      {"broadcast",
       {batch, sequence},
       "g (float[b, 1, s] x, float[b, s, 1] y) => (float[b, s, s] z) { z = Add(x, y) }"},
      {"expand",
       {sequence},
       "g (float[1, s] x, float[s, 2] y) => (float[s, s] z) <int64[1] i = {0}> { h = Shape(y) "
       "n = Gather(h, i) e = Concat<axis = 0>(n, n) z = Expand(x, e) }"},
      {"last_row",
       {sequence},
       "g (float[s, 3] x) => (float[1, 3] z) <int64[1] f = {-1}, int64[1] e = {9999}, "
       "int64[1] a = {0}> { z = Slice(x, f, e, a) }"},
      {"global_pool",
       {{"h", 8, 64, 8}, {"w", 16, 48, 16}},
       "g (float[1, 2, h, w] x) => (float[1, 2, 1, 1] z) { z = GlobalAveragePool(x) }"},
      {"sums_along_the_open_axis",
       {batch, sequence},
       "g (float[b, s, 2] x) => (float[b, s, 2] z) <int64 a = {1}> { z = CumSum(x, a) }"},
      {"sums_from_the_end",
       {batch, sequence},
       "g (float[b, s, 2] x) => (float[b, s, 2] z) <int64 a = {1}> "
       "{ z = CumSum<reverse = 1, exclusive = 1>(x, a) }"},
      {"sums_of_open_lines",
       {batch, sequence},
       "g (float[b, s, 3] x) => (float[b, s, 3] z) <int64 a = {-1}> { z = CumSum(x, a) }"},
      {"best_of_each_row",
       {batch, sequence},
       "g (float[b, s, 5] x) => (int64[b, s] z) { z = ArgMax<axis = -1, keepdims = 0>(x) }"},
      {"worst_of_the_rows",
       {batch, sequence},
       "g (float[b, s, 5] x) => (int64[b, 1, 5] z) { z = ArgMin<axis = 1>(x) }"},
      {"three_largest",
       {batch, {"s", 3, 24}},
       "g (float[b, s] x) => (float[b, 3] v, int64[b, 3] i) <int64[1] k = {3}> "
       "{ v, i = TopK(x, k) }"},
      {"three_smallest",
       {batch, {"s", 3, 24}},
       "g (float[b, s] x) => (float[b, 3] v, int64[b, 3] i) <int64[1] k = {3}> "
       "{ v, i = TopK<largest = 0>(x, k) }"},
      {"scattered_rows",
       {sequence, {"n", 1, 7}},
       "g (float[s, 2] x, int64[n, 1] i, float[n, 2] u) => (float[s, 2] z) "
       "<int64 three = {3}> { j = Mod(i, three) k = Neg(j) "
       "l = Div(k, three) z = ScatterND<reduction = \"add\">(x, l, u) }",
       {},
       16},
      {"scattered_places",
       {batch, sequence},
       "g (float[b, s] x, float[1, 2] u) => (float[b, s] z) <int64[1, 2, 2] i = {0, 0, 0, -1}> "
       "{ z = ScatterND(x, i, u) }",
       {},
       16},
      {"scattered_along_the_open_axis",
       {batch, sequence},
       "g (float[b, s] x, int64[b, 1] i, float[b, 1] u) => (float[b, s] z) "
       "<int64 one = {1}> { j = Mod(i, one) k = Sub(j, one) "
       "z = ScatterElements<axis = 1>(x, k, u) }",
       {},
       16},
      {"gather_of_ids",
       {batch, sequence},
       "g (int64[b, s] x) => (float[b, s, 2] z) <float[3, 2] w = {1,2,3,4,5,6}, "
       "int64 three = {3}> { i = Mod(x, three) z = Gather(w, i) }"},
  };
}

}  // namespace bayloom::graph
