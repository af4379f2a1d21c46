// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "tests/optimizer/spaces.h"

#include <cmath>

#include "bayloom/base/result.h"
#include "bayloom/space/parameter.h"

namespace bayloom::optimizer {
namespace {

std::shared_ptr<const space::Space> Finish(space::Space::Builder& builder,
                                           const std::vector<std::string>& constraints = {}) {
  for (const std::string& text : constraints) {
    if (const Status added = builder.AddConstraint(text); !added) {
      throw InputError(added.error().message);
    }
  }
  Result<std::shared_ptr<const space::Space>> space = builder.Build();
  if (!space) throw InputError(space.error().message);
  return *space;
}

/// Figure 4 of Hellsten et al. 2023.
std::shared_ptr<const space::Space> FigureFour() {
  space::Space::Builder builder;
  builder.Add(space::MakeOrdinal("p1", {2, 4}));
  builder.Add(space::MakeOrdinal("p2", {2, 4}));
  builder.Add(space::MakeOrdinal("p3", {1, 4}));
  builder.Add(space::MakeOrdinal("p4", {1, 2, 4}));
  builder.Add(space::MakeOrdinal("p5", {2, 4, 8}));
  return Finish(builder, {"p1 >= p2", "p4 >= p3", "p5 >= 2 * p4"});
}

std::shared_ptr<const space::Space> Single() {
  space::Space::Builder builder;
  builder.Add(space::MakeInteger("only", 7, 7));
  builder.Add(space::MakeCategorical("choice", {"this"}));
  return Finish(builder);
}

std::shared_ptr<const space::Space> Mixed() {
  space::Space::Builder builder;
  builder.Add(space::MakePermutation("order", 4));
  builder.Add(space::MakeFactorization("tile", 48, 3));
  builder.Add(space::MakeCategorical("schedule", {"static", "dynamic", "guided"}));
  builder.Add(space::MakeInteger("threads", 1, 6));
  return Finish(builder, {"threads != 5"});
}

std::shared_ptr<const space::Space> Real() {
  space::Space::Builder builder;
  builder.Add(space::MakeReal("rate", 1e-3, 10, space::Scale::kLog));
  builder.Add(space::MakeReal("share", -1, 1));
  builder.Add(space::MakeInteger("count", 1, 1000, space::Scale::kLog));
  return Finish(builder, {"share <= rate"});
}

std::shared_ptr<const space::Space> Large() {
  space::Space::Builder builder;
  std::vector<double> powers;
  for (double p = 1; p <= 1024; p *= 2) powers.push_back(p);
  for (int i = 0; i < 10; ++i) {
    builder.Add(space::MakeOrdinal("t" + std::to_string(i), powers, space::Scale::kLog));
  }
  return Finish(builder, {"t0 % t1 == 0", "t2 * t3 <= 1024"});
}

void AddCondition(space::Space::Builder& builder, const std::string& name,
                  const std::string& text) {
  if (const Status added = builder.AddCondition(name, text); !added) {
    throw InputError(added.error().message);
  }
}

/// Few enough to be tried one and all: 2 + 4 * 3 + 1 configurations.
std::shared_ptr<const space::Space> Conditional() {
  space::Space::Builder builder;
  builder.Add(space::MakeCategorical("kind", {"a", "b", "c"}));
  builder.Add(space::MakeInteger("count", 1, 2));
  builder.Add(space::MakeOrdinal("tile", {1, 2, 4, 8}, space::Scale::kLog));
  builder.Add(space::MakeCategorical("layout", {"x", "y", "z"}));
  AddCondition(builder, "count", "kind == 'a'");
  AddCondition(builder, "tile", "kind == 'b'");
  AddCondition(builder, "layout", "tile >= 1");
  return Finish(builder);
}

/// Conditions in conditions, every kind, and real numbers.
std::shared_ptr<const space::Space> DeeplyConditional() {
  space::Space::Builder builder;
  builder.Add(space::MakeInteger("level", 0, 3));
  builder.Add(space::MakePermutation("order", 4));
  builder.Add(space::MakeFactorization("split", 64, 3));
  builder.Add(space::MakeReal("rate", 0, 1));
  builder.Add(space::MakeInteger("size", 1, 64, space::Scale::kLog));
  AddCondition(builder, "order", "level >= 1");
  AddCondition(builder, "split", "level in [2, 3] and order[0] != 0");
  AddCondition(builder, "rate", "level == 3");
  AddCondition(builder, "size", "rate < 0.7 or level == 1");
  return Finish(builder, {"size % split[2] == 0"});
}

}  // namespace

std::vector<SpaceCase> AllSpaceCases() {
  return {{"figure4", FigureFour}, {"single", Single},           {"mixed", Mixed},
          {"real", Real},          {"conditional", Conditional}, {"nested", DeeplyConditional},
          {"large", Large}};
}

trial::Outcome Evaluate(const space::Configuration& configuration) {
  double sum = 1;
  for (size_t i = 0; i < configuration.coordinates.size(); ++i) {
    const double distance = configuration.coordinates[i] - static_cast<double>(i % 3);
    sum += distance * distance / static_cast<double>(i + 1);
  }
  trial::Outcome outcome;
  outcome.value = std::sqrt(sum);
  return outcome;
}

}  // namespace bayloom::optimizer
