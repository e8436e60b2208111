# What the ns-2.35 scripts of this folder share: options, headers, TCP's settings, and nodes with routes by hand.

# Overwrites values of the array `o` by the keys and values of the command line.
proc read_options {} {
    global o argv
    foreach {key value} $argv {
        if {![info exists o($key)]} { puts stderr "unknown key '$key'; known: [lsort [array names o]]"; exit 2 }
        set o($key) $value
    }
}

# Keeps the headers Flags, IP and TCP, the fewest that leave the results as they are with all (without Flags, its bits
# alias another header's and most packets are lost).
proc trim_headers {} {
    remove-all-packet-headers
    add-packet-header Flags IP TCP
}

# No window limit, and packets of so many bytes with headers.
proc set_tcp {bytes overhead seed} {
    global defaultRNG
    Agent/TCP set window_ 1000000
    Agent/TCP set minrto_ 0.2
    Agent/TCP set packetSize_ [expr {$bytes - 40}]
    Agent/TCP set overhead_ $overhead
    $defaultRNG seed $seed
}

# The nodes `left` and `right` at the ends of a DropTail bottleneck; the way back has no limit to its queue.
proc bottleneck {rate delay buffer} {
    global ns left right
    set left [$ns node]
    set right [$ns node]
    $ns duplex-link $left $right $rate $delay DropTail
    $ns queue-limit $left $right $buffer
    $ns queue-limit $right $left 100000000
    [$left get-module Manual] add-route-to-adj-node -default $right
    [$right get-module Manual] add-route-to-adj-node -default $left
}

# Puts a host behind a link of its own to a router, without a limit to its queues.
proc attach {host router rate delay} {
    global ns
    $ns duplex-link $host $router $rate $delay DropTail
    $ns queue-limit $host $router 100000000
    $ns queue-limit $router $host 100000000
    [$host get-module Manual] add-route-to-adj-node -default $router
    [$router get-module Manual] add-route-to-adj-node $host
}

# A new host behind such a link.
proc host {router rate delay} {
    global ns
    set host [$ns node]
    attach $host $router $rate $delay
    return $host
}

# A link's other direction is so fast that it is never contended.
proc fast {from to} {
    global ns
    [[$ns link $from $to] link] set bandwidth_ 100e9
}
