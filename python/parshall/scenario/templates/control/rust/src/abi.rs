//! `parshall_control.h` in Rust, field by field; its comments are there.
#![allow(dead_code)]

use std::ffi::{c_char, c_void};

/// `PARSHALL_CONTROL_ABI`
pub const ABI: u32 = 4;
/// The one symbol of a library.
pub const SYMBOL: &str = "parshall_control";

pub const NEEDS_RATE_SAMPLES: u32 = 1;
pub const NEEDS_PACING: u32 = 2;
pub const NEEDS_RECOVERY_WINDOW: u32 = 4;
pub const NEEDS_TIMESTAMPS: u32 = 8;
pub const NEEDS_ACCURATE_ECN: u32 = 16;
pub const NEEDS_GROWTH_IN_CWR: u32 = 32;
pub const NEEDS_L4S: u32 = 64;
pub const NEEDS_ONE_WAY_DELAY: u32 = 128;

#[repr(C)]
pub struct Start {
    pub now_s: f64,
    pub cwnd: f64,
    pub ssthresh: f64,
    pub random: u64,
    pub flow: u32,
    pub reserved: u32,
}

#[repr(C)]
pub struct Ack {
    pub now_s: f64,
    pub credit: f64,
    pub rtt_s: f64,
    pub srtt_s: f64,
    pub min_rtt_s: f64,
    pub acked: u64,
    pub in_flight: u64,
    pub delivery_rate: f64,
    pub delivered: u64,
    pub prior_delivered: u64,
    pub newly_delivered: u64,
    pub newly_lost: u64,
    pub phase: u8,
    pub may_grow: u8,
    pub round_ended: u8,
    pub ecn_echo: u8,
    pub app_limited: u8,
    pub reserved: [u8; 3],
    /// Since version 4.
    pub one_way_delay_s: f64,
}

#[repr(C)]
pub struct Congestion {
    pub now_s: f64,
    pub in_flight: u64,
    pub signal: u32,
    pub reserved: u32,
}

#[repr(C)]
pub struct Says {
    pub cwnd: f64,
    pub ssthresh: f64,
    pub pacing_rate: f64,
    pub error: *const c_char,
}

#[repr(C)]
pub struct Parameter {
    pub name: *const c_char,
    pub value: f64,
}

pub type Reader = extern "C" fn(context: *mut c_void, name: *const c_char, value: f64);

/// Functions that a library must have are optional here too: it may leave them out.
#[repr(C)]
#[derive(Debug)]
pub struct Table {
    pub abi: u32,
    pub needs: u32,
    pub standard_slow_start: u32,
    pub reserved: u32,
    pub create: Option<unsafe extern "C" fn(*const Start, *const Parameter, u64, *mut Says) -> *mut c_void>,
    pub destroy: Option<unsafe extern "C" fn(*mut c_void)>,
    pub on_ack: Option<unsafe extern "C" fn(*mut c_void, *const Ack, *mut Says)>,
    pub on_congestion: Option<unsafe extern "C" fn(*mut c_void, *const Congestion, *mut Says)>,
    pub on_timeout: Option<unsafe extern "C" fn(*mut c_void, *const Congestion, *mut Says)>,
    pub on_idle_restart: Option<unsafe extern "C" fn(*mut c_void, f64, *mut Says)>,
    pub on_recovered: Option<unsafe extern "C" fn(*mut c_void, *mut Says)>,
    pub end_slow_start: Option<unsafe extern "C" fn(*mut c_void, *mut Says)>,
    pub variables: Option<unsafe extern "C" fn(*const c_void, Reader, *mut c_void)>,
    /// Since version 2.
    pub set_slope: Option<unsafe extern "C" fn(*mut c_void, f64, *mut Says)>,
    pub set_ssthresh: Option<unsafe extern "C" fn(*mut c_void, f64, *mut Says)>,
    /// Since version 4.
    pub on_undo: Option<unsafe extern "C" fn(*mut c_void, f64, f64, *mut Says)>,
}
