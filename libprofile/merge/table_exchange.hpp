// Carries the messages of TableReduction along a binomial tree of ranks.
// Contract: one thread per rank, all ranks together; as patient as it is told and not longer. `Messages` moves bytes between ranks:
//   bool send(const void* bytes, std::size_t size, std::uint64_t to, int tag, std::uint64_t until);     and receive(...) alike
// False: not in time, or an error; then the bytes may still be read or written later, so they stay where they are.
//
// A rank that does not answer costs the job the time until it is given up, and those behind it (in the tree) the shared tables.
#pragma once

#include "libprofile/merge/table_reduction.hpp"

#include <bit>
#include <utility>

namespace libprofile {

/// The fixed-size messages between a rank and one other.
struct TableMail {
    TableOffer offer;
    TableAnswer answer = TableAnswer::Refused;
    TableReply reply;
};

/// Of a rank: with its children by level, and with its parent. Must live as long as messages may arrive.
struct TableMailbox {
    TableMail children[TableReduction::most_children];
    TableMail parent;
};

template <class Messages> class TableExchange {
  public:
    static constexpr std::size_t most_bytes = std::size_t{1} << 30; // of a message

    TableExchange(Messages& messages, TableReduction& reduction, TableMailbox& mailbox, PageBudget& budget, std::uint64_t rank,
                  std::uint64_t ranks) noexcept
        : messages_(messages), reduction_(reduction), mailbox_(mailbox), budget_(budget), rank_(rank), ranks_(ranks) {}

    /// Up and down the tree. `now`, `patience`: in the unit of `until`.
    /// False: other ranks may have been told to rely on a map that this rank does not have.
    bool run(std::uint64_t now, std::uint64_t patience) noexcept {
        last_ = now + patience;
        const auto levels = static_cast<unsigned>(std::bit_width(ranks_ - 1));
        // Who waits for a rank that waits for another one in vain must have more patience.
        const auto until = [&](unsigned level) { return now + patience / (levels + 3) * (level + 2); };
        unsigned level = 0;
        for (; level < levels && (rank_ >> level & 1) == 0; ++level)
            if (const std::uint64_t child = rank_ + (std::uint64_t{1} << level); child < ranks_) take_in(child, level, until(level));
        bool keeps_promises = true;
        if (rank_ == 0)
            reduction_.lead();
        else
            keeps_promises = offer_to(rank_ & (rank_ - 1), until(level + 1));
        reply();
        return keeps_promises && !reduction_.broke_promise();
    }

  private:
    enum Tag : int { OfferTag = 1, AnswerTag, TableTag, ReplyTag, MapTag };
    using Bytes = PageArray<unsigned char>;

    bool receive_array(Bytes& bytes, std::uint64_t size, std::uint64_t from, Tag tag, std::uint64_t until) noexcept {
        if (size > most_bytes || bytes.append(size) == nullptr) return false;
        if (messages_.receive(bytes.data(), size, from, tag, until)) return true;
        bytes.leave();
        return false;
    }
    bool send_array(Bytes& bytes, std::uint64_t to, Tag tag, std::uint64_t until) noexcept {
        if (messages_.send(bytes.data(), bytes.size(), to, tag, until)) return true;
        bytes.leave();
        return false;
    }

    void take_in(std::uint64_t child, unsigned level, std::uint64_t until) noexcept {
        auto& [offer, answer, reply] = mailbox_.children[level];
        if (!messages_.receive(&offer, sizeof offer, child, OfferTag, until)) return;
        answer = offer.bytes > most_bytes ? TableAnswer::Refused : reduction_.consider(child, offer);
        if (!messages_.send(&answer, sizeof answer, child, AnswerTag, until) || answer != TableAnswer::Send) return;
        Bytes bytes(budget_);
        if (receive_array(bytes, offer.bytes, child, TableTag, until)) reduction_.take(std::move(bytes));
    }

    bool offer_to(std::uint64_t parent, std::uint64_t until) noexcept {
        auto& [offer, answer, reply] = mailbox_.parent;
        offer = reduction_.offer();
        Bytes bytes(budget_);
        if (!bytes.reserve(offer.bytes)) offer.bytes = ~std::uint64_t{0}; // it will be refused
        if (!messages_.send(&offer, sizeof offer, parent, OfferTag, until) ||
            !messages_.receive(&answer, sizeof answer, parent, AnswerTag, until))
            return false;
        if (answer == TableAnswer::Refused) return true;
        if (answer == TableAnswer::Send && (!reduction_.encode(bytes) || !send_array(bytes, parent, TableTag, until))) return false;
        bytes.release();
        reduction_.release_table();
        if (!messages_.receive(&reply, sizeof reply, parent, ReplyTag, last_)) return false;
        if (reply.kind == TableReply::Map && !receive_array(bytes, reply.bytes, parent, MapTag, last_)) return false;
        reduction_.receive(reply, std::move(bytes));
        return reply.kind == TableReply::None || reduction_.has_map() || reduction_.is_shared();
    }

    void reply() noexcept {
        reduction_.reply_to_children([&](std::uint64_t child, const TableReply& what, Bytes& map) {
            TableReply& sent = mailbox_.children[std::countr_zero(child)].reply;
            sent = what;
            if (messages_.send(&sent, sizeof sent, child, ReplyTag, last_) && what.kind == TableReply::Map)
                send_array(map, child, MapTag, last_);
        });
    }

    Messages& messages_;
    TableReduction& reduction_;
    TableMailbox& mailbox_;
    PageBudget& budget_;
    std::uint64_t rank_;
    std::uint64_t ranks_;
    std::uint64_t last_ = 0;
};

} // namespace libprofile
