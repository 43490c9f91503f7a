#include "tools/comparison/change_class.hpp"

#include <cmath>

namespace libprofile::tools {

namespace {

constexpr double same = 0.005; // relative

bool is_counted(const Change& change) { return change.before != 0 && change.after != 0; }
bool differs(const Change& change) { return is_counted(change) && std::abs(change.difference()) > same * change.before; }

} // namespace

ChangeClass change_class(const ActivityChange& one) {
    if ((one.visits.before == 0) != (one.visits.after == 0)) return ChangeClass::OtherCalls;
    if (differs(one.visits) || differs(one.bytes)) return ChangeClass::Work;
    if (one.activity.use == TimeUse::Waiting) return ChangeClass::Waiting;
    return is_counted(one.visits) ? ChangeClass::Speed : ChangeClass::Unknown;
}

const char* change_class_name(ChangeClass which) {
    constexpr const char* names[] = {"other calls", "work", "waiting", "speed", "unknown"};
    return names[static_cast<std::size_t>(which)];
}

} // namespace libprofile::tools
