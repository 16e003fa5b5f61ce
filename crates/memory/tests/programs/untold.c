/* What compilers do not tell of: structures that are passed and returned, arguments, functions that are not instrumented. Each between
 * two exchanges of its own. */
#include <stdlib.h>

void begin_(void);
void mark_(int *);
void end_(void);
void show_(const char *, void *);
void touch_(double *);
double half_(double);

struct small { double a, b; };
struct large { double a[40]; };
struct middle { double a[4]; };
struct small s;
struct large l;
double a[8], sink;
int column[100];
int number;

__attribute__((noinline)) static struct small small_of(double x) { struct small y = {x, x}; return y; }
__attribute__((noinline)) static struct large large_of(double x) { struct large y = {{x}}; return y; }
__attribute__((noinline)) static double sum_of_small(struct small x) { return x.a + x.b; }
__attribute__((noinline)) static double sum_of_large(struct large x) { return x.a[0] + x.a[39]; }
static int less(const void *x, const void *y) { return *(const int *)x - *(const int *)y; }

static void next(void) { mark_(&number), number++; }

/* All arguments are handed on; the frame of the function has one, that of its caller may have the others. */
__attribute__((noinline)) static void argument(double x, struct large y, struct middle z) {
    show_("x", &x), show_("y", &y), show_("z", &z);
    next();
    sink = x + y.a[1] + z.a[2];
    next();
}

int main(void) {
    show_("s", &s), show_("l", &l), show_("a", a), show_("k", column);
    struct middle m = {{number}};
    begin_();
    next();
    s = small_of(2); /* interval 1 */
    next();
    sink = sum_of_small(s); /* 2 */
    next();
    l = large_of(3); /* 3 */
    next();
    sink = sum_of_large(l); /* 4 */
    next();
    touch_(a); /* 5 */
    next();
    sink = half_(sink); /* 6 */
    next();
    for (int i = 0; i < 100; i++) column[i] = i * 37 % 100; /* 7 */
    qsort(column, 100, sizeof(int), less);
    next();
    argument(1, l, m); /* 8: before its exchange; 9 */
    a[0] = 1; /* 10 */
    next();
    end_();
    return 0;
}
