// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "benchmarks/peers/convolution.h"

#include <omp.h>

#include <algorithm>
#include <oneapi/dnnl/dnnl.hpp>
#include <unordered_map>

namespace bayloom {
namespace {

using dnnl::memory;

constexpr auto kFloat = memory::data_type::f32;

memory::desc ChannelsLast(int64_t height, int64_t channels) {
  return {{1, channels, height, height}, kFloat, memory::format_tag::nhwc};
}

memory::desc AnyFormat(const memory::dims& dims) { return {dims, kFloat, memory::format_tag::any}; }

/// [kernel, kernel, in / groups, out] as oneDNN sees it: [groups,] out, in, height, width, where
/// the output channels of a group are next to each other.
memory::desc PlainWeights(const ConvolutionLayer& s) {
  const int64_t in = s.in / s.groups;
  const int64_t out = s.out / s.groups;
  memory::dims dims = {out, in, s.kernel, s.kernel};
  memory::dims strides = {1, s.out, s.kernel * in * s.out, in * s.out};
  if (s.groups > 1) {
    dims.insert(dims.begin(), s.groups);
    strides.insert(strides.begin(), out);
  }
  return {dims, kFloat, strides};
}

dnnl::primitive_attr FusedRelu() {
  dnnl::post_ops relu;
  relu.append_eltwise(1, dnnl::algorithm::eltwise_relu, 0, 0);
  dnnl::primitive_attr attributes;
  attributes.set_post_ops(relu);
  return attributes;
}

dnnl::convolution_forward::primitive_desc Choose(const ConvolutionLayer& s,
                                                 const dnnl::engine& engine) {
  const int64_t out_height = s.OutputHeight();
  const memory::dims strides = {s.stride, s.stride};
  const memory::dims padding = {s.padding, s.padding};
  const dnnl::convolution_forward::desc desc(
      dnnl::prop_kind::forward_inference, dnnl::algorithm::convolution_auto,
      AnyFormat({1, s.in, s.height, s.height}), AnyFormat(PlainWeights(s).dims()),
      AnyFormat({s.out}), AnyFormat({1, s.out, out_height, out_height}), strides, padding, padding);
  return {desc, FusedRelu(), engine};
}

}  // namespace

struct PeerConvolution::State {
  State(const ConvolutionLayer& s, int thread_count)
      : shape(s), threads(thread_count), choice(Choose(s, engine)), convolution(choice) {}

  /// The values, given in `desc`'s format, in the format `wanted`.
  memory Reordered(std::span<const float> values, const memory::desc& desc,
                   const memory::desc& wanted) {
    memory plain(desc, engine, const_cast<float*>(values.data()));
    memory result(wanted, engine);
    dnnl::reorder(plain, result).execute(stream, plain, result);
    stream.wait();
    return result;
  }

  ConvolutionLayer shape;
  int threads;
  dnnl::engine engine{dnnl::engine::kind::cpu, 0};
  dnnl::stream stream{engine};
  dnnl::convolution_forward::primitive_desc choice;
  dnnl::convolution_forward convolution;
  std::unordered_map<int, memory> arguments;
};

PeerConvolution::PeerConvolution(const ConvolutionLayer& shape, std::span<const float> input,
                                 std::span<const float> weights, std::span<const float> bias,
                                 int threads) {
  omp_set_num_threads(threads);
  state_ = std::make_unique<State>(shape, threads);
  State& s = *state_;
  s.arguments = {
      {DNNL_ARG_SRC, s.Reordered(input, ChannelsLast(shape.height, shape.in), s.choice.src_desc())},
      {DNNL_ARG_WEIGHTS, s.Reordered(weights, PlainWeights(shape), s.choice.weights_desc())},
      {DNNL_ARG_BIAS,
       s.Reordered(bias, {{shape.out}, kFloat, memory::format_tag::a}, s.choice.bias_desc())},
      {DNNL_ARG_DST, memory(s.choice.dst_desc(), s.engine)},
  };
}

PeerConvolution::~PeerConvolution() = default;

void PeerConvolution::Run() {
  omp_set_num_threads(state_->threads);
  state_->convolution.execute(state_->stream, state_->arguments);
  state_->stream.wait();
}

std::vector<float> PeerConvolution::Output() const {
  State& s = *state_;
  std::vector<float> values(s.shape.OutputCount());
  memory plain(ChannelsLast(s.shape.OutputHeight(), s.shape.out), s.engine, values.data());
  memory result = s.arguments.at(DNNL_ARG_DST);
  dnnl::reorder(result, plain).execute(s.stream, result, plain);
  s.stream.wait();
  return values;
}

std::string PeerConvolution::Implementation() const { return state_->choice.impl_info_str(); }

std::string PeerConvolution::Version() {
  const dnnl_version_t& version = *dnnl_version();
  return std::to_string(version.major) + "." + std::to_string(version.minor) + "." +
         std::to_string(version.patch);
}

}  // namespace bayloom
