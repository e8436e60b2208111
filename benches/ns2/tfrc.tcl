# Flows of TCP-friendly rate control in ns-2.35 (Agent/TFRC, Agent/TFRCSink), for the cross-checks:
# tests/crosscheck/ns2_values.json, `tfrc`.
#
#   ns tfrc.tcl key value ...     (keys and defaults: the array below; `rtt` in ms; `p`: losses a packet on the medium)
#
# n flows share a DropTail bottleneck with a delay of 1 ms one way; hosts are on links of their own that are never contended. Packets count
# `pkt` bytes with headers.
#
# `discount`: the receiver discounts old loss intervals in long times without loss (RFC 5348 §5.5); `ca`: the sender corrects its rate by
# the square root of the RTT (§4.5); both are on by default in ns-2.
#
# Prints packets/s that left the bottleneck, loss = drops/arrivals there (of the medium as well), and the mean queue without the packet
# in service, all since `warm`.

source [file join [file dirname [info script]] common.tcl]

array set o {
    n 1     rtt 50     rate 10e6     buffer 50     pkt 1000     p 0
    dur 300     warm 50     spread 1.0     seed 1     discount 1     ca 1     overhead 0
}
read_options

remove-all-packet-headers
add-packet-header Flags IP TCP TFRC TFRC_ACK
$defaultRNG seed $o(seed)
Agent/TFRC set packetSize_ [expr {$o(pkt) - 32}] ;# its packets have 32 bytes more
Agent/TFRC set ca_ $o(ca)
Agent/TFRC set overhead_ $o(overhead)
Agent/TFRCSink set discount_ $o(discount)

set ns [new Simulator]
$ns rtproto Manual
bottleneck $o(rate) 1ms $o(buffer)
fast $right $left

if {$o(p) > 0} {
    set draws [new RandomVariable/Uniform]
    set stream [new RNG]
    $stream seed $o(seed)
    $draws use-rng $stream
    set loss [new ErrorModel]
    $loss set rate_ $o(p)
    $loss unit pkt
    $loss ranvar $draws
    $loss drop-target [new Agent/Null]
    $ns lossmodel $loss $left $right
}

set random [new RNG]
$random seed $o(seed)
set delay [expr {($o(rtt) / 2e3 - 0.001) / 2}]
for {set i 0} {$i < $o(n)} {incr i} {
    set tfrc [new Agent/TFRC]
    set sink [new Agent/TFRCSink]
    $ns attach-agent [host $left 100e9 $delay] $tfrc
    $ns attach-agent [host $right 100e9 $delay] $sink
    $ns connect $tfrc $sink
    $ns at [$random uniform 0 $o(spread)] "$tfrc start"
    lappend sinks $sink
}

set monitor [$ns monitor-queue $left $right ""]
set integral [$monitor get-pkts-integrator]
proc mark {} {
    global monitor integral
    return [list [$monitor set pdepartures_] [$monitor set pdrops_] [$integral set sum_]]
}

$ns at $o(warm) {set at_warm [mark]}
$ns at $o(dur) {
    foreach value [mark] before $at_warm name {forwarded drops integral} { set $name [expr {$value - $before}] }
    set seconds [expr {double($o(dur) - $o(warm))}]
    puts "forwarded_pps=[expr {$forwarded / $seconds}] loss=[expr {$drops / double($forwarded + $drops)}]\
        mean_queue_packets=[expr {$integral / $seconds}]"
    exit 0
}
$ns run
