/* Loops between three exchanges: what a compiler must not hide. */
#include <stdlib.h>
#include <string.h>

void begin_(void);
void mark_(int *);
void end_(void);
void show_(const char *, void *);

#define N 1000
double a[N], b[N], c[N];
int column[N];
unsigned char d[4096], e[4096];

static int less(const void *x, const void *y) { return *(const int *)x - *(const int *)y; }

int main(void) {
    int number = 0;
    for (int i = 0; i < N; i++) column[i] = (i * 617) % N;
    show_("a", a), show_("b", b), show_("c", c), show_("d", d), show_("e", e), show_("k", column);
    begin_();
    for (int i = 0; i < N; i++) a[i] = 2 * b[N - 1 - i];        /* interval 0 */
    mark_(&number);
    number++;
    for (int i = 0; i < N; i++) c[i] += a[column[i]];           /* interval 1 */
    mark_(&number);
    number++;
    memcpy(d, e, 4096), memset(e, 1, 64), memmove(d + 8, d, 24); /* interval 2 */
    qsort(column, N, sizeof(int), less);
    mark_(&number);
    end_();
    return 0;
}
