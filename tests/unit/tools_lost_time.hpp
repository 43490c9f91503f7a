// Generated runs that lose a known part of their time for a known cause.
// Contract: one thread; the same numbers for the same seed.
#pragma once

#include "tools/diagnosis/iteration_matrix.hpp"

#include <algorithm>
#include <cmath>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace libprofile::test {

using tools::IterationMatrix;
using tools::IterationPart;

/// What was put in.
struct Planted {
    std::string cause;
    std::set<std::size_t> ranks; // empty: all
    std::set<std::size_t> iterations;
    double gain = 0; // ns of the run
};

struct GeneratedRun {
    GeneratedRun(std::size_t ranks, std::size_t iterations) : matrix(ranks, iterations) {}
    IterationMatrix matrix;
    std::vector<Planted> planted;
    double run_ns = 0;
};

/// Iterations of 10 ms of computing on each rank, with jitter that is independent and a slow drift of all ranks, which meet in each iteration.
class RunGenerator {
  public:
    RunGenerator(std::size_t ranks, std::size_t iterations, double jitter, std::uint64_t seed)
        : ranks_(ranks), iterations_(iterations), random_(seed), local_(ranks, std::vector<double>(iterations)) {
        std::normal_distribution<double> normal(0, jitter);
        double drift = 0;
        for (std::size_t i = 0; i < iterations; ++i) {
            drift = 0.95 * drift + 0.002 * normal(random_) / std::max(jitter, 1e-9);
            for (std::size_t r = 0; r < ranks; ++r) local_[r][i] = typical * (1 + normal(random_) + std::clamp(drift, -0.02, 0.02));
        }
        before_ = longest();
    }

    static constexpr double typical = 1e7;

    /// Makes the run longer by `share` for a cause. Ranks that are longer by chance hide a part of what is added, so more may be.
    void plant(const std::string& cause, double share) {
        const std::vector<std::vector<double>> without = local_;
        const std::mt19937_64 random = random_;
        const double wanted = share * typical * static_cast<double>(iterations_), before = before_;
        double amount = share;
        for (int attempt = 0; attempt < 5; ++attempt) {
            local_ = without;
            random_ = random;
            before_ = before;
            if (attempt != 0) planted_.pop_back();
            put_in(cause, amount);
            amount *= std::clamp(wanted / std::max(planted_.back().gain, 0.1 * wanted), 0.5, 2.0);
        }
    }

    GeneratedRun make() const {
        GeneratedRun run(ranks_, iterations_);
        run.planted = planted_;
        constexpr double transfer = 2e5; // ns that messages take without waiting
        for (std::size_t i = 0; i < iterations_; ++i) {
            double last = 0;
            for (std::size_t r = 0; r < ranks_; ++r) last = std::max(last, local_[r][i]);
            run.run_ns += last + transfer;
            for (std::size_t r = 0; r < ranks_; ++r) {
                run.matrix.at(IterationPart::Local, r, i) = static_cast<float>(local_[r][i]);
                run.matrix.at(IterationPart::Mpi, r, i) = static_cast<float>(last - local_[r][i] + transfer);
                run.matrix.at(IterationPart::CollectiveCalls, r, i) = 1;
            }
        }
        return run;
    }

  private:
    void put_in(const std::string& cause, double share) {
        Planted planted{cause, {}, {}, 0};
        const double all = share * typical * static_cast<double>(iterations_); // ns of the run
        const std::size_t one = ranks_ < 3 ? 1 : 1 + random_() % (ranks_ - 2), tenth = iterations_ / 10;
        const auto add = [&](std::size_t r, std::size_t i, double ns) {
            local_[r][i] += ns;
            planted.ranks.insert(r);
            planted.iterations.insert(i);
        };
        const double n = static_cast<double>(iterations_);
        if (cause == "steady")
            for (std::size_t i = 0; i < iterations_; ++i) add(one, i, all / n);
        if (cause == "host")
            for (std::size_t i = 0; i < iterations_; ++i)
                for (std::size_t r = 0; r < std::max<std::size_t>(1, ranks_ / 8); ++r) add(r, i, all / n);
        if (cause == "half")
            for (std::size_t i = 0; i < iterations_; ++i)
                for (std::size_t r = 0; r < ranks_ / 2; ++r) add(r, i, all / n);
        if (cause == "shrinking")
            for (std::size_t i = 0; i < iterations_; ++i)
                for (std::size_t r = 0; r < ranks_; ++r) add(r, i, 2 * all / n * (1 - static_cast<double>(i) / n));
        if (cause == "range")
            for (std::size_t i = 3 * tenth; i < 5 * tenth; ++i) add(one, i, all / (2 * static_cast<double>(tenth)));
        if (cause == "ramp")
            for (std::size_t i = 0; i < iterations_; ++i) add(one, i, 2 * all / n * static_cast<double>(i) / n);
        if (cause == "periodic_rank")
            for (std::size_t i = 13; i < iterations_; i += 25) add(one, i, all / (n / 25));
        if (cause == "moving")
            for (std::size_t i = 0; i < iterations_; ++i) add(random_() % ranks_, i, all / n);
        if (cause == "noise")
            for (std::size_t k = 0; k < iterations_ / 50; ++k) add(random_() % ranks_, random_() % iterations_, all / (n / 50));
        if (cause == "growth")
            for (std::size_t i = 0; i < iterations_; ++i)
                for (std::size_t r = 0; r < ranks_; ++r) add(r, i, 2 * all / n * static_cast<double>(i) / n);
        if (cause == "changed")
            for (std::size_t i = 6 * tenth; i < 9 * tenth; ++i)
                for (std::size_t r = 0; r < ranks_; ++r) add(r, i, all / (3 * static_cast<double>(tenth)));
        if (cause == "periodic")
            for (std::size_t i = 7; i < iterations_; i += 20)
                for (std::size_t r = 0; r < ranks_; ++r) add(r, i, all / (n / 20));
        if (cause == "warm_up")
            for (std::size_t i = 0; i < std::max<std::size_t>(3, iterations_ / 20); ++i)
                for (std::size_t r = 0; r < ranks_; ++r) add(r, i, all / std::max(3.0, n / 20));
        const double now = longest();
        planted.gain = now - before_;
        before_ = now;
        if (planted.ranks.size() == ranks_) planted.ranks.clear();
        planted_.push_back(std::move(planted));
    }

    double longest() const {
        double sum = 0;
        for (std::size_t i = 0; i < iterations_; ++i) {
            double last = 0;
            for (std::size_t r = 0; r < ranks_; ++r) last = std::max(last, local_[r][i]);
            sum += last;
        }
        return sum;
    }

    std::size_t ranks_, iterations_;
    std::mt19937_64 random_;
    std::vector<std::vector<double>> local_; // by rank, iteration
    double before_ = 0;
    std::vector<Planted> planted_;
};

} // namespace libprofile::test
