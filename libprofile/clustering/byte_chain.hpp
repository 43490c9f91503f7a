// Bytes that are only appended, in pieces from a pool: the coded series of a chunk of iterations.
// Contract: belongs to one thread; nothing throws. When memory runs out, failed() stays true and later bytes are dropped.
#pragma once

#include "libprofile/base/memory.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace libprofile {

class ByteChain {
  public:
    void put(unsigned char byte, Pool& pool) noexcept {
        if (left_ == 0 && !extend(pool)) return;
        last_->bytes()[room_of(last_bytes_) - left_--] = byte;
        ++size_;
    }
    /// Seven bits a byte, least significant first, as LEB128 (DWARF 5, 7.6).
    void put_number(std::uint64_t value, Pool& pool) noexcept {
        for (; value >= 0x80; value >>= 7) put(static_cast<unsigned char>(value | 0x80), pool);
        put(static_cast<unsigned char>(value), pool);
    }
    std::size_t size() const { return size_; }
    std::size_t memory() const { return memory_; }
    bool failed() const { return failed_; }
    /// Calls visit(bytes, size) for every piece in order.
    template <class Visit> void for_each_piece(Visit visit) const {
        std::uint32_t number = 0;
        for (const Piece* p = first_; p != nullptr; p = p->next, ++number)
            visit(p->bytes(), std::size_t{p == last_ ? room_of(last_bytes_) - left_ : room_of(bytes_of(number))});
    }
    /// Nothing will be added: shrinks the last piece as far as possible. Leaves it alone if memory is short.
    void trim(Pool& pool) noexcept {
        if (last_ == nullptr) return;
        const std::uint32_t used = room_of(last_bytes_) - left_;
        std::uint32_t wanted = 16;
        while (room_of(wanted) < used) wanted *= 2;
        auto* fresh = wanted >= last_bytes_ ? nullptr : static_cast<Piece*>(pool.allocate(wanted));
        if (fresh == nullptr) return;
        fresh->next = nullptr;
        std::memcpy(fresh->bytes(), last_->bytes(), used);
        Piece** link = &first_;
        while (*link != last_) link = &(*link)->next;
        *link = fresh;
        pool.release(last_, last_bytes_);
        memory_ -= last_bytes_ - wanted;
        last_ = fresh;
        last_bytes_ = wanted;
        left_ = room_of(wanted) - used;
    }
    void release(Pool& pool) noexcept {
        for (std::uint32_t number = 0; first_ != nullptr; ++number) {
            Piece* next = first_->next;
            pool.release(first_, first_ == last_ ? last_bytes_ : bytes_of(number));
            first_ = next;
        }
        *this = {};
    }

  private:
    struct Piece {
        Piece* next;
        unsigned char* bytes() { return reinterpret_cast<unsigned char*>(this + 1); }
        const unsigned char* bytes() const { return reinterpret_cast<const unsigned char*>(this + 1); }
    };
    /// Small at first, since many chains stay short.
    static constexpr std::uint32_t bytes_of(std::uint32_t number) { return number < 2 ? 64 : number < 4 ? 128 : 256; }
    static constexpr std::uint32_t room_of(std::uint32_t bytes) { return bytes - static_cast<std::uint32_t>(sizeof(Piece)); }

    [[gnu::noinline]] bool extend(Pool& pool) noexcept {
        const std::uint32_t bytes = bytes_of(pieces_);
        auto* fresh = failed_ ? nullptr : static_cast<Piece*>(pool.allocate(bytes));
        if (fresh == nullptr) return failed_ = true, false;
        fresh->next = nullptr;
        (first_ == nullptr ? first_ : last_->next) = fresh;
        last_ = fresh;
        last_bytes_ = bytes;
        left_ = room_of(bytes);
        memory_ += bytes;
        ++pieces_;
        return true;
    }

    Piece* first_ = nullptr;
    Piece* last_ = nullptr;
    std::size_t size_ = 0;
    std::size_t memory_ = 0;
    std::uint32_t left_ = 0; // in the last piece
    std::uint32_t last_bytes_ = 0;
    std::uint32_t pieces_ = 0;
    bool failed_ = false;
};

} // namespace libprofile
