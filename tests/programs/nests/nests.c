/* Loops whose nest the marks tell: "loop NAME in OUTER" on the line of a loop, "calls in LOOP" on the line of a call.
   "O2: gone": not with optimisation; "O2: copies": perhaps several times then; "O2: in OUTER": inlined there then. */
int work(int);
extern volatile int sink, limit;

void single(int n) {
    for (int i = 0; i < n; ++i) /* loop single */
        work(i); /* calls in single */
}

void nested(int n) {
    for (int i = 0; i < n; ++i) { /* loop nested_i */
        work(i); /* calls in nested_i */
        for (int j = 0; j < n; ++j) { /* loop nested_j in nested_i */
            for (int k = 0; k < n; ++k) /* loop nested_k in nested_j */
                work(k); /* calls in nested_k */
            work(j); /* calls in nested_j */
        }
        for (int j = 0; j < 2 * n; ++j) /* loop nested_second in nested_i */
            work(j); /* calls in nested_second */
    }
    work(n); /* calls in none */
}

void triangular(int n) {
    for (int i = 0; i < n; ++i) /* loop triangular_i */
        for (int j = i; j < n; ++j) /* loop triangular_j in triangular_i */
            work(i + j); /* calls in triangular_j */
}

void by_goto(int n) {
    int i = 0;
again:
    work(i); /* loop by_goto; calls in by_goto */
    if (++i < n) goto again;
    work(-1); /* calls in none */
}

int several_exits(int n) {
    int i = 0;
    while (work(i) > 0) { /* loop exits; calls in exits */
        if (work(i + 1) == n) return i; /* calls in exits */
        if (work(i + 2) == n) break; /* calls in exits */
        if (work(i + 3) == n) continue; /* calls in exits */
        i += 2;
    }
    work(-2); /* calls in none */
    return 0;
}

void do_while(int n) {
    do {
        work(n); /* loop do; calls in do */
    } while (--n > 0);
}

int with_switch(int n) {
    int sum = 0;
    for (int i = 0; i < n; ++i) { /* loop switch */
        switch (sink) {
        case 0: sum += work(i); break; /* calls in switch */
        case 1: sum -= work(i + 1); break; /* calls in switch */
        case 2: return work(sum); /* calls in none */
        case 3:
            for (int j = 0; j < i; ++j) work(j); /* loop switch_inner in switch; calls in switch_inner */
            break;
        case 4: sum ^= work(sum); break; /* calls in switch */
        case 5: sum *= work(2); break; /* calls in switch */
        case 7: sum /= work(3); break; /* calls in switch */
        case 8: sum += work(4); continue; /* calls in switch */
        default: work(5); /* calls in switch */
        }
        work(sum); /* calls in switch */
    }
    return sum;
}

/* Its labels are entered anywhere, and make one. */
int computed_goto(const unsigned char* program) {
    static const void* const labels[] = {&&add, &&subtract, &&call, &&end};
    int sum = 0;
    goto *labels[*program];
add:
    sum += work(1); /* label */
    goto *labels[*++program];
subtract:
    sum -= work(2); /* label */
    goto *labels[*++program];
call:
    sum = work(sum); /* label */
    goto *labels[*++program];
end:
    return work(-sum) + 1;
}

void two_calls(int n) {
    for (int i = 0; i < n; ++i) { /* loop two */
        work(i); /* calls in two */
        if (i % 3 == 0) work(-i); /* calls in two */
    }
}

static inline __attribute__((always_inline)) void inlined(int n) {
    for (int i = 0; i < n; ++i) /* loop inlined in around */
        work(i); /* calls in inlined */
}
void around_inlined(int n) {
    for (int i = 0; i < n; ++i) { /* loop around */
        work(i); /* calls in around */
        inlined(i);
    }
}

void vectorised(float* restrict a, const float* restrict b, int n) {
    for (int i = 0; i < n; ++i) /* loop vectorised; O2: copies */
        a[i] = a[i] * b[i] + 1;
}

void unrolled(int* a) {
    for (int i = 0; i < 4; ++i) /* loop unrolled; O2: gone */
        a[i] = 3 * a[i] + 7;
}

__attribute__((noreturn, noinline)) static void give_up(void) {
    work(-5); /* calls in none */
    __builtin_trap();
}
void may_give_up(int n) {
    for (int i = 0; i < n; ++i) { /* loop give */
        if (work(i) < 0) give_up(); /* calls in give|none */
        work(2 * i); /* calls in give */
    }
    if (limit) give_up(); /* calls in none */
}

/* Figure 2 of Wei and Mellor-Crummey, ICS 2018. */
void A(int), B(int), C(int);
void foo(int n) {
    C(n); /* site C_before */
    for (int k = 0; k < n; k++) { /* loop foo */
        A(k); /* site A */
        if (k == 0) B(k); /* site B */
        if (k == 2) C(k); /* site C */
    }
}
