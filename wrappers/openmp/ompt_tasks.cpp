#include "wrappers/openmp/ompt_tasks.hpp"

namespace libprofile {

void OmptTasks::create(const OmptData* creator, OmptData* task, unsigned flags, const void* return_address, void* frame) noexcept {
    constexpr unsigned undeferred = 0x08000000, untied = 0x10000000, final = 0x20000000;
    std::uint64_t says = 0;
    if ((flags & undeferred) != 0) says |= TaskIsUndeferred;
    if ((flags & untied) != 0) says |= TaskIsUntied;
    if ((flags & final) != 0) says |= TaskIsFinal;
    if (in_loop_ != nullptr && in_loop_ == creator) says |= TaskIsOfLoop;
    const std::uint64_t number = note_creation_at(return_address, frame, creator != nullptr ? number_of(*creator) : 0, says);
    last_made_ = number != 0 ? task : nullptr;
    if (number != 0) task->value = explicit_task | number;
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

bool OmptTasks::is_running(const OmptData* task) const noexcept {
    for (unsigned i = count_; i-- > 0;)
        if (running_[i].task == task) return true;
    return false;
}

void OmptTasks::end_innermost(bool is_over) noexcept {
    const Running& innermost = running_[--count_];
    if (innermost.stretch.task != 0) end_stretch(innermost.stretch, is_over);
    if (innermost.was_waiting) end_task(innermost.paused);
}

void OmptTasks::see_current(const OmptData* task) noexcept {
    unsigned behind = count_;
    while (behind > share_at_ && running_[behind - 1].task != task) --behind;
    if (behind == share_at_ && is_explicit(*task)) return; // it is not recorded
    while (count_ > behind) end_innermost(true);
}

/// Those behind are not there any more, whatever the runtime has told.
void OmptTasks::drop(unsigned left) noexcept {
    for (; count_ > left; --count_)
        if (running_[count_ - 1].was_waiting) forget_task(running_[count_ - 1].paused);
}

unsigned OmptTasks::begin_share(bool is_master) noexcept {
    const unsigned around = share_at_;
    if (!is_master) drop(0);
    share_at_ = count_;
    return around;
}

void OmptTasks::end_share(unsigned around) noexcept {
    drop(share_at_);
    share_at_ = around < count_ ? around : count_;
}

void OmptTasks::leave(const OmptData* before, bool is_over, const OmptData* next) noexcept {
    if (before == nullptr || count_ == 0 || running_[count_ - 1].task != before) return; // it never began: its group was cancelled
    if (!is_over && next != nullptr && is_explicit(*next)) {
        const bool goes_back = (next->value & has_run) != 0 && is_running(next);
        if (!goes_back) return;
    }
    end_innermost(is_over);
}

void OmptTasks::enter(OmptData* next, void* frame) noexcept {
    if (next == nullptr || !is_explicit(*next)) return;
    const bool is_resumed = (next->value & has_run) != 0;
    if (is_resumed && is_running(next)) return; // the thread goes back to it
    next->value |= has_run;
    Thread* const thread = thread_local_block.thread;
    if (thread == nullptr) return;
    if (count_ == running_.size()) {
        const InTool guard;
        if (guard.is_nested() || running_.append(thread->arena) == nullptr) return;
    }
    Running& entry = running_[count_];
    entry.task = next;
    entry.was_waiting = begin_task(entry.paused, frame);
    entry.stretch.task = 0;
    if (const std::uint64_t number = number_of(*next); number != 0) begin_stretch(entry.stretch, number, nullptr, is_resumed);
    // Without either there is nothing to end, and the innermost task is another one.
    if (entry.was_waiting || entry.stretch.task != 0) ++count_;
}

} // namespace libprofile
