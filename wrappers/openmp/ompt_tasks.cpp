#include "wrappers/openmp/ompt_tasks.hpp"

#include <new>

namespace libprofile {

OmptTasks* OmptTasks::create(Thread& thread) noexcept {
    const InTool guard;
    if (guard.is_nested()) return nullptr;
    void* memory = thread.arena.allocate(sizeof(OmptTasks), alignof(OmptTasks));
    return memory != nullptr ? new (memory) OmptTasks() : nullptr;
}

void OmptTasks::create(const OmptData* creator, OmptData* task, unsigned flags, const void* return_address, void* frame) noexcept {
    constexpr unsigned undeferred = 0x08000000, untied = 0x10000000, final = 0x20000000;
    std::uint64_t says = 0;
    if ((flags & undeferred) != 0) says |= TaskIsUndeferred;
    if ((flags & untied) != 0) says |= TaskIsUntied;
    if ((flags & final) != 0) says |= TaskIsFinal;
    if (in_loop_ != nullptr && in_loop_ == creator) says |= TaskIsOfLoop;
    const std::uint64_t number = note_creation_at(return_address, frame, creator != nullptr ? number_of(*creator) : 0, says);
    last_made_ = number != 0 ? task : nullptr;
    if (number != 0) task->value = is_numbered | number;
}

void OmptTasks::depend(const OmptData* task, const OmptDependence* list, unsigned count) noexcept {
    if (task != last_made_ || number_of(*task) == 0) return;
    TaskNeeds needs;
    for (unsigned i = 0; i < count; ++i) {
        constexpr int in_out_set = 7; // 5 and 6 are of ordered loops
        const int kind = list[i].kind == in_out_set ? static_cast<int>(TaskDependence::InOutSet) : list[i].kind;
        const bool is_known = kind >= static_cast<int>(TaskDependence::In) && kind <= static_cast<int>(TaskDependence::MutexInOutSet);
        if (!is_known && list[i].kind != in_out_set) continue;
        needs.add({list[i].variable.ptr, static_cast<TaskDependence>(kind)});
    }
}

void OmptTasks::see_taskloop(bool begins, const OmptData* task) noexcept { in_loop_ = begins ? task : nullptr; }

bool OmptTasks::is_running(const OmptData* task) const noexcept {
    for (unsigned i = count_ < most ? count_ : most; i-- > 0;)
        if (running_[i].task == task) return true;
    return false;
}

bool OmptTasks::has_begun_elsewhere(const OmptData& task) const noexcept { return number_of(task) != 0 && (task.value & has_run) != 0 && !is_running(&task); }

void OmptTasks::see_current(const OmptData* task) noexcept {
    if (count_ > most) return;
    unsigned behind = count_;
    while (behind > share_at_ && running_[behind - 1].task != task) --behind;
    if (behind == share_at_ && is_explicit(*task)) return; // it is not recorded
    while (count_ > behind) end_stretch(running_[--count_].stretch, true);
}

unsigned OmptTasks::begin_share(bool is_master) noexcept {
    const unsigned around = share_at_;
    if (!is_master) count_ = 0;
    share_at_ = count_;
    return around;
}

void OmptTasks::end_share(unsigned around) noexcept {
    if (count_ > share_at_) count_ = share_at_;
    share_at_ = around < count_ ? around : count_;
}

void OmptTasks::leave(const OmptData* before, bool is_over, const OmptData* next) noexcept {
    if (before == nullptr || !is_explicit(*before) || count_ == 0) return;
    if (count_ > most) { // which one is not known: one that is over has been the innermost
        if (is_over) --count_;
        return;
    }
    const Running& innermost = running_[count_ - 1];
    if (innermost.task != before) return; // it never began: its group was cancelled
    const bool goes_back = next == nullptr || !is_explicit(*next) || (count_ > 1 && is_running(next));
    if (!is_over && !goes_back) return;
    --count_;
    end_stretch(innermost.stretch, is_over);
}

void OmptTasks::enter(OmptData* next) noexcept {
    if (next == nullptr || !is_explicit(*next)) return;
    if (count_ >= most) {
        if (!is_running(next)) ++count_;
        return;
    }
    if (is_running(next)) return; // the thread goes back to it
    Running& entry = running_[count_++];
    entry.task = next;
    begin_stretch(entry.stretch, number_of(*next), nullptr, (next->value & has_run) != 0);
    if (number_of(*next) != 0) next->value |= has_run;
}

} // namespace libprofile
