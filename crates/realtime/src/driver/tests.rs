//! The loop between two sockets in the place of devices: no kernel network.
//!
//! A machine that is busy makes packets late. What is asserted of times is therefore the least of many, and what must
//! be so of most is tried three times.

use super::*;
use crate::headers::{set_word, word, ACK};
use crate::testing::{completed, echo_answer, super_packet, tried_thrice, SuperPacket};
use crate::virtio::{self, Segmentation};
use crate::{Level, Prefix, Side};
use etherparse::Ipv4Header;
use parshall_records::Tables;
use parshall_sim::Scenario;
use serde_json::{json, Value};
use std::os::unix::net::UnixDatagram;
use std::thread;
use std::time;

const MS: u64 = 1_000_000_000;

/// Two external flows over a link of 1 ms; RTT 10 ms, packets of 1500 bytes.
fn scenario(rate_bps: u64, queue: &Value, duration_ms: u64) -> Value {
    json!({
        "seed": 1, "duration_ps": duration_ms * MS, "ends_with": [], "warm_up_ps": 0,
        "links": [{
            "name": "link", "rate": {"constant": rate_bps}, "delay_ps": MS, "queue": queue, "loss": {"name": "none"}
        }],
        "flows": [{
            "name": "hosts", "count": 2, "external": true, "path": [0], "reverse_path": [],
            "rtt_ps": {"constant": 10 * MS}, "access_bps": null, "marker": {"name": "none"}, "start_ps": {"constant": 0},
            "packet_bytes": 1500, "header_bytes": 40, "processing_ps": 0, "dscp": 0, "tcp": null,
            "congestion_control": null, "workload": {"name": "bulk"}
        }],
        "probes": {
            "flow_samples": null, "flows_sampled": 0, "rounds_flows": 0, "link_samples": null, "transfers": false,
            "latency": false, "internals": false, "pcap": [], "qlog": false
        }
    })
}

fn drop_tail(packets: u64) -> Value {
    json!({"name": "drop_tail", "limit": {"packets": packets}})
}

fn begin(scenario: &Value) -> Simulation {
    let scenario: Scenario = serde_json::from_value(scenario.clone()).unwrap();
    Simulation::begin(&scenario, 0, Tables::none()).unwrap()
}

/// An emulator, the senders' host and the receivers' host.
fn rig(scenario: &Value) -> (Emulator, UnixDatagram, UnixDatagram) {
    let side = |network: [u8; 4]| {
        let (host, device) = UnixDatagram::pair().unwrap();
        host.set_read_timeout(Some(time::Duration::from_millis(300))).unwrap();
        (Side::new(device.into(), Prefix::new(network.into(), 16)), host)
    };
    let ((senders, sending), (receivers, receiving)) = (side([10, 1, 0, 0]), side([10, 2, 0, 0]));
    let pairs = vec![Pair { senders, receivers }];
    let emulator = Emulator::new(begin(scenario), pairs, vec![0; 2], Settings::default()).unwrap();
    (emulator, sending, receiving)
}

/// Runs until both hosts have done what they do; gives what they found.
fn emulate<S: Send, R: Send>(
    scenario: &Value,
    sending: impl FnOnce(&UnixDatagram) -> S + Send,
    receiving: impl FnOnce(&UnixDatagram) -> R + Send,
) -> (S, R, Measured) {
    let (emulator, sender, receiver) = rig(scenario);
    thread::scope(|scope| {
        let sending = scope.spawn(move || sending(&sender));
        let receiving = scope.spawn(move || receiving(&receiver));
        let are_done = || sending.is_finished() && receiving.is_finished();
        let watch = |_: &mut Simulation, _| {
            if are_done() {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        };
        let Ran { simulation, measured, stopped, .. } = emulator.run(&Monitor::default(), watch).unwrap();
        assert_eq!(stopped, Stopped::Told);
        simulation.finish(&Monitor::default()).unwrap();
        (sending.join().unwrap(), receiving.join().unwrap(), measured)
    })
}

/// All packets that come, super-packets too, and when.
fn received(host: &UnixDatagram) -> Vec<(time::Instant, Vec<u8>)> {
    let mut buffer = vec![0; 70_000];
    let mut packets = Vec::new();
    while let Ok(bytes) = host.recv(&mut buffer) {
        packets.push((time::Instant::now(), buffer[..bytes].to_vec()));
    }
    packets
}

fn datagram(payload: usize) -> SuperPacket {
    SuperPacket { payload, segment: payload as u16, tcp: false, ..SuperPacket::default() }
}

/// A packet that is no super-packet, from one of these.
fn single(packet: &SuperPacket) -> Vec<u8> {
    let mut bytes = super_packet(packet);
    let (header, _) = VirtioHeader::read(&bytes).unwrap();
    let header = VirtioHeader { partial: header.partial, ..VirtioHeader::default() };
    bytes[..virtio::BYTES].copy_from_slice(&header.write());
    bytes
}

fn back(packet: SuperPacket) -> SuperPacket {
    SuperPacket { ends: (packet.ends.1, packet.ends.0), ..packet }
}

/// A packet each 2 ms, and when each was sent.
fn send_slowly(host: &UnixDatagram, packet: SuperPacket) -> Vec<time::Instant> {
    let send = |id| {
        thread::sleep(time::Duration::from_millis(2));
        let sent = time::Instant::now();
        host.send(&single(&SuperPacket { id, ..packet })).unwrap();
        sent
    };
    (0..61).map(send).collect()
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// Milliseconds from the sending of each packet to its coming.
fn delays_ms(sent: &[time::Instant], packets: &[(time::Instant, Vec<u8>)]) -> Vec<f64> {
    let delay = |(at, bytes): &(time::Instant, Vec<u8>)| {
        let sent = sent[usize::from(word(&bytes[virtio::BYTES..], 4))];
        at.duration_since(sent).as_secs_f64() * 1e3
    };
    assert_eq!(packets.len(), sent.len());
    packets.iter().map(delay).collect()
}

#[test]
fn delays_are_those_of_the_scenario() {
    let slow = scenario(100_000_000, &drop_tail(100), 20_000);
    let least = |delays_ms: &[f64]| delays_ms.iter().copied().fold(f64::INFINITY, f64::min);
    let (sent, packets, measured) = emulate(&slow, |host| send_slowly(host, datagram(1222)), received);
    let forth = delays_ms(&sent, &packets);
    // Half of the RTT, and 10,000 bits. A timer of the kernel is late by some tens of microseconds.
    let late_ms = least(&forth) - 5.1;
    assert!((0.0..0.3).contains(&late_ms), "{late_ms} ms");
    // The emulator says how late packets are; who receives them sees what it takes to wake up, too.
    let said_ms = 1e3 * measured.lateness_p50_s.unwrap();
    assert!(said_ms < median(forth) - 5.1, "{said_ms} ms");
    let (packets, sent, _) = emulate(&slow, received, |host| send_slowly(host, back(datagram(1222))));
    let late_ms = least(&delays_ms(&sent, &packets)) - 5.0;
    assert!((0.0..0.3).contains(&late_ms), "{late_ms} ms");
}

#[test]
fn a_link_keeps_its_rate_and_its_queue_its_limit() {
    // 8 Mbit/s: 1000 bytes a millisecond.
    let narrow = scenario(8_000_000, &drop_tail(20), 20_000);
    let burst = SuperPacket { payload: 50 * 972, segment: 972, ..datagram(972) };
    tried_thrice(|| {
        let (_, packets, measured) =
            emulate(&narrow, |host| host.send(&super_packet(&burst)).unwrap(), received);
        let numbers: Vec<u16> =
            packets.iter().map(|(_, bytes)| word(bytes, virtio::BYTES + 4) - 77).collect();
        assert_eq!(numbers, (0..20).collect::<Vec<u16>>());
        let spacing_ms: Vec<f64> =
            packets.windows(2).map(|pair| (pair[1].0 - pair[0].0).as_secs_f64() * 1e3).collect();
        let spacing_ms = median(spacing_ms);
        assert!((0.9..1.1).contains(&spacing_ms), "{spacing_ms} ms");
        assert_eq!((measured.packets_in, measured.packets_out), (50, 20));
        for (_, bytes) in &packets {
            let (ip, _) = Ipv4Header::from_slice(&bytes[virtio::BYTES..]).unwrap();
            assert_eq!((ip.total_len, ip.header_checksum), (1000, ip.calc_header_checksum()));
        }
    });
}

#[test]
fn a_super_packet_goes_through_as_segments_and_comes_out_merged() {
    let wide = scenario(10_000_000_000, &drop_tail(1000), 20_000);
    let packet = SuperPacket { payload: 40 * 1448, segment: 1448, flags: ACK | 8, ..SuperPacket::default() };
    let sent = super_packet(&packet);
    let (_, packets, measured) = emulate(&wide, |host| host.send(&sent).unwrap(), received);
    assert_eq!((measured.packets_in, measured.packets_out), (40, 40));
    // 40 segments take 48 us: they are due at two ticks or at one.
    assert!(measured.writes <= 3, "{measured:?}");
    let payload: Vec<u8> =
        packets.iter().flat_map(|(_, bytes)| bytes[virtio::BYTES + 52..].to_vec()).collect();
    assert!(payload == sent[virtio::BYTES + 52..]);
    let (header, _) = VirtioHeader::read(&packets[0].1).unwrap();
    assert_eq!((header.segmentation, header.segment_bytes), (Segmentation::Tcp, 1448));
}

#[test]
fn packets_that_a_look_finds_together_enter_one_after_the_other_but_a_burst_at_once() {
    let (emulator, sender, _receiver) = rig(&scenario(1_000_000_000, &drop_tail(100), 30));
    let emulator = Emulator { journal: Some(Journal::default()), ..emulator };
    let journal = thread::scope(|scope| {
        scope.spawn(|| {
            thread::sleep(time::Duration::from_millis(5));
            let burst = SuperPacket { payload: 4 * 972, segment: 972, ..datagram(972) };
            let one = single(&datagram(500));
            for packet in [&one, &one, &super_packet(&burst), &one, &one] {
                sender.send(packet).unwrap();
            }
        });
        emulator.run(&Monitor::default(), |_, _| ControlFlow::Continue(())).unwrap().journal.unwrap()
    });
    let mut times = journal.times();
    assert_eq!(times.len(), 8);
    assert!(times[2..6].iter().all(|&at| at == times[2]), "{times:?}");
    assert!(times.is_sorted(), "{times:?}");
    times.dedup();
    assert_eq!(times.len(), 5, "{times:?}");
}

#[test]
fn what_the_queue_marks_arrives_marked() {
    let marks = json!({"name": "step", "limit": {"packets": 100}, "threshold": 0});
    let marking = scenario(100_000_000, &marks, 20_000);
    let capable = SuperPacket { ecn: 2, ..datagram(500) };
    let (_, packets, _) = emulate(&marking, |host| host.send(&single(&capable)).unwrap(), received);
    let (ip, _) = Ipv4Header::from_slice(&packets[0].1[virtio::BYTES..]).unwrap();
    assert_eq!((ip.ecn.value(), ip.header_checksum), (3, ip.calc_header_checksum()));
}

#[test]
fn a_packet_keeps_the_state_of_its_checksum() {
    let some = scenario(100_000_000, &drop_tail(100), 20_000);
    let partial = single(&datagram(500));
    let mut whole = partial.clone();
    let (header, packet) = VirtioHeader::read(&partial).unwrap();
    let stored = crate::pool::Stored { bytes: packet.to_vec(), partial: header.partial };
    whole[..virtio::BYTES].fill(0);
    whole[virtio::BYTES..].copy_from_slice(&completed(&stored));
    let send = |host: &UnixDatagram| [&partial, &whole].map(|packet| host.send(packet).unwrap());
    let (_, packets, _) = emulate(&some, send, received);
    assert_eq!(packets.into_iter().map(|(_, bytes)| bytes).collect::<Vec<_>>(), [partial, whole]);
}

#[test]
fn what_is_not_of_the_scenario_is_counted() {
    let some = scenario(100_000_000, &drop_tail(100), 20_000);
    let third_flow = SuperPacket { ends: ([10, 1, 0, 3], [10, 2, 0, 3]), ..datagram(100) };
    let mut cut_off = single(&datagram(100));
    set_word(&mut cut_off, virtio::BYTES + 2, 9000);
    let no_segments = super_packet(&SuperPacket { segment: 0, ..datagram(100) });
    let mut version_6 = single(&datagram(100));
    version_6[virtio::BYTES] = 0x60;
    let strange = [
        single(&third_flow),
        single(&back(datagram(100))),
        version_6,
        cut_off,
        no_segments,
        vec![1, 2, 3],
        single(&datagram(1473)),
        single(&datagram(1472)),
    ];
    let send = |host: &UnixDatagram| {
        for packet in &strange {
            host.send(packet).unwrap();
        }
    };
    let ((), packets, measured) = emulate(&some, send, received);
    assert_eq!((packets.len(), measured.packets_in), (2, 2));
    assert_eq!((measured.foreign, measured.malformed, measured.oversized), (3, 3, 1));
    assert_eq!(measured.verdict().level, Level::Invalid);
}

#[test]
fn a_host_that_reads_nothing_loses_packets_that_are_counted() {
    let wide = scenario(10_000_000_000, &drop_tail(10_000), 20_000);
    let burst = SuperPacket { payload: 60_000, segment: 20, ..datagram(20) };
    let wait = |_: &UnixDatagram| thread::sleep(time::Duration::from_millis(200));
    let (_, (), measured) = emulate(&wide, |host| host.send(&super_packet(&burst)).unwrap(), wait);
    assert!(measured.unwritten.full > 0, "{measured:?}");
    assert_eq!(measured.unwritten.full + measured.packets_out, 3000);
    assert_eq!(measured.verdict().level, Level::Invalid);
}

#[test]
fn the_end_comes_by_the_clock_or_by_a_word() {
    let short = scenario(100_000_000, &drop_tail(100), 50);
    let go_on = |_: &mut Simulation, _| ControlFlow::Continue(());
    tried_thrice(|| {
        let (emulator, _sender, _receiver) = rig(&short);
        let began = time::Instant::now();
        let Ran { simulation, measured, stopped, .. } = emulator.run(&Monitor::default(), go_on).unwrap();
        assert!(began.elapsed() >= time::Duration::from_millis(50));
        assert_eq!((stopped, simulation.end()), (Stopped::Ended, Instant::from_ps(50 * MS)));
        assert!(measured.wall_s >= 0.05, "{measured:?}");
        assert!((10..200).contains(&measured.ticks), "it sleeps while nothing comes: {measured:?}");
    });

    let (emulator, _sender, _receiver) = rig(&short);
    let monitor = Monitor::default();
    monitor.cancel.store(true, Ordering::Relaxed);
    let Ran { simulation, stopped, .. } = emulator.run(&monitor, go_on).unwrap();
    assert_eq!(stopped, Stopped::Cancelled);
    assert!(matches!(simulation.finish(&monitor), Err(SimError::Interrupted { .. })));

    let done = |simulation: &mut Simulation, now| {
        simulation.stop_at(now);
        ControlFlow::Continue(())
    };
    tried_thrice(|| {
        let (emulator, _sender, _receiver) = rig(&short);
        let Ran { measured, stopped, .. } = emulator.run(&Monitor::default(), done).unwrap();
        assert_eq!(stopped, Stopped::Ended);
        assert!(measured.wall_s < 0.04, "{measured:?}");
    });
}

#[test]
fn a_host_that_lets_packets_wait_is_noticed() {
    let (emulator, senders, receivers) = rig(&scenario(100_000_000, &drop_tail(100), 600));
    let emulator = Emulator { echo: Some(Echo::new(2)), ..emulator };
    let host = |host: UnixDatagram, waits: time::Duration| {
        let mut buffer = vec![0; 2000];
        while let Ok(bytes) = host.recv(&mut buffer) {
            thread::sleep(waits);
            if host.send(&echo_answer(&buffer[..bytes])).is_err() {
                return; // the emulation has ended
            }
        }
    };
    let measured = thread::scope(|scope| {
        scope.spawn(move || host(senders, time::Duration::ZERO));
        scope.spawn(move || host(receivers, time::Duration::from_millis(6)));
        emulator.run(&Monitor::default(), |_, _| ControlFlow::Continue(())).unwrap().measured
    });
    let answer_s = measured.answer_p99_s.unwrap();
    assert!(answer_s > 5.9e-3, "{answer_s}"); // the histogram's bins are that wide
    assert_eq!(
        (measured.packets_in, measured.foreign, measured.malformed),
        (0, 0, 0),
        "no packets of the scenario"
    );
    assert!(measured.verdict().findings.iter().any(|found| found.reason.contains("hosts' answers")));
}

#[test]
fn a_tick_has_limits() {
    let (emulator, ..) = rig(&scenario(100_000_000, &drop_tail(100), 50));
    let Emulator { simulation, pairs, .. } = emulator;
    let settings = Settings { tick: Duration::ZERO, ..Settings::default() };
    let problem = Emulator::new(simulation, pairs, vec![0; 2], settings).err().unwrap().to_string();
    assert!(problem.starts_with("tick: found ") && problem.contains("write 1 us to 10 ms"), "{problem}");
}
