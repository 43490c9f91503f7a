#include "libprofile/phases/phase_list.hpp"

#include "format/fnv.hpp"

#include <cstring>
#include <new>

namespace libprofile {

namespace {

/// Hashes kind and the first max_name characters of the name.
std::uint64_t hash_name(PhaseKind kind, const char* name) {
    return fnv1a(name, strnlen(name, PhaseList::max_name), fnv_start + static_cast<std::uint64_t>(kind));
}

} // namespace

Phase* PhaseList::find(PhaseKind kind, const char* name) noexcept {
    const auto is_called = [&](const Phase& phase) { return phase.kind == kind && std::strncmp(phase.name, name, max_name) == 0; };
    if (last_ != nullptr && is_called(*last_)) [[likely]]
        return last_;
    const std::uint64_t hash = hash_name(kind, name);
    for (std::size_t i = 1; i < phases_.size(); ++i)
        if (phases_[i].hash == hash && is_called(phases_[i])) return last_ = &phases_[i];
    return nullptr;
}

Phase* PhaseList::create(PhaseKind kind, const char* name) noexcept {
    if (phases_.size() >= max_phases) return refuse();
    char shortened[max_name + 1] = {};
    std::strncpy(shortened, name, max_name);
    Phase trial;
    trial.name = arena_->copy_text(shortened);
    trial.kind = kind;
    trial.hash = hash_name(kind, name);
    if (!trial.rows.reserve(*tree_, *arena_)) return refuse();
    trial.number = static_cast<std::uint32_t>(phases_.size());
    Phase* phase = phases_.append(*arena_);
    return phase == nullptr ? refuse() : new (phase) Phase(trial);
}

} // namespace libprofile
