#include "tools/view/page.hpp"

#include "tools/view/frame_page.hpp"
#include "tools/view/page_data.hpp"
#include "tools/view/page_template.hpp"

namespace libprofile::tools {

std::string page(const Profile& profile, const PageRequest& request) { return page_around(page_data(profile, request), request.served); }

std::string page(const Frame& frame, const std::vector<std::string>& metrics) { return page_around(frame_page_data(frame, metrics), false); }

std::string page_around(std::string_view data, bool served) {
    constexpr std::string_view marker = "<!--libprofile:data-->";
    const std::string_view text = page_template();
    const std::size_t at = text.find(marker);
    if (at == std::string_view::npos) throw ViewError("the viewer inside libprofile is damaged; build it again");
    std::string out(text.substr(0, at));
    if (served) {
        // The policy of the page lets it reach nothing; one that is served may reach its server.
        constexpr std::string_view policy = "default-src 'none';";
        const std::size_t position = out.find(policy);
        if (position == std::string::npos) throw ViewError("the viewer inside libprofile is damaged; build it again");
        out.insert(position + policy.size(), " connect-src 'self';");
    }
    out += data;
    out += text.substr(at + marker.size());
    return out;
}

} // namespace libprofile::tools
