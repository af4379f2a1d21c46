// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

// Writes networks of published architectures, with seeded random weights, as ONNX files.

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <string>
#include <vector>

#include "bayloom/base/result.h"
#include "examples/models/models.h"

using namespace bayloom;
using namespace bayloom::models;

namespace {

void List() {
  for (const Model& model : Models()) fmt::print("{:<16}{}\n", model.name, model.summary);
}

void Write(const Model& model, uint64_t seed, const std::string& path) {
  model.build(seed).Save(path);
  fmt::print("{}: {}, {:.1f} MB\n", path, model.summary, std::filesystem::file_size(path) / 1e6);
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Writes ONNX networks with seeded random weights.", "bayloom-models");
  app.footer(
      "Examples:\n"
      "  bayloom-models --list\n"
      "  bayloom-models resnet18 mobilenet_v2\n"
      "  bayloom-models bert_tiny --seed 7 --out bert.onnx");
  std::vector<std::string> names;
  std::string out;
  uint64_t seed = 0;
  bool list = false;
  app.add_option("models", names, "Networks to write; see --list");
  app.add_option("--out,-o", out, "File to write, for one network; the default is <model>.onnx");
  app.add_option("--seed", seed, "Seed of the weights")->capture_default_str();
  app.add_flag("--list", list, "List the networks and exit");
  try {
    app.parse(argc, argv);
    if (list) {
      List();
    } else {
      if (names.empty()) throw InputError("say which model to write; --list shows them");
      if (!out.empty() && names.size() > 1) throw InputError("--out is for one model");
      std::vector<Model> models;
      for (const std::string& name : names) models.push_back(FindModel(name));
      for (const Model& model : models) {
        Write(model, seed, out.empty() ? fmt::format("{}.onnx", model.name) : out);
      }
    }
  } catch (const CLI::CallForHelp& help) {
    return app.exit(help);
  } catch (const CLI::ParseError& error) {
    fmt::print(stderr, "bayloom-models: {}\n", error.what());
    return 2;
  } catch (const InputError& error) {
    fmt::print(stderr, "bayloom-models: {}\n", error.what());
    return 2;
  } catch (const std::exception& error) {
    fmt::print(stderr, "bayloom-models: {}\n", error.what());
    return 1;
  }
  return 0;
}
