// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

// What programs are made of, one after the other: text is written, scanned and parsed; expressions
// run on a stack machine; bytes are compressed and taken back, checked by a CRC; a maze is solved;
// a matrix is multiplied; a game of life is played. Whole numbers only.
#include <ctype.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint32_t state = 99;
static uint32_t Random(uint32_t below) {
  state = state * 1664525u + 1013904223u;
  return (uint32_t)(((uint64_t)state * below) >> 32);
}

// Expressions: written, parsed to code for a stack machine, and run.

typedef enum { kPush, kLoad, kAdd, kSubtract, kMultiply, kModulo, kLess, kEnd } Operation;
typedef struct {
  Operation operation;
  int64_t value;
} Instruction;

static char text[1 << 16];
static size_t text_length;
static Instruction code[1 << 14];
static int code_length;

static void Write(const char* piece) {
  const size_t length = strlen(piece);
  if (text_length + length + 1 >= sizeof text) return;
  memcpy(text + text_length, piece, length + 1);
  text_length += length;
}

static void WriteExpression(int depth) {
  char number[24];
  if (depth == 0 || Random(5) == 0) {
    if (Random(3) == 0) {
      Write(Random(2) == 0 ? "x" : "y");
    } else {
      snprintf(number, sizeof number, "%u", Random(1000));
      Write(number);
    }
    return;
  }
  static const char* const kSigns[] = {"+", "-", "*", "%", "<"};
  Write("(");
  WriteExpression(depth - 1);
  Write(kSigns[Random(5)]);
  WriteExpression(depth - 1);
  Write(")");
}

static const char* at;

static void Emit(Operation operation, int64_t value) {
  code[code_length].operation = operation;
  code[code_length++].value = value;
}

static void Parse(void) {
  while (isspace((unsigned char)*at)) ++at;
  if (*at == '(') {
    ++at;
    Parse();
    const char sign = *at++;
    Parse();
    ++at;
    switch (sign) {
      case '+':
        Emit(kAdd, 0);
        break;
      case '-':
        Emit(kSubtract, 0);
        break;
      case '*':
        Emit(kMultiply, 0);
        break;
      case '%':
        Emit(kModulo, 0);
        break;
      default:
        Emit(kLess, 0);
        break;
    }
  } else if (isdigit((unsigned char)*at)) {
    int64_t value = 0;
    while (isdigit((unsigned char)*at)) value = 10 * value + (*at++ - '0');
    Emit(kPush, value);
  } else {
    Emit(kLoad, *at++ == 'x' ? 0 : 1);
  }
}

static int64_t Run(const int64_t* variables) {
  int64_t stack[256];
  int top = 0;
  for (const Instruction* next = code;; ++next) {
    int64_t* const two = &stack[top >= 2 ? top - 2 : 0];
    switch (next->operation) {
      case kPush:
        stack[top++] = next->value;
        break;
      case kLoad:
        stack[top++] = variables[next->value];
        break;
      case kAdd:
        two[0] = (int64_t)((uint64_t)two[0] + (uint64_t)two[1]), --top;
        break;
      case kSubtract:
        two[0] = (int64_t)((uint64_t)two[0] - (uint64_t)two[1]), --top;
        break;
      case kMultiply:
        two[0] = (int64_t)((uint64_t)two[0] * (uint64_t)two[1]) % 1000003, --top;
        break;
      case kModulo:
        two[0] = two[1] == 0 ? 0 : two[0] % two[1], --top;
        break;
      case kLess:
        two[0] = two[0] < two[1], --top;
        break;
      default:
        return stack[0];
    }
  }
}

static uint64_t Expressions(int rounds) {
  uint64_t sum = 0;
  for (int round = 0; round < rounds; ++round) {
    text_length = 0;
    code_length = 0;
    WriteExpression(9);
    at = text;
    Parse();
    Emit(kEnd, 0);
    for (int64_t x = 0; x < 40; ++x) {
      const int64_t variables[] = {x, 100 - x};
      sum = sum * 33 + (uint64_t)Run(variables);
    }
  }
  return sum;
}

// Compression: the longest match of hashed places, written with a nibble of literals and lengths.

enum { kBytes = 1 << 15, kHashes = 1 << 12 };
static uint8_t plain[kBytes], packed[2 * kBytes], restored[kBytes];

static uint32_t Crc(const uint8_t* bytes, int count) {
  static uint32_t table[256];
  if (table[1] == 0) {
    for (uint32_t i = 0; i < 256; ++i) {
      uint32_t value = i;
      for (int bit = 0; bit < 8; ++bit) value = value & 1 ? 0xedb88320u ^ value >> 1 : value >> 1;
      table[i] = value;
    }
  }
  uint32_t crc = ~0u;
  for (int i = 0; i < count; ++i) crc = table[(crc ^ bytes[i]) & 255] ^ crc >> 8;
  return ~crc;
}

static int PutLength(uint8_t* out, int length) {
  int used = 0;
  for (; length >= 255; length -= 255) out[used++] = 255;
  out[used++] = (uint8_t)length;
  return used;
}

static int Compress(void) {
  static int last[kHashes];
  memset(last, -1, sizeof last);
  int out = 0, begin = 0, i = 0;
  while (i + 4 < kBytes) {
    const uint32_t four =
        plain[i] | plain[i + 1] << 8 | plain[i + 2] << 16 | (uint32_t)plain[i + 3] << 24;
    const uint32_t hash = four * 2654435761u >> 20;
    const int match = last[hash];
    last[hash] = i;
    int length = 0;
    if (match >= 0 && i - match < 65536) {
      while (i + length < kBytes && plain[match + length] == plain[i + length]) ++length;
    }
    if (length < 4) {
      ++i;
      continue;
    }
    out += PutLength(packed + out, i - begin);
    memcpy(packed + out, plain + begin, (size_t)(i - begin));
    out += i - begin;
    packed[out++] = (uint8_t)(i - match);
    packed[out++] = (uint8_t)((i - match) >> 8);
    out += PutLength(packed + out, length);
    i += length;
    begin = i;
  }
  out += PutLength(packed + out, kBytes - begin);
  memcpy(packed + out, plain + begin, (size_t)(kBytes - begin));
  return out + kBytes - begin;
}

static int GetLength(const uint8_t** in) {
  int length = 0;
  while (**in == 255) length += *(*in)++;
  return length + *(*in)++;
}

static void Restore(int size) {
  const uint8_t* in = packed;
  const uint8_t* const end = packed + size;
  int out = 0;
  while (in < end) {
    const int literals = GetLength(&in);
    memcpy(restored + out, in, (size_t)literals);
    out += literals;
    in += literals;
    if (in >= end) break;
    const int distance = in[0] | in[1] << 8;
    in += 2;
    const int length = GetLength(&in);
    for (int k = 0; k < length; ++k, ++out) restored[out] = restored[out - distance];
  }
}

static uint64_t Compression(int rounds) {
  uint64_t sum = 0;
  for (int round = 0; round < rounds; ++round) {
    for (int i = 0; i < kBytes; ++i) {
      plain[i] =
          i > 64 && Random(4) != 0 ? plain[i - 1 - (int)Random(3) * 20] : (uint8_t)Random(64);
    }
    const int size = Compress();
    Restore(size);
    if (memcmp(plain, restored, kBytes) != 0) abort();
    sum = sum * 31 + Crc(packed, size) + (uint64_t)size;
  }
  return sum;
}

// A maze: the cheapest way through it, with a binary heap.

enum { kWidth = 96 };
typedef struct {
  int cost, place;
} Reached;
static Reached heap[8 * kWidth * kWidth];
static int heap_size;

static void Push(Reached reached) {
  int i = heap_size++;
  for (; i > 0 && heap[(i - 1) / 2].cost > reached.cost; i = (i - 1) / 2)
    heap[i] = heap[(i - 1) / 2];
  heap[i] = reached;
}

static Reached Pop(void) {
  const Reached first = heap[0], last = heap[--heap_size];
  int i = 0;
  for (;;) {
    int child = 2 * i + 1;
    if (child >= heap_size) break;
    if (child + 1 < heap_size && heap[child + 1].cost < heap[child].cost) ++child;
    if (heap[child].cost >= last.cost) break;
    heap[i] = heap[child];
    i = child;
  }
  heap[i] = last;
  return first;
}

static uint64_t Mazes(int rounds) {
  static int price[kWidth * kWidth], cost[kWidth * kWidth];
  uint64_t sum = 0;
  for (int round = 0; round < rounds; ++round) {
    for (int i = 0; i < kWidth * kWidth; ++i) {
      price[i] = 1 + (int)Random(9) * (Random(3) == 0 ? 20 : 1);
      cost[i] = 1 << 30;
    }
    heap_size = 0;
    cost[0] = 0;
    Push((Reached){0, 0});
    while (heap_size > 0) {
      const Reached reached = Pop();
      if (reached.cost > cost[reached.place]) continue;
      const int x = reached.place % kWidth, y = reached.place / kWidth;
      for (int way = 0; way < 4; ++way) {
        const int to_x = x + (way == 0) - (way == 1), to_y = y + (way == 2) - (way == 3);
        if (to_x < 0 || to_y < 0 || to_x >= kWidth || to_y >= kWidth) continue;
        const int to = to_y * kWidth + to_x, price_there = reached.cost + price[to];
        if (price_there >= cost[to]) continue;
        cost[to] = price_there;
        Push((Reached){price_there, to});
      }
    }
    sum = sum * 31 + (uint64_t)cost[kWidth * kWidth - 1];
  }
  return sum;
}

// Matrices of whole numbers, and a game of life on a torus.

enum { kRows = 72 };
static uint64_t Matrices(int rounds) {
  static int32_t a[kRows][kRows], b[kRows][kRows], c[kRows][kRows];
  uint64_t sum = 0;
  for (int round = 0; round < rounds; ++round) {
    for (int i = 0; i < kRows; ++i) {
      for (int j = 0; j < kRows; ++j) {
        a[i][j] = (int32_t)Random(200) - 100;
        b[i][j] = (int32_t)Random(200) - 100;
      }
    }
    for (int i = 0; i < kRows; ++i) {
      for (int j = 0; j < kRows; ++j) {
        int32_t dot = 0;
        for (int k = 0; k < kRows; ++k) dot += a[i][k] * b[k][j];
        c[i][j] = dot;
      }
    }
    for (int i = 0; i < kRows; ++i) sum = sum * 31 + (uint64_t)(int64_t)c[i][kRows - 1 - i];
  }
  return sum;
}

static uint64_t Life(int steps) {
  static uint8_t cells[2][64][64];
  for (int i = 0; i < 64 * 64; ++i) cells[0][i / 64][i % 64] = Random(3) == 0;
  int from = 0;
  for (int step = 0; step < steps; ++step, from = 1 - from) {
    for (int i = 0; i < 64; ++i) {
      for (int j = 0; j < 64; ++j) {
        int around = -cells[from][i][j];
        for (int di = 63; di <= 65; ++di) {
          for (int dj = 63; dj <= 65; ++dj) around += cells[from][(i + di) & 63][(j + dj) & 63];
        }
        cells[1 - from][i][j] = around == 3 || (around == 2 && cells[from][i][j]);
      }
    }
  }
  return Crc(&cells[from][0][0], 64 * 64);
}

int main(int count, char** arguments) {
  const int scale = count > 1 && strcmp(arguments[1], "small") == 0 ? 1 : 12;
  printf("%llu\n", (unsigned long long)Expressions(5 * scale));
  printf("%llu\n", (unsigned long long)Compression(2 * scale));
  printf("%llu\n", (unsigned long long)Mazes(scale));
  printf("%llu\n", (unsigned long long)Matrices(2 * scale));
  printf("%llu\n", (unsigned long long)Life(4 * scale));
  return 0;
}
