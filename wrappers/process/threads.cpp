// Interposed: pthread_create, so that a thread is known from its first instruction to its last.
// Contract: thread-safe, usable before our constructor. A thread that cannot be registered (no memory) is created anyway and not measured. Nothing of the
// application's changes (stack, attributes, return value, cancellation).

#include "libprofile/base/process.hpp"
#include "libprofile/base/real_calls.hpp"
#include "libprofile/thread/thread_registry.hpp"

#include <pthread.h>

namespace libprofile {

namespace {

pthread_key_t end_key;
pthread_once_t end_key_once = PTHREAD_ONCE_INIT;
bool end_key_works = false;

/// Runs at every kind of thread end: return, pthread_exit, cancellation.
void thread_ends(void* start) { thread_registry.end(static_cast<ThreadStart*>(start)); }

std::size_t stack_size(const pthread_attr_t* attributes) {
    pthread_attr_t defaults;
    std::size_t size = 0;
    if (attributes == nullptr) {
        pthread_attr_init(&defaults);
        attributes = &defaults;
    }
    pthread_attr_getstacksize(attributes, &size);
    return size;
}

void* run_thread(void* data) {
    auto* start = static_cast<ThreadStart*>(data);
    pthread_setspecific(end_key, start);
    thread_registry.begin(start);
    return start->function(start->argument);
}

} // namespace

} // namespace libprofile

extern "C" [[gnu::visibility("default")]] int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*function)(void*),
                                                             void* argument) noexcept {
    using namespace libprofile;
    pthread_once(&end_key_once, [] { end_key_works = pthread_key_create(&end_key, thread_ends) == 0; });
    const RealCalls& real = real_calls();
    ThreadStart* start = nullptr;
    if (end_key_works && process.state() != SessionState::Off && process.state() != SessionState::Finished)
        start = thread_registry.announce(function, argument, __builtin_return_address(0), stack_size(attributes));
    if (start == nullptr) return real.pthread_create(thread, attributes, function, argument);
    return real.pthread_create(thread, attributes, run_thread, start);
}
