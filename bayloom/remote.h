// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

/// Module remote: evaluating candidates in other processes, on this and other machines, by a line
/// protocol: messages, the workers' server, the tuner's pool of workers.

#include "bayloom/remote/answer_seconds.h"
#include "bayloom/remote/candidate_evaluator.h"
#include "bayloom/remote/messages.h"
#include "bayloom/remote/pool.h"
#include "bayloom/remote/remote_evaluator.h"
#include "bayloom/remote/server.h"
