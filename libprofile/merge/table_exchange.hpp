// Carries the messages of TableReduction along a binomial tree of ranks, in steps in which all ranks take part.
// Contract: one thread per rank, all ranks together. `Steps` moves bytes between pairs of ranks:
//   bool step(std::uint64_t partner, const void* out, std::size_t out_size, void* in, std::size_t in_size);
// A rank with nothing to do in a step is its own partner, with sizes 0. step() returns false after an error or a timeout. Then the ranks no
// longer act together. The bytes may still be read or written later, so they stay mapped.
//
// The parents of a level are 2^(level + 1) apart, each with its child halfway to the next. A level takes three steps up the tree (offer,
// answer, table) and two down (reply, map). A step with nothing to send costs no message.
#pragma once

#include "libprofile/merge/table_reduction.hpp"

#include <algorithm>
#include <bit>
#include <utility>

namespace libprofile {

/// The fixed-size messages of the current step. It must live as long as messages may arrive.
struct TableMail {
    TableOffer offer;
    TableAnswer answer = TableAnswer::Refused;
    TableReply reply;
};

template <class Steps> class TableExchange {
  public:
    static constexpr std::size_t most_bytes = std::size_t{1} << 30; // of a message

    TableExchange(Steps& steps, TableReduction& reduction, TableMail& mail, PageBudget& budget, std::uint64_t rank, std::uint64_t ranks) noexcept
        : steps_(steps), reduction_(reduction), mail_(mail), budget_(budget), bytes_(budget), rank_(rank), ranks_(ranks) {}

    /// Goes up and down the tree once. Returns false if a step failed.
    bool run() noexcept {
        const auto levels = static_cast<unsigned>(std::bit_width(ranks_ - 1));
        for (unsigned level = 0; level < levels; ++level) {
            const std::uint64_t half = std::uint64_t{1} << level;
            if (!(is_parent(half) ? take_in(rank_ + half) : is_child(half) ? offer_to(rank_ - half) : rest(3))) return false;
        }
        if (rank_ == 0) reduction_.lead();
        for (unsigned level = levels; level-- > 0;) {
            const std::uint64_t half = std::uint64_t{1} << level;
            if (!(is_parent(half) ? reply_to(rank_ + half) : is_child(half) ? hear_from(rank_ - half) : rest(2))) return false;
        }
        return true;
    }

  private:
    using Bytes = PageArray<unsigned char>;

    bool is_parent(std::uint64_t half) const { return rank_ % (2 * half) == 0 && rank_ + half < ranks_; }
    bool is_child(std::uint64_t half) const { return rank_ % (2 * half) == half; }

    bool send(const void* bytes, std::size_t size, std::uint64_t to) noexcept { return steps_.step(to, bytes, size, nullptr, 0); }
    bool receive(void* bytes, std::size_t size, std::uint64_t from) noexcept { return steps_.step(from, nullptr, 0, bytes, size); }
    bool rest(int steps = 1) noexcept {
        while (steps > 0 && steps_.step(rank_, nullptr, 0, nullptr, 0)) --steps;
        return steps == 0;
    }
    bool send(Bytes& bytes, std::uint64_t to) noexcept { return send(bytes.data(), bytes.size(), to) || (bytes.leave(), false); }
    bool receive(Bytes& bytes, std::uint64_t from) noexcept { return receive(bytes.data(), bytes.size(), from) || (bytes.leave(), false); }

    bool take_in(std::uint64_t child) noexcept {
        if (!receive(&mail_.offer, sizeof mail_.offer, child)) return false;
        mail_.answer = reduction_.consider(child, mail_.offer);
        const bool is_wanted = mail_.answer == TableAnswer::Send;
        Bytes bytes(budget_);
        const bool has_room = is_wanted && bytes.append(mail_.offer.bytes) != nullptr;
        if (is_wanted && !has_room) mail_.answer = TableAnswer::Refused;
        if (!send(&mail_.answer, sizeof mail_.answer, child) || !(has_room ? receive(bytes, child) : rest())) return false;
        if (is_wanted) reduction_.take(std::move(bytes));
        return true;
    }

    bool offer_to(std::uint64_t parent) noexcept {
        mail_.offer = reduction_.offer();
        // Room for the map, too: it cannot be refused when it arrives.
        const std::size_t room = std::max<std::size_t>(mail_.offer.bytes, reduction_.most_map_bytes());
        if (room > most_bytes || !bytes_.reserve(room)) mail_.offer.bytes = TableOffer::no_memory;
        if (!send(&mail_.offer, sizeof mail_.offer, parent) || !receive(&mail_.answer, sizeof mail_.answer, parent)) return false;
        const bool is_wanted = mail_.answer == TableAnswer::Send;
        if (!(is_wanted ? reduction_.encode(bytes_) && send(bytes_, parent) : rest())) return false;
        reduction_.release_table();
        return true;
    }

    bool hear_from(std::uint64_t parent) noexcept {
        if (!receive(&mail_.reply, sizeof mail_.reply, parent)) return false;
        bytes_.shorten(0);
        const bool has_map = mail_.reply.kind == TableReply::Map;
        if (!(has_map ? bytes_.append(mail_.reply.bytes) != nullptr && receive(bytes_, parent) : rest())) return false;
        reduction_.receive(mail_.reply, std::move(bytes_));
        return true;
    }

    bool reply_to(std::uint64_t child) noexcept {
        Bytes map(budget_);
        reduction_.reply_to_last_child(mail_.reply, map);
        return send(&mail_.reply, sizeof mail_.reply, child) && (mail_.reply.kind == TableReply::Map ? send(map, child) : rest());
    }

    Steps& steps_;
    TableReduction& reduction_;
    TableMail& mail_;
    PageBudget& budget_;
    Bytes bytes_; // the own table on its way up, then the map on its way down
    std::uint64_t rank_;
    std::uint64_t ranks_;
};

} // namespace libprofile
