// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom_elements.h"
#include "bayloom_kernels.h"
#include "bayloom_runtime.h"

/* An element as what its place in the order depends on: first the key, then the index. */
typedef struct {
  uint64_t key;
  int64_t index;
} Item;

enum { kBlock = 256, kGlance = 64, kInsertion = 16 };

/* --- Keys ------------------------------------------------------------------------------------ */

/* Integers in the order of the elements. Of floats, by their bits: the negative ones in reverse,
 * zeros equal, NaN above all. `flip` (all ones) turns the order. */
#define DEFINE_FLOAT_KEY(NAME, U)                                      \
  BAYLOOM_INLINED U NAME(U bits, U sign, U infinity) {                 \
    const U size = (U)(bits & (sign - 1));                             \
    const U key = (U)((bits & sign) != 0 ? sign - size : sign + size); \
    return size > infinity ? (U)(2 * sign - 1) : key;                  \
  }
DEFINE_FLOAT_KEY(FloatKey, uint32_t)
DEFINE_FLOAT_KEY(DoubleKey, uint64_t)

BAYLOOM_INLINED uint32_t KeyOfFloat(float x) {
  uint32_t bits;
  memcpy(&bits, &x, sizeof(bits));
  return FloatKey(bits, 0x80000000u, 0x7f800000u);
}
BAYLOOM_INLINED uint64_t KeyOfDouble(double x) {
  uint64_t bits;
  memcpy(&bits, &x, sizeof(bits));
  return DoubleKey(bits, (uint64_t)1 << 63, (uint64_t)0x7ff << 52);
}

#define KEY_Int8(x) ((uint64_t)(x) ^ (uint64_t)1 << 63)
#define KEY_Int16(x) KEY_Int8(x)
#define KEY_Int32(x) KEY_Int8(x)
#define KEY_Int64(x) KEY_Int8(x)
#define KEY_UInt8(x) ((uint64_t)(x))
#define KEY_UInt16(x) KEY_UInt8(x)
#define KEY_UInt32(x) KEY_UInt8(x)
#define KEY_UInt64(x) KEY_UInt8(x)
#define KEY_Float16(x) FloatKey(x, 0x8000, 0x7c00)
#define KEY_BFloat16(x) FloatKey(x, 0x8000, 0x7f80)
#define KEY_Float32(x) KeyOfFloat(x)
#define KEY_Float64(x) KeyOfDouble(x)

typedef void (*KeyFunction)(const void* x, int64_t first, int64_t stride, int64_t count,
                            uint64_t flip, uint64_t* keys);
#define DEFINE_KEYS(NAME, CODE, T, W, KIND, ACCESS) \
  DEFINE_KEYS_OF(NAME, , , T)                       \
  DEFINE_KEYS_OF(NAME, Wide, BAYLOOM_WIDE, T)
#define DEFINE_KEYS_OF(NAME, WIDTH, ATTRIBUTE, T)                                         \
  ATTRIBUTE static void Keys##NAME##WIDTH(const void* x, int64_t first, int64_t stride,   \
                                          int64_t count, uint64_t flip, uint64_t* keys) { \
    const T* at = (const T*)x + first;                                                    \
    if (stride == 1) {                                                                    \
      for (int64_t i = 0; i < count; ++i) keys[i] = KEY_##NAME(at[i]) ^ flip;             \
    } else {                                                                              \
      for (int64_t i = 0; i < count; ++i) keys[i] = KEY_##NAME(at[i * stride]) ^ flip;    \
    }                                                                                     \
  }
BAYLOOM_FOR_EACH_NUMBER(DEFINE_KEYS)

/* Whether any of the keys is below the bound. */
typedef int (*GlanceFunction)(const uint64_t* keys, int64_t count, uint64_t bound);
#define DEFINE_ANY_BELOW(WIDTH, ATTRIBUTE)                                                    \
  ATTRIBUTE static int AnyBelow##WIDTH(const uint64_t* keys, int64_t count, uint64_t bound) { \
    uint64_t any = 0;                                                                         \
    for (int64_t i = 0; i < count; ++i) any |= keys[i] < bound;                               \
    return any != 0;                                                                          \
  }
DEFINE_ANY_BELOW(, )
DEFINE_ANY_BELOW(Wide, BAYLOOM_WIDE)

static KeyFunction KeysOf(int64_t type) {
  const int wide = BayloomHasWide();
  switch (type) {
#define KEYS_CASE(NAME, CODE, T, W, KIND, ACCESS) \
  case CODE:                                      \
    return wide ? Keys##NAME##Wide : Keys##NAME;
    BAYLOOM_FOR_EACH_NUMBER(KEYS_CASE)
    default:
      return 0;
  }
}

/* --- Sorting and selecting items, of which no two are equal ------------------------------------
 */

static int Before(const Item* a, const Item* b) {
  return a->key < b->key || (a->key == b->key && a->index < b->index);
}

static void Swap(Item* a, Item* b) {
  const Item kept = *a;
  *a = *b;
  *b = kept;
}

static void InsertionSort(Item* items, int64_t count) {
  for (int64_t i = 1; i < count; ++i) {
    const Item item = items[i];
    int64_t to = i;
    for (; to > 0 && Before(&item, &items[to - 1]); --to) items[to] = items[to - 1];
    items[to] = item;
  }
}

static void SiftDown(Item* items, int64_t from, int64_t count) {
  for (int64_t child; (child = 2 * from + 1) < count; from = child) {
    if (child + 1 < count && Before(&items[child], &items[child + 1])) ++child;
    if (!Before(&items[from], &items[child])) return;
    Swap(&items[from], &items[child]);
  }
}

static void HeapSort(Item* items, int64_t count) {
  for (int64_t i = count / 2; i-- > 0;) SiftDown(items, i, count);
  for (int64_t end = count; end-- > 1;) {
    Swap(&items[0], &items[end]);
    SiftDown(items, 0, end);
  }
}

/* Divides more than two items by the median of three; none of the first part, whose size is
 * returned and neither 0 nor all, comes after one of the second. */
static int64_t Partition(Item* items, int64_t count) {
  Item* middle = &items[count / 2];
  Item* last = &items[count - 1];
  if (Before(middle, &items[0])) Swap(middle, &items[0]);
  if (Before(last, middle)) Swap(last, middle);
  if (Before(middle, &items[0])) Swap(middle, &items[0]);
  const Item pivot = *middle;
  int64_t low = 0, high = count - 1;
  for (;;) {
    do ++low;
    while (Before(&items[low], &pivot));
    do --high;
    while (Before(&pivot, &items[high]));
    if (low >= high) return low;
    Swap(&items[low], &items[high]);
  }
}

static int DepthLimit(int64_t count) {
  int limit = 0;
  for (; count > 0; count /= 2) limit += 2;
  return limit;
}

static void SortWithin(Item* items, int64_t count, int depth) {
  while (count > kInsertion) {
    if (depth-- == 0) {
      HeapSort(items, count);
      return;
    }
    const int64_t first = Partition(items, count);
    if (first < count - first) {
      SortWithin(items, first, depth);
      items += first;
      count -= first;
    } else {
      SortWithin(items + first, count - first, depth);
      count = first;
    }
  }
  InsertionSort(items, count);
}

static void Sort(Item* items, int64_t count) { SortWithin(items, count, DepthLimit(count)); }

/* Brings the k first ones in the order to the beginning. */
static void Select(Item* items, int64_t count, int64_t k) {
  int depth = DepthLimit(count);
  while (k > 0 && k < count && count > kInsertion) {
    if (depth-- == 0) {
      HeapSort(items, count);
      return;
    }
    const int64_t first = Partition(items, count);
    if (k <= first) {
      count = first;
    } else {
      items += first;
      count -= first;
      k -= first;
    }
  }
  if (k > 0 && k < count) InsertionSort(items, count);
}

/* --- Rows ------------------------------------------------------------------------------------ */

typedef struct {
  const void* x;
  int64_t* result;
  KeyFunction keys;
  GlanceFunction any_below;
  uint64_t flip;
  int64_t n, inner, k, room; /* for items */
  char* workspace;
  int64_t worker_bytes;
} TopK;

/* As many as make selecting among them cheap for each of the n elements. */
static int64_t RoomFor(int64_t n, int64_t k) {
  const int64_t room = 2 * k > kBlock ? 2 * k : kBlock;
  return room < n ? room : n;
}

/* What has been found in a row so far. */
typedef struct {
  Item* items;
  int64_t count;
  int bounded;    /* only keys below `bound` are of interest */
  uint64_t bound; /* of the k-th one when there were too many the last time */
} Found;

static void Take(const TopK* top, const uint64_t* keys, int64_t count, int64_t first,
                 Found* found) {
  for (int64_t i = 0; i < count; ++i) {
    if (found->bounded && keys[i] >= found->bound) continue;
    if (found->count == top->room) {
      Select(found->items, found->count, top->k);
      found->count = top->k;
      found->bound = 0;
      for (int64_t j = 0; j < top->k; ++j) {
        const uint64_t key = found->items[j].key;
        found->bound = key > found->bound ? key : found->bound;
      }
      found->bounded = 1;
      if (keys[i] >= found->bound) continue;
    }
    found->items[found->count].key = keys[i];
    found->items[found->count++].index = first + i;
  }
}

/* The k first ones of the row, sorted, at the beginning of `items`. Once there are more than there
 * is room for, only what comes before the k-th one so far is of interest; of most parts of a long
 * row that is nothing. */
static void SelectFromRow(const TopK* top, int64_t first, Item* items) {
  uint64_t keys[kBlock];
  Found found = {items, 0, 0, 0};
  for (int64_t begin = 0; begin < top->n; begin += kBlock) {
    const int64_t block = top->n - begin < kBlock ? top->n - begin : kBlock;
    top->keys(top->x, first + begin * top->inner, top->inner, block, top->flip, keys);
    for (int64_t at = 0; at < block; at += kGlance) {
      const int64_t count = block - at < kGlance ? block - at : kGlance;
      if (found.bounded && !top->any_below(keys + at, count, found.bound)) continue;
      Take(top, keys + at, count, begin + at, &found);
    }
  }
  Select(items, found.count, top->k);
  Sort(items, top->k);
}

static void TopKRows(void* context, int64_t begin, int64_t end, int32_t worker) {
  const TopK* top = context;
  Item* items = (Item*)(top->workspace + worker * top->worker_bytes);
  for (int64_t row = begin; row < end; ++row) {
    const int64_t outer = row / top->inner, column = row % top->inner;
    SelectFromRow(top, outer * top->n * top->inner + column, items);
    int64_t* to = top->result + outer * top->k * top->inner + column;
    for (int64_t j = 0; j < top->k; ++j) to[j * top->inner] = items[j].index;
  }
}

bayloom_kernel_memory bayloom_topk_memory(const int64_t* numbers) {
  const int64_t bytes = RoomFor(numbers[2], numbers[4]) * (int64_t)sizeof(Item);
  const bayloom_kernel_memory memory = {0, (bytes + 63) / 64 * 64};
  return memory;
}

void bayloom_topk(void* const* tensors, const int64_t* numbers, void* workspace) {
  const int64_t outer = numbers[1], n = numbers[2], inner = numbers[3], k = numbers[4];
  TopK top = {.x = tensors[0],
              .result = tensors[1],
              .keys = KeysOf(numbers[0]),
              .any_below = BayloomHasWide() ? AnyBelowWide : AnyBelow,
              .flip = numbers[5] != 0 ? ~(uint64_t)0 : 0,
              .n = n,
              .inner = inner,
              .k = k,
              .room = RoomFor(n, k),
              .workspace = workspace,
              .worker_bytes = bayloom_topk_memory(numbers).worker};
  if (top.keys == 0) return;
  if (outer * n * inner < kBayloomSerialElements) {
    TopKRows(&top, 0, outer * inner, 0);
  } else {
    bayloom_parallel_for(outer * inner, TopKRows, &top);
  }
}
