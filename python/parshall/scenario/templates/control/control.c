/* mine: a congestion control for Parshall. It does as Reno does (RFC 5681); change what you like.
 *
 *     cc -O2 -shared -fPIC -o libmine.so mine.c -lm
 *     parshall run SCENARIO.toml --control mine=./libmine.so
 */
#include "parshall_control.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct mine {
    double cwnd, ssthresh, increase, slope;
};

static void say(const struct mine *mine, struct parshall_says *says) {
    says->cwnd = mine->cwnd;
    says->ssthresh = mine->ssthresh;
}

/* A connection begins. */
static void *create(const struct parshall_start *start, const struct parshall_parameter *given, uint64_t count,
                    struct parshall_says *says) {
    struct mine *mine = malloc(sizeof *mine);
    if (!mine) {
        says->error = "no memory";
        return NULL;
    }
    *mine = (struct mine){start->cwnd, start->ssthresh, 1.0, 1.0};
    for (uint64_t i = 0; i < count; i++) {
        if (strcmp(given[i].name, "increase")) {
            says->error = "accepted parameters: increase";
            free(mine);
            return NULL;
        }
        mine->increase = given[i].value;
    }
    say(mine, says);
    return mine;
}

/* New data was acknowledged. RFC 5681 eq. (2), (3) */
static void on_ack(void *state, const struct parshall_ack *ack, struct parshall_says *says) {
    struct mine *mine = state;
    if (ack->may_grow)
        mine->cwnd += mine->cwnd < mine->ssthresh ? ack->credit : mine->increase * (mine->slope * ack->credit) / mine->cwnd;
    say(mine, says);
}

/* A loss or a mark: at most once a round trip. RFC 5681 eq. (4) */
static void on_congestion(void *state, const struct parshall_congestion *event, struct parshall_says *says) {
    struct mine *mine = state;
    double in_flight = (double)event->in_flight;
    double used = in_flight + 1 > mine->cwnd ? mine->cwnd : in_flight;
    mine->ssthresh = fmax(2.0, used / 2.0);
    mine->cwnd = mine->ssthresh;
    say(mine, says);
}

/* The retransmission timer expired. */
static void on_timeout(void *state, const struct parshall_congestion *event, struct parshall_says *says) {
    struct mine *mine = state;
    on_congestion(state, event, says);
    mine->cwnd = 1.0;
    say(mine, says);
}

/* The packets of the last reduction were only late (rules = "linux"): both are what they were before it. */
static void on_undo(void *state, double cwnd, double ssthresh, struct parshall_says *says) {
    struct mine *mine = state;
    mine->ssthresh = fmax(mine->ssthresh, ssthresh);
    mine->cwnd = fmax(mine->cwnd, cwnd);
    say(mine, says);
}

/* multiple_time_scale steers: what congestion avoidance adds is multiplied by this from now on. */
static void set_slope(void *state, double slope, struct parshall_says *says) {
    struct mine *mine = state;
    mine->slope = slope;
    say(mine, says);
}

/* multiple_time_scale steers: slow start ends at this window from now on. */
static void set_ssthresh(void *state, double ssthresh, struct parshall_says *says) {
    struct mine *mine = state;
    mine->ssthresh = ssthresh;
    say(mine, says);
}

const struct parshall_control *parshall_control(void) {
    static const struct parshall_control control = {
        .abi = PARSHALL_CONTROL_ABI,
        .create = create,
        .destroy = free,
        .on_ack = on_ack,
        .on_congestion = on_congestion,
        .on_timeout = on_timeout,
        .set_slope = set_slope,
        .set_ssthresh = set_ssthresh,
        .on_undo = on_undo,
    };
    return &control;
}
