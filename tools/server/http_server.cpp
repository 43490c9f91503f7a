#include "tools/server/http_server.hpp"

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/span_body.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/http/write.hpp>
#include <cerrno>
#include <chrono>
#include <fcntl.h>
#include <optional>
#include <string_view>
#include <thread>

namespace libprofile::tools {

namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using asio::ip::tcp;
using boost::system::error_code;
using namespace std::chrono_literals;

constexpr std::size_t longest_head = 16 << 10;
constexpr std::size_t longest_body = 4 << 10;
constexpr auto patience = 5s;       // with a request, and with the end of a connection
constexpr auto send_patience = 60s; // with a client that takes nothing
constexpr auto pause_time = 100ms;
constexpr std::size_t worker_count = 8;
constexpr std::size_t most_connections = 256; // far below what a process may open

int hex_digit(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    const char lower = static_cast<char>(c | 0x20);
    return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

/// Replaces "%41" by "A", and in parameters "+" by a blank. Boost has this from 1.81 on (Boost.URL), as a library to link.
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
std::string_view take_until(std::string_view& text, char end) {
    const std::size_t at = text.find(end);
    const std::string_view taken = text.substr(0, at);
    text = at == std::string_view::npos ? std::string_view{} : text.substr(at + 1);
    return taken;
}

std::string_view view(beast::string_view text) { return {text.data(), text.size()}; } // of Boost's own type before 1.81

HttpRequest request_of(const http::request<http::string_body>& message) {
    HttpRequest request;
    request.method = view(message.method_string());
    std::string_view target = view(message.target());
    target = target.substr(0, target.find('#'));
    request.path = decode(take_until(target, '?'), false);
    while (!target.empty()) {
        std::string_view value = take_until(target, '&');
        const std::string_view name = take_until(value, '=');
        if (!name.empty()) request.parameters.emplace(decode(name, true), decode(value, true));
    }
    for (const auto& field : message)
        if (field.name() == http::field::host) request.hosts.emplace_back(view(field.value()));
    request.type = view(message[http::field::content_type]);
    request.content = message.body();
    return request;
}

HttpResponse refusal(int status) { return {status, "text/plain", {}, std::make_shared<const std::string>("not understood\n")}; }

/// Asio's own files are closed where a program is started, its sockets are not.
void close_on_exec(int file) { ::fcntl(file, F_SETFD, FD_CLOEXEC); }

} // namespace

/// Its thread alone touches it, and connections except while a worker answers.
struct HttpServer::Server {
    struct Connection;

    explicit Server(const Answer& answers) : answer(answers) {}

    const Answer& answer;
    asio::io_context context{1};
    tcp::acceptor acceptor{context};
    asio::steady_timer pause{context};
    std::vector<std::weak_ptr<Connection>> connections; // what they wait for owns them
    bool is_accepting = false;
    bool is_stopping = false;
    std::optional<asio::thread_pool> workers;
    std::thread thread;

    void run() noexcept;
    void accept();
    void accept_later();
    void stop();
};

struct HttpServer::Server::Connection : std::enable_shared_from_this<Connection> {
    using Message = http::response<http::span_body<const char>>;

    Connection(Server& of, tcp::socket socket) : server(of), stream(std::move(socket)) {
        parser.header_limit(longest_head);
        parser.body_limit(longest_body);
    }

    Server& server;
    beast::tcp_stream stream;
    beast::flat_buffer buffer{longest_head + longest_body};
    http::request_parser<http::string_body> parser;
    bool is_answering = false;
    HttpResponse response;
    Message message;
    std::optional<http::response_serializer<http::span_body<const char>>> serializer;

    void read() {
        stream.expires_after(patience);
        http::async_read(stream, buffer, parser, [self = shared_from_this()](error_code error, std::size_t) { self->on_read(error); });
    }

    void on_read(error_code error) {
        static const auto& of_http = http::make_error_code(http::error::end_of_stream).category();
        const bool is_too_long = error == http::error::header_limit || error == http::error::body_limit || error == http::error::buffer_overflow;
        if (error == http::error::end_of_stream || (error && error.category() != of_http)) return;
        is_answering = true;
        if (error || !parser.get().target().starts_with('/')) {
            response = refusal(is_too_long ? 413 : 400);
            return send();
        }
        asio::post(*server.workers, [self = shared_from_this(), busy = asio::make_work_guard(server.context)]() mutable {
            try {
                self->response = self->server.answer(request_of(self->parser.get()));
                asio::io_context& loop = self->server.context;
                asio::post(loop, [connection = std::move(self)] { connection->send(); });
            } catch (...) { // there is no memory: the connection is closed
            }
        });
    }

    void send() {
        const std::string_view content = response.content != nullptr ? std::string_view(*response.content) : std::string_view{};
        message.result(static_cast<unsigned>(response.status));
        message.keep_alive(false);
        if (response.status != 204) message.content_length(content.size());
        if (!response.type.empty()) message.set(http::field::content_type, response.type);
        for (const auto& [name, value] : response.headers) message.insert(name, value);
        if (parser.get().method() != http::verb::head) message.body() = {content.data(), content.size()};
        serializer.emplace(message);
        send_some();
    }

    /// In parts, since all of a large page may take longer than a client may be silent.
    void send_some() {
        stream.expires_after(send_patience);
        http::async_write_some(stream, *serializer, [self = shared_from_this()](error_code error, std::size_t) {
            if (error) return;
            if (!self->serializer->is_done()) return self->send_some();
            self->finish();
        });
    }

    /// What is not read when a connection is closed makes the kernel forget the answer.
    void finish() {
        if (server.is_stopping) return;
        is_answering = false;
        error_code ignored;
        stream.socket().shutdown(tcp::socket::shutdown_send, ignored);
        stream.expires_after(patience);
        read_rest();
    }

    void read_rest() {
        buffer.clear();
        stream.async_read_some(buffer.prepare(longest_body), [self = shared_from_this()](error_code error, std::size_t) {
            if (!error) self->read_rest();
        });
    }
};

void HttpServer::Server::run() noexcept {
    for (;;) {
        try {
            accept();
            context.run();
            return;
        } catch (...) { // there is no memory: the connection that needed it is closed
            std::this_thread::sleep_for(pause_time);
        }
    }
}

void HttpServer::Server::accept() {
    if (is_accepting || is_stopping) return;
    std::erase_if(connections, [](const auto& connection) { return connection.expired(); });
    if (connections.size() >= most_connections) return accept_later();
    acceptor.async_accept([this](error_code error, tcp::socket socket) {
        is_accepting = false;
        if (is_stopping) return;
        if (error) return accept_later(); // too many files are open
        close_on_exec(socket.native_handle());
        const auto connection = std::make_shared<Connection>(*this, std::move(socket));
        connections.push_back(connection);
        connection->read();
        accept();
    });
    is_accepting = true;
}

void HttpServer::Server::accept_later() {
    pause.expires_after(pause_time);
    pause.async_wait([this](error_code) {
        is_accepting = false;
        accept();
    });
    is_accepting = true;
}

void HttpServer::Server::stop() {
    is_stopping = true;
    error_code ignored;
    acceptor.close(ignored);
    pause.cancel();
    for (const auto& each : connections)
        if (const auto connection = each.lock(); connection && !connection->is_answering) connection->stream.close();
}

HttpServer::HttpServer(Answer answer) : answer_(std::move(answer)) {}

HttpServer::~HttpServer() { stop(); }

int HttpServer::listen(unsigned port) {
    try {
        server_ = std::make_unique<Server>(answer_);
        tcp::acceptor& acceptor = server_->acceptor;
        acceptor.open(tcp::v4());
        close_on_exec(acceptor.native_handle());
        acceptor.set_option(tcp::acceptor::reuse_address(true));
        acceptor.bind({asio::ip::address_v4::loopback(), static_cast<unsigned short>(port)});
        acceptor.listen();
        return acceptor.local_endpoint().port();
    } catch (const boost::system::system_error& error) {
        server_.reset();
        errno = error.code().value();
        return 0;
    }
}

void HttpServer::start() {
    server_->workers.emplace(worker_count);
    server_->thread = std::thread([this] { server_->run(); });
}

void HttpServer::stop() {
    if (!server_ || !server_->thread.joinable()) return;
    asio::post(server_->context, [this] { server_->stop(); });
    server_->thread.join();
    server_->workers->join();
}

} // namespace libprofile::tools
