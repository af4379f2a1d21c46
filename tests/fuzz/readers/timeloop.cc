// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

// Timeloop's files (architectures, problems, mappings, constraints), and operations in short form
// where the input is one line.

#include <functional>

#include "bayloom/base/result.h"
#include "bayloom/mapspace/constraints.h"
#include "bayloom/mapspace/model.h"
#include "bayloom/mapspace/problem.h"
#include "bayloom/mapspace/timeloop_yaml.h"
#include "tests/fuzz/reader.h"

namespace bayloom::fuzz {

namespace {

/// Everything that can be said of zeros, on the dimensions and tensors of a matrix product.
constexpr char kSparse[] = R"(arch:
  arithmetic: {name: mac, word-bits: 8, gated_energy: 0.1}
  storage:
  - {name: Buffer, entries: 64, word-bits: 8, tile_confidence: 0.9, gated_access_energy: 0.5}
  - {name: Outer, technology: DRAM, word-bits: 8, block-size: 8, metadata_datawidth: 4,
     metadata_storage_width: 64, metadata_storage_depth: 128}
sparse_optimizations:
  targets:
  - name: Outer
    representation-format:
      data-spaces:
      - name: Weights
        rank-application-order: inner-to-outer
        ranks:
        - {format: UOP, payload-word-bits: 0}
        - {format: B, metadata-word-bits: 1, flattened-rankIDs: [[K, J], [I]]}
      - {name: Inputs, ranks: [{format: UB}, {format: RLE}, {format: CP}]}
  - name: Buffer
    action-optimization:
    - {type: gating, target: Inputs, condition-on: [Weights]}
    - {type: skipping, options: [{target: Outputs, condition-on: [Weights, Inputs]}]}
    - {type: skipping-spatial, target: Weights, condition-on: [Inputs]}
  - {name: mac, compute-optimization: [{type: gating}, {type: skipping}]}
)";

mapspace::Problem SparseProduct() {
  mapspace::Problem problem = mapspace::MatmulProblem(8, 8, 8);
  problem.tensors[0].density = mapspace::ParseDensity("0.3");
  problem.tensors[0].word_bits = 4;
  problem.tensors[1].density = mapspace::ParseDensity("2:4");
  return problem;
}

}  // namespace

std::vector<std::string> Seeds() {
  std::vector<std::string> seeds = {"matmul:512,512,512", "conv2d:56x56x64,128,3x3,stride=2,pad=1",
                                    "depthwise:56x56x144,3x3,pad=1"};
  for (const std::string& name : mapspace::ShippedArchitectureNames()) {
    seeds.push_back(mapspace::PrintArchitectureYaml(mapspace::ShippedArchitecture(name)));
  }
  for (const char* operation : {"matmul:8,8,8", "conv2d:9x7x1,1,3x2,dilation=2x1,batch=4"}) {
    seeds.push_back(mapspace::PrintProblemYaml(mapspace::ParseProblem(operation)));
  }
  seeds.push_back(kSparse);
  seeds.push_back(mapspace::PrintProblemYaml(SparseProduct()));
  return seeds;
}

void Read(const std::string& input) {
  const mapspace::Problem matmul = mapspace::MatmulProblem(8, 8, 8);
  const mapspace::Architecture gemmini = mapspace::ShippedArchitecture("gemmini");
  if (input.find('\n') == std::string::npos) return (void)mapspace::ParseProblem(input);
  const std::string path = WriteScratch("timeloop.yaml", input);
  // Each looks for its own section; the input is refused if all refuse it.
  const std::function<void()> readers[] = {
      [&] {
        const mapspace::Architecture read = mapspace::ParseArchitectureYaml(input, "a.yaml");
        (void)mapspace::ResolveConstraints(read.constraints, matmul, read);
        (void)mapspace::ParseArchitectureYaml(mapspace::PrintArchitectureYaml(read), "a.yaml");
        const mapspace::AnalyticalModel model(SparseProduct(), read);
        (void)model.Evaluate(mapspace::OutermostMapping(model.problem(), read));
      },
      [&] {
        const mapspace::Problem read = mapspace::ParseProblemYaml(input, "p.yaml");
        (void)mapspace::ParseProblemYaml(mapspace::PrintProblemYaml(read), "p.yaml");
      },
      [&] { (void)mapspace::ParseMappingYaml(input, "m.yaml", matmul, gemmini); },
      [&] { (void)mapspace::ResolveConstraints(mapspace::ReadConstraints(path), matmul, gemmini); },
  };
  bool is_accepted = false;
  std::string refusal;
  for (const std::function<void()>& read : readers) {
    try {
      read();
      is_accepted = true;
    } catch (const InputError& error) {
      // The longest is the one that most likely breaks the rules of messages.
      if (std::string(error.what()).size() > refusal.size()) refusal = error.what();
    }
  }
  if (!is_accepted) throw InputError(refusal);
}

std::optional<std::string> MutateStructure(const std::string&, base::RandomStream&) {
  return std::nullopt;
}

}  // namespace bayloom::fuzz
