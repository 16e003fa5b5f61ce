// A vector that grows, and is gone when its scope ends; memory that there is not; a thread.
#include <new>
#include <thread>
#include <vector>

extern "C" void begin_(void), mark_(int *), end_(void), show_(const char *, void *);

static int number;
static volatile unsigned long most = ~0ul >> 1;

static void next() { mark_(&number), number++; }

int main() {
    begin_();
    next();
    {
        std::vector<double> v(1000, 1.0); // interval 1
        show_("v", v.data());
        next();
        v.resize(100000); // 2
        show_("w", v.data());
        next();
    }
    next(); // 3
    try {
        show_("x", new char[most]);
    } catch (const std::bad_alloc &) {
        number += 100; // 4 is 104
    }
    next();
    std::thread other([] {}); // 105
    other.join();
    next();
    end_();
    return 0;
}
