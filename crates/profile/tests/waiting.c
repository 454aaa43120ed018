/* A program that waits in functions inside one another and keeps no frame pointers, for the test of unwinding. */
#include <stdint.h>
#include <time.h>

#define APART __attribute__((noinline, noclone))

static volatile uint64_t sink;

/* By way of the C library, which has no frame pointers either. */
APART void innermost_wait(long span_ns) {
    struct timespec span = {0, span_ns};
    nanosleep(&span, 0);
    sink += span_ns;
}

APART void middle_wait(long span_ns) {
    volatile char kept[512];
    kept[span_ns % 512] = 1;
    innermost_wait(span_ns);
    sink += kept[span_ns % 512];
}

APART void outer_wait(long span_ns) {
    middle_wait(span_ns);
    sink += span_ns;
}

int main(void) {
    for (;;) {
        outer_wait(2000000);
    }
}
