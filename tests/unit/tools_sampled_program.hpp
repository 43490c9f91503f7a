// Generated traces of samples: a program of stages, loops and rare functions with random lengths, sampled at random.
#pragma once

#include "tests/unit/split_mix.hpp"

#include <cmath>
#include <cstdint>
#include <vector>

namespace libprofile::test {

/// What a process does: functions below main in the order of time. Path 0 is the root, 1 is main.
class SampledProgram {
  public:
    std::vector<std::uint32_t> parent{0, 0};
    std::vector<std::uint64_t> key{0, 1};

    std::uint32_t function(std::uint32_t from, std::uint64_t what) {
        for (std::uint32_t path = from + 1; path < parent.size(); ++path)
            if (parent[path] == from && key[path] == what) return path;
        parent.push_back(from);
        key.push_back(what);
        return static_cast<std::uint32_t>(parent.size() - 1);
    }
};

/// A process that runs and is sampled: its clock ticks each `1`, from a random begin.
class SampledRun {
  public:
    SampledRun(SampledProgram& program, std::uint64_t seed) : program_(program), random_{seed}, next_(random_.uniform()) {}

    /// Is in a call path for about so long: off by up to `noise` of it.
    void stay(std::uint32_t path, double length, double noise = 0.2) {
        now_ += length * (1 + noise * (2 * random_.uniform() - 1));
        for (; next_ < now_; next_ += 1) sightings.push_back(path);
    }
    /// Passes of a loop in `from`: `functions` of them, each `length` long; `what` is the first one's key.
    void loop(std::uint32_t from, std::uint64_t what, std::uint32_t functions, std::uint32_t passes, double length) {
        for (std::uint32_t pass = 0; pass < passes; ++pass)
            for (std::uint32_t f = 0; f < functions; ++f) stay(program_.function(from, what + f), length / (1 + f));
    }
    /// Short calls of one of many functions, at any moment.
    void rare(std::uint32_t from, std::uint64_t what, std::uint32_t functions, std::uint32_t calls, double length) {
        for (std::uint32_t call = 0; call < calls; ++call) stay(program_.function(from, what + random_() % functions), length * 2 * random_.uniform());
    }
    Random& random() { return random_; }

    std::vector<std::uint32_t> sightings;

  private:
    SampledProgram& program_;
    Random random_;
    double now_ = 0, next_;
};

} // namespace libprofile::test
