// The Sequences block of the profile file: in which order the events of a phase's iterations came (LIBPROFILE_ORDER).
// Contract: plain data; no allocation; `describe` runs with an Encoder or a Decoder, SequenceCode with a coder of range_code.hpp. Both sides use
// integer arithmetic only.
//
// An iteration's events are its sequence. Iterations with the same one share a timeline: sums and maxima by position. Each iteration has the number
// of its sequence, and these numbers are coded by what came after the same ones before.
#pragma once

#include "format/codec.hpp"
#include "format/range_code.hpp"

#include <cstdint>

namespace libprofile {

struct SequencesRecord {
    std::uint64_t thread = 0;
    std::uint64_t phase = 0;      // its number in the thread
    std::uint64_t iterations = 0; // of so many, from the first, the numbers are there
    std::uint64_t unnumbered = 0; // iterations that were followed, but there was no memory for another hash
    std::uint64_t untimed = 0;    // of those with a number: their times are in no timeline, because memory was short
    std::uint64_t sequences = 0;
};
template <class Codec> void describe(Codec& c, SequencesRecord& r) {
    c.number(r.thread);
    c.number(r.phase);
    c.number(r.iterations);
    c.number(r.unnumbered);
    c.number(r.untimed);
    c.number(r.sequences);
}

enum SequenceFlag : std::uint64_t {
    SequenceHasTimeline = 1, // else only its hash was kept: memory was short, or there were too many events
    SequenceIsTooLong = 2,
};

/// One sequence; number = position + 1, in the order in which they came.
struct SequenceRecord {
    std::uint64_t hash[2] = {}; // of the events in their order: equal on all ranks and in all runs of the same code
    std::uint64_t iterations = 0;
    std::uint64_t flags = 0;  // SequenceFlag
    std::uint64_t events = 0; // of the timeline
};
template <class Codec> void describe(Codec& c, SequenceRecord& r) {
    c.number(r.hash[0]);
    c.number(r.hash[1]);
    c.number(r.iterations);
    c.number(r.flags);
    c.number(r.events);
}

/// A position of a timeline, in the order of ends. An event, or an iteration of another phase inside; or several equal ones in a row.
struct SequenceEventRecord {
    std::uint64_t what = 0;        // 2 * node of an event; 2 * number of the phase + 1 for an iteration
    std::uint64_t sequence = 0;    // only of an iteration: the number of its sequence, 0: it has none
    std::uint64_t count = 0;       // in a row
    std::uint64_t begin_sum = 0;   // ns from the iteration's begin to that of the first in the row, over all timed iterations
    std::uint64_t begin_most = 0;  //
    std::uint64_t length_sum = 0;  // ns, of all in the row
    std::uint64_t length_most = 0; // of a single one

    bool is_inner() const { return (what & 1) != 0; }
};
template <class Codec> void describe(Codec& c, SequenceEventRecord& r) {
    c.number(r.what);
    if (r.is_inner()) c.number(r.sequence);
    c.number(r.count);
    c.number(r.begin_sum);
    c.number(r.begin_most);
    c.number(r.length_sum);
    c.number(r.length_most);
}

/// The numbers of the iterations' sequences; 0: not known. Both sides learn what came next after the last two runs of equal numbers.
class SequenceCode {
  public:
    template <class Coder> std::uint32_t code(Coder& coder, std::uint32_t number) {
        std::uint32_t& next = next_[place()];
        const std::uint32_t expected = next != 0 ? next - 1 : last_.number;
        if (coder.decide(is_another_[next != 0 ? 1 : 0], number != expected))
            number = static_cast<std::uint32_t>(code_rare(coder, number));
        else if (Coder::reading)
            number = expected;
        if (next != 0 || number != last_.number) next = number + 1; // a long run needs no place
        if (number == last_.number) {
            last_.length += last_.length < longest ? 1 : 0;
        } else {
            before_ = last_;
            last_ = {number, 1};
        }
        return number;
    }

  private:
    static constexpr std::uint32_t longest = 1u << 16;
    static constexpr unsigned bits = 9;
    struct Run {
        std::uint32_t number = 0;
        std::uint32_t length = 0;
    };
    std::uint64_t place() const {
        constexpr std::uint64_t factor = 0x9e3779b97f4a7c15u;
        std::uint64_t h = before_.number;
        for (const std::uint64_t part : {std::uint64_t{before_.length}, std::uint64_t{last_.number}, std::uint64_t{last_.length}}) h = h * factor + part;
        return h * factor >> (64 - bits);
    }
    Run before_;
    Run last_;
    std::uint32_t next_[1u << bits] = {}; // number + 1; 0: nothing learnt yet
    Odds<4> is_another_[2];
};

} // namespace libprofile
