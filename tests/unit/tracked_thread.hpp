// For tests of call paths and marks in the thread that runs them, which is not measured.
#pragma once

#include "libprofile/callpath/load_map.hpp"
#include "libprofile/callpath/path_tracker.hpp"
#include "libprofile/callpath/stack_memory.hpp"
#include "libprofile/callpath/unwinder.hpp"
#include "libprofile/thread/thread.hpp"

#include <gtest/gtest.h>

#define NOT_INLINED [[gnu::noinline, gnu::noclone, gnu::noipa]]

namespace libprofile {

template <class Fixture, MarksChoice marks> class TrackedThread : public Fixture {
  protected:
    void SetUp() override {
        static const bool loaded = unwinder.load();
        ASSERT_TRUE(loaded);
        load_map.refresh();
        remember_main_stack();
        process_state.marks.store(marks);
        ASSERT_TRUE(tree_.start());
        tracker_.ready();
    }
    void TearDown() override {
        tracker_.forget(reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)));
        process_state.marks.store(MarksChoice::Off);
    }

    Arena arena_;
    CallTree tree_{arena_};
    PathTracker tracker_{tree_, arena_};
    volatile int keep_ = 0; // no jumps at the ends of functions
};

} // namespace libprofile
