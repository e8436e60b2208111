/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* Westwood+ (Grieco & Mascolo, CCR 34(2), 2004): Reno's increase; a loss leaves the window that the measured bandwidth needs. */
#include "control.h"

struct state {
	u64 began_us;   /* the sample under way; 0: none */
	u32 delivered;  /* packets, when it began */
	u32 min_rtt_us;
	u64 bandwidth;  /* packets/s, of 1/1024; 0: none yet */
};

enum { SHORTEST_SAMPLE_US = 50000 };

INNER_NAMES("bandwidth,min_rtt_us");

static __always_inline void read_inner(struct sock *sk, u32 *inner)
{
	const struct state *state = ca_priv(sk);

	inner[0] = state->bandwidth;
	inner[1] = state->min_rtt_us;
}

static __always_inline void start(struct tcp_sock *tp, struct state *state)
{
	state->began_us = 0;
	state->delivered = 0;
	state->min_rtt_us = NO_RTT;
	state->bandwidth = 0;
}

static __always_inline void grow(struct tcp_sock *tp, struct state *state, u32 acked)
{
	acked = slow_start(tp, acked);
	if (acked)
		add_each_round(tp, ONE, acked);
}

static __always_inline u32 reduce(struct tcp_sock *tp, struct state *state)
{
	u64 window = state->bandwidth * state->min_rtt_us / (1000000ULL * ONE);

	return state->bandwidth ? at_most(window, tp->snd_cwnd) : tp->snd_cwnd / 2;
}

static __always_inline void measure(struct tcp_sock *tp, struct state *state, const struct ack_sample *sample)
{
	u64 now = bpf_ktime_get_ns() / 1000, length, rate;

	if (sample->rtt_us > 0)
		state->min_rtt_us = at_most(state->min_rtt_us, sample->rtt_us);
	if (state->began_us) {
		length = now - state->began_us;
		if (length <= at_least(tp->srtt_us >> 3, SHORTEST_SAMPLE_US))
			return;
		rate = (u64)(tp->delivered - state->delivered) * 1000000 * ONE / length;
		state->bandwidth = state->bandwidth ? (9 * state->bandwidth + rate) / 10 : rate;
	}
	state->began_us = now;
	state->delivered = tp->delivered;
}

CONTROL("westwood");
