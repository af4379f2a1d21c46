// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "examples/models/models.h"

#include "bayloom/base/result.h"

namespace bayloom::models {

const std::vector<Model>& Models() {
  static const std::vector<Model> models = {
      {"squeezenet1.1", "SqueezeNet 1.1, 1.2 million parameters", SqueezeNet11},
      {"mobilenet_v2", "MobileNet v2, 3.5 million parameters", MobileNetV2},
      {"densenet121", "DenseNet-121, 8 million parameters", DenseNet121},
      {"resnet18", "ResNet-18, 12 million parameters", ResNet18},
      {"inception_v3", "Inception v3, 24 million parameters", InceptionV3},
      {"resnet50", "ResNet-50, 26 million parameters", ResNet50},
      {"vgg16", "VGG-16, 138 million parameters", Vgg16},
      {"bert_tiny", "BERT encoder, 2 layers of width 128, 128 tokens", BertTiny},
      {"bert_base", "BERT encoder, 12 layers of width 768, 128 tokens", BertBase},
      {"gpt2_block", "one block of GPT-2 small, width 768, 128 positions", Gpt2Block},
      {"voice_detector", "convolutions and an LSTM of width 128 over one second", VoiceDetector},
      {"keyword_spotter", "two GRU of width 128 over 100 frames", KeywordSpotter},
      {"sequence_tagger", "two bidirectional LSTM of width 256 over 128 tokens", SequenceTagger},
  };
  return models;
}

const Model& FindModel(std::string_view name) {
  std::string known;
  for (const Model& model : Models()) {
    if (model.name == name) return model;
    known += (known.empty() ? "" : ", ") + std::string(model.name);
  }
  throw InputError("no model is called '" + std::string(name) + "'; there are " + known);
}

}  // namespace bayloom::models
