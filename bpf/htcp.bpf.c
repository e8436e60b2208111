/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* H-TCP (Leith & Shorten, PFLDnet 2004): increase by the time since the last loss, decrease by the queueing delay. */
#include "control.h"

struct state {
	u64 last_us;     /* the last congestion event; 0: no ACK yet */
	u64 round_us;    /* when the round trip began */
	u32 round_end;
	u32 round_acked;
	u32 rate;        /* packets/s of the last round trip (B) */
	u32 rate_before; /* the same at the last congestion event */
	u32 max_rtt_us;  /* since the last congestion event */
	u32 beta;        /* of 1/1024 */
};

enum { DELTA_LOW_MS = 1000, MIN_BETA = 512, MAX_BETA = 819 };

INNER_NAMES("rate,rate_before,max_rtt_us,beta");

static __always_inline void read_inner(struct sock *sk, u32 *inner)
{
	const struct state *state = ca_priv(sk);

	inner[0] = state->rate;
	inner[1] = state->rate_before;
	inner[2] = state->max_rtt_us;
	inner[3] = state->beta;
}

static __always_inline u64 now_us(void) { return bpf_ktime_get_ns() / 1000; }

static __always_inline void start(struct tcp_sock *tp, struct state *state)
{
	state->last_us = 0;
	state->round_us = now_us();
	state->round_end = tp->snd_nxt;
	state->round_acked = 0;
	state->rate = state->rate_before = 0;
	state->max_rtt_us = 0;
	state->beta = MIN_BETA;
}

/* alpha = 2 (1 - beta) (1 + 10 d + (d/2)^2), d being the time in s beyond Delta_L; of 1/1024. */
static __always_inline u32 increase(const struct state *state)
{
	u64 since_ms = (now_us() - state->last_us) / 1000;
	u64 growth = ONE;

	if (since_ms > DELTA_LOW_MS) {
		u64 beyond_ms = at_most(since_ms - DELTA_LOW_MS, 1000000);

		growth += beyond_ms * 10 * ONE / 1000 + beyond_ms * beyond_ms * ONE / 4000000;
	}
	return at_most(2 * (ONE - state->beta) * growth / ONE, 0xffffffff);
}

static __always_inline void grow(struct tcp_sock *tp, struct state *state, u32 acked)
{
	acked = slow_start(tp, acked);
	if (acked)
		add_each_round(tp, increase(state), acked);
}

static __always_inline u32 reduce(struct tcp_sock *tp, struct state *state)
{
	u32 rate = state->rate, before = state->rate_before;
	u32 changed = rate > before ? rate - before : before - rate;

	state->beta = MIN_BETA;
	if (changed <= before / 5 && state->max_rtt_us) {
		u64 beta = (u64)tp->rtt_min.s[0].v * ONE / state->max_rtt_us;

		state->beta = at_most(at_least(at_most(beta, MAX_BETA), MIN_BETA), MAX_BETA);
	}
	state->rate_before = rate;
	state->max_rtt_us = 0;
	state->last_us = now_us();
	return (u64)tp->snd_cwnd * state->beta / ONE;
}

static __always_inline void measure(struct tcp_sock *tp, struct state *state, const struct ack_sample *sample)
{
	u64 now = now_us();

	if (in_recovery(tp))
		return; /* what is repaired says nothing of the throughput */
	if (!state->last_us)
		state->last_us = now;
	if (sample->rtt_us > 0)
		state->max_rtt_us = at_least(state->max_rtt_us, sample->rtt_us);
	state->round_acked += sample->pkts_acked;
	if (round_ended(tp, &state->round_end)) {
		if (now > state->round_us)
			state->rate = state->round_acked * 1000000ULL / (now - state->round_us);
		state->round_us = now;
		state->round_acked = 0;
	}
}

CONTROL("htcp");
