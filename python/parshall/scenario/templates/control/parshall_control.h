/* A congestion control in a shared library, for Parshall.
 *
 * The library has one symbol, a function that returns the control's table:
 *
 *     const struct parshall_control *parshall_control(void);
 *
 * parshall run S.toml --control mine=./libmine.so
 *
 * Windows are in packets of one MSS and may be fractional, times in seconds, rates in packets/s. What is not known is a NaN.
 * A control is used by one thread at a time; several controls of one library may run at once. Callbacks do not throw, do not
 * unwind and do not block. docs/own_control.md explains each.
 */
#ifndef PARSHALL_CONTROL_H
#define PARSHALL_CONTROL_H

#include <stdint.h>

/* Goes up when anything below changes. What a version adds stands at the end of its struct: libraries of older versions are loaded,
 * and lack what came after them. */
#define PARSHALL_CONTROL_ABI 4

/* What a control may need of the endpoint: bits of `needs`. */
#define PARSHALL_NEEDS_RATE_SAMPLES 1u    /* every ACK that reports deliveries, with a rate sample */
#define PARSHALL_NEEDS_PACING 2u          /* packets are spaced by pacing_rate */
#define PARSHALL_NEEDS_RECOVERY_WINDOW 4u /* its window holds in loss recovery too */
#define PARSHALL_NEEDS_TIMESTAMPS 8u      /* an RTT sample with each ACK */
#define PARSHALL_NEEDS_ACCURATE_ECN 16u   /* receivers echo the marks of each ACK's own packets; a loss is told after a mark too */
#define PARSHALL_NEEDS_GROWTH_IN_CWR 32u  /* ACKs without a mark may grow the window after a mark, too */
#define PARSHALL_NEEDS_L4S 64u            /* since version 3: packets carry ECT(1), unless the flow says l4s = false */
#define PARSHALL_NEEDS_ONE_WAY_DELAY 128u /* since version 4: one_way_delay_s with each ACK */

enum parshall_phase { PARSHALL_OPEN = 0, PARSHALL_RECOVERY = 1, PARSHALL_LOSS = 2 };
enum parshall_signal { PARSHALL_SIGNAL_LOSS = 0, PARSHALL_SIGNAL_ECN = 1 };

/* How a connection begins. */
struct parshall_start {
    double now_s;
    double cwnd;
    double ssthresh; /* infinite: nothing is known of the path */
    uint64_t random; /* another word for each connection, seed and repetition */
    uint32_t flow;   /* number of the flow in the records */
    uint32_t reserved;
};

/* An ACK arrived. */
struct parshall_ack {
    double now_s;
    double credit;  /* packets by which the window may count it */
    double rtt_s;   /* its RTT sample, or a NaN */
    double srtt_s;  /* a NaN before the first sample, as min_rtt_s */
    double min_rtt_s;
    uint64_t acked; /* packets that it acknowledges cumulatively for the first time */
    uint64_t in_flight;
    /* Of the rate sample; delivery_rate is a NaN and the others 0 without one. */
    double delivery_rate;
    uint64_t delivered;
    uint64_t prior_delivered;
    uint64_t newly_delivered;
    uint64_t newly_lost;
    uint8_t phase; /* enum parshall_phase */
    uint8_t may_grow;
    uint8_t round_ended;
    uint8_t ecn_echo;
    uint8_t app_limited;
    uint8_t reserved[3];
    /* Since version 4. From the sending of the packet that the ACK answers, by the sender's clock, to that of the ACK, by the receiver's
     * (timestamps): only differences mean something where the clocks are not one. A NaN unless it is needed. */
    double one_way_delay_s;
};

/* The network is congested, or the retransmission timer expired. */
struct parshall_congestion {
    double now_s;
    uint64_t in_flight;
    uint32_t signal; /* enum parshall_signal */
    uint32_t reserved;
};

/* What a control says after each call. */
struct parshall_says {
    double cwnd;
    double ssthresh;    /* preset to infinity */
    double pacing_rate; /* preset to a NaN: the endpoint paces by window over RTT, if it paces */
    const char *error;  /* preset to NULL; a text ends the run, and is shown */
};

/* A parameter of the scenario: a number; true and false are 1 and 0. */
struct parshall_parameter {
    const char *name;
    double value;
};

/* Is told the inner variables of a control, one a call. */
typedef void (*parshall_reader)(void *context, const char *name, double value);

struct parshall_control {
    uint32_t abi;                 /* PARSHALL_CONTROL_ABI */
    uint32_t needs;               /* PARSHALL_NEEDS_... */
    uint32_t standard_slow_start; /* 1: its slow start is that of RFC 5681, which another can replace by end_slow_start */
    uint32_t reserved;

    /* A control at the start of a connection. NULL, with an error in `says`: refused. */
    void *(*create)(const struct parshall_start *, const struct parshall_parameter *, uint64_t parameters, struct parshall_says *);
    void (*destroy)(void *);
    void (*on_ack)(void *, const struct parshall_ack *, struct parshall_says *);
    void (*on_congestion)(void *, const struct parshall_congestion *, struct parshall_says *);
    void (*on_timeout)(void *, const struct parshall_congestion *, struct parshall_says *);

    /* These may be NULL. */
    void (*on_idle_restart)(void *, double restart_window, struct parshall_says *);
    void (*on_recovered)(void *, struct parshall_says *);
    void (*end_slow_start)(void *, struct parshall_says *);
    void (*variables)(const void *, parshall_reader, void *context);

    /* Since version 2. With these, multiple_time_scale can steer the control. */
    void (*set_slope)(void *, double slope, struct parshall_says *);       /* what congestion avoidance adds is multiplied by it from now on */
    void (*set_ssthresh)(void *, double ssthresh, struct parshall_says *); /* slow start ends at this window from now on */

    /* Since version 4, may be NULL. The packets of the last reduction were only late (rules = "linux"); both are what they were before it. */
    void (*on_undo)(void *, double cwnd, double ssthresh, struct parshall_says *);
};

#endif
