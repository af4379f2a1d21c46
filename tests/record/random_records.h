// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "bayloom/base/hash.h"
#include "bayloom/base/random.h"
#include "bayloom/record/program_pool.h"
#include "bayloom/record/sample_store.h"

namespace bayloom::record {

/// Text that a database can hold: JSON or almost, of any encoding.
inline std::string RandomText(base::RandomStream& random) {
  static const std::string kTexts[] = {"",
                                       "plain",
                                       "null",
                                       "\"quoted\"",
                                       "[1, 2]",
                                       "[1,2]",
                                       "{\"b\":1,\"a\":2}",
                                       "1e5",
                                       "100000",
                                       "1.50",
                                       "-0.0",
                                       "{\"base64\":\"\"}",
                                       "caf\xe9",
                                       "\x1b[31m\n\r\t",
                                       "true",
                                       "{\"a\":1}",
                                       "[[1],0]",
                                       "\xff\xfe",
                                       "{",
                                       "\xc2\x9b 1",
                                       "123456789012345678901234567890"};
  const std::string& text = kTexts[random.UniformInt(std::size(kTexts))];
  return random.UniformInt(8) == 0 ? text + std::string("\0z", 2) : text;
}

inline double RandomReal(base::RandomStream& random) {
  static const double kReals[] = {NAN, INFINITY, -INFINITY, -0.0, 5e-324, 1.7976931348623157e308};
  return random.UniformInt(2) == 0 ? random.Normal() : kReals[random.UniformInt(std::size(kReals))];
}

/// What a trial of a search can have for a value.
inline double RandomValue(base::RandomStream& random) {
  const double real = RandomReal(random);
  return std::isfinite(real) ? real : 0;
}

/// Of a program: a value is a time.
inline trial::Outcome RandomOutcome(base::RandomStream& random) {
  if (random.UniformInt(4) == 0) {
    return trial::Outcome::Infeasible(static_cast<trial::Verdict>(1 + random.UniformInt(6)),
                                      RandomText(random));
  }
  trial::Outcome outcome = trial::Outcome::Feasible(std::exp(4 * random.Normal()));
  // By name, as they are read.
  for (const char* name : {"an energy / pJ", "build_seconds", "cut_short", "drift", "zebra"}) {
    if (random.UniformInt(2) == 0) outcome.Set(name, random.Normal());
  }
  return outcome;
}

inline std::vector<PoolProgram> RandomPrograms(base::RandomStream& random) {
  std::vector<PoolProgram> programs(1 + random.UniformInt(4));
  for (PoolProgram& program : programs) {
    program.hash = random.Next();
    program.space = static_cast<int>(random.UniformInt(3));
    program.origin = "evolved";
    program.trace = "[" + std::to_string(random.UniformInt(100)) + "]";
    program.features.rows = static_cast<int>(random.UniformInt(3));
    program.features.values.resize(program.features.rows * feature::kFeatureColumns, 0.25f);
  }
  return programs;
}

inline std::vector<MeasuredSample> RandomSamples(base::RandomStream& random) {
  std::vector<MeasuredSample> samples;
  for (PoolProgram& program : RandomPrograms(random)) {
    samples.push_back(
        {.hash = program.hash,
         .seconds = random.UniformInt(4) == 0 ? std::nullopt : std::optional(random.Uniform() + 1),
         .features = std::move(program.features)});
  }
  return samples;
}

inline StoredModel RandomModel(base::RandomStream& random) {
  StoredModel model = {.given = 5, .trials = 4, .tasks = 1, .bytes = RandomText(random)};
  model.bytes += std::to_string(random.Next());
  model.hash = base::Hasher().Add(model.bytes).Digest();
  return model;
}

}  // namespace bayloom::record
