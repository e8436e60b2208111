# A dumbbell of long-lived TCP flows in ns-2.35, for comparison with Parshall.
#
#   ns dumbbell.tcl key value ...     (keys and defaults: the array below)
#
# n sources, each behind its own access link, share one DropTail bottleneck. The propagation delay of the way there
# and back adds up to the flow's RTT, 1 ms of it (one way) on the bottleneck; ACKs return over links of the same
# delays that are never contended. `sinks own`: each sink is a node behind a link of its own, the usual dumbbell;
# `sinks shared`: all sit on the node after the bottleneck, which saves two hops a packet and is the lightest
# network that ns-2 can be given. Packets count `pkt` bytes with headers.
#
# `overhead`: each sending waits for a uniform time of up to so many seconds in its host.
#
# `variant Tahoe` is ns-2's Agent/TCP itself. `tick`: the clock of round-trip times, in whole numbers of which ns-2
# computes the retransmission timeout.
#
# `headers trimmed` keeps the fewest headers that leave the results as they are with all (`trim_headers`).
#
# Prints one line of `key=value`: what passed the bottleneck after `warm`, retransmission timeouts since then, and the
# CPU and wall seconds of the event loop alone (from its first event to its last; building the network is not in them). With `monitor 0` the
# queue is not observed, which is how it is timed: the same seed forwards the same packets either way.

source [file join [file dirname [info script]] common.tcl]

array set o {
    n 100         rate 48e6     buffer 100     pkt 1000     access 100e6
    rtt 0.1       step 0.002
    dur 100       warm 0        spread 5.0     variant Newreno
    seed 1        monitor 1     headers trimmed  sinks own
    overhead 0    tick 0.01
}
read_options

if {$o(headers) == "trimmed"} { trim_headers }

proc cpu_seconds {} {
    # Fields 14 and 15 of stat count ticks of 10 ms; schedstat, where the kernel keeps it, nanoseconds.
    if {![catch {open /proc/self/schedstat} file]} {
        set nanoseconds [lindex [read $file] 0]
        close $file
        if {$nanoseconds > 0} { return [expr {$nanoseconds / 1e9}] }
    }
    set file [open /proc/self/stat]
    set fields [read $file]
    close $file
    return [expr {([lindex $fields 13] + [lindex $fields 14]) / 100.0}]
}

set ns [new Simulator]
$ns rtproto Manual

set_tcp $o(pkt) $o(overhead) $o(seed)
Agent/TCP set tcpTick_ $o(tick)
# SACK blocks ride in the 40 bytes of an ACK, as the other simulators count them.
Agent/TCPSink set packetSize_ 40

proc edge {host router rate delay} {
    # Only the direction of a host's own link towards the router is slower than 100 Gbit/s.
    attach $host $router $rate $delay
    fast $router $host
}

bottleneck $o(rate) 1ms $o(buffer)
fast $right $left

set random [new RNG]
$random seed $o(seed)

for {set i 0} {$i < $o(n)} {incr i} {
    set delay [expr {($o(rtt) + $o(step) * $i) / 2 - 0.001}]
    set source [$ns node]
    set destination $right
    if {$o(sinks) == "own"} {
        set delay [expr {$delay / 2}]
        set destination [$ns node]
        edge $destination $right 100e9 $delay
    }
    edge $source $left $o(access) $delay

    set tcp [new Agent/TCP[expr {$o(variant) == "Tahoe" ? "" : "/$o(variant)"}]]
    lappend agents $tcp
    set sink [new Agent/TCPSink[expr {[string match Sack* $o(variant)] ? "/Sack1" : ""}]]
    $ns attach-agent $source $tcp
    $ns attach-agent $destination $sink
    $ns connect $tcp $sink
    set ftp [new Application/FTP]
    $ftp attach-agent $tcp
    $ns at [$random uniform 0 $o(spread)] "$ftp start"
}

if {$o(monitor)} {
    set monitor [$ns monitor-queue $left $right ""]
    set integral [$monitor get-pkts-integrator]
}

proc mark {} {
    # Totals so far: packets forwarded, packets dropped, integral of the queue length.
    global o monitor integral
    if {!$o(monitor)} { return {0 0 0} }
    return [list [$monitor set pdepartures_] [$monitor set pdrops_] [$integral set sum_]]
}

proc timeouts {} {
    global agents
    set total 0
    foreach tcp $agents { incr total [$tcp set nrexmit_] }
    return $total
}

proc begin {} {
    global wall cpu
    set wall [clock clicks -milliseconds]
    set cpu [cpu_seconds]
}

proc finish {} {
    global o wall cpu at_warm timeouts_at_warm
    set cpu [expr {[cpu_seconds] - $cpu}]
    set wall [expr {([clock clicks -milliseconds] - $wall) / 1e3}]
    foreach value [mark] before $at_warm name {forwarded drops integral} { set $name [expr {$value - $before}] }
    set seconds [expr {$o(dur) - $o(warm)}]
    puts "forwarded=$forwarded drops=$drops mean_queue=[expr {$integral / double($seconds)}]\
        utilisation=[expr {$forwarded * 8.0 * $o(pkt) / ($seconds * $o(rate))}]\
        timeouts=[expr {[timeouts] - $timeouts_at_warm}] cpu_s=$cpu wall_s=$wall"
    exit 0
}

$ns at 0.0 begin
$ns at $o(warm) {set at_warm [mark]; set timeouts_at_warm [timeouts]}
$ns at $o(dur) finish
$ns run
