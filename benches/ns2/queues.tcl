# Poisson datagrams through a queue that serves flows apart, in ns-2.35, for the cross-checks: tests/crosscheck/ns2_values.json,
# `queues_ns2`.
#
#   ns queues.tcl key value ...     (keys and defaults: the array below; of each flow its rate in bit/s and bytes of a packet)
#
# `queue` is `drr` (deficit round robin: `limit` packets of 1500 bytes for all flows together, a quantum of 1500 bytes) or `priority`
# (dsRED with the scheduler PRI: a flow is a class, the first goes first, each has a tail-drop queue of `limit` packets). Hosts are on
# links of their own that are never contended.
#
# Prints a line for each flow, counted since `warm`: the bytes/s that left the bottleneck, the packets dropped there of those that
# arrived, and the mean wait in its queue in seconds.

source [file join [file dirname [info script]] common.tcl]

array set o {
    queue drr     rate 20e6     limit 100     flows {30e6 1500 16e6 300 2e6 500}
    dur 120     warm 10     seed 1
}
read_options

remove-all-packet-headers
add-packet-header Flags IP RTP
$defaultRNG seed $o(seed)
Agent/UDP set packetSize_ 65000

set ns [new Simulator]
set left [$ns node]
set right [$ns node]
set type [expr {$o(queue) eq "drr" ? "DRR" : "dsRED/edge"}]
$ns simplex-link $left $right $o(rate) 1ms $type
$ns simplex-link $right $left 100e9 1ms DropTail
set queue [[$ns link $left $right] queue]
if {$o(queue) eq "drr"} {
    $queue set buckets_ 100
    $queue set blimit_ [expr {$o(limit) * 1500}]
    $queue set quantum_ 1500
    $queue set mask_ 0
} else {
    $queue set limit_ 100000
    $queue meanPktSize 1500
    $queue set numQueues_ [expr {[llength $o(flows)] / 2}]
    $queue setNumPrec 1
    $queue setSchedularMode PRI
}

set class 0
foreach {rate bytes} $o(flows) {
    set source [$ns node]
    set sink [$ns node]
    $ns duplex-link $source $left 100e9 1ms DropTail
    $ns duplex-link $right $sink 100e9 1ms DropTail
    $ns queue-limit $source $left 100000000
    $ns queue-limit $right $sink 100000000
    set udp [new Agent/UDP]
    $udp set fid_ $class
    $ns attach-agent $source $udp
    set null [new Agent/Null]
    $ns attach-agent $sink $null
    $ns connect $udp $null
    # A burst of one packet, and a pause with the mean of Poisson arrivals.
    set traffic [new Application/Traffic/Exponential]
    $traffic set packetSize_ $bytes
    $traffic set burst_time_ 0
    $traffic set rate_ 1e15
    $traffic set idle_time_ [expr {$bytes * 8 / $rate}]
    $traffic attach-agent $udp
    $ns at 0 "$traffic start"
    if {$o(queue) ne "drr"} {
        set code [expr {10 + $class}]
        $queue addPolicyEntry [$source id] [$sink id] Null $code
        $queue addPolicerEntry Null $code
        $queue addPHBEntry $code $class 0
        $queue setMREDMode DROP $class
        $queue configQ $class 0 $o(limit) 1000 0.1 ;# tail drop uses the first number of the three only
    }
    incr class
}

# Of the queue's trace: time, event, size and flow of each arrival (+), departure (-) and drop (d).
set counts {
    $1 == "+" && $2 < warm { came[$12] = $2; next }
    $1 == "+" { arrived[$8]++; came[$12] = $2 }
    $1 == "-" && $2 >= warm { bytes[$8] += $6; waited[$8] += $2 - came[$12]; left[$8]++ }
    $1 == "-" { delete came[$12] }
    $1 == "d" && $2 >= warm { dropped[$8]++ }
    $1 == "d" { delete came[$12] }
    END { for (f = 0; f < flows; f++)
        printf "%.6g %.6g %.6g\n", bytes[f] / (dur - warm), dropped[f] / arrived[f], waited[f] / left[f] }
}
set given [list -v warm=$o(warm) -v dur=$o(dur) -v flows=$class]
set trace [open "|awk $given {$counts} >@stdout" w]
$ns trace-queue $left $right $trace
$ns at $o(dur) { $ns flush-trace; close $trace; exit 0 }
$ns run
