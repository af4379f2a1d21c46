// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/pretrain/operator_families.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <initializer_list>
#include <unordered_set>

#include "bayloom/base/hash.h"
#include "bayloom/base/random.h"
#include "bayloom/base/result.h"
#include "bayloom/tensor/operators.h"

namespace bayloom::pretrain {
namespace {

constexpr double kMaxFlops = 1.2e9;

int64_t AnyOf(base::RandomStream& random, std::initializer_list<int64_t> values) {
  return values.begin()[random.UniformInt(static_cast<int64_t>(values.size()))];
}

tensor::Epilogue AnyEpilogue(base::RandomStream& random) {
  return {.bias = random.UniformInt(4) > 0,
          .residual = random.UniformInt(5) == 0,
          .relu = random.UniformInt(3) > 0};
}

/// Extents and channels of an image layer: the smaller the image, the more channels.
tensor::Conv2dShape AnyImage(base::RandomStream& random) {
  tensor::Conv2dShape shape;
  shape.height = shape.width = AnyOf(random, {7, 8, 14, 16, 28, 32, 56, 64, 112});
  const int64_t most = shape.height >= 112 ? 64 : shape.height >= 56 ? 256 : 1024;
  do {
    shape.in_channels = AnyOf(random, {16, 24, 32, 48, 64, 96, 128, 144, 192, 256, 384, 512, 960});
  } while (shape.in_channels > most);
  shape.epilogue = AnyEpilogue(random);
  return shape;
}

void SetKernel(tensor::Conv2dShape& shape, int64_t kernel, int64_t stride, int64_t dilation = 1) {
  const int64_t pad = dilation * (kernel - 1) / 2;
  shape.kernel = {kernel, kernel};
  shape.options.stride = {stride, stride};
  shape.options.dilation = {dilation, dilation};
  shape.options.pad_before = shape.options.pad_after = {pad, pad};
}

tensor::Workload AnyConv2d(base::RandomStream& random) {
  tensor::Conv2dShape shape = AnyImage(random);
  shape.out_channels = AnyOf(random, {16, 32, 64, 96, 128, 160, 256, 320, 512});
  if (random.UniformInt(12) == 0) {  // a network's first layer
    shape.height = shape.width = AnyOf(random, {112, 160, 224});
    shape.in_channels = 3;
    shape.out_channels = AnyOf(random, {16, 32, 64});
  }
  SetKernel(shape, AnyOf(random, {1, 1, 3, 3, 3, 5, 7}), AnyOf(random, {1, 1, 2}));
  return tensor::Conv2dWorkload(shape);
}

tensor::Workload AnyGroupedConv2d(base::RandomStream& random) {
  tensor::Conv2dShape shape = AnyImage(random);
  shape.groups = AnyOf(random, {2, 4, 8, 32});
  const int64_t width = AnyOf(random, {4, 8, 16, 32});
  shape.in_channels = shape.out_channels = shape.groups * width;
  shape.epilogue.residual = false;
  SetKernel(shape, 3, AnyOf(random, {1, 1, 2}));
  return tensor::Conv2dWorkload(shape);
}

tensor::Workload AnyDilatedConv2d(base::RandomStream& random) {
  tensor::Conv2dShape shape = AnyImage(random);
  shape.out_channels = AnyOf(random, {32, 64, 128, 256});
  SetKernel(shape, 3, 1, AnyOf(random, {2, 4, 6}));
  return tensor::Conv2dWorkload(shape);
}

tensor::Workload AnyDepthwiseConv2d(base::RandomStream& random) {
  tensor::Conv2dShape shape = AnyImage(random);
  shape.groups = shape.out_channels = shape.in_channels;
  SetKernel(shape, AnyOf(random, {3, 3, 5, 7}), AnyOf(random, {1, 1, 2}));
  return tensor::Conv2dWorkload(shape);
}

tensor::Workload AnyDense(base::RandomStream& random) {
  const int64_t m = AnyOf(random, {1, 4, 16, 32, 64, 128, 256, 512});
  const int64_t n = AnyOf(random, {64, 128, 256, 384, 512, 768, 1000, 1024, 2048, 3072});
  const int64_t k = AnyOf(random, {64, 128, 256, 512, 768, 1024, 1280, 2048, 3072});
  return tensor::MatmulWorkload(m, n, k, tensor::DType::kFloat32, AnyEpilogue(random));
}

tensor::Workload AnyBatchMatmul(base::RandomStream& random) {
  const int64_t length = AnyOf(random, {32, 49, 64, 128, 197, 256, 384});
  const int64_t depth = AnyOf(random, {32, 64, 96, 128});
  const int64_t batch = AnyOf(random, {2, 4, 8, 12, 16, 24});
  // Attention's two products: scores, and the values they weigh.
  return random.UniformInt(2) == 0 ? tensor::BatchMatmulWorkload(batch, length, length, depth)
                                   : tensor::BatchMatmulWorkload(batch, length, depth, length);
}

tensor::Workload AnyPooling(base::RandomStream& random) {
  const tensor::Conv2dShape shape = AnyImage(random);
  tensor::WorkloadBuilder b("pooling");
  const tensor::Tensor x = b.Input("x", {1, shape.height, shape.width, shape.in_channels});
  if (random.UniformInt(4) == 0) return b.Build({tensor::GlobalAveragePool(b, "pool", x)});
  const int64_t kernel = AnyOf(random, {2, 3, 5}), pad = kernel / 2 * random.UniformInt(2);
  const int64_t stride = AnyOf(random, {1, 2});
  return b.Build({tensor::Pool2d(
      b, "pool", x,
      {.kind = random.UniformInt(2) == 0 ? tensor::PoolKind::kMax : tensor::PoolKind::kAverage,
       .kernel = {kernel, kernel},
       .stride = {stride, stride},
       .pad_before = {pad, pad},
       .pad_after = {pad, pad}})});
}

/// Rows of a sequence, or of the heads of an attention layer.
std::vector<int64_t> AnySequence(base::RandomStream& random,
                                 std::initializer_list<int64_t> widths) {
  const int64_t rows = AnyOf(random, {1, 16, 49, 64, 128, 197, 256, 384});
  const int64_t heads = AnyOf(random, {1, 1, 2, 4, 8, 12});
  return {heads, rows, AnyOf(random, widths)};
}

tensor::Workload AnySoftmax(base::RandomStream& random) {
  tensor::WorkloadBuilder b("softmax");
  const tensor::Tensor x =
      b.Input("x", AnySequence(random, {10, 32, 64, 128, 197, 256, 384, 512, 1000}));
  return b.Build({tensor::Softmax(b, "softmax", x)});
}

tensor::Workload AnyLayerNorm(base::RandomStream& random) {
  tensor::WorkloadBuilder b("layer_norm");
  const std::vector<int64_t> shape = AnySequence(random, {64, 96, 128, 192, 256, 384, 512, 768});
  const tensor::Tensor x = b.Input("x", shape);
  const tensor::Tensor scale = b.Constant("scale", {shape.back()});
  const tensor::Tensor shift = b.Constant("shift", {shape.back()});
  return b.Build({tensor::LayerNorm(b, "norm", x, scale, shift)});
}

tensor::Workload AnyElementwise(base::RandomStream& random) {
  tensor::WorkloadBuilder b("elementwise");
  const tensor::Conv2dShape image = AnyImage(random);
  const std::vector<int64_t> shape = {1, image.height, image.width, image.in_channels};
  tensor::Tensor x = b.Input("x", shape);
  const int64_t length = 1 + random.UniformInt(5);
  for (int64_t i = 0; i < length; ++i) {
    const std::string name = fmt::format("step{}", i);
    switch (random.UniformInt(6)) {
      case 0:
        x = tensor::Map(b, name, x, tensor::Relu);
        break;
      case 1:
        x = tensor::Map(b, name, x, tensor::Sigmoid);
        break;
      case 2:
        x = tensor::Map(b, name, x, tensor::Gelu);
        break;
      case 3:
        x = tensor::Zip(b, name, x, b.Input(name + "_other", shape),
                        [](const tensor::Expr& a, const tensor::Expr& c) { return a + c; });
        break;
      case 4:
        x = tensor::Zip(b, name, x, b.Constant(name + "_scale", {shape.back()}),
                        [](const tensor::Expr& a, const tensor::Expr& c) { return a * c; });
        break;
      default:
        x = tensor::Map(b, name, x, [](const tensor::Expr& a) { return tensor::Clip(a, 0, 6); });
    }
  }
  return b.Build({x});
}

struct Family {
  const char* name;
  tensor::Workload (*draw)(base::RandomStream&);
};

constexpr Family kFamilies[] = {
    {"conv2d", AnyConv2d},
    {"conv2d-grouped", AnyGroupedConv2d},
    {"conv2d-dilated", AnyDilatedConv2d},
    {"depthwise", AnyDepthwiseConv2d},
    {"dense", AnyDense},
    {"batch-matmul", AnyBatchMatmul},
    {"pooling", AnyPooling},
    {"softmax", AnySoftmax},
    {"layer-norm", AnyLayerNorm},
    {"elementwise", AnyElementwise},
};

}  // namespace

std::vector<std::string> FamilyNames() {
  std::vector<std::string> names;
  for (const Family& family : kFamilies) names.emplace_back(family.name);
  return names;
}

std::vector<tensor::Workload> DrawFamily(const std::string& family, int count, uint64_t seed) {
  const Family* found = nullptr;
  for (const Family& known : kFamilies) {
    if (known.name == family) found = &known;
  }
  if (found == nullptr) {
    throw InputError(fmt::format("there is no operator family '{}'; there are {}", family,
                                 fmt::join(FamilyNames(), ", ")));
  }
  base::RandomStream random(base::Hasher().Add(seed).Add(family).Digest());
  std::vector<tensor::Workload> drawn;
  std::unordered_set<uint64_t> hashes;
  for (int attempt = 0; attempt < 50 * count && static_cast<int>(drawn.size()) < count; ++attempt) {
    tensor::Workload workload = found->draw(random);
    if (workload.Flops() > kMaxFlops) continue;
    if (hashes.insert(workload.StructuralHash()).second) drawn.push_back(std::move(workload));
  }
  return drawn;
}

}  // namespace bayloom::pretrain
