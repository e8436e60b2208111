/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* Records every call that a congestion control gets, with the state of its socket before and after.
 *
 * A control includes this file, says with `read_inner` what its inner variables are, and wraps what it does at a call:
 *
 *     void BPF_PROG(init, struct sock *sk) { RECORD(sk, INIT, 0, my_init(sk)); }
 *
 * Without a recording this costs nothing: `recording` is a constant when the program is loaded, and the kernel leaves out what is
 * not reached. Whoever loads it reads `struct call` from the ring buffer `calls`; crates/replay/src/call.rs has the same fields. */
#pragma once

#include "kernel.h"

enum kind {
	INIT, RELEASE, SSTHRESH, CONG_AVOID, CONG_CONTROL, SET_STATE, CWND_EVENT, IN_ACK_EVENT, PKTS_ACKED, UNDO_CWND,
	MIN_TSO_SEGS, SNDBUF_EXPAND,
};

#define INNER 16

struct call {
	u64 time_ns;      /* CLOCK_MONOTONIC */
	u64 pacing_rate;  /* bytes/s, after the call */
	u32 address;      /* of the sender, in the order of the network */
	u32 port;         /* of the sender */
	u32 jiffies;
	u32 kind;
	/* What the call was given. */
	u32 argument;     /* ack, state, event or flags */
	u32 acked;        /* packets: of cong_avoid and pkts_acked, or acked_sacked of a rate sample */
	s32 rtt_us;       /* of pkts_acked or a rate sample; negative: none */
	u32 prior_in_flight;
	u32 prior_delivered;
	s32 delivered_in_interval;
	s32 interval_us;
	s32 losses;
	u32 sample_flags; /* 1 application-limited, 2 of a retransmission, 4 of a delayed ACK */
	/* The socket before the call. */
	u32 ca_state;
	u32 cwnd;
	u32 ssthresh;
	u32 cwnd_cnt;
	u32 packets_out;
	u32 sacked_out;
	u32 lost_out;
	u32 retrans_out;
	u32 snd_una;
	u32 snd_nxt;
	u32 srtt_us;
	u32 mdev_us;
	u32 min_rtt_us;
	u32 delivered;
	u32 lost;
	u32 app_limited;
	u32 max_packets_out;
	u32 cwnd_limited;
	u32 mss;
	/* After the call. */
	u32 returned;
	u32 cwnd_after;
	u32 ssthresh_after;
	u32 cwnd_cnt_after;
	u32 inner[INNER];
};

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4096); /* the loader makes it larger for a recording */
} calls SEC(".maps");

/* Calls for which the ring buffer had no room. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, u64);
} dropped SEC(".maps");

const volatile u32 recording SEC(".rodata.settings") = 0;

static __always_inline void *ca_priv(struct sock *sk)
{
	return ((struct inet_connection_sock *)sk)->icsk_ca_priv;
}

/* Of each control: what of its state is recorded, at most INNER values, and their names with commas between them. */
#define INNER_NAMES(names) const char inner_names[] SEC(".rodata.inner") = names
static __always_inline void read_inner(struct sock *sk, u32 *inner);

static __always_inline void count_dropped(void)
{
	u32 first = 0;
	u64 *count = bpf_map_lookup_elem(&dropped, &first);

	if (count)
		__sync_fetch_and_add(count, 1);
}

static __always_inline struct call *begin_call(struct sock *sk, u32 kind, u32 argument)
{
	const struct inet_connection_sock *icsk = (struct inet_connection_sock *)sk;
	const struct tcp_sock *tp = (struct tcp_sock *)sk;
	struct call *call;

	if (!recording)
		return 0;
	call = bpf_ringbuf_reserve(&calls, sizeof(*call), 0);
	if (!call) {
		count_dropped();
		return 0;
	}
	__builtin_memset(call, 0, sizeof(*call));
	call->time_ns = bpf_ktime_get_ns();
	call->jiffies = bpf_jiffies64();
	call->address = sk->__sk_common.skc_rcv_saddr;
	call->port = sk->__sk_common.skc_num;
	call->kind = kind;
	call->argument = argument;
	call->rtt_us = -1;
	call->ca_state = BPF_CORE_READ_BITFIELD(icsk, icsk_ca_state);
	call->cwnd = tp->snd_cwnd;
	call->ssthresh = tp->snd_ssthresh;
	call->cwnd_cnt = tp->snd_cwnd_cnt;
	call->packets_out = tp->packets_out;
	call->sacked_out = tp->sacked_out;
	call->lost_out = tp->lost_out;
	call->retrans_out = tp->retrans_out;
	call->snd_una = tp->snd_una;
	call->snd_nxt = tp->snd_nxt;
	call->srtt_us = tp->srtt_us >> 3;
	call->mdev_us = tp->mdev_us >> 2;
	call->min_rtt_us = tp->rtt_min.s[0].v;
	call->delivered = tp->delivered;
	call->lost = tp->lost;
	call->app_limited = tp->app_limited;
	call->max_packets_out = tp->max_packets_out;
	call->cwnd_limited = BPF_CORE_READ_BITFIELD(tp, is_cwnd_limited);
	call->mss = tp->mss_cache;
	return call;
}

static __always_inline void end_call(struct call *call, struct sock *sk, u32 returned)
{
	const struct tcp_sock *tp = (struct tcp_sock *)sk;

	if (!call)
		return;
	call->returned = returned;
	call->cwnd_after = tp->snd_cwnd;
	call->ssthresh_after = tp->snd_ssthresh;
	call->cwnd_cnt_after = tp->snd_cwnd_cnt;
	call->pacing_rate = sk->sk_pacing_rate;
	read_inner(sk, call->inner);
	bpf_ringbuf_submit(call, BPF_RB_NO_WAKEUP);
}

/* A call that returns nothing. */
#define RECORD(sk, kind, argument, statement)                         \
	do {                                                          \
		struct call *call_ = begin_call(sk, kind, argument);  \
		statement;                                            \
		end_call(call_, sk, 0);                               \
	} while (0)

/* A call that returns a value. */
#define RECORD_VALUE(sk, kind, expression)                            \
	({                                                            \
		struct call *call_ = begin_call(sk, kind, 0);         \
		u32 value_ = expression;                              \
		end_call(call_, sk, value_);                          \
		value_;                                               \
	})

/* cong_avoid, pkts_acked and cong_control, whose arguments are recorded too. */
#define RECORD_CONG_AVOID(sk, ack, acked_, statement)                 \
	do {                                                          \
		struct call *call_ = begin_call(sk, CONG_AVOID, ack); \
		if (call_)                                            \
			call_->acked = acked_;                        \
		statement;                                            \
		end_call(call_, sk, 0);                               \
	} while (0)

#define RECORD_PKTS_ACKED(sk, sample, statement)                      \
	do {                                                          \
		struct call *call_ = begin_call(sk, PKTS_ACKED, 0);   \
		if (call_) {                                          \
			call_->acked = (sample)->pkts_acked;          \
			call_->rtt_us = (sample)->rtt_us;             \
			call_->prior_in_flight = (sample)->in_flight; \
		}                                                     \
		statement;                                            \
		end_call(call_, sk, 0);                               \
	} while (0)

#define RECORD_CONG_CONTROL(sk, ack, rs, statement)                             \
	do {                                                                    \
		struct call *call_ = begin_call(sk, CONG_CONTROL, ack);         \
		if (call_) {                                                    \
			call_->acked = (rs)->acked_sacked;                      \
			call_->rtt_us = (rs)->rtt_us;                           \
			call_->prior_in_flight = (rs)->prior_in_flight;         \
			call_->prior_delivered = (rs)->prior_delivered;         \
			call_->delivered_in_interval = (rs)->delivered;         \
			call_->interval_us = (rs)->interval_us;                 \
			call_->losses = (rs)->losses;                           \
			call_->sample_flags = (rs)->is_app_limited              \
				| (rs)->is_retrans << 1                         \
				| (rs)->is_ack_delayed << 2;                    \
		}                                                               \
		statement;                                                      \
		end_call(call_, sk, 0);                                         \
	} while (0)

/* A control of a window, recorded: what it does at each call, with the arguments of the kernel's; NOTHING where it does nothing. A reduction is
 * undone as Reno undoes it. */
#define WINDOW_CONTROL(kernels_name, init_, release_, ssthresh_, cong_avoid_, set_state_, cwnd_event_, pkts_acked_) \
	SEC("struct_ops") void BPF_PROG(control_init, struct sock *sk) { RECORD(sk, INIT, 0, init_(sk)); } \
                                                                                                        \
	SEC("struct_ops") void BPF_PROG(control_release, struct sock *sk) { RECORD(sk, RELEASE, 0, release_(sk)); } \
                                                                                                        \
	SEC("struct_ops") u32 BPF_PROG(control_ssthresh, struct sock *sk)                               \
	{                                                                                               \
		return RECORD_VALUE(sk, SSTHRESH, ssthresh_(sk));                                       \
	}                                                                                               \
                                                                                                        \
	SEC("struct_ops") void BPF_PROG(control_cong_avoid, struct sock *sk, u32 ack, u32 acked)        \
	{                                                                                               \
		RECORD_CONG_AVOID(sk, ack, acked, cong_avoid_(sk, ack, acked));                         \
	}                                                                                               \
                                                                                                        \
	SEC("struct_ops") void BPF_PROG(control_set_state, struct sock *sk, u8 state)                   \
	{                                                                                               \
		RECORD(sk, SET_STATE, state, set_state_(sk, state));                                    \
	}                                                                                               \
                                                                                                        \
	SEC("struct_ops") void BPF_PROG(control_cwnd_event, struct sock *sk, enum tcp_ca_event event)   \
	{                                                                                               \
		RECORD(sk, CWND_EVENT, event, cwnd_event_(sk, event));                                  \
	}                                                                                               \
                                                                                                        \
	SEC("struct_ops") void BPF_PROG(control_in_ack_event, struct sock *sk, u32 flags)               \
	{                                                                                               \
		RECORD(sk, IN_ACK_EVENT, flags, );                                                      \
	}                                                                                               \
                                                                                                        \
	SEC("struct_ops") void BPF_PROG(control_pkts_acked, struct sock *sk, const struct ack_sample *sample) \
	{                                                                                               \
		RECORD_PKTS_ACKED(sk, sample, pkts_acked_(sk, sample));                                 \
	}                                                                                               \
                                                                                                        \
	SEC("struct_ops") u32 BPF_PROG(control_undo_cwnd, struct sock *sk)                              \
	{                                                                                               \
		return RECORD_VALUE(sk, UNDO_CWND, tcp_reno_undo_cwnd(sk));                             \
	}                                                                                               \
                                                                                                        \
	SEC(".struct_ops") struct tcp_congestion_ops control = {                                        \
		.name = kernels_name,                                                                   \
		.init = (void *)control_init,                                                           \
		.release = (void *)control_release,                                                     \
		.ssthresh = (void *)control_ssthresh,                                                   \
		.cong_avoid = (void *)control_cong_avoid,                                               \
		.set_state = (void *)control_set_state,                                                 \
		.cwnd_event = (void *)control_cwnd_event,                                               \
		.in_ack_event = (void *)control_in_ack_event,                                           \
		.pkts_acked = (void *)control_pkts_acked,                                               \
		.undo_cwnd = (void *)control_undo_cwnd,                                                 \
	}

#define NOTHING(...)

char license_[] SEC("license") = "GPL"; /* what kfuncs of the kernel ask for; the text is Apache-2.0 or GPL-2.0 */
