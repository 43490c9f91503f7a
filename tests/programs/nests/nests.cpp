// As nests.c, in C++.
#include <vector>

int work(int);

struct Guard {
    ~Guard() { work(0); }
};

int caught(int n) {
    int sum = 0;
    for (int i = 0; i < n; ++i) { // loop caught
        try {
            sum += work(i); // calls in caught
        } catch (int) {
            sum -= work(-i); // calls in caught
            for (int j = 0; j < sum; ++j) work(j); // loop handler in caught; calls in handler
        }
    }
    return sum;
}

void guarded(int n) {
    for (int i = 0; i < n; ++i) { // loop guarded
        Guard guard;
        work(i); // calls in guarded
    }
    work(n); // calls in none
}

template <class Function> [[gnu::always_inline]] inline void repeat(int n, Function function) {
    for (int i = 0; i < n; ++i) function(i); // loop repeat in lambda
}

void with_lambda(int n) {
    for (int i = 0; i < n; ++i) { // loop lambda
        work(i); // calls in lambda
        repeat(i, [](int j) { work(j); });
    }
}

int summed(const std::vector<int>& values) {
    int sum = 0;
    for (const int value : values) // loop summed
        sum += work(value); // calls in summed
    return sum;
}
