// A dumbbell of long-lived TCP flows in ns-3, for comparison with Parshall.
//
//   g++ -O2 -std=c++20 dumbbell.cc -lns3-internet ...    (benches/run.py does it)
//   ./dumbbell --n=100 --rate=48e6 ...                   (--help lists the options)
//
// The same network as benches/ns2/dumbbell.tcl: n sources, each behind its own access link, one DropTail
// bottleneck, n sinks, each behind a link of its own. NewReno with or without SACK, an ACK for every packet, no
// timestamps. No queue discipline sits above the devices, so the buffer is the bottleneck device's queue; routing
// is static, with one entry a host in the two routers. Nothing is logged; what is counted costs nothing but at drops.
//
// Prints one line of `key=value`, as dumbbell.tcl does: what passed the bottleneck after `warm`, and the CPU and
// wall seconds of Simulator::Run alone.

#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/traffic-control-module.h"

#include <chrono>
#include <cstdint>
#include <ctime>
#include <iostream>

using namespace ns3;

namespace
{

struct Options
{
    uint32_t flows{100};
    double rate{48e6};
    uint32_t buffer{100};
    uint32_t packet{1000};
    double access{100e6};
    double rtt{0.1};
    double step{0.002};
    double duration{100};
    double warm{0};
    double spread{5};
    bool sack{true};
    uint32_t seed{1};
};

double
CpuSeconds()
{
    timespec now{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

// Two devices joined by a link whose directions run at `forward` and `backward` bit/s.
NetDeviceContainer
Join(Ptr<Node> from, Ptr<Node> to, double forward, double backward, Time delay)
{
    PointToPointHelper link;
    link.SetChannelAttribute("Delay", TimeValue(delay));
    link.SetQueue("ns3::DropTailQueue", "MaxSize", StringValue("100000000p"));
    NetDeviceContainer devices = link.Install(from, to);
    devices.Get(0)->SetAttribute("DataRate", DataRateValue(DataRate(static_cast<uint64_t>(forward))));
    devices.Get(1)->SetAttribute("DataRate", DataRateValue(DataRate(static_cast<uint64_t>(backward))));
    return devices;
}

// Addresses for a host (device 0) and its router (device 1), and the host's default route. Returns its address.
Ipv4Address
Attach(Ptr<Node> host, NetDeviceContainer devices, Ipv4AddressHelper& addresses)
{
    const Ipv4InterfaceContainer interfaces = addresses.Assign(devices);
    addresses.NewNetwork();
    TrafficControlHelper().Uninstall(devices);
    Ipv4StaticRoutingHelper routing;
    routing.GetStaticRouting(host->GetObject<Ipv4>())
        ->SetDefaultRoute(interfaces.GetAddress(1), interfaces.Get(0).second);
    return interfaces.GetAddress(0);
}

void
Configure(const Options& o)
{
    Config::SetDefault("ns3::TcpL4Protocol::SocketType", TypeIdValue(TcpNewReno::GetTypeId()));
    Config::SetDefault("ns3::TcpSocketBase::Sack", BooleanValue(o.sack));
    Config::SetDefault("ns3::TcpSocketBase::Timestamp", BooleanValue(false));
    Config::SetDefault("ns3::TcpSocketBase::MinRto", TimeValue(Seconds(0.2)));
    Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(1));
    Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(2));
    // The device adds 2 bytes of PPP to IP's 20 and TCP's 20.
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(o.packet - 42));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(1 << 21));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(1 << 21));
}

} // namespace

int
main(int argc, char* argv[])
{
    Options o;
    CommandLine arguments(__FILE__);
    arguments.AddValue("n", "flows", o.flows);
    arguments.AddValue("rate", "of the bottleneck, bit/s", o.rate);
    arguments.AddValue("buffer", "of the bottleneck, packets", o.buffer);
    arguments.AddValue("pkt", "bytes of a packet with its headers", o.packet);
    arguments.AddValue("access", "of each source, bit/s", o.access);
    arguments.AddValue("rtt", "of the first flow, s", o.rtt);
    arguments.AddValue("step", "between the RTTs of neighbours, s", o.step);
    arguments.AddValue("dur", "simulated seconds", o.duration);
    arguments.AddValue("warm", "seconds left out of the counts", o.warm);
    arguments.AddValue("spread", "flows start uniformly in these seconds", o.spread);
    arguments.AddValue("sack", "selective acknowledgements", o.sack);
    arguments.AddValue("seed", "of the start times", o.seed);
    arguments.Parse(argc, argv);
    RngSeedManager::SetSeed(o.seed);
    Configure(o);

    NodeContainer routers(2);
    NodeContainer sources(o.flows);
    NodeContainer sinks(o.flows);
    InternetStackHelper internet;
    Ipv4StaticRoutingHelper routing;
    internet.SetRoutingHelper(routing);
    internet.SetIpv6StackInstall(false);
    internet.Install(routers);
    internet.Install(sources);
    internet.Install(sinks);

    Ipv4AddressHelper left("10.0.0.0", "255.255.255.252");
    Ipv4AddressHelper right("172.16.0.0", "255.255.255.252");
    Ipv4AddressHelper middle("192.168.0.0", "255.255.255.252");
    NetDeviceContainer bottleneck = Join(routers.Get(0), routers.Get(1), o.rate, 100e9, MilliSeconds(1));
    Ipv4InterfaceContainer ends = middle.Assign(bottleneck);
    TrafficControlHelper().Uninstall(bottleneck);
    Ptr<Ipv4StaticRouting> forward = routing.GetStaticRouting(routers.Get(0)->GetObject<Ipv4>());
    Ptr<Ipv4StaticRouting> backward = routing.GetStaticRouting(routers.Get(1)->GetObject<Ipv4>());
    forward->SetDefaultRoute(ends.GetAddress(1), ends.Get(0).second);
    backward->SetDefaultRoute(ends.GetAddress(0), ends.Get(1).second);

    Ptr<UniformRandomVariable> start = CreateObject<UniformRandomVariable>();
    for (uint32_t i = 0; i < o.flows; ++i)
    {
        const Time delay = Seconds((o.rtt + o.step * i) / 4 - 0.0005);
        NetDeviceContainer near = Join(sources.Get(i), routers.Get(0), o.access, 100e9, delay);
        NetDeviceContainer far = Join(sinks.Get(i), routers.Get(1), 100e9, 100e9, delay);
        Attach(sources.Get(i), near, left);
        const Ipv4Address address = Attach(sinks.Get(i), far, right);

        PacketSinkHelper sink("ns3::TcpSocketFactory", InetSocketAddress(Ipv4Address::GetAny(), 5000));
        sink.Install(sinks.Get(i)).Start(Seconds(0));
        BulkSendHelper bulk("ns3::TcpSocketFactory", InetSocketAddress(address, 5000));
        bulk.SetAttribute("SendSize", UintegerValue(o.packet - 42));
        bulk.Install(sources.Get(i)).Start(Seconds(start->GetValue(0, o.spread)));
    }
    Ptr<Queue<Packet>> queue = DynamicCast<PointToPointNetDevice>(bottleneck.Get(0))->GetQueue();
    queue->SetMaxSize(QueueSize(QueueSizeUnit::PACKETS, o.buffer - 1)); // the device holds the one in service
    // A full device queue stops the layer above, which has no queue of its own and drops the packet.
    uint64_t drops = 0;
    routers.Get(0)->GetObject<TrafficControlLayer>()->TraceConnectWithoutContext(
        "TcDrop", Callback<void, Ptr<const Packet>>([&drops](Ptr<const Packet>) { ++drops; }));
    uint64_t forwardedBefore = 0;
    uint64_t dropsBefore = 0;
    auto forwarded = [&] { return queue->GetTotalReceivedPackets() - queue->GetNPackets(); };
    Simulator::Schedule(Seconds(o.warm), [&] {
        forwardedBefore = forwarded();
        dropsBefore = drops;
    });

    Simulator::Stop(Seconds(o.duration));
    const auto wall = std::chrono::steady_clock::now();
    const double cpu = CpuSeconds();
    Simulator::Run();
    const double cpuSpent = CpuSeconds() - cpu;
    const std::chrono::duration<double> wallSpent = std::chrono::steady_clock::now() - wall;

    const double through = static_cast<double>(forwarded() - forwardedBefore);
    std::cout << "forwarded=" << forwarded() - forwardedBefore
              << " drops=" << drops - dropsBefore
              << " utilisation=" << through * 8 * o.packet / ((o.duration - o.warm) * o.rate)
              << " cpu_s=" << cpuSpent << " wall_s=" << wallSpent.count() << std::endl;
    Simulator::Destroy();
    return 0;
}
