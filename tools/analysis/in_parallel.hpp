// Work on many locations at a time.
// Contract: starts threads and waits for them; the work itself must be thread-safe.
#pragma once

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace libprofile::tools {

/// Calls work(i) for every i below n. What it throws is thrown here.
/// @param workers so many threads; 0: one for each processor, at most 16
template <class Work> void in_parallel(std::size_t n, Work work, std::size_t workers = 0) {
    const std::size_t threads = std::min<std::size_t>(n, workers != 0 ? workers : std::clamp(std::thread::hardware_concurrency(), 1u, 16u));
    std::atomic<std::size_t> next{0};
    std::exception_ptr failure;
    std::mutex failed;
    const auto run = [&] {
        try {
            for (std::size_t i = next++; i < n; i = next++) work(i);
        } catch (...) {
            const std::lock_guard lock(failed);
            failure = std::current_exception();
        }
    };
    std::vector<std::jthread> others;
    for (std::size_t t = 1; t < threads; ++t) others.emplace_back(run);
    run();
    others.clear();
    if (failure) std::rethrow_exception(failure);
}

} // namespace libprofile::tools
