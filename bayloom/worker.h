// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

/// Module worker: evaluating candidates in other processes, on this and other machines, by a line
/// protocol: messages, the workers' server, the tuner's pool of workers.

#include "bayloom/worker/bench.h"
#include "bayloom/worker/messages.h"
#include "bayloom/worker/pool.h"
#include "bayloom/worker/remote_evaluator.h"
#include "bayloom/worker/server.h"
