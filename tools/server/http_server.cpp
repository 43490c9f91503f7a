#include "tools/server/http_server.hpp"

#include <algorithm>
#include <arpa/inet.h>
#include <cerrno>
#include <charconv>
#include <fmt/format.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

namespace libprofile::tools {

namespace {

constexpr std::size_t longest_head = 16 << 10;
constexpr std::size_t longest_body = 4 << 10;
constexpr int patience_ms = 5000;
constexpr unsigned worker_count = 8;

int hex_digit(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    const char lower = static_cast<char>(c | 0x20);
    return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

/// Replaces "%41" by "A", and in parameters "+" by a blank.
std::string decode(std::string_view text, bool is_parameter) {
    std::string result;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const bool is_coded = text[i] == '%' && i + 2 < text.size() && hex_digit(text[i + 1]) >= 0 && hex_digit(text[i + 2]) >= 0;
        if (is_coded) {
            result += static_cast<char>(hex_digit(text[i + 1]) * 16 + hex_digit(text[i + 2]));
            i += 2;
        } else {
            result += is_parameter && text[i] == '+' ? ' ' : text[i];
        }
    }
    return result;
}

/// Takes what stands before `end` off the text.
std::string_view take_until(std::string_view& text, std::string_view end) {
    const std::size_t at = text.find(end);
    const std::string_view taken = text.substr(0, at);
    text = at == std::string_view::npos ? std::string_view{} : text.substr(at + end.size());
    return taken;
}

bool is_name(std::string_view text, std::string_view lower_case) {
    return std::equal(text.begin(), text.end(), lower_case.begin(), lower_case.end(),
                      [](char a, char b) { return (a >= 'A' && a <= 'Z' ? static_cast<char>(a | 0x20) : a) == b; });
}

const char* reason(int status) {
    switch (status) {
    case 200: return "OK";
    case 204: return "No Content";
    case 400: return "Bad Request";
    case 403: return "Forbidden";
    case 404: return "Not Found";
    case 405: return "Method Not Allowed";
    case 413: return "Content Too Large";
    case 421: return "Misdirected Request";
    default: return status < 500 ? "Error" : "Internal Server Error";
    }
}

bool send_all(int connection, std::string_view text) {
    while (!text.empty()) {
        const ssize_t sent = ::send(connection, text.data(), text.size(), MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR) continue;
        if (sent <= 0) return false;
        text.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
}

void reply(int connection, const HttpResponse& response, bool has_body) {
    const std::string_view content = response.content != nullptr ? std::string_view(*response.content) : std::string_view{};
    std::string head = fmt::format("HTTP/1.1 {} {}\r\nConnection: close\r\n", response.status, reason(response.status));
    if (response.status != 204) head += fmt::format("Content-Length: {}\r\n", content.size());
    if (!response.type.empty()) head += fmt::format("Content-Type: {}\r\n", response.type);
    for (const auto& [name, value] : response.headers) head += fmt::format("{}: {}\r\n", name, value);
    if (send_all(connection, head + "\r\n") && has_body) send_all(connection, content);
}

void refuse(int connection, int status) { reply(connection, {status, "text/plain", {}, std::make_shared<const std::string>("not understood\n")}, true); }

} // namespace

bool HttpRequest::parse(std::string_view head, HttpRequest& request, std::size_t& body_size) {
    request = {};
    body_size = 0;
    std::string_view line = take_until(head, "\r\n");
    request.method = take_until(line, " ");
    std::string_view target = take_until(line, " ");
    if (request.method.empty() || !target.starts_with('/') || !line.starts_with("HTTP/1.")) return false;
    target = target.substr(0, target.find('#'));
    request.path = decode(take_until(target, "?"), false);
    while (!target.empty()) {
        std::string_view value = take_until(target, "&");
        const std::string_view name = take_until(value, "=");
        if (!name.empty()) request.parameters.emplace(decode(name, true), decode(value, true));
    }
    while (!head.empty()) {
        std::string_view value = take_until(head, "\r\n");
        const std::size_t colon = value.find(':');
        if (colon == std::string_view::npos || colon == 0) return false;
        const std::string_view name = take_until(value, ":");
        while (value.starts_with(' ') || value.starts_with('\t')) value.remove_prefix(1);
        while (value.ends_with(' ') || value.ends_with('\t')) value.remove_suffix(1);
        if (is_name(name, "host")) request.hosts.emplace_back(value);
        if (is_name(name, "transfer-encoding")) return false; // pages send nothing of unknown length
        if (!is_name(name, "content-length")) continue;
        const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), body_size);
        if (error != std::errc{} || end != value.data() + value.size()) return false;
    }
    return true;
}

HttpServer::~HttpServer() {
    stop();
    for (const int file : {socket_, stopping_})
        if (file >= 0) ::close(file);
}

int HttpServer::listen(unsigned port) {
    socket_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    stopping_ = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (socket_ < 0 || stopping_ < 0) return 0;
    const int yes = 1;
    ::setsockopt(socket_, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    sockaddr_in address{};
    socklen_t size = sizeof address;
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    auto* const generic = reinterpret_cast<sockaddr*>(&address);
    if (::bind(socket_, generic, size) != 0 || ::listen(socket_, SOMAXCONN) != 0 || ::getsockname(socket_, generic, &size) != 0) return 0;
    return ntohs(address.sin_port);
}

void HttpServer::start() {
    for (unsigned i = 0; i < worker_count; ++i) threads_.emplace_back([this] { work(); });
}

void HttpServer::stop() {
    if (stopping_ >= 0) ::eventfd_write(stopping_, 1);
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
}

void HttpServer::work() {
    for (;;) {
        pollfd files[] = {{socket_, POLLIN, 0}, {stopping_, POLLIN, 0}};
        if (::poll(files, 2, -1) < 0 && errno != EINTR) return;
        if (files[1].revents != 0) return;
        const int connection = ::accept4(socket_, nullptr, nullptr, SOCK_CLOEXEC);
        if (connection < 0) continue; // another thread was faster
        const timeval most = {60, 0};
        ::setsockopt(connection, SOL_SOCKET, SO_SNDTIMEO, &most, sizeof most);
        serve(connection);
        ::close(connection);
    }
}

void HttpServer::serve(int connection) {
    std::string received;
    // Returns false if nothing comes, or the server stops.
    const auto receive = [&] {
        pollfd files[] = {{connection, POLLIN, 0}, {stopping_, POLLIN, 0}};
        if (::poll(files, 2, patience_ms) <= 0 || files[1].revents != 0) return false;
        char buffer[4096];
        const ssize_t size = ::recv(connection, buffer, sizeof buffer, 0);
        if (size > 0) received.append(buffer, static_cast<std::size_t>(size));
        return size > 0;
    };
    std::size_t end = std::string::npos;
    while ((end = received.find("\r\n\r\n")) == std::string::npos) {
        if (received.size() > longest_head) return refuse(connection, 413);
        if (!receive()) return;
    }
    HttpRequest request;
    std::size_t body_size = 0;
    if (!HttpRequest::parse(std::string_view(received).substr(0, end), request, body_size)) return refuse(connection, 400);
    if (body_size > longest_body) return refuse(connection, 413);
    // What is not read when a connection is closed makes the kernel forget the answer.
    while (received.size() < end + 4 + body_size)
        if (!receive()) return;
    reply(connection, answer_(request), request.method != "HEAD");
    ::shutdown(connection, SHUT_WR);
}

} // namespace libprofile::tools
