#include "tools/server/loopback_server.hpp"

#include "tools/server/http_server.hpp"
#include "tools/view/page.hpp"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <fmt/format.h>
#include <mutex>
#include <set>
#include <sys/random.h>
#include <thread>

namespace libprofile::tools {

namespace {

using Clock = std::chrono::steady_clock;

std::string random_token() {
    unsigned char bytes[16];
    if (::getrandom(bytes, sizeof bytes, 0) != static_cast<ssize_t>(sizeof bytes))
        throw ViewError("the system has no random numbers for the token of the page's address");
    std::string token;
    for (const unsigned char byte : bytes) token += fmt::format("{:02x}", byte);
    return token;
}

/// Takes as long wherever the two differ.
bool is_equal(std::string_view a, std::string_view b) {
    if (a.size() != b.size()) return false;
    unsigned difference = 0;
    for (std::size_t i = 0; i < a.size(); ++i) difference |= static_cast<unsigned char>(a[i]) ^ static_cast<unsigned char>(b[i]);
    return difference == 0;
}

/// The names of this machine for itself, whatever the port: ssh -L may forward another. A page of another site whose name was made to lead
/// here (DNS rebinding) sends that name.
bool is_own_name(const HttpRequest& request) {
    if (request.hosts.size() != 1) return false;
    const std::string& host = request.hosts.front();
    const std::string name = host.substr(0, host.starts_with('[') ? host.find(']') + 1 : host.find(':'));
    return name == "127.0.0.1" || name == "localhost" || name == "[::1]";
}

sigset_t ending_signals() {
    sigset_t set;
    sigemptyset(&set);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&set, signal);
    return set;
}

} // namespace

struct LoopbackServer::Server {
    Handler handler;
    std::string token = random_token();
    int port = 0;
    std::mutex working; // one question at a time
    std::mutex mutex;   // of what follows
    std::set<std::string> open;
    bool was_open = false;
    Clock::time_point heard = Clock::now();
    HttpServer http{[this](const HttpRequest& request) { return answer(request); }};

    void note(const std::string& name, const std::string& page) {
        constexpr std::size_t most = 1000; // a page that is loaded again has a new name
        const std::lock_guard lock(mutex);
        heard = Clock::now();
        if (name == "closed") {
            open.erase(page);
        } else if (name == "alive" && open.size() < most && page.size() <= 64) {
            open.insert(page);
            was_open = true;
        }
    }

    bool is_over(const Patience& patience) {
        const std::lock_guard lock(mutex);
        return Clock::now() - heard > (was_open && open.empty() ? patience.after_close : patience.of_silence);
    }

    HttpResponse answer(const HttpRequest& request) {
        HttpResponse response;
        // No history and no other site learns the address, and no page can frame this one.
        response.headers = {{"Cache-Control", "no-store"},
                            {"Referrer-Policy", "no-referrer"},
                            {"X-Content-Type-Options", "nosniff"},
                            {"X-Frame-Options", "DENY"},
                            {"Cross-Origin-Resource-Policy", "same-origin"}};
        const auto refuse = [&](int status, const char* text) {
            response.status = status;
            response.type = "text/plain";
            response.content = std::make_shared<const std::string>(text);
            return response;
        };
        if (!is_own_name(request)) return refuse(421, "Only 127.0.0.1 and localhost are served.\n");
        const std::string& path = request.path;
        const std::size_t end = path.find('/', 1);
        if (path.empty() || end == std::string::npos || !is_equal(std::string_view(path).substr(1, end - 1), token))
            return refuse(403, "The address needs the token that libprofile view printed.\n");
        const std::string name = path.substr(end + 1);
        // A browser sends its farewell as POST, too.
        const bool is_change = request.method == "POST" && name != "closed";
        if (request.method != "GET" && request.method != "POST") return refuse(405, "Only GET is served.\n");
        // A form of another site could send nothing else without asking first; nor does it know the token.
        if (is_change && request.type != "application/json") return refuse(405, "Only GET is served, and changes as JSON.\n");
        if (name == "alive" || name == "closed") {
            const auto page = request.parameters.find("page");
            note(name, page != request.parameters.end() ? page->second : std::string());
            response.status = 204;
            return response;
        }
        note(name, "");
        Answer answer;
        {
            const std::lock_guard lock(working);
            answer = handler({name, request.parameters, is_change ? std::optional(request.content) : std::nullopt});
        }
        note(name, "");
        response.status = answer.status;
        response.type = answer.type;
        response.content = answer.content;
        return response;
    }
};

LoopbackServer::LoopbackServer(Handler handler, unsigned port) : server_(std::make_unique<Server>()) {
    Server& server = *server_;
    server.handler = std::move(handler);
    server.port = server.http.listen(port);
    if (server.port <= 0)
        throw ViewError(port == 0 ? std::string("cannot listen on 127.0.0.1")
                                  : fmt::format("cannot listen on port {} of 127.0.0.1: {}", port, std::strerror(errno)));
}

LoopbackServer::~LoopbackServer() = default;

std::string LoopbackServer::address() const { return fmt::format("http://127.0.0.1:{}/{}/", server_->port, server_->token); }

bool LoopbackServer::run(const Patience& patience, const std::function<void(std::stop_token)>& beside) {
    const sigset_t set = ending_signals();
    ::pthread_sigmask(SIG_BLOCK, &set, nullptr);
    HttpServer& http = server_->http;
    http.start();
    std::jthread other;
    if (beside) other = std::jthread(beside);
    bool signalled = false;
    while (!signalled && !server_->is_over(patience)) {
        const timespec second = {1, 0};
        signalled = ::sigtimedwait(&set, nullptr, &second) > 0;
    }
    http.stop();
    return signalled;
}

} // namespace libprofile::tools
