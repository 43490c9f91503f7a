// Runs of a parallel program that lose a known part of their time for a known cause: what each rank does in each iteration, simulated.
// Contract: one thread; the same numbers for the same seed.
//
// An iteration: the root prepares and broadcasts (late_root only); ranks compute in assemble(), solve(), update(), refine(); exchange messages with
// two neighbours; and meet in MPI_Allreduce. The gain that was planted is the time of the run less that of the same run without the cause.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <random>
#include <string>
#include <vector>

namespace libprofile::test {

/// What a rank spends time in.
enum class Work : std::uint8_t {
    Assemble,
    Solve,
    Update,
    Refine,
    Prepare,
    Write,
    OffCpu,
    FileWrite,
    Bcast,
    Recv,
    Send,
    Sendrecv,
    Allreduce,
    Pack,
    Barrier,
    Count
};
inline constexpr std::size_t works = static_cast<std::size_t>(Work::Count);
inline constexpr Work computing_work[] = {Work::Assemble, Work::Solve, Work::Update, Work::Refine, Work::Prepare, Work::Write};
inline constexpr Work mpi_work[] = {Work::FileWrite, Work::Bcast, Work::Recv, Work::Send, Work::Sendrecv, Work::Allreduce, Work::Pack};

/// Places, ranks and courses of excess. Others than Tuned are not those that detectors were made with.
enum class LostShapes : std::uint8_t {
    Tuned,
    HeldOut, // several ranks, other periods, growth that bends
    Judged,  // also growth that levels off or bends little, and other shares of functions
    Unseen,  // also growth by a logarithm, a power of 1.7 or in a bend of both ways, and again other shares
    Fresh    // also growth that begins late, by a cube or a cubic root, work that moves by other strides, and single iterations of all sizes
};

struct LostRunChoice {
    std::size_t ranks = 8;
    std::size_t iterations = 1000;
    std::string jitter = "normal"; // see jitters_of()
    std::vector<std::string> causes;
    double share = 0.02; // of the run, each cause
    std::uint64_t seed = 1;
    LostShapes shapes = LostShapes::Tuned;
    bool kernel = false; // one function, which all others call, has most of the samples
};

inline std::vector<std::string> jitters_of(LostShapes shapes) {
    switch (shapes) {
    case LostShapes::HeldOut: return {"gamma", "laplace", "bursts"};
    case LostShapes::Judged: return {"student", "lognormal", "mixed"};
    case LostShapes::Unseen: return {"pareto", "weibull", "outliers"};
    case LostShapes::Fresh: return {"pareto3", "logistic", "modes"};
    case LostShapes::Tuned: break;
    }
    return {"normal", "exponential", "ranks", "drift"};
}

/// What was put in.
struct PlantedCause {
    std::string cause;
    std::vector<std::uint32_t> ranks; // in order; empty: all
    std::vector<bool> iterations;     // with a tenth of the largest excess or more; empty: all
    bool moves = false;
    std::size_t period = 0; // iterations after which what moves is at the same rank again; 0: it has none
    std::string function;   // with the excess, or where others wait; empty: none
    double gain = 0;        // ns of the run
};

class LostRun {
  public:
    explicit LostRun(const LostRunChoice& choice)
        : choice_(choice),
          random_(choice.seed * 7919 + std::array<std::uint64_t, 5>{0, 104729, 1404438, 15485863, 32452843}[static_cast<std::size_t>(choice.shapes)]) {
        make_jitter();
        for (const std::string& cause : choice.causes) plant(cause);
        run_ns_ = simulate(true);
    }

    static constexpr double typical = 1e8; // ns: computing of an iteration
    std::size_t ranks() const { return choice_.ranks; }
    std::size_t iterations() const { return choice_.iterations; }
    double at(Work work, std::size_t rank, std::size_t i) const { return spent_[(rank * iterations() + i) * works + static_cast<std::size_t>(work)]; }
    double bytes(std::size_t i) const { return 1024 * (1 + (bytes_.empty() ? 0 : bytes_[i])); } // that each rank sends
    bool has_kernel() const { return choice_.kernel; }
    bool has_threads() const { return has("threads"); }
    double worker(std::size_t rank, std::size_t i) const { return worker_[rank * iterations() + i]; }
    double run_ns() const { return run_ns_; }
    const std::vector<PlantedCause>& planted() const { return planted_; }
    bool has(const std::string& cause) const { return std::find(choice_.causes.begin(), choice_.causes.end(), cause) != choice_.causes.end(); }

  private:
    using Cells = std::vector<float>; // by rank, iteration
    struct Excess {
        std::string cause;
        Work work = Work::Refine;
        bool everywhere = false; // in all functions by their share
        double sleeps = 0;       // this share of it without a processor
        Cells ns;
        double serial = 0, sender = 0; // ns in each iteration
        bool gathers = false;          // its rank receives from all others first
        std::size_t first = 0;         // that sends late
        bool grows_in_bytes = false;
    };

    double uniform() { return std::uniform_real_distribution<double>(0, 1)(random_); }
    std::size_t below(std::size_t n) { return n == 0 ? 0 : static_cast<std::size_t>(random_() % n); }

    void make_jitter() {
        const std::size_t n = iterations();
        compute_.resize(ranks() * n);
        std::normal_distribution<double> normal(0, 1);
        std::exponential_distribution<double> exponential(1);
        std::gamma_distribution<double> gamma(2, 0.5);
        std::student_t_distribution<double> student(3); // its deviation is the root of 3
        std::lognormal_distribution<double> lognormal(0, 0.75);
        std::weibull_distribution<double> weibull(0.8, 0.7); // its mean is 0.793
        double all = 0;
        std::vector<float> common(n);
        for (std::size_t i = 0; i < n; ++i) common[i] = static_cast<float>(0.01 * std::clamp(all = 0.97 * all + 0.2 * normal(random_), -2.0, 2.0));
        const double size = 0.01;
        for (std::size_t r = 0; r < ranks(); ++r) {
            const double own = 0.3 + 1.5 * uniform(), level = 0.001 * normal(random_); // of its jitter; of its speed
            double drift = 0;
            bool is_high = false;
            for (std::size_t i = 0; i < n; ++i) {
                const std::string& kind = choice_.jitter;
                drift = 0.9 * drift + 0.436 * normal(random_);
                double x = 0;
                if (kind == "normal") x = normal(random_);
                if (kind == "exponential") x = exponential(random_) - 1;
                if (kind == "ranks") x = own * normal(random_) + level / size;
                if (kind == "drift") x = 0.7 * drift + 0.7 * normal(random_);
                if (kind == "gamma") x = gamma(random_) - 1;
                if (kind == "laplace") x = 0.7 * own * (uniform() < 0.5 ? -1 : 1) * exponential(random_) + level / size;
                if (kind == "student" || (kind == "mixed" && r % 3 == 0)) x = student(random_) / 1.732;
                if (kind == "lognormal" || (kind == "mixed" && r % 3 == 1)) x = lognormal(random_) - 1.325;
                if (kind == "mixed") x = r % 3 == 2 ? own * normal(random_) : own * x + level / size;
                if (kind == "pareto") x = std::clamp(std::pow(1 - uniform(), -0.4) - 1.667, -10.0, 60.0); // index 2.5
                if (kind == "weibull") x = own * (weibull(random_) - 0.793) + level / size;
                if (kind == "outliers") x = 0.8 * normal(random_) * (uniform() < 0.05 ? 4 : 1); // after J. W. Tukey, "A survey of sampling" (1960)
                if (kind == "pareto3") x = 1.2 * own * (std::min(std::pow(1 - uniform(), -1.0 / 3), 60.0) - 1.5) + level / size;
                if (kind == "logistic") x = 0.55 * own * std::log(1 / std::clamp(uniform(), 1e-12, 1 - 1e-12) - 1) + level / size;
                if (kind == "modes") { // two speeds, as of a processor's clock
                    is_high = uniform() < (is_high ? 0.8 : 0.03);
                    x = 0.6 * normal(random_) + (is_high ? 1.5 : 0);
                }
                if (kind == "bursts") x = 0.8 * normal(random_) + (std::abs(drift) > 1.5 ? drift : 0);
                compute_[r * n + i] = static_cast<float>(typical * std::max(0.2, 1 + size * x + common[i]));
            }
        }
    }

    /// The amount for which the run loses the wanted share; jitter hides a part of it.
    void plant(const std::string& cause) {
        const double without = simulate(false), wanted = choice_.share * without;
        const std::mt19937_64 random = random_;
        double amount = choice_.share, low = 0, low_gain = 0, high = 0, high_gain = 0;
        excess_.emplace_back();
        planted_.emplace_back();
        for (int attempt = 0; attempt < 9; ++attempt) {
            random_ = random;
            planted_.back() = {};
            put_in(cause, amount, excess_.back(), planted_.back());
            planted_.back().cause = cause;
            const double gain = planted_.back().gain = simulate(false) - without;
            if (std::abs(gain / wanted - 1) < 0.03) break;
            if (gain < wanted)
                low = amount, low_gain = gain;
            else
                high = amount, high_gain = gain;
            amount = high == 0 ? amount * std::clamp(wanted / std::max(gain, 0.1 * wanted), 1.1, 2.0)
                               : low + (high - low) * (wanted - low_gain) / (high_gain - low_gain);
        }
    }

    void put_in(const std::string& cause, double share, Excess& e, PlantedCause& p) {
        const std::size_t n = iterations(), R = ranks();
        const double all = share * typical, N = static_cast<double>(n); // ns an iteration, on average
        const bool other = choice_.shapes != LostShapes::Tuned, is_fresh = choice_.shapes == LostShapes::Fresh;
        e = {};
        e.cause = cause;
        e.ns.assign(R * n, 0);
        const auto put = [&](std::size_t r, std::size_t i, double ns) { e.ns[r * n + i] += static_cast<float>(ns); };
        const auto put_all = [&](std::size_t i, double ns) {
            for (std::size_t r = 0; r < R; ++r) put(r, i, ns);
        };
        std::vector<std::uint32_t> few{static_cast<std::uint32_t>(R < 3 ? 1 : 1 + below(R - 2))};
        if (other && R >= 8)
            while (few.size() < 1 + R / 16) few.push_back(static_cast<std::uint32_t>(below(R)));
        std::sort(few.begin(), few.end());
        few.erase(std::unique(few.begin(), few.end()), few.end());
        p.function = "refine";
        const auto is_rank_cause = [&](std::initializer_list<const char*> names) { return std::find(names.begin(), names.end(), cause) != names.end(); };
        if (is_rank_cause({"steady", "range", "slow_range", "growing", "rank_periodic", "slow", "off_rank", "pack"})) p.ranks = few;
        const std::size_t first = other ? n / 10 + below(n / 2) : 3 * n / 10, length = other ? n / 10 + below(n / 4) : n / 5;
        const std::size_t period = other ? 6 + below(44) : 20, offset = below(period), burst = other ? 1 + below(2) : 1;
        const double bursts = static_cast<double>((n + period - 1) / period) * static_cast<double>(burst);
        const auto is_burst = [&](std::size_t i) { return (i + period - offset) % period < burst; };
        const auto ramp = [&](std::size_t i) { // mean 1
            const double x = static_cast<double>(i) / N;
            const std::size_t bend = (choice_.seed + (cause == "growth" ? 1 : 0) + (cause == "growing" ? 2 : 0)) % 3;
            if (is_fresh) return bend == 0 ? 32.0 / 9 * std::max(0.0, x - 0.25) : bend == 1 ? 4 * x * x * x : 4.0 / 3 * std::cbrt(x);
            if (choice_.shapes == LostShapes::Unseen) {
                return bend == 0 ? std::log(1 + 8 * x) / 1.472 : bend == 1 ? 2.7 * std::pow(x, 1.7) : 2 * x * x * (3 - 2 * x);
            }
            if (choice_.shapes == LostShapes::Judged) return choice_.seed % 2 == 0 ? 2.5 * x * std::sqrt(x) : (1 - std::exp(-3 * x)) / 0.6833;
            return other ? (choice_.seed % 2 == 0 ? 3 * x * x : 1.5 * std::sqrt(x)) : 2 * x;
        };
        if (cause == "steady" || cause == "slow" || cause == "off_rank") {
            for (const std::uint32_t r : few)
                for (std::size_t i = 0; i < n; ++i) put(r, i, all * (other && cause == "off_rank" ? 0.2 + 1.6 * uniform() : 1));
            e.everywhere = cause == "slow";
            if (cause != "steady") p.function.clear();
            if (cause == "off_rank") e.work = Work::OffCpu;
        } else if (cause == "threads") {
            for (std::size_t i = 0; i < n; ++i) put_all(i, all);
            e.everywhere = true;
            p.function.clear();
        } else if (cause == "off_all") { // all of the time
            for (std::size_t i = 0; i < n; ++i) put_all(i, all);
            e.work = Work::OffCpu;
            p.function.clear();
        } else if (cause == "range" || cause == "pack") {
            if (cause == "pack") e.work = Work::Pack;
            for (const std::uint32_t r : few)
                for (std::size_t i = first; i < first + length; ++i) put(r, i, all * N / static_cast<double>(length));
        } else if (cause == "slow_range") { // a slower processor for a while
            for (const std::uint32_t r : few)
                for (std::size_t i = first; i < first + length; ++i) put(r, i, all * N / static_cast<double>(length));
            e.everywhere = true;
            p.function.clear();
        } else if (cause == "slow_end") { // slower processors, from the middle on
            for (std::size_t i = n / 2; i < n; ++i) put_all(i, all * N / static_cast<double>(n - n / 2));
            e.everywhere = true;
            p.function.clear();
        } else if (cause == "growing") {
            for (const std::uint32_t r : few)
                for (std::size_t i = 0; i < n; ++i) put(r, i, all * ramp(i));
        } else if (cause == "rank_periodic") {
            for (const std::uint32_t r : few)
                for (std::size_t i = 0; i < n; ++i)
                    if (is_burst(i)) put(r, i, all * N / bursts);
        } else if (cause == "moving") {
            // Or it stays for some iterations, and goes on to the next rank, or to one farther away.
            std::size_t now = 0, stays = is_fresh ? 1 + below(3) : other ? 5 : 1, stride = is_fresh ? 1 + below(R) : 1;
            while (std::gcd(stride, R) != 1) ++stride;
            for (std::size_t i = 0; i < n; ++i) {
                if (!other || i % stays == 0) now = other ? (now + stride) % R : below(R);
                put(now, i, all);
            }
            p.moves = true;
            p.period = other && stays * R * 2 <= n ? stays * R : 0;
        } else if (cause == "noise") {
            const std::size_t hits = std::max<std::size_t>(4, is_fresh ? n / 40 : other ? n / 25 : n / 60);
            for (std::size_t k = 0; k < hits; ++k)
                put(below(R), below(n), all * N / static_cast<double>(hits) * (other ? 0.4 - 0.6 * std::log(std::max(uniform(), 0.05)) : 1));
            e.everywhere = true;
            p.moves = true;
            p.function.clear();
        } else if (cause == "two_places") { // of a period of 12
            for (std::size_t i = 0; i < n; ++i)
                if (i % 12 == 2 || i % 12 == 7) put(few[0], i, 6 * all);
        } else if (cause == "two_periods") { // the longer of which has more
            for (std::size_t i = 0; i < n; ++i) put(few[0], i, (i % 5 == 2 ? 5 * all : 0) + (i % 4 == 0 ? 2 * all : 0));
        } else if (cause == "in_turn") { // of three iterations
            for (std::size_t i = 0; i < n; ++i)
                if (i % 3 < 2) put(i % 3, i, 3 * all);
        } else if (cause == "growth_off" || cause == "growth_files") {
            for (std::size_t i = 0; i < n; ++i) put_all(i, all * ramp(i));
            e.work = cause == "growth_off" ? Work::OffCpu : Work::FileWrite;
        } else if (cause == "growth" || cause == "growth_counts") {
            for (std::size_t i = 0; i < n; ++i) put_all(i, all * ramp(i));
            e.grows_in_bytes = cause == "growth_counts";
        } else if (cause == "less_assembly") { // of all ranks, less and less
            for (std::size_t i = 0; i < n; ++i) put_all(i, 2 * all * (1 - static_cast<double>(i) / N));
            e.work = Work::Assemble;
            p.function = "assemble";
        } else if (cause == "assembly") { // in a range
            for (std::size_t i = first; i < first + length; ++i) put(few[0], i, all * N / static_cast<double>(length));
            e.work = Work::Assemble;
            p.ranks = {few[0]};
            p.function = "assemble";
        } else if (cause == "levels_off") { // after a fifth of the run
            for (std::size_t i = 0; i < n; ++i) put_all(i, 1.25 * all * (1 - std::exp(-5 * static_cast<double>(i) / N)));
        } else if (cause == "early_step") {
            for (std::size_t i = n / 5; i < n; ++i) put_all(i, 1.25 * all);
        } else if (cause == "slowdown") { // processors that get slower and slower
            for (std::size_t i = 0; i < n; ++i) put_all(i, all * ramp(i));
            e.everywhere = true;
            p.function.clear();
        } else if (cause == "periodic" || cause == "io_all") {
            for (std::size_t i = 0; i < n; ++i)
                if (is_burst(i)) put_all(i, all * N / bursts);
        } else if (cause == "io_rank" || cause == "io_sleep" || cause == "io_placed") {
            for (std::size_t i = 0; i < n; ++i)
                if (is_burst(i)) put(0, i, all * N / bursts);
            p.ranks = {0};
        } else if (cause == "gather") { // the root works on what the others send it
            const std::uint32_t root = other ? static_cast<std::uint32_t>(below(R)) : 0;
            for (std::size_t i = 0; i < n; ++i)
                if (is_burst(i)) put(root, i, all * N / bursts);
            e.gathers = true;
            p.ranks = {root};
        } else if (cause == "changed") {
            for (std::size_t i = first; i < first + length; ++i) put_all(i, all * N / static_cast<double>(length));
        } else if (cause == "off_host") {
            const std::size_t host = std::max<std::size_t>(1, R / 8);
            for (std::size_t r = 0; r < host; ++r) {
                p.ranks.push_back(static_cast<std::uint32_t>(r));
                for (std::size_t i = 0; i < n; ++i) put(r, i, all * (other ? (uniform() < 0.5 ? 0.4 : 1.6) : 0.5 + uniform()));
            }
            e.work = Work::OffCpu;
            p.function.clear();
        } else if (cause == "warm_up") {
            const std::size_t warm = std::max<std::size_t>(3, n / 20);
            double sum = 0;
            const auto shape = [&](std::size_t i) { return other ? std::exp(-3 * static_cast<double>(i) / static_cast<double>(warm)) : 1.0; };
            for (std::size_t i = 0; i < warm; ++i) sum += shape(i);
            for (std::size_t i = 0; i < warm; ++i) put_all(i, all * N * shape(i) / sum);
        } else if (cause == "volume") {
            const std::size_t from = other ? n / 3 + below(n / 3) : n / 2;
            for (std::size_t i = from; i < n; ++i) put_all(i, all * N / static_cast<double>(n - from));
            e.work = Work::Sendrecv;
            p.function = "MPI_Sendrecv";
        } else if (cause == "late_root") {
            const std::uint32_t root = other ? static_cast<std::uint32_t>(below(R)) : 0;
            for (std::size_t i = 0; i < n; ++i) put(root, i, all);
            e.work = Work::Prepare;
            p.ranks = {root};
            p.function = "prepare";
        } else if (cause == "serial") {
            e.serial = all / static_cast<double>(R - 1);
            p.function = "MPI_Recv";
        } else if (cause == "late_sender") {
            e.sender = all;
            e.first = other ? below(R) : 0;
            p.ranks = {static_cast<std::uint32_t>(e.first)};
            p.function = "MPI_Recv";
        }
        if (cause == "io_sleep" || cause == "io_placed") { // the latter with hardly any samples, but where it sleeps is known
            e.work = Work::Write;
            e.sleeps = cause == "io_sleep" ? 0.9 : 0.999;
            p.function = "write_results";
        }
        if (cause == "io_rank" || cause == "io_all") {
            e.work = other && choice_.seed % 2 == 0 ? Work::FileWrite : Work::Write;
            p.function = e.work == Work::Write ? "write_results" : "";
        }
        float most = 0;
        std::vector<float> largest(n);
        for (std::size_t r = 0; r < R; ++r)
            for (std::size_t i = 0; i < n; ++i) largest[i] = std::max(largest[i], e.ns[r * n + i]);
        for (const float ns : largest) most = std::max(most, ns);
        const bool is_always = is_rank_cause({"steady", "slow", "off_rank", "off_host", "threads", "late_root", "serial", "late_sender", "off_all"});
        if (!is_always)
            for (const float ns : largest) p.iterations.push_back(ns >= 0.1f * most);
    }

    /// Of assemble(), solve(), update() and refine().
    static std::array<double, 4> shares_of(LostShapes shapes) {
        if (shapes == LostShapes::Judged) return {0.3, 0.35, 0.2, 0.15};
        if (shapes == LostShapes::Unseen) return {0.4, 0.25, 0.25, 0.1};
        if (shapes == LostShapes::Fresh) return {0.35, 0.15, 0.35, 0.15};
        return {0.2, 0.5, 0.25, 0.05};
    }

    /// The time of the run. @param keeps what each rank spends, by iteration and kind
    double simulate(bool keeps) {
        const std::size_t n = iterations(), R = ranks();
        if (keeps) spent_.assign(R * n * works, 0);
        bytes_.clear();
        worker_.assign(has("threads") ? R * n : 0, 0);
        std::vector<double> now(R), later(R);
        double sum = 0;
        const auto spend = [&](Work work, std::size_t r, std::size_t i, double ns) {
            now[r] += ns;
            if (keeps) spent_[(r * n + i) * works + static_cast<std::size_t>(work)] += static_cast<float>(ns);
        };
        for (std::size_t i = 0; i < n; ++i) {
            std::fill(now.begin(), now.end(), 0);
            double longer_messages = 0;
            for (const Excess& e : excess_) {
                if (e.cause == "late_root") {
                    double ready = 0;
                    std::size_t root = 0;
                    for (std::size_t r = 0; r < R; ++r)
                        if (e.ns[r * n + i] > 0) root = r;
                    spend(Work::Prepare, root, i, e.ns[root * n + i]);
                    for (const double t : now) ready = std::max(ready, t);
                    for (std::size_t r = 0; r < R; ++r) spend(Work::Bcast, r, i, ready - now[r] + 2e4);
                }
            }
            for (std::size_t r = 0; r < R; ++r) {
                const double ns = compute_[r * n + i];
                double everywhere = 0;
                for (const Excess& e : excess_) {
                    if (e.work == Work::Sendrecv) continue;
                    if (e.everywhere)
                        everywhere += e.ns[r * n + i];
                    else if (e.cause != "late_root" && !e.gathers)
                        spend(e.work, r, i, (1 - e.sleeps) * e.ns[r * n + i]), spend(Work::OffCpu, r, i, e.sleeps * e.ns[r * n + i]);
                }
                const std::array<double, 4> shares = shares_of(choice_.shapes);
                spend(Work::Assemble, r, i, shares[0] * (ns + everywhere));
                spend(Work::Solve, r, i, shares[1] * (ns + everywhere));
                spend(Work::Update, r, i, shares[2] * (ns + everywhere));
                spend(Work::Refine, r, i, shares[3] * (ns + everywhere));
                if (!worker_.empty()) worker_[r * n + i] = static_cast<float>(std::max(0.0, ns - everywhere)); // what it does less, the main thread does
            }
            for (const Excess& e : excess_) {
                if (e.work == Work::Sendrecv) longer_messages = e.ns[i];
                if (e.grows_in_bytes) grow_bytes(i, e.ns[i] / (choice_.share * typical));
                if (e.serial != 0) {
                    double free = 0;
                    for (std::size_t r = 0; r < R; ++r) {
                        if (r != 0) spend(Work::Recv, r, i, std::max(0.0, free - now[r]) + 5e3);
                        spend(Work::Refine, r, i, e.serial);
                        free = now[r];
                        if (r + 1 != R) spend(Work::Send, r, i, 5e3);
                    }
                }
                if (e.sender != 0) {
                    spend(Work::Refine, e.first, i, e.sender);
                    spend(Work::Send, e.first, i, 5e3);
                    const double sent = now[e.first];
                    for (std::size_t r = 0; r < R; ++r)
                        if (r != e.first) {
                            spend(Work::Recv, r, i, std::max(0.0, sent - now[r]) + 5e3);
                            spend(Work::Refine, r, i, e.sender);
                        }
                }
            }
            for (const Excess& e : excess_)
                if (e.gathers) gather(e, i, now, spend);
            if (longer_messages > 0) grow_bytes(i, 50);
            later = now;
            for (std::size_t r = 0; r < R; ++r)
                spend(Work::Sendrecv, r, i, std::max({later[r], later[(r + 1) % R], later[(r + R - 1) % R]}) - later[r] + 1e5 + longer_messages);
            double last = 0;
            for (const double t : now) last = std::max(last, t);
            for (std::size_t r = 0; r < R; ++r) spend(Work::Allreduce, r, i, last - now[r] + 1e5);
            sum += last + 1e5;
        }
        // What is done in parallel without the cause takes its time all the same.
        for (const Excess& e : excess_) {
            sum -= keeps ? 0 : static_cast<double>(n) * (e.serial + e.sender);
            if (e.gathers && !keeps) sum -= std::accumulate(e.ns.begin(), e.ns.end(), 0.0) / static_cast<double>(R);
        }
        return sum;
    }
    /// All others send their part to one rank, which does what each could do with its own.
    template <class Spend> void gather(const Excess& e, std::size_t i, const std::vector<double>& now, const Spend& spend) const {
        std::size_t root = ranks();
        for (std::size_t r = 0; r < ranks(); ++r)
            if (e.ns[r * iterations() + i] > 0) root = r;
        if (root == ranks()) return;
        double last = 0;
        for (std::size_t r = 0; r < ranks(); ++r) {
            if (r != root) spend(Work::Send, r, i, 5e3);
            last = std::max(last, now[r]);
        }
        spend(Work::Recv, root, i, last - now[root] + 2e4);
        spend(Work::Refine, root, i, e.ns[root * iterations() + i]);
    }
    void grow_bytes(std::size_t i, double times) {
        bytes_.resize(iterations());
        bytes_[i] += times;
    }

    const LostRunChoice choice_;
    std::mt19937_64 random_;
    Cells compute_;
    std::vector<Excess> excess_;
    std::vector<PlantedCause> planted_;
    Cells spent_;  // by rank, iteration, kind
    Cells worker_; // by rank, iteration: what the worker thread computes
    std::vector<double> bytes_;
    double run_ns_ = 0;
};

} // namespace libprofile::test
