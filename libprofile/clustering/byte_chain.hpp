// Bytes that only grow, in pieces from a pool: the coded series of a chunk of iterations.
// Contract: belongs to one thread; nothing throws; when memory runs out, failed() stays true and what follows is dropped.
#pragma once

#include "libprofile/session/memory.hpp"

#include <cstddef>
#include <cstdint>

namespace libprofile {

class ByteChain {
  public:
    void put(unsigned char byte, Pool& pool) noexcept {
        if (left_ == 0 && !extend(pool)) return;
        last_->bytes[piece_bytes - left_--] = byte;
        ++size_;
    }
    std::size_t size() const { return size_; }
    std::size_t memory() const { return pieces_ * sizeof(Piece); }
    bool failed() const { return failed_; }
    /// Calls visit(bytes, size) for every piece in order.
    template <class Visit> void for_each_piece(Visit visit) const {
        for (const Piece* p = first_; p != nullptr; p = p->next) visit(p->bytes, p == last_ ? piece_bytes - left_ : piece_bytes);
    }
    void release(Pool& pool) noexcept {
        while (first_ != nullptr) {
            Piece* next = first_->next;
            pool.release(first_, sizeof(Piece));
            first_ = next;
        }
        *this = {};
    }

  private:
    struct Piece {
        Piece* next;
        unsigned char bytes[256 - sizeof(Piece*)];
    };
    static constexpr std::size_t piece_bytes = sizeof(Piece::bytes);

    bool extend(Pool& pool) noexcept {
        auto* fresh = failed_ ? nullptr : static_cast<Piece*>(pool.allocate(sizeof(Piece)));
        if (fresh == nullptr) return failed_ = true, false;
        fresh->next = nullptr;
        (first_ == nullptr ? first_ : last_->next) = fresh;
        last_ = fresh;
        left_ = piece_bytes;
        ++pieces_;
        return true;
    }

    Piece* first_ = nullptr;
    Piece* last_ = nullptr;
    std::size_t left_ = 0; // in the last piece
    std::size_t size_ = 0;
    std::size_t pieces_ = 0;
    bool failed_ = false;
};

} // namespace libprofile
