# Closed-loop ON/OFF sources in ns-2.35, for the cross-checks: tests/crosscheck/ns2_values.json, `on_off`.
#
#   ns on_off.tcl key value ...     (keys and defaults: the array below)
#
# n sources send Pareto sizes of mean 1000 packets with tail index `alpha`, one after the other, over one DropTail
# bottleneck of 1 Gbit/s; before each, a source is silent for an exponential time of mean 0.2 s. Each transfer is a
# connection of its own (SYN and slow start; `cached 1`: it starts from the source's last ssthresh). Minimum RTT 10 ms.
#
# With equal RTTs and packets, arrivals keep the rhythm of departures for ever, and who is dropped depends on the
# rhythm. `perturbed 1` adds 200 datagrams of 40 bytes a second at random times, 64 kbit/s, which break it. So do hosts
# that take a random time: with `overhead`, seconds, each sending waits for a uniform time of up to that.
#
# Prints one line of totals since `warm` (throughput: TCP packets, each as 1500 bytes), and one line a size bin: lower
# end, transfers, mean rate in Mbit/s.

source [file join [file dirname [info script]] common.tcl]

array set o {
    n 45       buf 100     alpha 1.5     cached 0     perturbed 0
    dur 100    warm 20     seed 1        variant Reno  overhead 0
}
read_options

trim_headers
set_tcp 1500 $o(overhead) $o(seed)

set ns [new Simulator]
$ns rtproto Manual
bottleneck 1e9 1ms $o(buf)

set random [new RNG]
$random seed $o(seed)
set size_law [new RandomVariable/Pareto]
$size_law set avg_ 1000
$size_law set shape_ $o(alpha)
$size_law use-rng $random
set off_law [new RandomVariable/Exponential]
$off_law set avg_ 0.2
$off_law use-rng $random

proc begin {i} {
    global ns o size_law tcp sink size began ssthresh
    set size($i) [expr {int(ceil([$size_law value]))}]
    set began($i) [$ns now]
    $tcp($i) reset
    $sink($i) reset
    if {$o(cached) && $ssthresh($i) > 0} { $tcp($i) set ssthresh_ $ssthresh($i) }
    $tcp($i) advanceby $size($i)
}

proc finished {i} {
    global ns o off_law tcp size began ssthresh count rates packets completed
    set ssthresh($i) [$tcp($i) set ssthresh_]
    set seconds [expr {[$ns now] - $began($i)}]
    if {[$ns now] > $o(warm)} {
        set bin [expr {floor(4 * log10($size($i)))}]
        if {![info exists count($bin)]} { array set count [list $bin 0]; array set rates [list $bin 0.0] }
        incr count($bin)
        set rates($bin) [expr {$rates($bin) + $size($i) * 0.012 / $seconds}]
        incr completed
        incr packets $size($i)
    }
    $ns at [expr {[$ns now] + [$off_law value]}] "begin $i"
}

for {set i 0} {$i < $o(n)} {incr i} {
    set tcp($i) [new Agent/TCP/$o(variant)]
    set sink($i) [new Agent/TCPSink]
    $ns attach-agent [host $left 1e9 2ms] $tcp($i)
    $ns attach-agent [host $right 1e9 2ms] $sink($i)
    $ns connect $tcp($i) $sink($i)
    $tcp($i) proc done {} "finished $i"
    set ssthresh($i) 0
    $ns at [$off_law value] "begin $i"
}

if {$o(perturbed)} {
    set udp [new Agent/UDP]
    set null [new Agent/Null]
    $ns attach-agent [host $left 100e9 2ms] $udp
    $ns attach-agent [host $right 100e9 2ms] $null
    $ns connect $udp $null
    set gap_law [new RandomVariable/Exponential]
    $gap_law set avg_ 0.005
    $gap_law use-rng $random
    proc perturb {} {
        global ns udp gap_law
        $udp send 40
        $ns at [expr {[$ns now] + [$gap_law value]}] perturb
    }
    $ns at 1 perturb
}

set completed 0
set packets 0
set monitor [$ns monitor-queue $left $right ""]
set integral [$monitor get-pkts-integrator]
proc mark {} {
    global monitor integral
    return [list [$monitor set pdepartures_] [$monitor set pdrops_] [$integral set sum_]]
}

$ns at $o(warm) {set at_warm [mark]}
$ns at $o(dur) {
    foreach value [mark] before $at_warm name {forwarded drops integral} { set $name [expr {$value - $before}] }
    puts "loss=[expr {$drops / double($forwarded + $drops)}] queueing_delay_ms=[expr {1e3 * $integral / $forwarded}]\
        throughput_Mbps=[expr {($forwarded / double($o(dur) - $o(warm)) - 200 * $o(perturbed)) * 0.012}] completed=$completed\
        mean_size_packets=[expr {$packets / double($completed)}]"
    foreach bin [lsort -real [array names count]] {
        puts "bin lo=[format %.1f [expr {pow(10, $bin / 4)}]] n=$count($bin)\
            mean_rate_Mbps=[expr {$rates($bin) / $count($bin)}]"
    }
    exit 0
}
$ns run
