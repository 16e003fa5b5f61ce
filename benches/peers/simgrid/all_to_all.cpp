// One personalised all-to-all over SimGrid's flow model: simple spread, each host sends one message at a time.
//
//   all_to_all PLATFORM.xml PLACEMENT.csv BYTES [TIMES.csv]
//
// Rank r sends to r + 1, r + 2, ... (modulo the number of ranks), the next message when the last has arrived; PLACEMENT
// (rank,node) says which host is whose. Each rank is an actor that sends in a loop, as in SimGrid's own examples.
// Prints one line of JSON; TIMES gets every completion.
#include <simgrid/s4u.hpp>
#include <sys/resource.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <unordered_map>
#include <vector>

namespace sg4 = simgrid::s4u;

static std::vector<sg4::Host*> host_of; // by rank
static std::vector<std::vector<double>> ends; // by rank, then by message
static uint64_t bytes;
static bool wants_times;

static int ranks() { return static_cast<int>(host_of.size()); }

static void arrived(int rank)
{
  if (wants_times)
    ends[rank].push_back(sg4::Engine::get_clock());
}

static void sender(int rank)
{
  for (int k = 1; k < ranks(); k++) {
    sg4::Comm::sendto(host_of[rank], host_of[(rank + k) % ranks()], bytes);
    arrived(rank);
  }
}

static double processor_time()
{
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  auto seconds = [](const timeval& t) { return t.tv_sec + 1e-6 * t.tv_usec; };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

int main(int argc, char** argv)
{
  sg4::Engine engine(&argc, argv);
  if (argc < 4) {
    std::fprintf(stderr, "usage: all_to_all PLATFORM.xml PLACEMENT.csv BYTES [TIMES.csv [lv08]]\n");
    return 2;
  }
  const bool lv08 = argc > 5 && std::string(argv[5]) == "lv08";
  // LV08 with its factors, weights and windows, without reverse traffic; or pure max-min without these.
  const std::vector<const char*> with_terms = {"network/model:LV08", "network/crosstraffic:0", "maxmin/precision:1e-10"};
  const std::vector<const char*> plain = {"network/model:CM02",         "network/crosstraffic:0", "network/latency-factor:1",
                                          "network/bandwidth-factor:1", "network/weight-S:0",     "network/TCP-gamma:0",
                                          "maxmin/precision:1e-12"};
  for (const char* setting : lv08 ? with_terms : plain)
    sg4::Engine::set_config(setting);
  for (const char* setting : {"network/optim:Lazy", "surf/precision:1e-12"})
    sg4::Engine::set_config(setting);
  engine.load_platform(argv[1]);
  auto hosts = engine.get_all_hosts();
  std::unordered_map<std::string, sg4::Host*> by_name;
  for (auto* host : hosts)
    by_name[host->get_name()] = host;
  std::ifstream placement(argv[2]);
  std::string line;
  std::getline(placement, line);
  host_of.resize(hosts.size());
  while (std::getline(placement, line)) {
    auto comma               = line.find(',');
    host_of[std::stoi(line)] = by_name.at("n" + line.substr(comma + 1));
  }
  bytes       = std::stoull(argv[3]);
  wants_times = argc > 4;
  ends.resize(host_of.size());

  double start = processor_time();
  for (int rank = 0; rank < ranks(); rank++)
    sg4::Actor::create("rank", host_of[rank], sender, rank);
  engine.run();
  double cpu = processor_time() - start;

  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  std::printf("{\"makespan_s\": %.17g, \"cpu_s\": %.6f, \"peak_rss_bytes\": %ld}\n", sg4::Engine::get_clock(), cpu,
              usage.ru_maxrss * 1024L);
  if (wants_times) {
    std::FILE* file = std::fopen(argv[4], "w");
    if (file == nullptr) {
      std::perror(argv[4]);
      return 1;
    }
    std::fprintf(file, "src,index,end_s\n");
    for (size_t rank = 0; rank < ends.size(); rank++)
      for (size_t k = 0; k < ends[rank].size(); k++)
        std::fprintf(file, "%zu,%zu,%.17g\n", rank, k, ends[rank][k]);
    std::fclose(file);
  }
  return 0;
}
