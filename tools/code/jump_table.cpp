#include "tools/code/jump_table.hpp"

#include <algorithm>
#include <cstring>
#include <optional>

namespace libprofile::tools {

namespace {

constexpr std::uint64_t most_entries = 1 << 16;

/// Where entry `number` of a table leads.
std::optional<std::uint64_t> entry_at(const ElfCode& code, const Value& entry, std::uint64_t number) {
    const std::uint64_t at = entry.constant + number * entry.scale;
    if (entry.width == 8) {
        const auto word = code.word(at);
        return word ? std::optional(*word + entry.added) : std::nullopt;
    }
    const auto stored = code.bytes(at);
    if (entry.width != 4 || stored.size() < 4) return std::nullopt;
    std::uint32_t value = 0;
    std::memcpy(&value, stored.data(), sizeof value);
    return entry.added + (entry.is_signed ? static_cast<std::uint64_t>(std::int64_t{static_cast<std::int32_t>(value)}) : value);
}

/// Whether limits come from the size of a number rather than from a comparison: the table may be shorter.
bool is_limit_of_type(std::uint64_t span) { return (span & (span + 1)) == 0; }

} // namespace

JumpTargets jump_targets(const ElfCode& code, std::uint64_t address, const CodeAt& jump, RegisterValues values,
                         const std::function<bool(std::uint64_t)>& is_own, const std::function<std::uint64_t(std::uint64_t)>& next_data) {
    JumpTargets out;
    const Operand operand = target_of(jump);
    if (operand.kind == Operand::Kind::None) return out;
    if (jump.instruction.operand != 0) { // through a slot that the loader or the program fills
        out.kind = JumpTargets::Kind::Away;
        return out;
    }
    Value value = values.value_of(code, address, operand);
    // Relative entries count from the table's beginning. What seems to be read from further on has an index that is not known yet.
    constexpr std::uint64_t most_away = 4096;
    if (value.kind == Value::Kind::Entry && value.width == 4 && value.span == Value::unbounded && value.added < value.constant &&
        value.constant - value.added < most_away)
        value.constant = value.added;
    if (value.is_constant() && is_own(value.constant)) {
        out.kind = JumpTargets::Kind::Table;
        out.is_bounded = true;
        out.targets.push_back(value.constant);
        return out;
    }
    const bool may_leave = values.is_frame_gone();
    if (value.kind == Value::Kind::Linear) {
        if (may_leave && !value.is_computed) out.kind = JumpTargets::Kind::Away;
        return out;
    }
    out.table = value.constant;
    out.is_bounded = value.span != Value::unbounded && !is_limit_of_type(value.span);
    const std::uint64_t last = value.span == Value::unbounded ? most_entries : value.span;
    const std::uint64_t end = out.is_bounded ? ~std::uint64_t{0} : next_data(value.constant);
    for (std::uint64_t i = 0; i <= last && value.constant + i * value.scale < end; ++i) {
        const auto target = entry_at(code, value, i);
        if (target && is_own(*target)) {
            out.targets.push_back(*target);
            continue;
        }
        // Relative entries without known bounds are likely something else.
        const bool is_other = target && may_leave && (out.is_bounded || value.width == 8) && (*target == 0 || code.part_of(*target) != nullptr);
        if (is_other)
            out.others.push_back(*target);
        else if (out.is_bounded)
            return out;
        else
            break;
    }
    for (auto* list : {&out.targets, &out.others}) {
        std::sort(list->begin(), list->end());
        list->erase(std::unique(list->begin(), list->end()), list->end());
    }
    if (!out.targets.empty())
        out.kind = JumpTargets::Kind::Table;
    else if (!out.others.empty() || (may_leave && value.width == 8))
        out.kind = JumpTargets::Kind::Away; // a table of functions
    return out;
}

} // namespace libprofile::tools
