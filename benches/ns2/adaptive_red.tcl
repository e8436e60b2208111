# Long-lived NewReno flows through Adaptive RED in ns-2.35 (Queue/RED with adaptive_ 1), for the cross-checks:
# tests/crosscheck/ns2_values.json, `adaptive_red`.
#
#   ns adaptive_red.tcl key value ...     (keys and defaults: the array below; `target` in s, `wait` is RED's wait_)
#
# n sources, each behind a link of its own that is never contended, share the bottleneck; RTTs are rtt + i step, 1 ms of them (one way) on
# the bottleneck. Thresholds and weight are those that ns-2 chooses itself (thresh_ 0, maxthresh_ 0, q_weight_ 0), for packets of `pkt`
# bytes.
#
# `overhead`: each sending waits for a uniform time of up to so many seconds in its host.
#
# Prints utilisation, loss = drops/arrivals, the mean queue without the packet in service, and what RED's max_p is, all since `warm`
# (max_p the mean of one sample a second).

source [file join [file dirname [info script]] common.tcl]

array set o {
    n 40     rate 20e6     buffer 200     pkt 1500     target 0.02
    rtt 0.06     step 0.002     spread 1.0     overhead 0.0006
    dur 140     warm 40     seed 1     wait 1     bottom 0.01
}
read_options

trim_headers
set_tcp $o(pkt) $o(overhead) $o(seed)
Agent/TCPSink set packetSize_ 40
Queue/RED set adaptive_ 1
Queue/RED set gentle_ true
Queue/RED set thresh_ 0
Queue/RED set maxthresh_ 0
Queue/RED set q_weight_ 0
Queue/RED set targetdelay_ $o(target)
Queue/RED set bottom_ $o(bottom)
Queue/RED set meanPktSize_ $o(pkt)
Queue/RED set mean_pktsize_ $o(pkt)
Queue/RED set bytes_ false
Queue/RED set queue_in_bytes_ false
Queue/RED set wait_ $o(wait)

set ns [new Simulator]
$ns rtproto Manual
set left [$ns node]
set right [$ns node]
$ns simplex-link $left $right $o(rate) 1ms RED
$ns simplex-link $right $left 100e9 1ms DropTail
$ns queue-limit $left $right $o(buffer)
$ns queue-limit $right $left 100000000
[$left get-module Manual] add-route-to-adj-node -default $right
[$right get-module Manual] add-route-to-adj-node -default $left
set queue [[$ns link $left $right] queue]

set random [new RNG]
$random seed $o(seed)
for {set i 0} {$i < $o(n)} {incr i} {
    set delay [expr {(($o(rtt) + $o(step) * $i) / 2 - 0.001) / 2}]
    set tcp [new Agent/TCP/Newreno]
    set sink [new Agent/TCPSink]
    $ns attach-agent [host $left 100e9 $delay] $tcp
    $ns attach-agent [host $right 100e9 $delay] $sink
    $ns connect $tcp $sink
    set ftp [new Application/FTP]
    $ftp attach-agent $tcp
    $ns at [$random uniform 0 $o(spread)] "$ftp start"
}

set monitor [$ns monitor-queue $left $right ""]
set integral [$monitor get-pkts-integrator]
proc mark {} {
    global monitor integral
    return [list [$monitor set pdepartures_] [$monitor set pdrops_] [$integral set sum_]]
}
set sampled {}
proc sample {} {
    global ns queue sampled
    lappend sampled [$queue set cur_max_p_]
    $ns at [expr {[$ns now] + 1}] sample
}

$ns at $o(warm) {set at_warm [mark]; sample}
$ns at $o(dur) {
    foreach value [mark] before $at_warm name {forwarded drops integral} { set $name [expr {$value - $before}] }
    set seconds [expr {double($o(dur) - $o(warm))}]
    set max_p [expr ([join $sampled +]) / double([llength $sampled])]
    puts "utilisation=[expr {$forwarded * 8.0 * $o(pkt) / ($seconds * $o(rate))}]\
        loss=[expr {$drops / double($forwarded + $drops)}] mean_queue_packets=[expr {$integral / $seconds}] max_p=$max_p\
        thresholds=[$queue set thresh_],[$queue set maxthresh_]"
    exit 0
}
$ns run
