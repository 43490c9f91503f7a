// without_mpi [markers]: threads and exceptions, no MPI; exits with 5. With `markers`, 20 marked iterations besides.
#include <libprofile.hpp>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

[[gnu::noinline]] int descend(int depth) {
    const std::string guard(static_cast<std::size_t>(depth) + 1, 'x'); // has a destructor
    if (depth == 0)
        throw std::out_of_range("bottom");
    return descend(depth - 1) + static_cast<int>(guard.size());
}

int throw_and_catch(int times) {
    int caught = 0;
    for (int i = 0; i < times; ++i)
        try {
            descend(i % 40);
        } catch (const std::exception&) {
            ++caught;
        }
    return caught;
}

} // namespace

int main(int argc, char** argv) {
    const bool markers = argc > 1 && std::string(argv[1]) == "markers";
    std::atomic<int> caught{0};
    std::vector<std::thread> threads;
    for (int i = 0; i < 3; ++i)
        threads.emplace_back([&caught, i] { caught += throw_and_catch(1000 * (i + 1)); });
    for (std::thread& thread : threads)
        thread.join();
    if (markers)
        for (int step = 0; step < 20; ++step) {
            libprofile::iteration iteration("step");
            caught += throw_and_catch(50);
        }
    std::printf("caught %d\n", caught.load());
    return 5;
}
