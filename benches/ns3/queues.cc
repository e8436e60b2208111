// Long-lived TCP flows, or one of datagrams, through a queue discipline of ns-3, for comparison with Parshall.
//
//   g++ -O2 -std=c++17 queues.cc -o queues -lns3-applications -lns3-internet -lns3-point-to-point ...
//       (and -lns3-traffic-control -lns3-network -lns3-core)
//   ./queues --disc=ns3::FqPieQueueDisc --n=4 --rate=20e6     (--help lists the options)
//
// n sources behind access links of 1 Gbit/s, a bottleneck whose router has the discipline above a device that holds one packet,
// n sinks. NewReno with SACK, an ACK for every packet, no timestamps; with --cbr one flow of datagrams instead. Attributes of the
// discipline are given as ns-3 takes them: --ns3::FqPieQueueDisc::UseEcn=true.
//
// Prints one line of `key=value`: what left the discipline, was dropped and marked there after `warm`, and the mean time in it.

#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/traffic-control-module.h"

#include <iostream>
#include <string>

using namespace ns3;

int
main(int argc, char* argv[])
{
    std::string disc = "ns3::FqPieQueueDisc";
    uint32_t flows = 4;
    double rate = 20e6;
    double rtt = 0.04;
    double step = 0;
    double duration = 60;
    double warm = 10;
    double cbr = 0;
    bool ecn = false;
    uint32_t seed = 1;
    CommandLine arguments(__FILE__);
    arguments.AddValue("disc", "queue discipline", disc);
    arguments.AddValue("n", "flows", flows);
    arguments.AddValue("rate", "of the bottleneck, bit/s", rate);
    arguments.AddValue("rtt", "of the first flow, s", rtt);
    arguments.AddValue("step", "between the RTTs of neighbours, s", step);
    arguments.AddValue("dur", "simulated seconds", duration);
    arguments.AddValue("warm", "seconds left out of the counts", warm);
    arguments.AddValue("cbr", "bit/s of datagrams instead of TCP, headers included", cbr);
    arguments.AddValue("ecn", "TCP uses ECN", ecn);
    arguments.AddValue("seed", "of the start times", seed);
    arguments.Parse(argc, argv);
    RngSeedManager::SetSeed(seed);

    const uint32_t segment = 1500 - 42; // 20 of IP, 20 of TCP, 2 of PPP
    Config::SetDefault("ns3::TcpL4Protocol::SocketType", TypeIdValue(TcpNewReno::GetTypeId()));
    Config::SetDefault("ns3::TcpSocketBase::Timestamp", BooleanValue(false));
    Config::SetDefault("ns3::TcpSocketBase::MinRto", TimeValue(Seconds(0.2)));
    Config::SetDefault("ns3::TcpSocketBase::UseEcn", StringValue(ecn ? "On" : "Off"));
    Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(1));
    Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(10));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(segment));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(1 << 21));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(1 << 21));

    NodeContainer routers(2);
    NodeContainer sources(flows);
    NodeContainer sinks(flows);
    InternetStackHelper internet;
    internet.SetIpv6StackInstall(false);
    internet.Install(routers);
    internet.Install(sources);
    internet.Install(sinks);

    auto join = [](Ptr<Node> from, Ptr<Node> to, double bps, Time delay) {
        PointToPointHelper link;
        link.SetDeviceAttribute("DataRate", DataRateValue(DataRate(static_cast<uint64_t>(bps))));
        link.SetChannelAttribute("Delay", TimeValue(delay));
        link.SetQueue("ns3::DropTailQueue", "MaxSize", StringValue("100000p"));
        return link.Install(from, to);
    };
    Ipv4AddressHelper addresses("10.0.0.0", "255.255.255.0");
    NetDeviceContainer bottleneck = join(routers.Get(0), routers.Get(1), rate, MilliSeconds(1));
    bottleneck.Get(1)->SetAttribute("DataRate", DataRateValue(DataRate("10Gbps")));
    DynamicCast<PointToPointNetDevice>(bottleneck.Get(0))->GetQueue()->SetMaxSize(QueueSize("1p"));
    TrafficControlHelper control;
    const uint16_t handle = control.SetRootQueueDisc(disc);
    if (disc == "ns3::TbfQueueDisc")
    {
        auto classes = control.AddQueueDiscClasses(handle, 1, "ns3::QueueDiscClass");
        control.AddChildQueueDisc(handle, classes[0], "ns3::FifoQueueDisc");
    }
    Ptr<QueueDisc> queue = control.Install(bottleneck.Get(0)).Get(0);
    addresses.Assign(bottleneck);
    addresses.NewNetwork();

    Ptr<UniformRandomVariable> start = CreateObject<UniformRandomVariable>();
    std::vector<Ptr<PacketSink>> received;
    for (uint32_t i = 0; i < flows; ++i)
    {
        const Time delay = Seconds((rtt + step * i) / 4 - 0.0005);
        NetDeviceContainer near = join(sources.Get(i), routers.Get(0), 1e9, delay);
        NetDeviceContainer far = join(sinks.Get(i), routers.Get(1), 1e9, delay);
        addresses.Assign(near);
        addresses.NewNetwork();
        const Ipv4Address address = addresses.Assign(far).GetAddress(0);
        addresses.NewNetwork();
        TrafficControlHelper().Uninstall(near);
        TrafficControlHelper().Uninstall(far);
        const InetSocketAddress to(address, 5000);
        const std::string socket = cbr > 0 ? "ns3::UdpSocketFactory" : "ns3::TcpSocketFactory";
        auto sink = PacketSinkHelper(socket, InetSocketAddress(Ipv4Address::GetAny(), 5000)).Install(sinks.Get(i));
        sink.Start(Seconds(0));
        received.push_back(DynamicCast<PacketSink>(sink.Get(0)));
        if (cbr > 0)
        {
            OnOffHelper source(socket, to);
            const uint32_t payload = 1500 - 30; // 20 of IP, 8 of UDP, 2 of PPP
            source.SetConstantRate(DataRate(static_cast<uint64_t>(cbr * payload / 1500)), payload);
            source.Install(sources.Get(i)).Start(Seconds(0));
        }
        else
        {
            BulkSendHelper source(socket, to);
            source.SetAttribute("SendSize", UintegerValue(segment));
            source.Install(sources.Get(i)).Start(Seconds(start->GetValue(0, 5)));
        }
    }
    Ipv4GlobalRoutingHelper::PopulateRoutingTables();

    double sojourn = 0;
    uint64_t served = 0;
    queue->TraceConnectWithoutContext("SojournTime", Callback<void, Time>([&](Time time) {
                                          if (Simulator::Now() >= Seconds(warm))
                                          {
                                              sojourn += time.GetSeconds();
                                              ++served;
                                          }
                                      }));
    QueueDisc::Stats before;
    std::vector<uint64_t> bytesBefore(flows, 0);
    Simulator::Schedule(Seconds(warm), [&] {
        before = queue->GetStats();
        for (uint32_t i = 0; i < flows; ++i)
        {
            bytesBefore[i] = received[i]->GetTotalRx();
        }
    });
    Simulator::Stop(Seconds(duration));
    Simulator::Run();

    const QueueDisc::Stats after = queue->GetStats();
    double sum = 0;
    double squares = 0;
    for (uint32_t i = 0; i < flows; ++i)
    {
        const double bytes = static_cast<double>(received[i]->GetTotalRx() - bytesBefore[i]);
        sum += bytes;
        squares += bytes * bytes;
    }
    std::cout << "forwarded=" << after.nTotalSentPackets - before.nTotalSentPackets
              << " dropped=" << after.nTotalDroppedPackets - before.nTotalDroppedPackets
              << " marked=" << after.nTotalMarkedPackets - before.nTotalMarkedPackets
              << " mean_sojourn_s=" << (served > 0 ? sojourn / static_cast<double>(served) : 0)
              << " goodput_bps=" << sum * 8 / (duration - warm) << " jain=" << sum * sum / (flows * squares)
              << std::endl;
    Simulator::Destroy();
    return 0;
}
