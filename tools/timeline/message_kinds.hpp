// Whether all messages that were received have their senders, of events that were left in their files: without a list of all messages, by sums over those of
// each kind (message_pairs.hpp) that are equal only if they are the same.
// Contract: one thread; memory in proportion to the kinds; throws std::bad_alloc only.
#pragma once

#include "tools/reader/events.hpp"

#include <compare>
#include <cstdint>
#include <map>
#include <vector>

namespace libprofile::tools {

/// The ends of a process with the same direction, partner, communicator and tag.
struct MessageKind {
    std::uint32_t partner = 0, communicator = 0;
    std::int32_t tag = 0;
    bool is_received = false;
    std::uint64_t number = 0, sum = 0; // how many, and of their numbers and bytes
};

class MessageKinds {
  public:
    static constexpr std::size_t most = 100'000;

    void add(const TracedMessage& message);
    /// Empty if there are too many.
    std::vector<MessageKind> list() const;
    bool are_too_many() const { return kinds_.size() > most; }
    /// Of these only the bytes are in the sum: if parts of the run are not there, others may have the same.
    bool has_received_without_number() const { return has_received_without_number_; }

  private:
    struct Key {
        std::uint32_t partner = 0, communicator = 0;
        std::int32_t tag = 0;
        bool is_received = false;
        auto operator<=>(const Key&) const = default;
    };
    struct Sum {
        std::uint64_t number = 0, sum = 0;
    };
    std::map<Key, Sum> kinds_;
    bool has_received_without_number_ = false;
    Key last_key_[2];                       // by direction
    Sum* last_sum_[2] = {nullptr, nullptr}; // of these
};

} // namespace libprofile::tools
