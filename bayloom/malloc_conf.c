// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

/// What jemalloc reads when a program starts: memory that was freed is kept for the next use. Given
/// back, each large matrix of a Gaussian process costs page faults, a fifth of a suggestion's time.
const char* malloc_conf = "dirty_decay_ms:-1";
