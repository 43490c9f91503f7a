// libprofile.hpp: phase markers for C++11 and later that close themselves, even if an exception passes.
//
//     for (int step = 0; step < steps; ++step) {
//         libprofile::iteration timestep("timestep");
//         libprofile::phase solve("solve");
//         libprofile::region pack("pack");
//         ...
//     }
//
// Contract: that of libprofile.h. The name is kept as a pointer until the end of the scope: give a string
// literal or something that lives as long. Destroy objects in the reverse order of construction, on the same
// thread, like local variables.
#ifndef LIBPROFILE_HPP
#define LIBPROFILE_HPP

#include "libprofile.h"

// Excludes the functions below from -finstrument-functions.
#define LIBPROFILE_NOT_INSTRUMENTED __attribute__((no_instrument_function))

namespace libprofile {

/// One iteration of the loop `name`, from construction to destruction.
class iteration {
  public:
    LIBPROFILE_NOT_INSTRUMENTED explicit iteration(const char* name) : name_(name) { profile_iteration_begin(name_); }
    LIBPROFILE_NOT_INSTRUMENTED ~iteration() { profile_iteration_end(name_); }
    iteration(const iteration&) = delete;
    iteration& operator=(const iteration&) = delete;

  private:
    const char* name_;
};

/// One visit to the part `name` of the program, from construction to destruction.
class phase {
  public:
    LIBPROFILE_NOT_INSTRUMENTED explicit phase(const char* name) : name_(name) { profile_phase_begin(name_); }
    LIBPROFILE_NOT_INSTRUMENTED ~phase() { profile_phase_end(name_); }
    phase(const phase&) = delete;
    phase& operator=(const phase&) = delete;

  private:
    const char* name_;
};

/// One visit to the region `name`, from construction to destruction.
class region {
  public:
    LIBPROFILE_NOT_INSTRUMENTED explicit region(const char* name) : name_(name) { profile_region_begin(name_); }
    LIBPROFILE_NOT_INSTRUMENTED ~region() { profile_region_end(name_); }
    region(const region&) = delete;
    region& operator=(const region&) = delete;

  private:
    const char* name_;
};

} // namespace libprofile

#undef LIBPROFILE_NOT_INSTRUMENTED

#endif // LIBPROFILE_HPP
