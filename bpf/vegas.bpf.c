/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* Vegas (Brakmo & Peterson, IEEE JSAC 13(8), 1995): keeps ALPHA to BETA packets of its own in the queue. */
#include "control.h"

struct state {
	u32 base_rtt_us;  /* smallest RTT of the connection */
	u32 round_rtt_us; /* smallest RTT of the round trip */
	u32 samples;      /* RTTs of the round trip */
	u32 round_end;
	u32 doubling;     /* in slow start: whether the window grows in this round trip */
};

enum { ALPHA = 2, BETA = 4, GAMMA = 1, ENOUGH = 3 };

INNER_NAMES("base_rtt_us,round_rtt_us,samples,doubling");

static __always_inline void read_inner(struct sock *sk, u32 *inner)
{
	const struct state *state = ca_priv(sk);

	inner[0] = state->base_rtt_us;
	inner[1] = state->round_rtt_us;
	inner[2] = state->samples;
	inner[3] = state->doubling;
}

static __always_inline void restart_round(struct state *state)
{
	state->round_rtt_us = NO_RTT;
	state->samples = 0;
}

static __always_inline void start(struct tcp_sock *tp, struct state *state)
{
	state->base_rtt_us = NO_RTT;
	state->round_end = tp->snd_nxt;
	state->doubling = 1;
	restart_round(state);
}

static __always_inline void set_both(struct tcp_sock *tp, u32 window)
{
	tp->snd_cwnd = at_least(window, 2);
	tp->snd_ssthresh = tp->snd_cwnd;
}

/* The round trip's decision, by the packets that are queued: cwnd (1 - BaseRTT/RTT). */
static __always_inline void decide(struct tcp_sock *tp, struct state *state)
{
	u64 cwnd = tp->snd_cwnd, rtt = state->round_rtt_us, base = state->base_rtt_us;
	u64 queued_times_rtt = cwnd * (rtt - base);

	if (tp->snd_cwnd < tp->snd_ssthresh) {
		if (queued_times_rtt > GAMMA * rtt)
			set_both(tp, at_most(cwnd * base / rtt + 1, cwnd));
		state->doubling = !state->doubling;
	} else if (queued_times_rtt > BETA * rtt) {
		set_both(tp, cwnd - 1);
	} else if (queued_times_rtt < ALPHA * rtt) {
		tp->snd_cwnd = cwnd + 1;
	}
}

static __always_inline void grow(struct tcp_sock *tp, struct state *state, u32 acked)
{
	bool starting = tp->snd_cwnd < tp->snd_ssthresh;

	if (starting && state->doubling)
		tcp_slow_start(tp, acked);
	if (!round_ended(tp, &state->round_end))
		return;
	if (state->samples >= ENOUGH && state->round_rtt_us)
		decide(tp, state);
	else if (!starting)
		tp->snd_cwnd = tp->snd_cwnd + 1; /* too few RTTs to tell: as Reno */
	restart_round(state);
}

static __always_inline u32 reduce(struct tcp_sock *tp, struct state *state)
{
	restart_round(state);
	return tp->snd_cwnd / 2;
}

static __always_inline void measure(struct tcp_sock *tp, struct state *state, const struct ack_sample *sample)
{
	if (sample->rtt_us <= 0)
		return;
	state->base_rtt_us = at_most(state->base_rtt_us, sample->rtt_us);
	state->round_rtt_us = at_most(state->round_rtt_us, sample->rtt_us);
	state->samples++;
}

CONTROL("vegas");
