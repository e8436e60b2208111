# One flow of ns-2.35's port of the Linux congestion controls (Agent/TCP/Linux, Linux 2.6.22), for the cross-checks:
# tests/crosscheck/ns2_values.json, `linux_flow`.
#
#   ns linux_flow.tcl key value ...     (keys and defaults: the array below; `rtt` in ms; `p`: losses a packet on the medium)
#
# One DropTail bottleneck with a delay of 1 ms one way, hosts on links of their own that are never contended. SACK,
# timestamps, an ACK per packet.
#
# Prints packets/s that were acknowledged, the loss rate of the bottleneck and its mean queue without the packet in
# service, all since `warm`. (The port prints lines of its own before.)

source [file join [file dirname [info script]] common.tcl]

array set o {
    cca reno     rtt 50     rate 100e6     buffer 417     p 0
    dur 200     warm 50     seed 1
}
read_options

trim_headers
set_tcp 1490 0 $o(seed) ;# and 10 bytes of timestamps: 1500

set ns [new Simulator]
$ns rtproto Manual
bottleneck $o(rate) 1ms $o(buffer)
fast $right $left

if {$o(p) > 0} {
    set random [new RNG]
    $random seed $o(seed)
    set draws [new RandomVariable/Uniform]
    $draws use-rng $random
    set loss [new ErrorModel]
    $loss set rate_ $o(p)
    $loss unit pkt
    $loss ranvar $draws
    $loss drop-target [new Agent/Null]
    $ns lossmodel $loss $left $right
}

set delay [expr {($o(rtt) / 2e3 - 0.001) / 2}]
set tcp [new Agent/TCP/Linux]
set sink [new Agent/TCPSink/Sack1]
$tcp set timestamps_ true
$sink set ts_echo_rfc1323_ true
$ns attach-agent [host $left 100e9 $delay] $tcp
$ns attach-agent [host $right 100e9 $delay] $sink
$ns connect $tcp $sink
set ftp [new Application/FTP]
$ftp attach-agent $tcp
$ns at 0.1 "$tcp select_ca $o(cca)"
$ns at 0.1 "$ftp start"

set monitor [$ns monitor-queue $left $right ""]
set integral [$monitor get-pkts-integrator]
proc mark {} {
    global monitor integral tcp
    return [list [$monitor set pdepartures_] [$monitor set pdrops_] [$integral set sum_] [$tcp set ack_]]
}

$ns at $o(warm) {set at_warm [mark]}
$ns at $o(dur) {
    foreach value [mark] before $at_warm name {forwarded drops integral acked} { set $name [expr {$value - $before}] }
    set seconds [expr {double($o(dur) - $o(warm))}]
    puts "acked_pps=[expr {$acked / $seconds}] loss=[expr {$drops / double($forwarded + $drops)}]\
        mean_queue_packets=[expr {$integral / $seconds}]"
    exit 0
}
$ns run
