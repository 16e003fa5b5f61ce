// A traffic manager and a traffic pattern that BookSim 2 lacks: lists of messages, read from the file that LISTED
// names. `run` copies this file into BookSim's `src` and registers both there.
//
// Each line of the file has source, destination, packets, and the cycle at which the source may begin. A source sends
// its messages in the order of the file, each when the last flit of the one before has left it, or, with
// LISTED_RULE=delivered, when that flit has arrived.
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <vector>

#include "batchtrafficmanager.hpp"
#include "traffic.hpp"

namespace {

struct Message {
  int dst;
  int packets;
};

// Messages of one source and its position among them.
struct Source {
  std::vector<Message> messages;
  int start = 0;
  std::size_t next = 0;
  int packets_left = 0;
  int dst = -1;
};

std::vector<Source> sources;

// Reads the lists once.
void read_lists(int nodes) {
  if (!sources.empty()) return;
  sources.resize(nodes);
  const char *name = std::getenv("LISTED");
  std::ifstream file(name ? name : "");
  if (!file) {
    std::cerr << "LISTED names no file" << std::endl;
    std::exit(1);
  }
  int src, dst, packets, start;
  while (file >> src >> dst >> packets >> start) {
    if (src == dst) continue;
    sources.at(src).start = start;
    sources.at(src).messages.push_back({dst, packets});
  }
}

class ListedPattern : public TrafficPattern {
 public:
  explicit ListedPattern(int nodes) : TrafficPattern(nodes) { read_lists(nodes); }
  int dest(int source) override { return sources.at(source).dst; }
};

class ListedManager : public BatchTrafficManager {
 public:
  ListedManager(const Configuration &config, const std::vector<Network *> &net) : BatchTrafficManager(config, net) {
    read_lists(_nodes);
    const char *rule = std::getenv("LISTED_RULE");
    _delivered = rule && std::string(rule) == "delivered";
  }

 protected:
  // Returns 1 if the source sends a packet now, else 0.
  int _IssuePacket(int source, int) override {
    Source &from = sources.at(source);
    if (_time < from.start) return 0;
    if (from.packets_left == 0) {
      if (from.next == from.messages.size() || (_delivered && _requestsOutstanding[source] > 0)) return 0;
      from.dst = from.messages[from.next].dst;
      from.packets_left = from.messages[from.next].packets;
      ++from.next;
    }
    --from.packets_left;
    ++_requestsOutstanding[source];
    return 1;
  }

  // Steps until everything has arrived, prints the cycle and ends the program.
  bool _SingleSim() override {
    _sim_state = running;
    bool busy = true;
    while (busy && _time < 20000000) {
      _Step();
      busy = !_total_in_flight_flits[0].empty();
      for (const Source &from : sources) busy |= from.packets_left > 0 || from.next < from.messages.size();
    }
    std::cout << std::endl << (busy ? "STUCK " : "RESULT ") << _time << std::endl;
    std::_Exit(busy ? 1 : 0);
  }

 private:
  bool _delivered;
};

}  // namespace

TrafficPattern *new_listed_pattern(int nodes) { return new ListedPattern(nodes); }

TrafficManager *new_listed_manager(const Configuration &config, const std::vector<Network *> &net) {
  return new ListedManager(config, net);
}
