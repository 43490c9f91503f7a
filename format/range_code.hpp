// Adaptive binary range coding: the more surprising a yes/no decision is, the more bits it takes.
// Contract: no allocation, no exceptions; plain values used by one thread. The decoder never reads past its bytes, whatever they are. Both sides
// use integer arithmetic only, so a profile means the same on every machine.
// Source: Martin, "Range encoding" (1979); the adaptive binary form with carries is the usual one of file compressors.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

namespace libprofile {

/// The probability that a decision is "no", learnt from earlier decisions; a new decision has the weight 1 / 2^rate.
template <unsigned rate> struct Odds {
    std::uint16_t no = 0x8000;
    void learn(bool yes) {
        if (yes)
            no = static_cast<std::uint16_t>(no - (no >> rate));
        else
            no = static_cast<std::uint16_t>(no + ((0xffff - no) >> rate));
    }
};

/// Writes to a `Sink` with a function put(unsigned char). Decisions are made in a Run, which keeps the state in registers while it lives (and
/// everything that uses it is inlined): a coded iteration makes a few thousand of them.
template <class Sink> class RangeEncoder {
  public:
    explicit RangeEncoder(Sink& sink) : sink_(&sink) {}

    class Run {
      public:
        static constexpr bool reading = false;
        explicit Run(RangeEncoder& encoder) : encoder_(&encoder), low_(encoder.low_), range_(encoder.range_) {}
        Run(const Run&) = delete;
        Run& operator=(const Run&) = delete;
        ~Run() {
            encoder_->low_ = low_;
            encoder_->range_ = range_;
        }

        template <unsigned rate> bool decide(Odds<rate>& odds, bool yes) {
            const std::uint32_t bound = (range_ >> 16) * odds.no;
            if (yes) {
                low_ += bound;
                range_ -= bound;
            } else {
                range_ = bound;
            }
            odds.learn(yes);
            normalise();
            return yes;
        }
        /// `count` bits; all values are equally likely.
        std::uint64_t bits(std::uint64_t value, unsigned count) {
            while (count > 0) {
                // As many bits at once as the range can be halved. No branch depends on a bit, since bits are unpredictable.
                const auto room = static_cast<unsigned>(std::bit_width(range_)) - 24;
                const unsigned now = count < room ? count : room;
                count -= now;
                const std::uint32_t cut_off = (1u << now) - 1;
                const std::uint32_t part = static_cast<std::uint32_t>(value >> count) & cut_off;
                if ((range_ & cut_off) == 0) { // no half is rounded, as always from the second time on
                    range_ >>= now;
                    low_ += std::uint64_t{range_} * part;
                } else {
                    for (unsigned i = now; i-- > 0;) {
                        range_ >>= 1;
                        low_ += range_ & (0u - (part >> i & 1));
                    }
                }
                normalise();
            }
            return value;
        }

      private:
        void normalise() {
            while (range_ < (1u << 24)) [[unlikely]] {
                    range_ <<= 8;
                    low_ = encoder_->shift(low_);
                }
        }
        RangeEncoder* encoder_;
        std::uint64_t low_;
        std::uint32_t range_;
    };

    /// Returns the same state, but with another target: shows what is held back while the original continues.
    RangeEncoder redirected(Sink& sink) const {
        RangeEncoder copy = *this;
        copy.sink_ = &sink;
        return copy;
    }
    /// Writes everything that is held back.
    void finish() {
        for (int i = 0; i < 5; ++i) low_ = shift(low_);
    }

  private:
    /// Writes the top byte of `low`, but holds back bytes that a carry may still change. Returns the rest of it.
    [[gnu::noinline]] std::uint64_t shift(std::uint64_t low) {
        const bool carry = (low >> 32) != 0;
        if (carry || low < 0xff000000u) {
            if (started_) sink_->put(static_cast<unsigned char>(held_ + (carry ? 1 : 0)));
            started_ = true;
            if (full_ > 0) [[unlikely]]
                put_full(carry);
            held_ = static_cast<unsigned char>(low >> 24);
        } else {
            ++full_; // 0xff: a carry would make it 0x00
        }
        return (low & 0x00ffffffu) << 8;
    }

    [[gnu::noinline]] void put_full(bool carry) {
        for (; full_ > 0; --full_) sink_->put(static_cast<unsigned char>(carry ? 0 : 0xff));
    }

    Sink* sink_;
    std::uint64_t low_ = 0;
    std::uint32_t range_ = 0xffffffffu;
    unsigned char held_ = 0;
    bool started_ = false;
    std::uint64_t full_ = 0;
};

class RangeDecoder {
  public:
    static constexpr bool reading = true;
    RangeDecoder(const unsigned char* bytes, std::size_t size) : next_(bytes), end_(bytes + size) {
        for (int i = 0; i < 4; ++i) code_ = code_ << 8 | take();
    }

    template <unsigned rate> bool decide(Odds<rate>& odds, bool = false) {
        const std::uint32_t bound = (range_ >> 16) * odds.no;
        const bool yes = code_ >= bound;
        if (yes) {
            code_ -= bound;
            range_ -= bound;
        } else {
            range_ = bound;
        }
        odds.learn(yes);
        normalise();
        return yes;
    }
    std::uint64_t bits(std::uint64_t, unsigned count) {
        std::uint64_t value = 0;
        while (count-- > 0) {
            range_ >>= 1;
            const bool one = code_ >= range_;
            if (one) code_ -= range_;
            value = value << 1 | (one ? 1 : 0);
            normalise();
        }
        return value;
    }
    /// Returns true if more was read than there is: the encoder did not write these bytes.
    bool failed() const { return missing_ > 4; }

  private:
    std::uint32_t take() {
        if (next_ != end_) return *next_++;
        ++missing_;
        return 0;
    }
    void normalise() {
        while (range_ < (1u << 24)) {
            range_ <<= 8;
            code_ = code_ << 8 | take();
        }
    }

    const unsigned char* next_;
    const unsigned char* end_;
    std::uint32_t range_ = 0xffffffffu;
    std::uint32_t code_ = 0;
    std::size_t missing_ = 0;
};

/// The binary length of a non-zero number when one like it is expected: longer or not, by how much, or shorter. All numbers of a kind share the
/// odds, so a few of them teach how much lengths vary.
/// Source: adaptive Golomb codes (Weinberger, Seroussi, Sapiro, "LOCO-I", 1996) have the expectation per context, too. Here decisions code the
/// rest.
class LengthOdds {
  public:
    static constexpr unsigned most = 64;

    /// `expected` from 1 to `most`; 0 if nothing is known: the length then takes 6 bits.
    template <class Coder> unsigned code(Coder& coder, unsigned expected, unsigned length) {
        if (expected == 0) return static_cast<unsigned>(coder.bits(Coder::reading ? 0 : length - 1, 6)) + 1;
        unsigned now = expected;
        if (now < most && coder.decide(longer_[0], length > now)) {
            for (++now; now < most && coder.decide(longer_[step(now - expected)], length > now); ++now) {
            }
        } else {
            for (; now > 1 && coder.decide(shorter_[step(expected - now)], length < now); --now) {
            }
        }
        return now;
    }

  private:
    static constexpr unsigned steps = 6; // larger distances share their odds
    static constexpr unsigned step(unsigned distance) { return distance < steps ? distance : steps - 1; }
    Odds<5> longer_[steps];
    Odds<5> shorter_[steps];
};

/// A rare number from 0 on: its length in 6 bits, then the digits below the first. Below 2^64 - 1.
template <class Coder> std::uint64_t code_rare(Coder& coder, std::uint64_t value) {
    const auto below = static_cast<unsigned>(coder.bits(Coder::reading ? 0 : static_cast<std::uint64_t>(std::bit_width(value + 1)) - 1, 6));
    const std::uint64_t top = std::uint64_t{1} << below;
    return (top | coder.bits((value + 1) & (top - 1), below)) - 1;
}

} // namespace libprofile
