// For each iteration of a phase the number of its sequence, coded: an iteration that comes as expected takes a small part of a bit.
// Contract: belongs to one thread, used with its in-tool flag set; nothing throws; memory from its pool, bounded by an OrderMemory. When that is used
// up, the numbers of later iterations are not known.
#pragma once

#include "format/sequences.hpp"
#include "libprofile/clustering/chain_sink.hpp"
#include "libprofile/order/order_memory.hpp"

#include <cstdint>

namespace libprofile {

class SequenceNumbers {
  public:
    SequenceNumbers() = default;
    SequenceNumbers(const SequenceNumbers&) = delete;
    SequenceNumbers& operator=(const SequenceNumbers&) = delete;

    /// The next iteration has this number; 0: it is not known. Returns false if there is no room for it, nor for any later one.
    bool append(std::uint32_t number, OrderMemory& memory, Pool& pool) noexcept {
        if (is_full_ || (is_full_ = !has_room(memory))) return false;
        sink_.pool = &pool;
        {
            RangeEncoder<Sink>::Run run(coder_);
            code_.code(run, number);
        }
        ++size_;
        if (chain_.failed()) [[unlikely]] { // a stream with a hole tells nothing
            is_full_ = true;
            size_ = 0;
        }
        return !is_full_;
    }
    /// How many are known, from the first iteration on.
    std::uint64_t size() const { return size_; }
    std::size_t bytes() const { return chain_.size(); }
    template <class Visit> void for_each_piece(Visit visit) const { chain_.for_each_piece(visit); }
    /// The last bytes, which the coder still holds back. Returns their number.
    static constexpr std::size_t most_held_back = ChainSink::most_held_back;
    std::size_t held_back(unsigned char* out) const noexcept {
        Sink look;
        look.tail = out;
        coder_.redirected(look).finish();
        return look.size;
    }

  private:
    using Sink = ChainSink;
    static constexpr std::size_t most_of_number = 32; // bytes; a few
    static constexpr std::size_t step = 256;

    /// Before the next number: what was begun must also be ended.
    bool has_room(OrderMemory& memory) noexcept {
        if (chain_.size() + most_of_number <= taken_) [[likely]]
            return true;
        if (!memory.takes_numbers(step)) return false;
        taken_ += step;
        return true;
    }

    ByteChain chain_;
    Sink sink_{&chain_};
    RangeEncoder<Sink> coder_{sink_};
    SequenceCode code_;
    std::uint64_t size_ = 0;
    std::size_t taken_ = 0;
    bool is_full_ = false;
};

} // namespace libprofile
