/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* BIC (Xu, Harfoush & Rhee, INFOCOM 2004): binary search for the window of the last loss, then probing beyond it. */
#include "control.h"

struct state {
	u32 w_max;        /* packets */
	u32 probe_step;   /* packets a round trip */
	u32 probe_target; /* packets; 0: probing has not begun */
};

enum { S_MAX = 32, LOW_WINDOW = 14, KEPT_X8 = 7 };

INNER_NAMES("w_max,probe_step,probe_target");

static __always_inline void read_inner(struct sock *sk, u32 *inner)
{
	const struct state *state = ca_priv(sk);

	inner[0] = state->w_max;
	inner[1] = state->probe_step;
	inner[2] = state->probe_target;
}

static __always_inline void restart_probing(struct state *state)
{
	state->probe_step = 1;
	state->probe_target = 0;
}

static __always_inline void start(struct tcp_sock *tp, struct state *state)
{
	state->w_max = 0;
	restart_probing(state);
}

/* Steps that double from one packet to S_MAX. */
static __always_inline void probe(struct tcp_sock *tp, struct state *state, u32 acked)
{
	if (!state->probe_target)
		state->probe_target = tp->snd_cwnd + state->probe_step;
	add_each_round(tp, at_most(state->probe_step, S_MAX) * ONE, acked);
	if (state->probe_step < S_MAX && tp->snd_cwnd >= state->probe_target) {
		state->probe_step *= 2;
		state->probe_target = tp->snd_cwnd + state->probe_step;
	}
}

static __always_inline void grow(struct tcp_sock *tp, struct state *state, u32 acked)
{
	u32 cwnd;

	acked = slow_start(tp, acked);
	if (!acked)
		return;
	cwnd = tp->snd_cwnd;
	if (cwnd < LOW_WINDOW) {
		add_each_round(tp, ONE, acked);
	} else if (cwnd < state->w_max) {
		/* Half of the way, which is half a packet at least: windows are whole here. */
		add_each_round(tp, at_most((state->w_max - cwnd) * (ONE / 2), S_MAX * ONE), acked);
		restart_probing(state);
	} else {
		probe(tp, state, acked);
	}
}

static __always_inline u32 reduce(struct tcp_sock *tp, struct state *state)
{
	u32 cwnd = tp->snd_cwnd;
	u32 kept_x8 = cwnd < LOW_WINDOW ? 4 : KEPT_X8;

	/* Fast convergence: who loses before its last maximum aims lower. */
	state->w_max = cwnd < state->w_max ? cwnd * (8 + kept_x8) / 16 : cwnd;
	restart_probing(state);
	return cwnd * kept_x8 / 8;
}

static __always_inline void measure(struct tcp_sock *tp, struct state *state, const struct ack_sample *sample)
{
}

CONTROL("bic");
