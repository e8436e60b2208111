/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* Vegas (Brakmo & Peterson, IEEE JSAC 13(8), 1995): keeps ALPHA to BETA packets of its own in the queue. */
#include "control.h"

enum { ALPHA = 2, BETA = 4, GAMMA = 1, ENOUGH = 3 };

/* What the ACK at hand is to the round trip that ended last (crates/congestion/src/round_rtt.rs). */
enum moment { OTHER, KNOWN, TOO_FEW };

struct state {
	u32 base_rtt_us;         /* smallest RTT of the connection */
	u32 last_rtt_us[ENOUGH]; /* newest first */
	u32 samples;             /* RTTs since the ACK that ended a round trip, that one's included */
	u32 moment;
	u32 round_end;
	u32 doubling; /* in slow start: whether the window grows in this round trip */
};

INNER_NAMES("base_rtt_us,round_rtt_us,samples,doubling");

static __always_inline u32 smallest_rtt(const struct state *state)
{
	return at_most(at_most(state->last_rtt_us[0], state->last_rtt_us[1]), state->last_rtt_us[2]);
}

static __always_inline void read_inner(struct sock *sk, u32 *inner)
{
	const struct state *state = ca_priv(sk);

	inner[0] = state->base_rtt_us;
	inner[1] = smallest_rtt(state);
	inner[2] = state->samples;
	inner[3] = state->doubling;
}

/* Nothing is known of the round trip under way. */
static __always_inline void give_up(struct state *state)
{
	state->samples = at_least(state->samples, ENOUGH);
}

static __always_inline void start(struct tcp_sock *tp, struct state *state)
{
	state->base_rtt_us = NO_RTT;
	state->last_rtt_us[0] = state->last_rtt_us[1] = state->last_rtt_us[2] = NO_RTT;
	state->samples = ENOUGH;
	state->moment = OTHER;
	state->round_end = tp->snd_nxt;
	state->doubling = 0;
}

static __always_inline void set_both(struct tcp_sock *tp, u32 window)
{
	tp->snd_cwnd = at_least(window, 2);
	tp->snd_ssthresh = tp->snd_cwnd;
}

/* The round trip's decision, by the packets that are queued: cwnd (1 - BaseRTT/RTT). */
static __always_inline void decide(struct tcp_sock *tp, struct state *state)
{
	u64 cwnd = tp->snd_cwnd, rtt = smallest_rtt(state), base = state->base_rtt_us;
	u64 queued_times_rtt = cwnd * (rtt - base);

	if (tp->snd_cwnd < tp->snd_ssthresh) {
		if (!state->doubling && queued_times_rtt > GAMMA * rtt)
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
	if (state->moment == KNOWN)
		decide(tp, state);
	else if (state->moment == TOO_FEW && starting) /* too few RTTs to tell: as Reno */
		state->doubling = 1;
	else if (state->moment == TOO_FEW)
		tp->snd_cwnd = tp->snd_cwnd + 1;
}

static __always_inline u32 reduce(struct tcp_sock *tp, struct state *state)
{
	give_up(state);
	return tp->snd_cwnd / 2;
}

/* Before `grow` of the same ACK. */
static __always_inline void measure(struct tcp_sock *tp, struct state *state, const struct ack_sample *sample)
{
	state->moment = OTHER;
	if (round_ended(tp, &state->round_end)) {
		if (state->samples < ENOUGH)
			state->moment = TOO_FEW;
		state->samples = 0;
	}
	if (sample->rtt_us <= 0)
		return;
	state->base_rtt_us = at_most(state->base_rtt_us, sample->rtt_us);
	state->last_rtt_us[2] = state->last_rtt_us[1];
	state->last_rtt_us[1] = state->last_rtt_us[0];
	state->last_rtt_us[0] = sample->rtt_us;
	if (++state->samples == ENOUGH)
		state->moment = KNOWN;
}

CONTROL("vegas");
