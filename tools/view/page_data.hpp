// What a page knows of a profile: a JSON header and columns of numbers, each a script element of its own, so that the viewer
// decodes only what it shows. docs/view.md describes them.
// Contract: one thread; allocates in proportion to ranks times iterations; throws ViewError and std::bad_alloc.
#pragma once

#include "tools/reader/model.hpp"
#include "tools/view/page_request.hpp"
#include "tools/view/sections.hpp"

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace libprofile::tools {

/// The header and the columns that it refers to, as elements of the page.
void append_page_parts(const nlohmann::ordered_json& header, const Sections& sections, std::string& html);

class TimelineWindow;

/// HTML. @param window of events that were left in their files; null: there are none
std::string page_data(const Profile& profile, const PageRequest& request, const TimelineWindow* window = nullptr);

} // namespace libprofile::tools
