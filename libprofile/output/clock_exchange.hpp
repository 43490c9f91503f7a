// How the monotonic clocks of the job's machines relate, measured between the machines by messages there and back.
// Contract: one thread per rank, all ranks together, in the same steps. `Job` finds minima over all ranks of values below 2^63, bool min(uint64*, int);
// `Pairs` moves bytes between two ranks as for TableExchange (merge/table_exchange.hpp). Returns false after one of them has failed: then the ranks no
// longer act together. Bounded: two minima for each of up to `most_machines` machines, and `rounds` messages there and back on each level of a binomial
// tree of machines, all pairs of a level at the same time. No rank of a machine but its lowest sends messages.
//
// The shortest round trip counts. The other machine's clock was read at some moment in it, so half of it bounds the error. Machines that are
// several levels away from the first add up what is on the way. Drift of clocks before and after is not seen.
#pragma once

#include "libprofile/merge/page_array.hpp"

#include <bit>
#include <cstdint>

namespace libprofile {

/// What to add to the monotonic clock of this rank to get that of the job: the clock of the lowest rank that knows which one it has.
struct ClockRelation {
    bool is_known = false;
    std::int64_t offset_ns = 0;
    std::uint64_t uncertainty_ns = 0;
};

/// The messages of the current step. It must live as long as messages may arrive.
struct ClockMail {
    struct Answer {
        std::uint64_t now = 0;
        ClockRelation relation; // of the answering machine
    };
    unsigned char question = 0;
    Answer answer;
};
static_assert(sizeof(ClockMail::Answer) <= 64); // PolledCollectives::message_bytes

template <class Job, class Pairs> class ClockExchange {
  public:
    static constexpr std::uint32_t most_machines = 4096; // later ones stay unknown
    static constexpr std::uint64_t most_ranks = (std::uint64_t{1} << 24) - 1;
    static constexpr unsigned rounds = 32;

    /// @param clock which clock this rank has (base/clock_id.hpp)
    /// @param leaders `most_machines` of them, unless there is no room
    ClockExchange(Job& job, Pairs& pairs, ClockMail& mail, PageArray<std::uint32_t>& leaders, std::uint64_t rank, std::uint64_t clock) noexcept
        : job_(job), pairs_(pairs), mail_(mail), leaders_(leaders), rank_(rank), clock_(clock) {}

    /// @param has_room this rank has memory for its part, and there are not too many ranks; if one has none, nothing is measured
    /// @param now reads the monotonic clock
    template <class Now> bool run(bool has_room, Now now) noexcept {
        if (!find_machines(has_room)) return false;
        if (machines_ < 2) return true;
        relation_.is_known = is_leader() && machine_ == 0; // others learn it in the end
        for (std::uint32_t half = std::bit_floor(machines_ - 1); half != 0; half /= 2)
            if (!compare(half, now)) return false;
        return tell_all();
    }
    const ClockRelation& relation() const { return relation_; }

  private:
    static constexpr std::uint32_t none = 0xffffffff;
    static constexpr unsigned clock_bits = 39, id_bits = 63; // of those of a clock so many go along with a rank
    static constexpr std::uint64_t nothing = (std::uint64_t{1} << id_bits) - 1;
    static constexpr std::uint64_t bias = std::uint64_t{1} << 62; // of offsets, which are below that

    std::uint64_t first_bits() const { return clock_ >> (id_bits - clock_bits); }

    /// Gives numbers to the machines, in the order of their lowest ranks.
    bool find_machines(bool has_room) noexcept {
        while (machines_ < most_machines) {
            const bool is_left = machine_ == none && clock_ != 0;
            std::uint64_t values[2] = {is_left ? rank_ << clock_bits | first_bits() : nothing, has_room ? std::uint64_t{1} : 0};
            if (!job_.min(values, 2)) return false;
            if (values[0] == nothing || values[1] == 0) return true;
            leaders_[machines_] = static_cast<std::uint32_t>(values[0] >> clock_bits);
            if (is_left && values[0] % (std::uint64_t{1} << clock_bits) == first_bits()) machine_ = machines_;
            ++machines_;
        }
        return true;
    }

    bool is_leader() const { return machine_ != none && leaders_[machine_] == rank_; }

    /// Machines whose number is an odd multiple of `half` compare with the one `half` before, whose clock is known.
    template <class Now> bool compare(std::uint32_t half, Now now) noexcept {
        if (is_leader() && machine_ % (2 * half) == half) return ask(leaders_[machine_ - half], now);
        if (is_leader() && machine_ % (2 * half) == 0 && machine_ + half < machines_) return answer(leaders_[machine_ + half], now);
        for (unsigned step = 0; step < 2 * rounds; ++step)
            if (!pairs_.step(rank_, nullptr, 0, nullptr, 0)) return false;
        return true;
    }

    template <class Now> bool ask(std::uint64_t parent, Now now) noexcept {
        std::uint64_t shortest = ~std::uint64_t{0};
        for (unsigned round = 0; round < rounds; ++round) {
            const std::uint64_t asked = now();
            if (!pairs_.step(parent, &mail_.question, sizeof mail_.question, nullptr, 0)) return false;
            if (!pairs_.step(parent, nullptr, 0, &mail_.answer, sizeof mail_.answer)) return false;
            const std::uint64_t took = now() - asked;
            if (took >= shortest) continue;
            shortest = took;
            relation_ = mail_.answer.relation;
            relation_.offset_ns += static_cast<std::int64_t>(mail_.answer.now - (asked + took / 2));
            relation_.uncertainty_ns += (took + 1) / 2;
        }
        return true;
    }

    template <class Now> bool answer(std::uint64_t child, Now now) noexcept {
        for (unsigned round = 0; round < rounds; ++round) {
            if (!pairs_.step(child, nullptr, 0, &mail_.question, sizeof mail_.question)) return false;
            mail_.answer = {now(), relation_};
            if (!pairs_.step(child, &mail_.answer, sizeof mail_.answer, nullptr, 0)) return false;
        }
        return true;
    }

    /// All ranks of a machine learn what their lowest one knows, and whose clock it is: two clocks may have the same first bits.
    bool tell_all() noexcept {
        for (std::uint32_t machine = 0; machine < machines_; ++machine) {
            std::uint64_t told[3] = {nothing, nothing, nothing};
            if (leaders_[machine] == rank_) {
                told[0] = clock_;
                told[1] = static_cast<std::uint64_t>(relation_.offset_ns) + bias;
                told[2] = relation_.uncertainty_ns;
            }
            if (!job_.min(told, 3)) return false;
            if (machine == machine_ && told[0] == clock_) relation_ = {true, static_cast<std::int64_t>(told[1] - bias), told[2]};
        }
        return true;
    }

    Job& job_;
    Pairs& pairs_;
    ClockMail& mail_;
    PageArray<std::uint32_t>& leaders_;
    std::uint64_t rank_;
    std::uint64_t clock_;
    std::uint32_t machine_ = none; // of this rank
    std::uint32_t machines_ = 0;
    ClockRelation relation_;
};

} // namespace libprofile
