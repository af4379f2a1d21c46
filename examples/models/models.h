// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "examples/models/graph_builder.h"

namespace bayloom::models {

/// A network of a published architecture, with random weights.
struct Model {
  std::string_view name;
  std::string_view summary;
  GraphBuilder (*build)(uint64_t seed);
};

/// All networks, smallest families first.
const std::vector<Model>& Models();

/// The network of that name; throws InputError, naming those that exist.
const Model& FindModel(std::string_view name);

// Convolutional networks for images of 3 x 224 x 224, with 1000 logits as output.

/// He, Zhang, Ren, Sun: Deep residual learning for image recognition, 2016.
GraphBuilder ResNet18(uint64_t seed);
/// With the stride in the 3 x 3 convolution of a bottleneck, as all frameworks have it.
GraphBuilder ResNet50(uint64_t seed);
/// Sandler et al.: MobileNetV2: inverted residuals and linear bottlenecks, 2018.
GraphBuilder MobileNetV2(uint64_t seed);
/// Iandola et al.: SqueezeNet, 2016, in the cheaper version 1.1 of its authors.
GraphBuilder SqueezeNet11(uint64_t seed);
/// Huang et al.: Densely connected convolutional networks, 2017: every layer reads the results of
/// all layers before it in its block.
GraphBuilder DenseNet121(uint64_t seed);
/// Szegedy et al.: Rethinking the Inception architecture, 2016, without the auxiliary classifier;
/// images of 3 x 299 x 299.
GraphBuilder InceptionV3(uint64_t seed);
/// Simonyan, Zisserman: Very deep convolutional networks (configuration D), 2014.
GraphBuilder Vgg16(uint64_t seed);

// Transformers over 128 positions.

/// Devlin et al.: BERT, 2018: token ids in, the last hidden states out. Two layers of width 128.
GraphBuilder BertTiny(uint64_t seed);
/// Twelve layers of width 768.
GraphBuilder BertBase(uint64_t seed);
/// Radford et al.: Language models are unsupervised multitask learners, 2019: one block of the
/// smallest model, hidden states in and out, each position seeing those before it.
GraphBuilder Gpt2Block(uint64_t seed);

// Recurrent networks, of the shapes that speech and text tools ship.

/// A second of samples and a state in, the probability of speech in every frame and the state out:
/// a Fourier transform as a convolution, an encoder, an LSTM.
GraphBuilder VoiceDetector(uint64_t seed);
/// 100 frames of 40 features in, the probabilities of 12 words out.
GraphBuilder KeywordSpotter(uint64_t seed);
/// 128 tokens in, the scores of 20 tags of each out.
GraphBuilder SequenceTagger(uint64_t seed);

}  // namespace bayloom::models
