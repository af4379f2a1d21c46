// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "bayloom/search/command_template.h"
#include "bayloom/search/kernel_definition.h"
#include "bayloom/trial/answer.h"

namespace bayloom::search {

/// How the value of a configuration is found out.
enum class EvaluatorKind : uint8_t {
  kNone,      ///< the scenario does not say: the caller asks and tells
  kCommand,   ///< a program is run for every configuration
  kProcess,   ///< a program stays and answers line by line
  kRecorded,  ///< a recorded space is looked up
  kKernel,    ///< a source is compiled, called, checked and timed (module kernel)
};

struct EvaluatorOptions {
  EvaluatorKind kind = EvaluatorKind::kNone;

  // A command or a process.
  /// Program and arguments, with holes for values and for `{work}` and `{here}` (see
  /// evaluator.h).
  std::vector<TextTemplate> arguments;
  bool is_shell = false;    ///< values go into a shell's text: they are quoted for it
  bool json_input = false;  ///< a command gets the configuration as JSON on its standard input
  trial::AnswerFormat answer;
  double timeout = std::numeric_limits<double>::infinity();  ///< seconds for one configuration
  /// Beside it, as a multiple of the time that the evaluation of the best took; see TimeLimit.
  double timeout_over_best = std::numeric_limits<double>::infinity();
  /// Of the address space of each process, and of the memory that all use together; 0: no limit.
  int64_t memory_limit_bytes = 0;
  /// No network, and no file to be written to but in `{work}`, which is TMPDIR as well.
  bool sandbox = false;
  std::string directory;  ///< where it runs; empty: where this process does
  std::vector<std::pair<std::string, TextTemplate>> environment;
  std::string here;  ///< the scenario's folder

  // A recorded space.
  std::string recorded;  ///< path of a T4 file
  /// Name of the recorded value; empty: the file's first objective. Others are `answer.fields`
  /// behind the first.
  std::string measurement;

  std::shared_ptr<const KernelDefinition> kernel;  ///< of a kernel
};

}  // namespace bayloom::search
