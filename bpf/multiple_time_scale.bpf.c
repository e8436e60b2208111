/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* Multiple time scale TCP over Reno (Park & Tuan, ACM TOMACS 10(2), 2000): the slope of congestion avoidance follows the contention that is
 * predicted for the next interval.
 *
 * | symbol | here |
 * | --- | --- |
 * | T_L | `interval_ns` |
 * | X | `packets` delivered in an interval |
 * | L_1, L_2 | levels of contention of two consecutive intervals, 1 (none) to h |
 * | CondProb | `counts`: how often a level followed another; the last column is the row's total |
 * | E[L_2 given L_1] | `predicted`, of 1/1024 |
 * | epsilon, A | `slope`, `largest`, of 1/1024 of Reno's |
 *
 * The readings of the source are those of crates/congestion/src/multiple_time_scale. What connections learn is kept for the connection
 * (`shared` 0), for the connections to a destination, one after another (1), or for all that are open to it (2). */
#include "control.h"

enum { LEVELS = 8, MEMORY = 256, NEWS = 128, AT_ONCE = 8, DESTINATIONS = 65536 };
enum quantiser { QUANTILE, RUNNING_RANGE, FIXED_RANGE };
enum schedule { INVERSE_LINEAR, THRESHOLD, INVERSE, GENERALISED };
enum shared { ALONE, SUCCESSORS, EVERYBODY };

/* Set before the program is loaded (crates/emulation/src/steering.rs has the same fields). */
const volatile struct parameters {
	u64 interval_ns;
	u64 peak;            /* packets an interval at the end of a fixed range, of 1/1024 */
	u32 levels;          /* h */
	u32 quantiser;
	u32 memory;          /* intervals among which ranks are taken */
	u32 schedule;
	u32 largest;         /* A, of 1/1024 */
	u32 smallest;        /* a, of 1/1024 */
	u32 threshold;       /* theta, of 1/1024 */
	u32 learning;        /* intervals that are only observed */
	u32 shared;
	u32 destinations;    /* bits of an address by which destinations differ, in the order of the network */
	u32 slopes[LEVELS];  /* of a generalised schedule, of 1/1024 */
} parameters SEC(".rodata.parameters") = { .interval_ns = 2000000000, .levels = LEVELS, .memory = MEMORY, .largest = 6 * ONE,
					   .smallest = ONE };

/* What an interval said. */
struct news {
	u64 at_ns;
	u32 packets;
	u16 before; /* the level of the interval before it; 0: there was none */
	u16 level;
};

/* What a connection has of its own, and leaves to the next one of its flow. */
struct chain {
	u64 end_ns;    /* when the interval ends; 0: no ACK yet */
	u32 packets;   /* delivered since it began */
	u32 level;     /* L_1; 0: none */
	u32 predicted; /* E[L_2 given L_1], of 1/1024; 0: none */
	u32 slope;     /* of 1/1024 */
	u32 learning;  /* intervals that are still only observed */
};

struct state {
	struct chain chain;
	u32 seen; /* tcp_sock.delivered at the last ACK */
};

/* What is learnt: which throughput is high, and which level follows which. */
struct knowledge {
	struct bpf_spin_lock lock;
	u32 filled;
	u32 next;                        /* the oldest of `values` once it is full */
	u32 low, high;                   /* extremes so far, if there is a value */
	u32 first_news, number_of_news;
	u32 values[MEMORY];              /* packets of the last intervals */
	u32 counts[LEVELS][LEVELS + 1];  /* CondProb (§3.3) */
	struct news news[NEWS];          /* what does not count yet */
	struct chain chain;              /* of the connection that ended last */
};

/* Of one connection: it is gone with the socket. */
struct {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct knowledge);
} of_connections SEC(".maps");

/* By the address of the destination. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, DESTINATIONS);
	__type(key, u32);
	__type(value, struct knowledge);
} of_destinations SEC(".maps");

/* With what knowledge begins: zeros, which are too many for the stack, and no lock, which only the kernel copies. */
struct nothing {
	u8 bytes[sizeof(struct knowledge)];
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct nothing);
} nothing SEC(".maps");

INNER_NAMES("slope,level,predicted,packets");

static __always_inline void read_inner(struct sock *sk, u32 *inner)
{
	const struct state *state = ca_priv(sk);

	inner[0] = state->chain.slope;
	inner[1] = state->chain.level;
	inner[2] = state->chain.predicted;
	inner[3] = state->chain.packets;
}

/* The knowledge of the connection; 0: there is no room for it. */
static __always_inline struct knowledge *knowledge_of(struct sock *sk)
{
	u32 first = 0, destination = sk->__sk_common.skc_daddr & parameters.destinations;
	struct knowledge *found;
	struct nothing *empty;

	if (parameters.shared == ALONE)
		return bpf_sk_storage_get(&of_connections, sk, 0, BPF_SK_STORAGE_GET_F_CREATE);
	found = bpf_map_lookup_elem(&of_destinations, &destination);
	if (found)
		return found;
	empty = bpf_map_lookup_elem(&nothing, &first);
	if (!empty)
		return 0;
	bpf_map_update_elem(&of_destinations, &destination, empty, BPF_NOEXIST);
	return bpf_map_lookup_elem(&of_destinations, &destination);
}

static __always_inline void remember(struct knowledge *known, u32 packets)
{
	u32 next = known->next;

	if (!known->filled || packets < known->low)
		known->low = packets;
	if (!known->filled || packets > known->high)
		known->high = packets;
	known->values[next % MEMORY] = packets;
	known->next = next + 1 < parameters.memory ? next + 1 : 0;
	if (known->filled < parameters.memory)
		known->filled++;
}

/* 1 if a < b, without a branch: the verifier would follow both sides of each of MEMORY branches. */
static __always_inline u64 is_less(u64 a, u64 b) { return (a - b) >> 63; }

/* How many levels lie below the throughput of an interval, by its rank among the last ones; `more`: whether it counts beside those that are
 * remembered, being none of them. */
static __always_inline u64 below_by_rank(const struct knowledge *known, u64 packets, u32 more)
{
	u64 twice = more; /* twice those below it and once those equal to it */
	u32 filled = known->filled;

	for (u32 i = 0; i < MEMORY; i++) {
		u64 other;

		if (i >= filled)
			break;
		other = known->values[i];
		twice += is_less(other, packets) + 1 - is_less(packets, other);
	}
	return twice * parameters.levels / (2 * (u64)(filled + more));
}

/* The same by its place between the extremes so far, itself among them; the first values are neither high nor low. */
static __always_inline u64 below_by_range(const struct knowledge *known, u64 packets)
{
	u64 low = packets, high = packets;

	if (known->filled) {
		low = at_most(low, known->low);
		high = at_least(high, known->high);
	}
	if (high <= low)
		return parameters.levels / 2;
	return (packets - low) * parameters.levels / (high - low);
}

/* The level of contention L(X): high throughput is low contention (§3.3). */
static __always_inline u32 level_of(const struct knowledge *known, u32 packets, u32 more)
{
	u64 below;

	if (parameters.quantiser == QUANTILE)
		below = below_by_rank(known, packets, more);
	else if (parameters.quantiser == RUNNING_RANGE)
		below = below_by_range(known, packets);
	else
		below = (u64)packets * ONE * parameters.levels / at_least(parameters.peak, 1);
	return parameters.levels - at_most(below, parameters.levels - 1);
}

/* Level `before` was followed by `after`: two cells of the table (§3.3). */
static __always_inline void observe(struct knowledge *known, u32 before, u32 after)
{
	u32 *row = known->counts[(before - 1) % LEVELS];

	row[(after - 1) % LEVELS]++;
	row[LEVELS]++;
}

/* E[L_2 given L_1] (§3.3), of 1/1024, rounded up; a level that nothing has followed yet predicts itself (§5.5). */
static __always_inline u32 expected(const struct knowledge *known, u32 level)
{
	const u32 *row = known->counts[(level - 1) % LEVELS];
	u64 sum = 0, total = row[LEVELS];

	if (!total)
		return level * ONE;
	for (u32 i = 0; i < LEVELS; i++)
		sum += (u64)(i + 1) * row[i];
	return (sum * ONE + total - 1) / total;
}

/* epsilon(L_2) (§3.4), of 1/1024. */
static __always_inline u32 slope_at(u32 predicted)
{
	u64 largest = parameters.largest, smallest = parameters.smallest, highest = (u64)parameters.levels * ONE;
	u32 below, above;
	s64 step;

	predicted = at_most(at_least(predicted, ONE), highest);
	if (parameters.schedule == INVERSE_LINEAR)
		return smallest + (largest - smallest) * (highest - predicted) / (highest - ONE);
	if (parameters.schedule == THRESHOLD)
		return predicted <= parameters.threshold ? largest : smallest;
	if (parameters.schedule == INVERSE)
		return at_least(highest * ONE / predicted, smallest);
	/* One for each level, and a straight line between them. */
	below = predicted / ONE - 1;
	above = at_most(below + 1, parameters.levels - 1);
	step = (s64)parameters.slopes[below % LEVELS] - parameters.slopes[above % LEVELS]; /* none grows with contention */
	return parameters.slopes[below % LEVELS] - (u64)step * (predicted % ONE) / ONE;
}

/* Takes in what ended an interval ago or earlier; the oldest in any case if no more can wait. Between two calls hardly more than one
 * interval of a connection comes to count; what is beyond AT_ONCE, which limits the time with the lock held, counts from the next call. */
static __always_inline void take_in_news(struct knowledge *known, u64 now)
{
	for (u32 i = 0; i < AT_ONCE; i++) {
		const struct news *news = &known->news[known->first_news % NEWS];

		if (!known->number_of_news)
			break;
		if (known->number_of_news < NEWS && news->at_ns + parameters.interval_ns > now)
			break;
		remember(known, news->packets);
		if (news->before)
			observe(known, news->before, news->level);
		known->first_news = (known->first_news + 1) % NEWS;
		known->number_of_news--;
	}
}

/* An interval ended: its level, and what that one predicts. The level goes through memory: it is a number of the table then, of which the
 * verifier need not know how it came about. */
static __always_inline void learn(struct knowledge *known, volatile struct chain *chain, u64 now)
{
	u32 before = chain->level, packets = chain->packets;

	bpf_spin_lock(&known->lock);
	if (parameters.shared == EVERYBODY) {
		/* What one learns the others know an interval later (§5.5: shared information across connections). */
		struct news *news;

		take_in_news(known, now);
		chain->level = level_of(known, packets, 1);
		news = &known->news[(known->first_news + known->number_of_news) % NEWS];
		news->at_ns = now;
		news->packets = packets;
		news->before = before;
		news->level = chain->level;
		known->number_of_news++;
	} else {
		remember(known, packets);
		chain->level = level_of(known, packets, 0);
		if (before)
			observe(known, before, chain->level);
	}
	chain->predicted = expected(known, chain->level);
	bpf_spin_unlock(&known->lock);
}

static __always_inline void begin_chain(struct chain *chain, u64 end_ns)
{
	chain->end_ns = end_ns;
	chain->level = chain->predicted = 0;
	chain->slope = ONE;
}

/* The interval is over: the slope of the next one (§3.4, Table I). */
static __always_inline void end_interval(struct sock *sk, struct chain *chain, u64 now)
{
	struct knowledge *known;

	/* Silence of an interval says nothing of the network: Reno's own slope, and a new chain of levels. */
	if (!chain->end_ns || now >= chain->end_ns + parameters.interval_ns) {
		begin_chain(chain, now + parameters.interval_ns);
	} else {
		chain->end_ns += parameters.interval_ns;
		chain->slope = ONE;
		known = knowledge_of(sk);
		if (known) {
			learn(known, chain, now);
			if (chain->learning)
				chain->learning--;
			else
				chain->slope = slope_at(chain->predicted);
		}
	}
	chain->packets = 0;
}

static __always_inline void start(struct tcp_sock *tp, struct state *state)
{
	struct knowledge *known = 0;

	begin_chain(&state->chain, 0);
	state->chain.packets = 0;
	state->chain.learning = parameters.learning;
	state->seen = tp->delivered;
	if (parameters.shared == SUCCESSORS)
		known = knowledge_of((struct sock *)tp);
	if (known && known->chain.slope) { /* the connection goes on where the last one ended */
		bpf_spin_lock(&known->lock);
		state->chain = known->chain;
		bpf_spin_unlock(&known->lock);
	}
}

static __always_inline void finish(struct sock *sk)
{
	const struct state *state = ca_priv(sk);
	struct knowledge *known = 0;

	if (parameters.shared == SUCCESSORS)
		known = knowledge_of(sk);
	if (known) {
		bpf_spin_lock(&known->lock);
		known->chain = state->chain;
		bpf_spin_unlock(&known->lock);
	}
}

/* cwnd <- cwnd + epsilon / cwnd (Table I): an ACK counts for epsilon of them, both in 1/1024. */
static __always_inline void grow(struct tcp_sock *tp, struct state *state, u32 acked)
{
	acked = slow_start(tp, acked);
	if (acked)
		tcp_cong_avoid_ai(tp, at_most((u64)tp->snd_cwnd * ONE, 0x7fffffff),
				  at_most((u64)acked * state->chain.slope, 0x7fffffff));
}

static __always_inline u32 reduce(struct tcp_sock *tp, struct state *state)
{
	return tp->snd_cwnd / 2;
}

static __always_inline void measure(struct tcp_sock *tp, struct state *state, const struct ack_sample *sample)
{
	u64 now = bpf_ktime_get_ns();

	if (now >= state->chain.end_ns)
		end_interval((struct sock *)tp, &state->chain, now);
	state->chain.packets += tp->delivered - state->seen;
	state->seen = tp->delivered;
}

CONTROL_WITH_END("multiple_time", finish);
