#include "libprofile/merge/table_reduction.hpp"

#include "format/codec.hpp"

#include <utility>

namespace libprofile {

namespace {

/// Writes growing numbers as runs: per run the count of numbers left out before it, and its length.
template <class NumberAt> void encode_runs(Encoder& encoder, std::size_t count, NumberAt at) {
    std::uint64_t next = 0; // the number after the last run
    std::uint64_t begin = 0, end = 0;
    for (std::size_t i = 0; i <= count; ++i) {
        std::uint64_t number = 0;
        if (i < count && !at(i, number)) continue;
        if (i < count && number == end && end != begin) {
            ++end;
            continue;
        }
        if (end != begin) {
            encoder.number(begin - next);
            encoder.number(end - begin);
            next = end;
        }
        begin = number;
        end = number + 1;
    }
}

bool decode_runs(const PageArray<unsigned char>& bytes, std::uint64_t limit, PageArray<std::uint32_t>& numbers) {
    Decoder decoder(bytes.data(), bytes.size());
    std::uint64_t next = 0;
    while (decoder.remaining() != 0) {
        std::uint64_t gap = 0, length = 0;
        decoder.number(gap);
        decoder.number(length);
        if (decoder.failed() || gap > limit - next || length > limit - next - gap) return false;
        std::uint32_t* slots = numbers.append(length);
        if (slots == nullptr && length != 0) return false;
        for (std::uint64_t i = 0; i < length; ++i) slots[i] = static_cast<std::uint32_t>(next + gap + i);
        next += gap + length;
    }
    return !decoder.failed();
}

template <class Write> bool encode_into(PageArray<unsigned char>& bytes, Write write) {
    Encoder measure(nullptr, 0);
    write(measure);
    bytes.shorten(0);
    unsigned char* memory = bytes.append(measure.size());
    if (memory == nullptr) return measure.size() == 0;
    Encoder encoder(memory, measure.size());
    write(encoder);
    return true;
}

} // namespace

TableReduction::TableReduction(PageBudget& budget, std::uint64_t rank, PathTable&& own, TableSignature layout) noexcept
    : budget_(&budget), rank_(rank), layout_(layout), table_(std::move(own)), nodes_(table_.size()), origins_(budget), map_(budget) {
    signatures_[0] = table_.signature();
}

TableAnswer TableReduction::consider(std::uint64_t rank, const TableOffer& offer) noexcept {
    Child& child = children_[child_count_++];
    child = {};
    child.rank = rank;
    child.offer = offer;
    child.steps_then = steps_;
    if (offer.bytes == TableOffer::no_memory) return ++refused_, TableAnswer::Refused;
    // A signature identifies its table: 128 bits rule out collisions.
    for (std::size_t step = 0; step <= steps_; ++step) {
        if (!(signatures_[step] == offer.table)) continue;
        child.step = step;
        child.lost = false;
        uniform_ = uniform_ && offer.uniform != 0 && offer.layout == layout_;
        return TableAnswer::Known;
    }
    for (const Child* sibling = children_; sibling != &child; ++sibling) {
        if (sibling->lost || !(sibling->offer.table == offer.table)) continue;
        child.step = sibling->step;
        child.merged_then = sibling->merged_then;
        child.lost = false;
        uniform_ = false;
        return TableAnswer::Known;
    }
    if (!budget_->has_room(offer.bytes)) return ++refused_, TableAnswer::Refused;
    return TableAnswer::Send; // lost until take()
}

void TableReduction::take(PageArray<unsigned char>&& bytes) noexcept {
    Child& child = children_[child_count_ - 1];
    PathTable other(*budget_), merged(*budget_);
    const bool decoded = !bytes.is_empty() && other.decode(bytes.data(), bytes.size());
    bytes.release();
    const std::size_t begin = origins_.size();
    if (!decoded || !merge(table_, other, merged, origins_, *budget_)) {
        origins_.shorten(begin);
        ++refused_;
        return; // stays lost
    }
    ++steps_;
    begin_[steps_] = begin;
    table_ = std::move(merged);
    nodes_ = table_.size();
    signatures_[steps_] = table_.signature();
    child.step = child.steps_then = steps_;
    child.merged_then = true;
    child.lost = false;
    uniform_ = false;
}

TableOffer TableReduction::offer() const noexcept {
    TableOffer result{signatures_[steps_], layout_, uniform_ ? 1u : 0u, 0};
    Encoder measure(nullptr, 0);
    table_.encode(measure);
    result.bytes = measure.size();
    return result;
}

bool TableReduction::encode(PageArray<unsigned char>& bytes) const noexcept {
    return encode_into(bytes, [this](Encoder& encoder) { table_.encode(encoder); });
}

void TableReduction::lead() noexcept {
    job_nodes_ = table_.size();
    std::uint32_t* slots = map_.append(table_.size());
    if (slots == nullptr) return;
    for (std::size_t i = 0; i < table_.size(); ++i) slots[i] = static_cast<std::uint32_t>(i);
    kind_ = TableReply::Map;
}

void TableReduction::receive(const TableReply& reply, PageArray<unsigned char>&& bytes) noexcept {
    table_.release();
    if (reply.kind == TableReply::Shared && uniform_) {
        kind_ = reply.kind;
        owner_ = reply.owner;
    } else if (reply.kind == TableReply::Map && reply.job_nodes <= 0xffffffffu && map_.reserve(nodes_) && decode_runs(bytes, reply.job_nodes, map_) &&
               map_.size() == nodes_) {
        kind_ = reply.kind;
        owner_ = reply.owner;
        job_nodes_ = reply.job_nodes;
    }
    bytes.release();
    keeps_promises_ = reply.kind == TableReply::None || has_map() || is_shared();
}

void TableReduction::step_back_to(std::size_t step) noexcept {
    for (; steps_ > step; --steps_) {
        std::size_t kept = 0;
        for (std::size_t i = 0; i < map_.size(); ++i)
            if ((origins_[begin_[steps_] + i] & NodeOrigins::A) != 0) map_[kept++] = map_[i];
        map_.shorten(kept);
        origins_.shorten(begin_[steps_]);
    }
}

std::uint64_t TableReduction::owner_for(const Child& child) const noexcept {
    if (child.offer.layout == layout_) return owner();
    for (const Child* sibling = children_; sibling != &child; ++sibling)
        if (!sibling->lost && sibling->offer.layout == child.offer.layout) return sibling->rank;
    return TableReply::itself;
}

bool TableReduction::encode_map(const Child& child, PageArray<unsigned char>& map) const noexcept {
    return encode_into(map, [&](Encoder& encoder) {
        std::size_t next[most_children + 1] = {}; // node of the union after each merge
        encode_runs(encoder, map_.size(), [&](std::size_t i, std::uint64_t& number) {
            number = map_[i];
            for (std::size_t step = steps_; step > child.step; --step)
                if ((origins_[begin_[step] + next[step]++] & NodeOrigins::A) == 0) return false;
            return !child.merged_then || (origins_[begin_[child.step] + next[child.step]++] & NodeOrigins::B) != 0;
        });
    });
}

std::uint64_t TableReduction::reply_to_last_child(TableReply& reply, PageArray<unsigned char>& map) noexcept {
    const Child& child = children_[child_count_ - 1];
    reply = {};
    map.shorten(0);
    step_back_to(child.steps_then);
    if (kind_ != TableReply::None && !child.lost) {
        reply.owner = owner_for(child);
        if (kind_ == TableReply::Shared || (child.offer.uniform != 0 && reply.owner != TableReply::itself)) {
            reply.kind = TableReply::Shared;
        } else if (encode_map(child, map)) {
            reply.kind = TableReply::Map;
            reply.job_nodes = job_nodes_;
            reply.bytes = map.size();
        } else {
            reply = {};
            keeps_promises_ = false;
        }
    }
    if (--child_count_ == 0) step_back_to(0);
    return child.rank;
}

} // namespace libprofile
