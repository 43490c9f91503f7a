#include "tools/timeline/task_dependences.hpp"

#include <algorithm>
#include <tuple>

namespace libprofile::tools {

namespace {

struct Access {
    std::uint64_t siblings = 0;
    std::uint64_t address = 0;
    std::uint32_t task = 0;
    TaskDependence kind = TaskDependence::In;

    auto place() const { return std::tie(siblings, address); }
};

/// Several tasks with it may run in any order.
bool is_shared(TaskDependence kind) { return kind != TaskDependence::Out && kind != TaskDependence::InOut; }

/// In the order of siblings, address and creation. A task that names an address in two ways does both: as inout.
std::vector<Access> accesses_of(const TaskRecords& records, std::span<const std::uint64_t> siblings) {
    std::vector<Access> all;
    for (std::uint32_t t = 0; t < records.tasks.size(); ++t)
        for (const TracedDependence& dependence : records.tasks[t].dependences) all.push_back({siblings[t], dependence.address, t, dependence.kind});
    std::sort(all.begin(), all.end(), [](const Access& a, const Access& b) {
        return std::tie(a.siblings, a.address, a.task, a.kind) < std::tie(b.siblings, b.address, b.task, b.kind);
    });
    std::size_t kept = 0;
    for (const Access& access : all) {
        Access* before = kept == 0 ? nullptr : &all[kept - 1];
        if (before == nullptr || before->place() != access.place() || before->task != access.task)
            all[kept++] = access;
        else if (before->kind != access.kind)
            before->kind = TaskDependence::InOut;
    }
    all.resize(kept);
    return all;
}

/// The tasks that name one address.
class Generations {
  public:
    Generations(TaskDependences& out, std::uint32_t tasks) : out_(out), tasks_(tasks) {}

    void add(const Access& access) {
        const bool is_same = !members_.empty() && is_shared(access.kind) && access.kind == kind_;
        if (!is_same) close();
        kind_ = access.kind;
        members_.push_back(access.task);
        if (before_ != TaskRecords::none) out_.edges.emplace_back(before_, access.task);
    }
    void begin_address() {
        members_.clear();
        before_ = TaskRecords::none;
    }

  private:
    void close() {
        if (members_.size() == 1) before_ = members_.front();
        if (members_.size() > 1) {
            before_ = tasks_ + out_.junctions++;
            for (const std::uint32_t member : members_) out_.edges.emplace_back(member, before_);
        }
        members_.clear();
    }

    TaskDependences& out_;
    std::uint32_t tasks_;
    TaskDependence kind_ = TaskDependence::In;
    std::vector<std::uint32_t> members_;       // of the last generation
    std::uint32_t before_ = TaskRecords::none; // what stands for the generation before
};

} // namespace

TaskDependences task_dependences(const TaskRecords& records, std::span<const std::uint64_t> siblings) {
    TaskDependences out;
    Generations generations(out, static_cast<std::uint32_t>(records.tasks.size()));
    const std::vector<Access> all = accesses_of(records, siblings);
    for (std::size_t i = 0; i < all.size(); ++i) {
        if (i == 0 || all[i].place() != all[i - 1].place()) generations.begin_address();
        generations.add(all[i]);
    }
    std::sort(out.edges.begin(), out.edges.end());
    out.edges.erase(std::unique(out.edges.begin(), out.edges.end()), out.edges.end());
    return out;
}

} // namespace libprofile::tools
