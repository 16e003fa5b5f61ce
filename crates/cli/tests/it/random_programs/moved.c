/* Communication in another place than it was: posted at one point, complete at another.
 *
 * A message is under way between hm_send or hm_recv and hm_finish. MPI may read what is sent, and write what is
 * received, at any moment between the two, so both ends are tried: what is sent is taken at the post and compared at the
 * finish; what is received is spoilt at the post, and put there at the finish, where nothing else may have been written.
 * With `merged`, several parts are one message, with their lengths and tags in front.
 *
 * C calls by value, Fortran by reference (at the end). */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SLOTS = 64, PARTS = 8, HEAD = 1 + 2 * PARTS, SPOILT = 0x5a };

struct part {
    char *at;
    int bytes, least, verify, tag;
    MPI_Status status;
    int came;
};

static struct slot {
    struct part in[PARTS], out[PARTS];
    int ins, outs, merged, active, fresh, receives, dead, code, exact;
    int counts[PARTS], places[PARTS];
    char *sent, *got;
    int sent_bytes, got_bytes;
    MPI_Request request;
} slots[SLOTS];

static MPI_Comm comms[2];
static int broken, delays;
static unsigned long dice;

void hm_finish(int);

/* Nothing is under way; without delays, or with others for each number. A version that hangs is stopped. */
void hm_reset(int number, int rank) {
    alarm(getenv("HANGS_AFTER") ? atoi(getenv("HANGS_AFTER")) : 10);
    broken = 0;
    delays = number;
    dice = 1000003ul * number + 7919 * rank + 1;
}

void hm_comms(MPI_Comm world, MPI_Comm half) {
    comms[0] = world;
    comms[1] = half;
}

void hm_pause(void) {
    dice = dice * 6364136223846793005ul + 1442695040888963407ul;
    if (delays && (dice >> 40) % 4 == 0) usleep((dice >> 33) % 300);
}

void hm_scrub(void *at, int bytes) { memset(at, SPOILT, bytes); }

void hm_begin(int number, int merged) {
    struct slot *slot = &slots[number];
    if (slot->active) hm_finish(number);
    memset(slot, 0, sizeof *slot);
    slot->merged = merged;
}

void hm_in(int number, void *at, int bytes, int verify, int tag) {
    struct slot *slot = &slots[number];
    slot->in[slot->ins++] = (struct part){.at = at, .bytes = bytes, .verify = verify, .tag = tag};
}

void hm_out(int number, void *at, int bytes, int least) {
    struct slot *slot = &slots[number];
    slot->out[slot->outs++] = (struct part){.at = at, .bytes = bytes, .least = least};
}

/* The buffer is a copy that the compiler made: it ends with the call. */
void hm_dead(int number) { slots[number].dead = 1; }

void hm_counts(int number, int *counts, int *places) {
    struct slot *slot = &slots[number];
    int size;
    MPI_Comm_size(comms[0], &size);
    memcpy(slot->counts, counts, size * sizeof *counts);
    memcpy(slot->places, places, size * sizeof *places);
    slot->exact = 1;
}

static void take(struct slot *slot) {
    int head = slot->merged && !slot->exact ? (int)(HEAD * sizeof(int)) : 0;
    int bytes = head;
    for (int i = 0; i < slot->ins; i++) bytes += slot->in[i].bytes < 0 ? 0 : slot->in[i].bytes;
    slot->sent = malloc(bytes + 1);
    slot->sent_bytes = bytes;
    if (head) {
        int *lengths = (int *)slot->sent;
        memset(lengths, 0, head);
        lengths[0] = slot->ins;
        for (int i = 0; i < slot->ins; i++) {
            lengths[1 + 2 * i] = slot->in[i].bytes;
            lengths[2 + 2 * i] = slot->in[i].tag;
        }
    }
    for (int i = 0; i < slot->ins; head += slot->in[i++].bytes)
        if (slot->in[i].bytes > 0) memcpy(slot->sent + head, slot->in[i].at, slot->in[i].bytes);
}

static void spoil(struct slot *slot, int head) {
    int bytes = head;
    for (int i = 0; i < slot->outs; i++) bytes += slot->out[i].bytes < 0 ? 0 : slot->out[i].bytes;
    slot->got = malloc(bytes + 1);
    slot->got_bytes = bytes;
    for (int i = 0; i < slot->outs; i++) memset(slot->out[i].at, SPOILT, slot->out[i].least);
}

void hm_send(int number, int to, int tag, int half, int synchronous) {
    struct slot *slot = &slots[number];
    take(slot);
    int (*send)(const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *) = synchronous ? MPI_Issend : MPI_Isend;
    slot->active = 1;
    slot->code = send(slot->sent, slot->sent_bytes, MPI_BYTE, to, tag, comms[half], &slot->request);
}

void hm_recv(int number, int from, int tag, int half) {
    struct slot *slot = &slots[number];
    spoil(slot, slot->merged ? HEAD * sizeof(int) : 0);
    slot->receives = slot->active = 1;
    slot->code = MPI_Irecv(slot->got, slot->got_bytes, MPI_BYTE, from, tag, comms[half], &slot->request);
}

/* Kinds in the order of `CollectiveKind`; parts of merged ones follow each other. */
void hm_collective(int number, int kind, int count, int root, int half) {
    struct slot *slot = &slots[number];
    MPI_Comm comm = comms[half];
    MPI_Request *request = &slot->request;
    int rank, is_root;
    MPI_Comm_rank(comm, &rank);
    is_root = rank == root;
    slot->exact = 1;
    slot->active = 1;
    slot->receives = kind != 0 && !(kind == 3 && is_root) && !(kind == 2 && !is_root);
    if (kind == 5) {
        int size, end = 0;
        MPI_Comm_size(comm, &size);
        for (int i = 0; i < size; i++)
            if (slot->places[i] + slot->counts[i] > end) end = slot->places[i] + slot->counts[i];
        slot->out[0].bytes = slot->out[0].least = 4 * end;
    }
    take(slot);
    spoil(slot, 0);
    switch (kind) {
    case 0: MPI_Ibarrier(comm, request); break;
    case 1: MPI_Iallreduce(slot->sent, slot->got, count, MPI_INT, MPI_BXOR, comm, request); break;
    case 2: MPI_Ireduce(slot->sent, slot->got, count, MPI_INT, MPI_BXOR, root, comm, request); break;
    case 3: MPI_Ibcast(is_root ? slot->sent : slot->got, count, MPI_INT, root, comm, request); break;
    case 4: MPI_Iallgather(slot->sent, count, MPI_INT, slot->got, count, MPI_INT, comm, request); break;
    case 5: MPI_Iallgatherv(slot->sent, slot->sent_bytes / 4, MPI_INT, slot->got, slot->counts, slot->places, MPI_INT, comm, request); break;
    case 6: MPI_Ialltoall(slot->sent, count, MPI_INT, slot->got, count, MPI_INT, comm, request); break;
    default: MPI_Iscan(slot->sent, slot->got, count, MPI_INT, MPI_BXOR, comm, request);
    }
}

static void deliver(struct slot *slot, const MPI_Status *status) {
    int bytes, head = 0, parts = slot->outs;
    int *lengths = 0;
    MPI_Get_count(status, MPI_BYTE, &bytes);
    if (slot->merged && !slot->exact) {
        lengths = (int *)slot->got;
        head = HEAD * sizeof(int);
        if (lengths[0] < parts) parts = lengths[0];
    }
    if (slot->exact) bytes = slot->got_bytes;
    for (int i = 0; i < parts; i++) {
        struct part *part = &slot->out[i];
        int length = lengths ? lengths[1 + 2 * i] : slot->exact ? part->bytes : bytes;
        if (length > part->bytes || length < 0) {
            broken++;
            length = 0;
        }
        for (int j = 0; j < part->least; j++)
            if (part->at[j] != SPOILT) {
                broken++;
                break;
            }
        if (!slot->dead) memcpy(part->at, slot->got + head, length);
        head += length;
        part->status = *status;
        if (lengths) {
            part->status.MPI_TAG = lengths[2 + 2 * i];
            MPI_Status_set_elements(&part->status, MPI_BYTE, length);
        }
        part->came = 1;
    }
}

void hm_finish(int number) {
    struct slot *slot = &slots[number];
    MPI_Status status = {0};
    slot->fresh = slot->active;
    if (!slot->active) return;
    int code = MPI_Wait(&slot->request, &status);
    if (slot->code == MPI_SUCCESS) slot->code = code;
    int at = slot->merged ? (int)(HEAD * sizeof(int)) : 0;
    for (int i = 0; i < slot->ins && !(slot->merged && slot->exact); at += slot->in[i++].bytes)
        if (slot->in[i].verify && (slot->dead || memcmp(slot->sent + at, slot->in[i].at, slot->in[i].bytes))) broken++;
    if (slot->receives && slot->code == MPI_SUCCESS) deliver(slot, &status);
    free(slot->sent);
    free(slot->got);
    slot->sent = slot->got = 0;
    slot->active = 0;
}

void hm_status(int number, int part, MPI_Status *status) {
    struct slot *slot = &slots[number];
    if (slot->fresh && slot->out[part].came) *status = slot->out[part].status;
}

void hm_code(int number, int *code) {
    if (slots[number].fresh) *code = slots[number].code;
}

/* All that is under way ends; how often the memory of a message was touched. */
int hm_end(void) {
    for (int i = 0; i < SLOTS; i++) hm_finish(i);
    return broken;
}

void hm_reset_(int *number, int *rank) { hm_reset(*number, *rank); }
void hm_comms_(MPI_Fint *world, MPI_Fint *half) { hm_comms(MPI_Comm_f2c(*world), MPI_Comm_f2c(*half)); }
void hm_pause_(void) { hm_pause(); }
void hm_scrub_(void *at, int *bytes) { hm_scrub(at, *bytes); }
void hm_begin_(int *number, int *merged) { hm_begin(*number, *merged); }
void hm_in_(int *number, void *at, int *bytes, int *verify, int *tag) { hm_in(*number, at, *bytes, *verify, *tag); }
void hm_out_(int *number, void *at, int *bytes, int *least) { hm_out(*number, at, *bytes, *least); }
void hm_dead_(int *number) { hm_dead(*number); }
void hm_counts_(int *number, int *counts, int *places) { hm_counts(*number, counts, places); }
void hm_send_(int *number, int *to, int *tag, int *half, int *synchronous) { hm_send(*number, *to, *tag, *half, *synchronous); }
void hm_recv_(int *number, int *from, int *tag, int *half) { hm_recv(*number, *from, *tag, *half); }
void hm_collective_(int *number, int *kind, int *count, int *root, int *half) { hm_collective(*number, *kind, *count, *root, *half); }
void hm_finish_(int *number) { hm_finish(*number); }
void hm_status_(int *number, int *part, MPI_Fint *status) {
    struct slot *slot = &slots[*number];
    if (slot->fresh && slot->out[*part].came) MPI_Status_c2f(&slot->out[*part].status, status);
}
void hm_code_(int *number, int *code) { hm_code(*number, code); }
void hm_end_(int *touched) { *touched = hm_end(); }
