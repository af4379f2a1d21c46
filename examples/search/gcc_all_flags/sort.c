// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

// Records sorted by a comparison through a pointer, looked up by bisection and counted in a hash
// table: branches, calls and memory.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
  uint32_t key;
  uint32_t group;
  uint64_t payload;
} Record;

typedef int (*Compare)(const Record*, const Record*);

static int ByKey(const Record* a, const Record* b) { return (a->key > b->key) - (a->key < b->key); }
static int ByGroup(const Record* a, const Record* b) {
  if (a->group != b->group) return a->group < b->group ? -1 : 1;
  return ByKey(a, b);
}

static void Swap(Record* a, Record* b) {
  const Record kept = *a;
  *a = *b;
  *b = kept;
}

static void Sort(Record* records, int count, Compare compare) {
  while (count > 16) {
    Swap(&records[0], &records[count / 2]);
    int low = 1, high = count - 1;
    for (;;) {
      while (low <= high && compare(&records[low], &records[0]) < 0) ++low;
      while (low <= high && compare(&records[high], &records[0]) > 0) --high;
      if (low >= high) break;
      Swap(&records[low++], &records[high--]);
    }
    Swap(&records[0], &records[high]);
    Sort(records + high + 1, count - high - 1, compare);
    count = high;
  }
  for (int i = 1; i < count; ++i) {
    const Record moved = records[i];
    int at = i;
    for (; at > 0 && compare(&moved, &records[at - 1]) < 0; --at) records[at] = records[at - 1];
    records[at] = moved;
  }
}

static int Find(const Record* records, int count, uint32_t key) {
  int low = 0, high = count;
  while (low < high) {
    const int middle = low + (high - low) / 2;
    if (records[middle].key < key) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

enum { kSlots = 1 << 14 };
static struct { uint32_t key, count; } table[kSlots];

static uint32_t Count(uint32_t key) {
  uint32_t slot = key * 2654435761u >> 18;
  while (table[slot].count != 0 && table[slot].key != key) slot = (slot + 1) % kSlots;
  table[slot].key = key;
  return ++table[slot].count;
}

int main(int count, char** arguments) {
  const int size = count > 1 && strcmp(arguments[1], "small") == 0 ? 4000 : 60000;
  const int rounds = size > 4000 ? 4 : 1;
  Record* records = malloc(sizeof(Record) * (size_t)size);
  uint64_t sum = 0;
  uint32_t state = 7;
  for (int round = 0; round < rounds; ++round) {
    for (int i = 0; i < size; ++i) {
      state = state * 1664525u + 1013904223u;
      records[i] = (Record){state >> 4, state >> 24, (uint64_t)state * (uint32_t)i};
    }
    Sort(records, size, ByGroup);
    for (int i = 0; i < size; i += 7) sum = sum * 31 + records[i].payload;
    Sort(records, size, ByKey);
    for (int i = 0; i < size; ++i) {
      state = state * 1664525u + 1013904223u;
      sum += (uint64_t)Find(records, size, state >> 4);
      sum ^= (uint64_t)Count(state >> 22) << (i % 40);
    }
  }
  printf("%llu\n", (unsigned long long)sum);
  free(records);
  return 0;
}
