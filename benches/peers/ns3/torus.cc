// One all-to-all on an n x n torus of raw point-to-point devices: the load of `hayase ... --transport packet:oq`.
//
// Each position has a host and a switch, joined by a full-duplex link like those of the torus. Packets go along x, then
// along y, the shorter way round, the ascending one where both are equal. Device queues are unlimited, switches store
// and forward. Each host sends its N-1 messages one at a time, the next when the last has been delivered.
//
// torus N [ALGORITHM [BYTES [JITTER_NS [SEED]]]]    ALGORITHM: ss (simple spread), 2dss (2D spread), pw (pairwise)

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include <ns3/core-module.h>
#include <ns3/network-module.h>
#include <ns3/point-to-point-module.h>

using namespace ns3;

namespace
{

const uint32_t PACKET = 1500; // bytes on the wire
const uint32_t PPP = 2;       // bytes that the device adds

// Destination of a packet, and a mark on the last one of its message.
class Label : public Header
{
  public:
    uint32_t src = 0;
    uint32_t dst = 0;
    bool last = false;

    static TypeId GetTypeId()
    {
        static TypeId id = TypeId("Label").SetParent<Header>().AddConstructor<Label>();
        return id;
    }
    TypeId GetInstanceTypeId() const override
    {
        return GetTypeId();
    }
    uint32_t GetSerializedSize() const override
    {
        return 9;
    }
    void Serialize(Buffer::Iterator to) const override
    {
        to.WriteU32(src);
        to.WriteU32(dst);
        to.WriteU8(last);
    }
    uint32_t Deserialize(Buffer::Iterator from) override
    {
        src = from.ReadU32();
        dst = from.ReadU32();
        last = from.ReadU8();
        return 9;
    }
    void Print(std::ostream& out) const override
    {
        out << src << "->" << dst;
    }
};

uint32_t n, nodes, messageBytes;
std::string algorithm;
std::vector<uint32_t> nextMessage;
// Ports of each position: to the host, then ascending and descending along x, then along y.
std::vector<std::vector<Ptr<PointToPointNetDevice>>> ports;
std::vector<Ptr<PointToPointNetDevice>> hosts;
uint64_t hops, delivered;
Time lastDelivery;

uint32_t Destination(uint32_t src, uint32_t k)
{
    if (algorithm == "pw")
    {
        return src ^ k;
    }
    if (algorithm == "2dss")
    {
        return (src % n + k % n) % n + (src / n + k / n) % n * n;
    }
    return (src + k) % nodes;
}

uint32_t OutputAt(uint32_t here, uint32_t dst)
{
    for (int dim = 0; dim < 2; dim++)
    {
        uint32_t a = dim == 0 ? here % n : here / n;
        uint32_t b = dim == 0 ? dst % n : dst / n;
        uint32_t ascending = (b + n - a) % n;
        if (ascending != 0)
        {
            return 1 + 2 * dim + (2 * ascending <= n ? 0 : 1);
        }
    }
    return 0;
}

void SendNext(uint32_t src)
{
    if (nextMessage[src] >= nodes)
    {
        return;
    }
    Label label;
    label.src = src;
    label.dst = Destination(src, nextMessage[src]++);
    for (uint32_t left = messageBytes; left > 0;)
    {
        uint32_t size = std::min(left, PACKET);
        left -= size;
        label.last = left == 0;
        Ptr<Packet> packet = Create<Packet>(size - PPP - label.GetSerializedSize());
        packet->AddHeader(label);
        hosts[src]->Send(packet, hosts[src]->GetBroadcast(), 0x0800);
    }
}

bool AtSwitch(uint32_t here, Ptr<NetDevice>, Ptr<const Packet> packet, uint16_t protocol, const Address&)
{
    hops++;
    Label label;
    packet->PeekHeader(label);
    Ptr<PointToPointNetDevice> out = ports[here][OutputAt(here, label.dst)];
    out->Send(packet->Copy(), out->GetBroadcast(), protocol);
    return true;
}

bool AtHost(Ptr<NetDevice>, Ptr<const Packet> packet, uint16_t, const Address&)
{
    hops++;
    Label label;
    packet->PeekHeader(label);
    if (label.last)
    {
        delivered++;
        lastDelivery = Simulator::Now();
        SendNext(label.src);
    }
    return true;
}

Ptr<PointToPointNetDevice> Device(Ptr<Node> node)
{
    Ptr<PointToPointNetDevice> device = CreateObject<PointToPointNetDevice>();
    device->SetDataRate(DataRate("8Gbps"));
    device->SetMtu(1 << 15);
    device->SetAddress(Mac48Address::Allocate());
    Ptr<DropTailQueue<Packet>> queue = CreateObject<DropTailQueue<Packet>>();
    queue->SetMaxSize(QueueSize("100000000p"));
    device->SetQueue(queue);
    node->AddDevice(device);
    return device;
}

void Join(Ptr<PointToPointNetDevice> a, Ptr<PointToPointNetDevice> b)
{
    Ptr<PointToPointChannel> channel = CreateObject<PointToPointChannel>();
    channel->SetAttribute("Delay", TimeValue(Seconds(0)));
    a->Attach(channel);
    b->Attach(channel);
}

} // namespace

int main(int argc, char** argv)
{
    n = argc > 1 ? atoi(argv[1]) : 4;
    algorithm = argc > 2 ? argv[2] : "ss";
    messageBytes = argc > 3 ? atoi(argv[3]) : 20000;
    double jitter = argc > 4 ? atof(argv[4]) : 0;
    uint32_t seed = argc > 5 ? atoi(argv[5]) : 1;
    nodes = n * n;
    nextMessage.assign(nodes, 1);
    ports.resize(nodes);
    auto start = std::chrono::steady_clock::now();
    for (uint32_t i = 0; i < nodes; i++)
    {
        Ptr<Node> host = CreateObject<Node>();
        Ptr<Node> node = CreateObject<Node>();
        hosts.push_back(Device(host));
        hosts[i]->SetReceiveCallback(MakeCallback(&AtHost));
        for (int port = 0; port < 5; port++)
        {
            ports[i].push_back(Device(node));
            ports[i][port]->SetReceiveCallback(MakeBoundCallback(&AtSwitch, i));
        }
        Join(hosts[i], ports[i][0]);
    }
    for (uint32_t i = 0; i < nodes; i++)
    {
        uint32_t x = i % n, y = i / n;
        Join(ports[i][1], ports[(x + 1) % n + y * n][2]);
        Join(ports[i][3], ports[x + (y + 1) % n * n][4]);
    }
    std::mt19937_64 random(seed);
    std::uniform_real_distribution<double> offset(0, jitter);
    for (uint32_t i = 0; i < nodes; i++)
    {
        Simulator::Schedule(NanoSeconds(jitter > 0 ? static_cast<int64_t>(offset(random)) : 0), &SendNext, i);
    }
    Simulator::Run();
    double wall = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    printf("n=%u %s: %llu messages, last delivery %.3f us, %llu packet-hops in %.2f s, %.2f M/s\n",
           n,
           algorithm.c_str(),
           static_cast<unsigned long long>(delivered),
           lastDelivery.GetNanoSeconds() / 1e3,
           static_cast<unsigned long long>(hops),
           wall,
           hops / wall / 1e6);
    Simulator::Destroy();
    return 0;
}
