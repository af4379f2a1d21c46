// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

/// Module base: errors, random streams, threads, subprocesses and commands, scratch folders, files,
/// durations, hashing, registries of named variants, limits of text from others, its JSON and
/// lines.

#include "bayloom/base/base64.h"
#include "bayloom/base/byte_size.h"
#include "bayloom/base/clock.h"
#include "bayloom/base/duration.h"
#include "bayloom/base/emulator.h"
#include "bayloom/base/file.h"
#include "bayloom/base/hash.h"
#include "bayloom/base/job_limits.h"
#include "bayloom/base/json.h"
#include "bayloom/base/memory_advice.h"
#include "bayloom/base/operator_parser.h"
#include "bayloom/base/option_error.h"
#include "bayloom/base/out_of_memory.h"
#include "bayloom/base/path_error.h"
#include "bayloom/base/prime_factors.h"
#include "bayloom/base/quantile.h"
#include "bayloom/base/random.h"
#include "bayloom/base/read_line.h"
#include "bayloom/base/registry.h"
#include "bayloom/base/result.h"
#include "bayloom/base/run_command.h"
#include "bayloom/base/scratch_folder.h"
#include "bayloom/base/shell_text.h"
#include "bayloom/base/shorthand.h"
#include "bayloom/base/single_line.h"
#include "bayloom/base/spelling.h"
#include "bayloom/base/stop_flag.h"
#include "bayloom/base/subprocess.h"
#include "bayloom/base/system_error.h"
#include "bayloom/base/text_limits.h"
#include "bayloom/base/thread_pool.h"
#include "bayloom/base/token.h"
#include "bayloom/base/utf8.h"
#include "bayloom/base/version.h"
#include "bayloom/base/write_ignoring_sigpipe.h"

namespace bayloom {

using base::Version;

}  // namespace bayloom
