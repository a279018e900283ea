package e2e

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/test/cluster"
	"github.com/berth-lb/berth/test/sim"
)

// place is a cloud with all kinds of load balancers that it has, for scenarios
// that are the same everywhere. Each has a control plane of its own, so clouds are
// tried at the same time.
type place struct {
	cloud    string
	plane    *cluster.Shared
	sim      []string // flags of the simulator
	host     string   // Google Cloud: the project of the network, if it is another
	kinds    []kind
	fronts   func(*world) ([]front, error)
	key      func(*corev1.Service) string // what a Service's fronts say that they are of
	answers  answers
	cuts     []string // operations whose answer gets lost
	mistakes []mistake
	crowd    int          // Services in the scenario of kills; 0: 12
	kills    []int        // after so many writes a controller is killed; nil: 1, 2 and 3
	slow     []string     // flags of the simulator that make it as slow as the cloud
	slowly   int          // Services that it then serves; 0: one of each kind
	spoil    func(*world) // takes away by hand what load balancers consist of; nil: nothing does
	frees    bool         // with it go addresses, which may be others afterwards
	// unfiltered says that the cloud has no source ranges.
	unfiltered bool
	local      string       // path of health checks with policy Local; empty: /healthz
	sameCheck  bool         // policy Local changes no health check
	install    func(*world) // how the controller gets into the cluster; nil: it is only started
}

// kind is one kind of load balancer.
type kind struct {
	name  string
	asks  []change
	ports func(numbers ...int32) []string // how it shows TCP ports
	check func(nodePorts ...int32) string // what health checks request on nodes, policy Cluster
	open  []string                        // ranges that may connect by default
	parts map[string]int                  // things that it alone has in the cloud, by a part of their paths
}

// answers are how the cloud itself says these.
type answers struct{ throttled, denied, quota, down sim.Fault }

// mistake is a mistake of a user on one kind of load balancer.
type mistake struct {
	name, kind string
	bad, fix   []change
	words      []string
	field      bool // what is wrong is no annotation
}

// front is what a client of the cloud sees of one address.
type front struct {
	Of      string
	Kind    string
	Address string
	Ports   []string
	Members []string // machines, by the names of their Nodes
	Check   string   // ports and paths asked for
	Sources []string // ranges that may connect
	// Settings are others that there are, by their names.
	Settings map[string]string
}

func (p *place) networkProject() string {
	if p.host != "" {
		return p.host
	}
	return gceProject
}

// start makes a world in the cloud.
func (p *place) start(t *testing.T, nodes int, simArgs ...string) *world {
	t.Helper()
	w := startOn(t, p.plane, p.cloud, nodes, append(slices.Clone(p.sim), simArgs...)...)
	w.place = p
	if p.install != nil {
		p.install(w)
	}
	return w
}

// one is a Service of a kind, named after it. The i-th of a test has node ports of
// its own.
func (w *world) one(k kind, i int, more ...change) corev1.Service {
	name := k.name
	if i >= len(w.place.kinds) {
		name = fmt.Sprintf("%s-%d", k.name, i)
	}
	return w.service(name, slices.Concat([]change{setPorts(80, nodePort(i, 0))}, k.asks, more)...)
}

// staticPorts is the first node port of the static band, 128 ports long: the API server of
// test/controlplane draws none of them for another Service, so that a test may ask for them.
// Source: KEP-3668, with the range of node ports in test/controlplane/server.
const staticPorts = 1024

// nodePort returns the node port that a test asks for as the n-th, 0 or 1, of its i-th
// Service, 0 to 62.
func nodePort(i, n int) int32 { return int32(staticPorts + 2*i + n) }

// many are n Services, of all kinds in turn.
func (w *world) many(n int) []corev1.Service {
	var out []corev1.Service
	for i := range n {
		out = append(out, w.one(w.place.kinds[i%len(w.place.kinds)], i))
	}
	return out
}

// front is the one front of a Service.
func (w *world) front(name string) (front, error) {
	svc, err := w.Get(w.t.Context(), w.ns, name)
	if err != nil {
		return front{}, err
	}
	list, err := w.place.fronts(w)
	if err != nil {
		return front{}, err
	}
	list = slices.DeleteFunc(list, func(f front) bool { return f.Of != w.place.key(svc) })
	if len(list) != 1 {
		return front{}, fmt.Errorf("%s has %d fronts: %+v", name, len(list), list)
	}
	return list[0], nil
}

// shows waits until every Service's front has the desired value for its kind.
func (w *world) shows(what string, field func(front) any, want func(i int, k kind) any) {
	w.t.Helper()
	for i, k := range w.place.kinds {
		w.eventually(k.name+": "+what, func() error {
			f, err := w.front(k.name)
			if err != nil {
				return err
			}
			return diffError(what, want(i, k), field(f))
		})
	}
}

// oneByOne is how most kinds show their TCP ports.
func oneByOne(numbers ...int32) []string {
	var out []string
	for _, n := range numbers {
		out = append(out, fmt.Sprintf("TCP %d", n))
	}
	slices.Sort(out)
	return out
}

// eachPort is what kinds ask for that check every node port.
func eachPort(nodePorts ...int32) string {
	var out []string
	for _, n := range nodePorts {
		out = append(out, fmt.Sprint(n))
	}
	slices.Sort(out)
	return strings.Join(out, ",")
}

func frontPorts(f front) any   { return f.Ports }
func frontMembers(f front) any { return f.Members }
func frontCheck(f front) any   { return f.Check }
func frontSources(f front) any { return f.Sources }

// nodeNames returns the sorted names of Nodes.
func nodeNames(nodes []corev1.Node) []string {
	var out []string
	for _, n := range nodes {
		out = append(out, n.Name)
	}
	slices.Sort(out)
	return out
}

// dump is everything in the cloud without what changes with every write.
func (w *world) dump() map[string]any {
	w.t.Helper()
	raw, err := w.Sim.State(w.t.Context())
	w.must(err)
	out := map[string]any{}
	w.must(json.Unmarshal(raw, &out))
	if compute, ok := out["compute"].(map[string]any); ok {
		out = compute
	}
	if _, ok := out["elbv2"]; ok {
		out = collectionPaths(out)
	}
	// Oracle Cloud remembers for a day what it was asked to do.
	maps.DeleteFunc(out, func(list string, _ any) bool { return strings.HasSuffix(list, "workrequest") })
	dropCounters(out)
	byID(out)
	return out
}

// collectionPaths returns the parts of services that have a path of their own, without
// their counters.
func collectionPaths(services map[string]any) map[string]any {
	out := map[string]any{}
	for service, lists := range services {
		all, _ := lists.(map[string]any)
		for list, things := range all {
			byKey, keyed := things.(map[string]any)
			for key, thing := range byKey {
				out[service+"/"+list+"/"+key] = thing
			}
			if !keyed && list != "Seq" {
				out[service+"/"+list] = things
			}
		}
	}
	return out
}

// byID gives the things in lists a path of their own, where they have an id.
func byID(dump map[string]any) {
	for list, all := range maps.Clone(dump) {
		things, _ := all.([]any)
		for _, thing := range things {
			object, _ := thing.(map[string]any)
			if id := cmp.Or(object["id"], object["ID"]); id != nil {
				dump[fmt.Sprintf("%s/%v", list, id)] = object
				delete(dump, list)
			}
		}
	}
}

// dropCounters removes counters of writes.
func dropCounters(doc any) {
	switch doc := doc.(type) {
	case map[string]any:
		delete(doc, "etag")
		delete(doc, "fingerprint")
		delete(doc, "revision_number")
		delete(doc, "updated_at")
		for _, part := range doc {
			dropCounters(part)
		}
	case []any:
		for _, part := range doc {
			dropCounters(part)
		}
	}
}

// nothingLeft waits until the cloud is what it was.
func (w *world) nothingLeft(before map[string]any) {
	w.t.Helper()
	w.eventually("nothing is left", func() error { return diffError("cloud", before, w.dump()) })
}

// oncePerService wants one complete front for each Service, and no resources beyond those
// fronts.
func (w *world) oncePerService(before map[string]any, services []corev1.Service) {
	w.t.Helper()
	fronts, err := w.place.fronts(w)
	w.must(err)
	nodes, err := w.SeedNodes()
	w.must(err)
	want, got := map[string]int{}, map[string]int{}
	for i, svc := range services {
		k := w.place.kinds[i%len(w.place.kinds)]
		for part, n := range k.parts {
			want[part] += n
		}
		key := w.place.key(w.get(svc.Name))
		its := slices.DeleteFunc(slices.Clone(fronts), func(f front) bool { return f.Of != key })
		if len(its) != 1 || its[0].Kind != k.name || !slices.Equal(its[0].Members, nodeNames(nodes)) || !slices.Equal(its[0].Ports, k.ports(80)) {
			w.t.Errorf("%s: want one whole front, got %+v", svc.Name, its)
		}
	}
	now := w.dump()
	for part := range want {
		got[part] = countPaths(now, part) - countPaths(before, part)
	}
	if err := diffError("things in the cloud", want, got); err != nil {
		w.t.Error(err)
	}
}

// countPaths counts paths that have a part.
func countPaths(dump map[string]any, part string) int {
	n := 0
	for path := range maps.Keys(dump) {
		if strings.Contains(path, part) {
			n++
		}
	}
	return n
}

// addressed wants the status of a Service to name the address of its front.
func (w *world) addressed(name, kind string) string {
	w.t.Helper()
	f, err := w.front(name)
	w.must(err)
	ingress := w.get(name).Status.LoadBalancer.Ingress
	if len(ingress) != 1 || cmp.Or(ingress[0].IP, ingress[0].Hostname) != f.Address || f.Address == "" {
		w.t.Errorf("%s: the status has %+v, the cloud %q", name, ingress, f.Address)
	}
	if f.Kind != kind {
		w.t.Errorf("%s: want kind %s, got %+v", name, kind, f)
	}
	return f.Address
}
