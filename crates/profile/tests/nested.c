/* A program that calls functions inside one another and keeps no frame pointers, for the test of unwinding. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define APART __attribute__((noinline, noclone))

static volatile uint64_t sink;

APART int compare_numbers(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    sink += x;
    return x < y ? -1 : x > y;
}

/* By way of the C library, which has no frame pointers either. */
APART void innermost_work(uint64_t *numbers, size_t count) {
    for (size_t i = 0; i < count; i++) {
        numbers[i] = numbers[i] * 6364136223846793005u + i;
    }
    qsort(numbers, count, sizeof *numbers, compare_numbers);
    sink += numbers[0];
}

APART void middle_work(size_t count) {
    uint64_t numbers[256];
    memset(numbers, (int)count, sizeof numbers);
    innermost_work(numbers, count % 256 + 1);
    sink += numbers[1];
}

APART void outer_work(size_t count) {
    middle_work(count);
    sink += count;
}

int main(void) {
    for (size_t count = 200;; count++) {
        outer_work(count);
    }
}
