// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#ifndef BAYLOOM_GPU_OPEN_H_
#define BAYLOOM_GPU_OPEN_H_

/* What is known of networks with open dimensions when they run on a GPU: how many blocks a launch
 * needs, where the callers' elements go, and which graphs there are. Plain C11; it is shipped with
 * the runtime. */

#include <stdbool.h>
#include <stdint.h>

#include "bayloom_cuda.h"
#include "bayloom_gpu.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Blocks that a launch needs; `sizes` are the values of the first arguments. */
int64_t bayloom_gpu_blocks(const bayloom_gpu_launch* launch, const int64_t* sizes);

/* Copies a tensor from the caller's memory to where it lies in the network, or back; rows at a
 * time. Returns a code of the driver. */
int bayloom_gpu_spread(const bayloom_cuda* cuda, const bayloom_gpu_open_tensor* tensor,
                       const int64_t* lengths, bayloom_cu_pointer network, const void* callers,
                       bayloom_cu_stream stream);
int bayloom_gpu_gather(const bayloom_cuda* cuda, const bayloom_gpu_open_tensor* tensor,
                       const int64_t* lengths, bayloom_cu_pointer network, void* callers,
                       bayloom_cu_stream stream);

/* The graph of a plan for some lengths. */
typedef struct {
  int plan;                    /* -1: this place is free */
  bayloom_cu_graph_exec graph; /* null: none was captured */
  uint64_t last;               /* when it was asked for */
  int64_t* lengths;
} bayloom_gpu_graph;

enum { BAYLOOM_GPU_OPEN_GRAPHS = 16 }; /* that are kept, besides one of each plan */

typedef struct {
  int count;
  int64_t length_count; /* of the plan that has most */
  uint64_t now;
  bayloom_gpu_graph* all;
  int64_t* lengths; /* of all of them */
} bayloom_gpu_graphs;

/* False where there is no memory. */
bool bayloom_gpu_graphs_create(bayloom_gpu_graphs* graphs, const bayloom_gpu_network* network);
void bayloom_gpu_graphs_destroy(bayloom_gpu_graphs* graphs, const bayloom_cuda* cuda);
/* The place for the graph of a plan for these lengths, as many as the plan has: if it is new
 * (`is_new`), that of the graph that was not asked for for longest, which is destroyed. */
bayloom_gpu_graph* bayloom_gpu_graph_for(bayloom_gpu_graphs* graphs, const bayloom_cuda* cuda,
                                         int plan, const int64_t* lengths, int64_t length_count,
                                         bool* is_new);

#ifdef __cplusplus
}
#endif

#endif /* BAYLOOM_GPU_OPEN_H_ */
