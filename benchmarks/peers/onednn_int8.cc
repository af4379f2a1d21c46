// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "benchmarks/peers/onednn_int8.h"

#include <omp.h>

#include <oneapi/dnnl/dnnl.hpp>
#include <unordered_map>

namespace bayloom {
namespace {

using dnnl::memory;
using Type = memory::data_type;

memory::desc ByteImage(int64_t height, int64_t channels) {
  return {{1, channels, height, height}, Type::u8, memory::format_tag::nhwc};
}

memory::desc AnyFormat(const memory::desc& plain) {
  return {plain.dims(), plain.data_type(), memory::format_tag::any};
}

/// Multiplied by scales of the second dimension of the output: its channels or columns.
dnnl::primitive_attr ScaledBy(std::span<const float> scale) {
  dnnl::primitive_attr attributes;
  attributes.set_output_scales(1 << 1, {scale.begin(), scale.end()});
  return attributes;
}

/// How the caller's arrays lie in memory.
struct PlainFormats {
  memory::desc input, weights, bias, output;
};

PlainFormats FormatsOf(const ConvolutionLayer& s) {
  const memory::dims weights = {s.out, s.in, s.kernel, s.kernel};
  const memory::dims strides = {1, s.out, s.kernel * s.in * s.out, s.in * s.out};
  return {ByteImage(s.height, s.in),
          {weights, Type::s8, strides},
          {{s.out}, Type::s32, memory::format_tag::a},
          ByteImage(s.OutputHeight(), s.out)};
}

PlainFormats FormatsOf(int64_t m, int64_t n, int64_t k) {
  const auto tag = memory::format_tag::ab;
  return {{{m, k}, Type::u8, tag},
          {{k, n}, Type::s8, tag},
          {{1, n}, Type::s32, tag},
          {{m, n}, Type::u8, tag}};
}

}  // namespace

struct PeerQuantizedLayer::State {
  explicit State(int thread_count) : threads(thread_count) { omp_set_num_threads(threads); }

  template <class Array>
  memory Reordered(const Array& values, const memory::desc& desc, const memory::desc& wanted) {
    using Value = std::remove_const_t<typename Array::element_type>;
    memory plain(desc, engine, const_cast<Value*>(values.data()));
    memory result(wanted, engine);
    dnnl::reorder(plain, result).execute(stream, plain, result);
    stream.wait();
    return result;
  }

  /// Takes what the library chose, and puts the data into its formats.
  template <class Choice>
  void Prepare(const Choice& choice, const PlainFormats& plain, const QuantizedLayerData& data) {
    implementation = choice.impl_info_str();
    output = plain.output;
    arguments = {{DNNL_ARG_SRC, Reordered(data.input, plain.input, choice.src_desc())},
                 {DNNL_ARG_WEIGHTS, Reordered(data.weights, plain.weights, choice.weights_desc())},
                 {DNNL_ARG_BIAS, Reordered(data.bias, plain.bias, plain.bias)},
                 {DNNL_ARG_DST, memory(choice.dst_desc(), engine)}};
  }

  int threads;
  dnnl::engine engine{dnnl::engine::kind::cpu, 0};
  dnnl::stream stream{engine};
  dnnl::primitive layer;
  std::string implementation;
  memory::desc output;
  std::unordered_map<int, memory> arguments;
};

PeerQuantizedLayer::PeerQuantizedLayer(const ConvolutionLayer& shape,
                                       const QuantizedLayerData& data, int threads)
    : state_(std::make_unique<State>(threads)) {
  const PlainFormats plain = FormatsOf(shape);
  const memory::dims strides = {shape.stride, shape.stride};
  const memory::dims padding = {shape.padding, shape.padding};
  const dnnl::convolution_forward::desc desc(
      dnnl::prop_kind::forward_inference, dnnl::algorithm::convolution_auto, AnyFormat(plain.input),
      AnyFormat(plain.weights), plain.bias, AnyFormat(plain.output), strides, padding, padding);
  const dnnl::convolution_forward::primitive_desc choice(desc, ScaledBy(data.scale),
                                                         state_->engine);
  state_->layer = dnnl::convolution_forward(choice);
  state_->Prepare(choice, plain, data);
}

PeerQuantizedLayer::PeerQuantizedLayer(int64_t m, int64_t n, int64_t k,
                                       const QuantizedLayerData& data, int threads)
    : state_(std::make_unique<State>(threads)) {
  const PlainFormats plain = FormatsOf(m, n, k);
  const dnnl::matmul::desc desc(plain.input, AnyFormat(plain.weights), plain.bias, plain.output);
  const dnnl::matmul::primitive_desc choice(desc, ScaledBy(data.scale), state_->engine);
  state_->layer = dnnl::matmul(choice);
  state_->Prepare(choice, plain, data);
}

PeerQuantizedLayer::~PeerQuantizedLayer() = default;

void PeerQuantizedLayer::Run() {
  omp_set_num_threads(state_->threads);
  state_->layer.execute(state_->stream, state_->arguments);
  state_->stream.wait();
}

std::vector<uint8_t> PeerQuantizedLayer::Output() const {
  State& s = *state_;
  std::vector<uint8_t> values(s.output.get_size());
  memory plain(s.output, s.engine, values.data());
  memory result = s.arguments.at(DNNL_ARG_DST);
  dnnl::reorder(result, plain).execute(s.stream, result, plain);
  s.stream.wait();
  return values;
}

std::string PeerQuantizedLayer::Implementation() const { return state_->implementation; }

}  // namespace bayloom
