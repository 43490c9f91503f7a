/* A plug-in with its own call stack. It is built twice, with different code. */
#include <stdint.h>

#ifndef ROUNDS
#define ROUNDS 100
#endif

__attribute__((noinline, noclone, noipa)) static uint64_t spin(unsigned rounds) {
    uint64_t x = rounds + 1;
    for (unsigned i = 0; i < rounds; ++i) {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
    }
    return x;
}

__attribute__((noinline, noclone, noipa)) uint64_t plugin_climb(unsigned depth, void (*bottom)(void)) {
#if ROUNDS > 100
    volatile char room[200]; /* other frames than in the other one */
    room[0] = 1;
#endif
    uint64_t sum = spin(ROUNDS);
    if (depth != 0)
        sum += plugin_climb(depth - 1, bottom);
    else if (bottom != 0)
        bottom();
    #if ROUNDS > 100
    sum += (uint64_t)room[0];
#endif
    return sum + spin(50);
}
