// What a client gets of a running server, and what the server tells of its request.
#include "tools/server/http_server.hpp"

#include <arpa/inet.h>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <gtest/gtest.h>
#include <mutex>
#include <netinet/in.h>
#include <string_view>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

namespace libprofile::tools {

namespace {

using namespace std::chrono_literals;

class HttpClient {
  public:
    explicit HttpClient(int port) : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_port = htons(static_cast<std::uint16_t>(port));
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        is_connected = ::connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
        const timeval longest = {20, 0}; // a hang is a failure
        ::setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &longest, sizeof longest);
    }
    HttpClient(HttpClient&& other) noexcept : is_connected(other.is_connected), socket_(std::exchange(other.socket_, -1)) {}
    HttpClient& operator=(HttpClient&&) = delete;
    ~HttpClient() {
        if (socket_ >= 0) ::close(socket_);
    }

    void send(std::string_view text) const {
        while (!text.empty()) {
            const ssize_t sent = ::send(socket_, text.data(), text.size(), MSG_NOSIGNAL);
            if (sent <= 0) return;
            text.remove_prefix(static_cast<std::size_t>(sent));
        }
    }

    /// All until the server closes the connection, or "lost" if it is reset or says nothing.
    std::string receive() const {
        std::string all;
        char buffer[65536];
        ssize_t size = 0;
        while ((size = ::recv(socket_, buffer, sizeof buffer, 0)) > 0) all.append(buffer, static_cast<std::size_t>(size));
        return size == 0 ? all : "lost";
    }

    bool is_connected = false;

  private:
    int socket_;
};

class Http : public testing::Test {
  protected:
    void SetUp() override {
        port = server.listen(0);
        ASSERT_GT(port, 0);
        server.start();
    }

    HttpResponse answer(const HttpRequest& asked) {
        const std::lock_guard lock(mutex);
        requests.push_back(asked);
        return response;
    }

    std::string ask(std::string_view text) const {
        const HttpClient client(port);
        client.send(text);
        return client.receive();
    }

    static std::string status(const std::string& received) { return received.substr(0, received.find("\r\n")); }
    static std::string content(const std::string& received) {
        const std::size_t end = received.find("\r\n\r\n");
        return end == std::string::npos ? "no end of the head" : received.substr(end + 4);
    }

    HttpResponse response{200, "text/plain", {{"X-Mine", "yes"}}, std::make_shared<const std::string>("hello")};
    std::mutex mutex;
    std::vector<HttpRequest> requests;
    int port = 0;
    HttpServer server{[this](const HttpRequest& asked) { return answer(asked); }};
};

} // namespace

TEST_F(Http, ARequestHasAPathAndParameters) {
    ask("POST /to%2Fken/map?phase=1&metric=a%20b+c&empty#part HTTP/1.1\r\nhost:  localhost:80 \r\nContent-Length: 12\r\n\r\n123456789012");
    ASSERT_EQ(requests.size(), 1u);
    EXPECT_EQ(requests[0].method, "POST");
    EXPECT_EQ(requests[0].path, "/to/ken/map");
    EXPECT_EQ(requests[0].parameters, (std::multimap<std::string, std::string>{{"phase", "1"}, {"metric", "a b c"}, {"empty", ""}}));
    EXPECT_EQ(requests[0].hosts, std::vector<std::string>{"localhost:80"});
}

TEST_F(Http, WhatIsNotCodedStays) {
    ask("GET /%zz%4 HTTP/1.0\r\n\r\n");
    ASSERT_EQ(requests.size(), 1u);
    EXPECT_EQ(requests[0].path, "/%zz%4");
    EXPECT_TRUE(requests[0].hosts.empty());
}

TEST_F(Http, EveryHostIsKept) {
    ask("GET / HTTP/1.1\r\nHost: localhost\r\nAccept: */*\r\nHOST: evil\r\n\r\n");
    ASSERT_EQ(requests.size(), 1u);
    EXPECT_EQ(requests[0].hosts, (std::vector<std::string>{"localhost", "evil"}));
}

TEST_F(Http, AnAnswerHasItsHeadersAndEndsTheConnection) {
    const std::string received = ask("GET / HTTP/1.1\r\n\r\n");
    EXPECT_EQ(status(received), "HTTP/1.1 200 OK");
    for (const char* line : {"\r\nConnection: close\r\n", "\r\nContent-Length: 5\r\n", "\r\nContent-Type: text/plain\r\n", "\r\nX-Mine: yes\r\n"})
        EXPECT_NE(received.find(line), std::string::npos) << line << received;
    EXPECT_EQ(content(received), "hello");
}

TEST_F(Http, AHeadAloneIsSentWithoutContent) {
    const std::string received = ask("HEAD / HTTP/1.1\r\n\r\n");
    EXPECT_NE(received.find("\r\nContent-Length: 5\r\n"), std::string::npos) << received;
    EXPECT_EQ(content(received), "");
}

TEST_F(Http, AnAnswerMayHaveNoContent) {
    response = {204, "", {}, nullptr};
    const std::string received = ask("POST / HTTP/1.1\r\nContent-Length: 0\r\n\r\n");
    EXPECT_EQ(status(received), "HTTP/1.1 204 No Content");
    EXPECT_EQ(received.find("Content-"), std::string::npos) << received;
    EXPECT_EQ(content(received), "");
}

TEST_F(Http, LargeContentArrivesWhole) {
    response.content = std::make_shared<const std::string>(std::string(50'000'000, 'x') + "end");
    const std::string received = ask("GET / HTTP/1.1\r\n\r\n");
    EXPECT_EQ(content(received).size(), response.content->size());
    EXPECT_TRUE(received.ends_with("xend"));
}

TEST_F(Http, WhatIsNoRequestIsRefused) {
    for (const char* head : {"GET", "GET /", "GET / FTP/1.1", "GET http://localhost/ HTTP/1.1", "GET * HTTP/1.1", " / HTTP/1.1", "GET / HTTP/1.1\r\nno colon",
                             "GET / HTTP/1.1\r\n: x", "GET / HTTP/1.1\r\nHost : x", "POST / HTTP/1.1\r\nContent-Length: -1",
                             "POST / HTTP/1.1\r\nContent-Length: 99999999999999999999", "POST / HTTP/1.1\r\nContent-Length: 5x",
                             "POST / HTTP/1.1\r\nContent-Length: 5\r\nContent-Length: 6", "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nx",
                             "POST / HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: chunked", "\x16\x03\x01 TLS"})
        EXPECT_EQ(status(ask(head + std::string("\r\n\r\n"))), "HTTP/1.1 400 Bad Request") << head;
    EXPECT_TRUE(requests.empty());
}

TEST_F(Http, WhatIsTooLongIsRefused) {
    const std::string large(1 << 20, 'x'), post = "POST / HTTP/1.1\r\n";
    for (const std::string& text : {"GET /" + large, "GET / HTTP/1.1\r\nX: " + large, post + "Content-Length: 5000\r\n\r\n" + large.substr(0, 5000),
                                    post + "Transfer-Encoding: chunked\r\n\r\n1388\r\n" + large.substr(0, 5000) + "\r\n0\r\n\r\n"})
        EXPECT_EQ(status(ask(text)).substr(0, 12), "HTTP/1.1 413") << text.substr(0, 50);
    EXPECT_TRUE(requests.empty());
    EXPECT_EQ(status(ask(post + "Content-Length: 4096\r\n\r\n" + large.substr(0, 4096))), "HTTP/1.1 200 OK");
    EXPECT_EQ(status(ask("GET /" + large.substr(0, 16000) + " HTTP/1.1\r\n\r\n")), "HTTP/1.1 200 OK");
}

TEST_F(Http, ARequestMayComeInParts) {
    const HttpClient client(port);
    for (const char* part : {"GE", "T / HTTP/1.1\r", "\n\r", "\n"}) {
        client.send(part);
        std::this_thread::sleep_for(20ms);
    }
    EXPECT_EQ(content(client.receive()), "hello");
}

TEST_F(Http, WhoSaysNothingIsLeftAndMakesNobodyWait) {
    const auto begin = std::chrono::steady_clock::now();
    std::vector<HttpClient> silent;
    while (silent.size() < 200) silent.emplace_back(port);
    silent.front().send("GET / HTTP/1.1\r\nX: ");
    EXPECT_EQ(content(ask("GET / HTTP/1.1\r\n\r\n")), "hello");
    EXPECT_LT(std::chrono::steady_clock::now() - begin, 3s);
    while (silent.size() < 300) silent.emplace_back(port); // more than it takes at once
    EXPECT_EQ(content(ask("GET / HTTP/1.1\r\n\r\n")), "hello") << "once others were left";
    for (std::size_t i = 0; i < 200; ++i) EXPECT_EQ(silent[i].receive(), "");
    EXPECT_LT(std::chrono::steady_clock::now() - begin, 15s);
}

TEST_F(Http, TheServerEndsWithOpenConnections) {
    std::vector<HttpClient> silent;
    for (unsigned i = 0; i < 20; ++i) silent.emplace_back(port);
    EXPECT_EQ(content(ask("GET / HTTP/1.1\r\n\r\n")), "hello");
    const auto begin = std::chrono::steady_clock::now();
    server.stop();
    EXPECT_LT(std::chrono::steady_clock::now() - begin, 3s);
    EXPECT_FALSE(HttpClient(port).is_connected);
    server.stop(); // does nothing
}

TEST(HttpServer, WhatIsBeingAnsweredIsSentToItsEnd) {
    std::atomic<int> begun = 0, go_on = 0;
    const auto content = std::make_shared<const std::string>(20'000'000, 'x');
    HttpServer server([&](const HttpRequest&) {
        ++begun;
        while (go_on == 0) std::this_thread::sleep_for(1ms);
        return HttpResponse{200, "", {}, content};
    });
    const int port = server.listen(0);
    server.start();
    std::vector<HttpClient> clients;
    for (unsigned i = 0; i < 8; ++i) clients.emplace_back(port).send("GET / HTTP/1.1\r\n\r\n");
    while (begun < 8) std::this_thread::sleep_for(1ms);
    std::thread stopping([&] { server.stop(); });
    std::this_thread::sleep_for(50ms);
    go_on = 1;
    for (const HttpClient& client : clients) EXPECT_GT(client.receive().size(), content->size());
    stopping.join();
}

TEST(HttpServer, ATakenPortIsToldAndAnUnusedServerEnds) {
    HttpServer first([](const HttpRequest&) { return HttpResponse{}; }), second([](const HttpRequest&) { return HttpResponse{}; });
    const int port = first.listen(0);
    ASSERT_GT(port, 0);
    EXPECT_EQ(second.listen(static_cast<unsigned>(port)), 0);
    EXPECT_EQ(errno, EADDRINUSE);
    HttpServer never([](const HttpRequest&) { return HttpResponse{}; });
}

TEST(HttpServer, OnlyThisMachineIsServed) {
    HttpServer server([](const HttpRequest&) { return HttpResponse{}; });
    const int port = server.listen(0);
    server.start();
    EXPECT_TRUE(HttpClient(port).is_connected);
    const int other = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0); // of the same port, at another address of this machine
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    address.sin_addr.s_addr = htonl(0x7f000002);
    EXPECT_NE(::connect(other, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    ::close(other);
}

} // namespace libprofile::tools
