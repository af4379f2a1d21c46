// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom_gpu_open.h"

#include <stdlib.h>
#include <string.h>

#include "bayloom_open.h"

int64_t bayloom_gpu_blocks(const bayloom_gpu_launch* launch, const int64_t* sizes) {
  if (launch->reach_count == 0) return launch->blocks;
  int64_t iterations = launch->fixed_iterations, furthest = 1;
  for (int64_t i = 0; i < launch->reach_count; ++i) {
    const bayloom_gpu_reach* reach = &launch->reaches[i];
    const int64_t left = sizes[reach->size] - reach->before;
    int64_t steps = ((left > 1 ? left : 1) + reach->step - 1) / reach->step;
    if (steps > reach->most) steps = reach->most;
    if (steps > furthest) furthest = steps;
    if (reach->or_next) continue;
    iterations *= furthest;
    furthest = 1;
  }
  return (iterations + launch->block_share - 1) / launch->block_share;
}

/* One side of a copy: in the memory of the GPU, or not. */
typedef struct {
  bool is_network;
  size_t pitch;
} Side;

static int CopyRows(const bayloom_cuda* cuda, bayloom_cu_pointer network, void* callers, Side from,
                    Side to, size_t row_bytes, size_t rows, bayloom_cu_stream stream) {
  bayloom_cu_rows copy;
  memset(&copy, 0, sizeof(copy));
  copy.from_type = from.is_network ? BAYLOOM_CU_DEVICE : BAYLOOM_CU_HOST;
  copy.to_type = to.is_network ? BAYLOOM_CU_DEVICE : BAYLOOM_CU_HOST;
  copy.from_host = callers;
  copy.from_device = network;
  copy.from_pitch = from.pitch;
  copy.to_host = callers;
  copy.to_device = network;
  copy.to_pitch = to.pitch;
  copy.row_bytes = row_bytes;
  copy.rows = rows;
  return cuda->CopyRows(&copy, stream);
}

/* A row is all of the last dimensions that are as long as they can be, and the one before them;
 * rows along the dimension before that are copied together. */
static int Copy(const bayloom_cuda* cuda, const bayloom_gpu_open_tensor* tensor,
                const int64_t* of_symbols, bayloom_cu_pointer network, char* callers,
                bool to_network, bayloom_cu_stream stream) {
  int64_t lengths[BAYLOOM_MAX_RANK], index[BAYLOOM_MAX_RANK] = {0}, stride[BAYLOOM_MAX_RANK];
  const int rank = (int)tensor->rank;
  for (int d = 0; d < rank; ++d) {
    lengths[d] = bayloom_length_value(tensor->lengths[d], of_symbols);
    if (lengths[d] == 0) return BAYLOOM_CU_SUCCESS;
  }
  int64_t row = tensor->element_bytes, rows = 1;
  int outer = rank;
  while (outer > 0 && lengths[outer - 1] == tensor->extents[outer - 1]) {
    row *= tensor->extents[--outer];
  }
  int64_t pitch = row;
  if (outer > 0) {
    pitch *= tensor->extents[--outer];
    row *= lengths[outer];
  }
  int64_t apart = pitch, copies = 1;
  if (outer > 0) {
    apart *= tensor->extents[--outer];
    rows = lengths[outer];
  }
  for (int d = outer - 1; d >= 0; --d) {
    stride[d] = apart;
    apart *= tensor->extents[d];
    copies *= lengths[d];
  }
  const Side there = {true, (size_t)pitch}, here = {false, (size_t)row};
  for (int64_t i = 0; i < copies; ++i) {
    const int code = CopyRows(cuda, network, callers, to_network ? here : there,
                              to_network ? there : here, (size_t)row, (size_t)rows, stream);
    if (code != BAYLOOM_CU_SUCCESS) return code;
    callers += row * rows;
    for (int d = outer - 1; d >= 0; --d) {
      network += (uint64_t)stride[d];
      if (++index[d] < lengths[d]) break;
      network -= (uint64_t)(stride[d] * lengths[d]);
      index[d] = 0;
    }
  }
  return BAYLOOM_CU_SUCCESS;
}

int bayloom_gpu_spread(const bayloom_cuda* cuda, const bayloom_gpu_open_tensor* tensor,
                       const int64_t* lengths, bayloom_cu_pointer network, const void* callers,
                       bayloom_cu_stream stream) {
  /* The driver only reads it. */
  return Copy(cuda, tensor, lengths, network, (char*)(uintptr_t)callers, true, stream);
}

int bayloom_gpu_gather(const bayloom_cuda* cuda, const bayloom_gpu_open_tensor* tensor,
                       const int64_t* lengths, bayloom_cu_pointer network, void* callers,
                       bayloom_cu_stream stream) {
  return Copy(cuda, tensor, lengths, network, (char*)callers, false, stream);
}

bool bayloom_gpu_graphs_create(bayloom_gpu_graphs* graphs, const bayloom_gpu_network* network) {
  graphs->now = 0;
  graphs->length_count = 0;
  for (int p = 0; p < network->plan_count; ++p) {
    const int64_t count = network->plans[p].length_count;
    if (count > graphs->length_count) graphs->length_count = count;
  }
  graphs->count = network->plan_count + (graphs->length_count > 0 ? BAYLOOM_GPU_OPEN_GRAPHS : 0);
  const size_t count = (size_t)graphs->count;
  graphs->all = calloc(count + 1, sizeof(*graphs->all));
  graphs->lengths = calloc(count * (size_t)graphs->length_count + 1, sizeof(*graphs->lengths));
  if (graphs->all == NULL || graphs->lengths == NULL) return false;
  for (int i = 0; i < graphs->count; ++i) {
    graphs->all[i].plan = -1;
    graphs->all[i].lengths = graphs->lengths + i * graphs->length_count;
  }
  return true;
}

void bayloom_gpu_graphs_destroy(bayloom_gpu_graphs* graphs, const bayloom_cuda* cuda) {
  for (int i = 0; graphs->all != NULL && i < graphs->count; ++i) {
    if (graphs->all[i].graph != NULL) cuda->GraphExecDestroy(graphs->all[i].graph);
  }
  free(graphs->all);
  free(graphs->lengths);
}

bayloom_gpu_graph* bayloom_gpu_graph_for(bayloom_gpu_graphs* graphs, const bayloom_cuda* cuda,
                                         int plan, const int64_t* lengths, int64_t length_count,
                                         bool* is_new) {
  const size_t bytes = (size_t)length_count * sizeof(*lengths);
  bayloom_gpu_graph* oldest = &graphs->all[0];
  for (int i = 0; i < graphs->count; ++i) {
    bayloom_gpu_graph* graph = &graphs->all[i];
    if (graph->plan == plan && (bytes == 0 || memcmp(graph->lengths, lengths, bytes) == 0)) {
      graph->last = ++graphs->now;
      *is_new = false;
      return graph;
    }
    if (graph->last < oldest->last) oldest = graph;
  }
  if (oldest->graph != NULL) cuda->GraphExecDestroy(oldest->graph);
  oldest->graph = NULL;
  oldest->plan = plan;
  oldest->last = ++graphs->now;
  if (bytes > 0) memcpy(oldest->lengths, lengths, bytes);
  *is_new = true;
  return oldest;
}
