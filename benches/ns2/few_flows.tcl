# A few long-lived NewReno flows in ns-2.35, for the cross-checks: tests/crosscheck/ns2_values.json, `few_flows`.
#
#   ns few_flows.tcl key value ...     (keys and defaults: the array below; `rtts` in ms)
#
# One DropTail bottleneck with a delay of 10 ms one way; hosts are on links of their own that are never contended.
# `overhead`: each sending waits for a uniform time of up to so many seconds in its host.
#
# Prints the loss rate of the bottleneck, and the packets of each flow that were acknowledged, both since `warm`.

source [file join [file dirname [info script]] common.tcl]

array set o {
    rtts 40,50,60,70     rate 48e6     buffer 220     overhead 0
    dur 60     warm 10     spread 2.0     seed 1
}
read_options

trim_headers
set_tcp 1500 $o(overhead) $o(seed)

set ns [new Simulator]
$ns rtproto Manual
bottleneck $o(rate) 10ms $o(buffer)
fast $right $left

set random [new RNG]
$random seed $o(seed)
set flows {}
foreach rtt [split $o(rtts) ,] {
    set delay [expr {($rtt / 2e3 - 0.01) / 2}]
    set tcp [new Agent/TCP/Newreno]
    set sink [new Agent/TCPSink]
    $ns attach-agent [host $left 100e9 $delay] $tcp
    $ns attach-agent [host $right 100e9 $delay] $sink
    $ns connect $tcp $sink
    set ftp [new Application/FTP]
    $ftp attach-agent $tcp
    $ns at [$random uniform 0 $o(spread)] "$ftp start"
    lappend flows $tcp
}

set monitor [$ns monitor-queue $left $right ""]
proc mark {} {
    global monitor flows
    set values [list [$monitor set pdepartures_] [$monitor set pdrops_]]
    foreach tcp $flows { lappend values [$tcp set ack_] }
    return $values
}

$ns at $o(warm) {set at_warm [mark]}
$ns at $o(dur) {
    set counts {}
    foreach value [mark] before $at_warm { lappend counts [expr {$value - $before}] }
    lassign $counts forwarded drops
    puts "[expr {$drops / double($forwarded + $drops)}] [lrange $counts 2 end]"
    exit 0
}
$ns run
