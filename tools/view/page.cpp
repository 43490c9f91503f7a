#include "tools/view/page.hpp"

#include "tools/view/page_data.hpp"
#include "tools/view/page_template.hpp"

namespace libprofile::tools {

std::string page(const Profile& profile, const PageRequest& request) {
    constexpr std::string_view marker = "<!--libprofile:data-->";
    const std::string_view text = page_template();
    const std::size_t at = text.find(marker);
    if (at == std::string_view::npos)
        throw ViewError("the viewer inside libprofile is damaged; build it again");
    std::string out(text.substr(0, at));
    append_page_data(profile, request, out);
    out += text.substr(at + marker.size());
    return out;
}

} // namespace libprofile::tools
