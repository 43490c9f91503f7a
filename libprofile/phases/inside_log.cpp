#include "libprofile/phases/inside_log.hpp"

#include <new>

namespace libprofile {

void InsideLog::enter(const Inner& self, InsideLog& around, Arena& arena) noexcept {
    Link* link = around.inner_;
    while (link != nullptr && link->before.number != self.number) link = link->next;
    if (link == nullptr) {
        link = static_cast<Link*>(arena.allocate(sizeof(Link)));
        if (link == nullptr) return;
        new (link) Link{self, around.inner_};
        around.inner_ = link;
    }
    link->before = self;
    if (link->count == 0) link->first = self.count;
    link->is_scattered = link->is_scattered || link->first + link->count != self.count;
    entered_in_ = link;
}

void InsideLog::leave(const Inner& self) noexcept {
    Link* link = entered_in_;
    if (link == nullptr) return;
    entered_in_ = nullptr;
    link->count += self.count - link->before.count;
    link->wall_ns += self.wall_ns - link->before.wall_ns;
}

void InsideLog::close_iteration(std::uint64_t iterations, bool has_number, Pool& pool) noexcept {
    std::uint64_t entries = 0;
    for (const Link* link = inner_; link != nullptr; link = link->next) entries += link->counts() ? 1 : 0;
    if (entries != 0 && has_number)
        add(iterations - 1, entries, pool, [&](auto put) {
            for (const Link* link = inner_; link != nullptr; link = link->next) {
                if (!link->counts()) continue;
                put(link->before.number);
                put(link->count);
                put(link->before.has_iterations ? link->first : link->wall_ns);
            }
        });
    for (Link* link = inner_; link != nullptr; link = link->next) {
        link->count = link->wall_ns = 0;
        link->is_scattered = false;
    }
}

} // namespace libprofile
