package model

import (
	"strconv"
	"strings"

	"github.com/berth-lb/berth/stack"
)

// The kinds of resources, in the cloud's own words.
const (
	KindBalancer stack.Kind = "balancer"
	KindListener stack.Kind = "listener"
	KindMachines stack.Kind = "machines"
	KindOpening  stack.Kind = "opening"
)

// Balancer is a load balancer.
type Balancer struct {
	Name     string
	Internal bool
	Notice   string // that clients see while no machine serves
}

// Listener forwards a port.
type Listener struct {
	Protocol string // TCP or UDP
	Port     int32
	NodePort int32
}

// Machines are the names of the machines behind a load balancer.
type Machines struct{ Names []string }

// Opening admits a protocol to all machines of a cluster: all Services share it.
type Opening struct{ Protocol string }

// BalancerKey returns the key of a Service's load balancer.
func BalancerKey() stack.Key { return stack.Key{Kind: KindBalancer} }

// MachinesKey returns the key of the machines behind it.
func MachinesKey() stack.Key { return stack.Key{Kind: KindMachines} }

// ListenerKey returns the key of a listener. It follows from the Service, so that desired and
// found resources meet.
func ListenerKey(protocol string, port int32) stack.Key {
	return stack.Key{Kind: KindListener, Name: SlotOf(protocol, port)}
}

// OpeningKey returns the key of the opening for a protocol.
func OpeningKey(protocol string) stack.Key { return stack.Key{Kind: KindOpening, Name: protocol} }

// OpeningOf returns the name of a cluster's opening.
func OpeningOf(cluster, protocol string) string { return cluster + "-" + protocol }

// SlotOf names what two listeners of one load balancer cannot both have, as the API does.
func SlotOf(protocol string, port int32) string {
	return strings.ToLower(protocol) + "-" + strconv.Itoa(int(port))
}

// NameOf returns the name of the load balancer of a Service.
func NameOf(c Config, cluster string, o stack.Owner) string {
	if c.ByName {
		return "k8s-" + cluster + "-" + o.Namespace + "-" + o.Name
	}
	return "k8s-" + o.UID
}

// MarkOf returns the mark that proves that a load balancer is a Service's.
func MarkOf(c Config, cluster string, o stack.Owner) string {
	if c.ByName {
		return cluster + "/" + o.Namespace + "/" + o.Name
	}
	return cluster + "/" + o.UID
}

// OwnerOf returns the Service that a mark of the cluster names, as far as the mark names it;
// false: it is no mark of this cluster.
func OwnerOf(c Config, cluster, mark string) (stack.Owner, bool) {
	text, ok := strings.CutPrefix(mark, cluster+"/")
	if namespace, name, found := strings.Cut(text, "/"); c.ByName && found {
		return stack.Owner{Namespace: namespace, Name: name}, ok
	}
	return stack.Owner{UID: text}, ok
}

// FoundByName reports whether the name of a load balancer has no UID.
func FoundByName(o stack.Owner, r stack.Resource) bool {
	b, ok := r.Spec.(Balancer)
	return ok && !strings.Contains(b.Name, o.UID)
}
