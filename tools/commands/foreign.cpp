#include "tools/commands/foreign.hpp"

#include "tools/commands/command.hpp"
#include "tools/import/importers.hpp"
#include "tools/names/labels.hpp"

#include <fmt/format.h>

namespace libprofile::tools {

std::optional<Frame> foreign_profile(const std::string& place, std::initializer_list<UnfitOption> unfit) {
    const ImportFormat* format = import_format(place);
    if (format == nullptr) return {};
    for (const UnfitOption& option : unfit)
        if (option.is_given)
            throw UsageError(fmt::format("{} does not fit {}, a profile of another tool ({}): {}", option.name, printable(place), format->what, option.why));
    return import_frame(place);
}

} // namespace libprofile::tools
