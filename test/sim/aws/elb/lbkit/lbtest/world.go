package lbtest

import (
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/berth-lb/berth/test/sim/aws/network"
	"github.com/berth-lb/berth/test/sim/aws/query"
)

// World is a fixed network. Tests change its maps before they start the server.
type World struct {
	VPCs      map[string]network.VPC
	Subnets   map[string]network.Subnet
	Groups    map[string]network.Group
	Instances map[string]network.Instance
	Addresses map[string]network.Address
}

// NewWorld makes two VPCs; vpc-1 has the zones a, b and c with subnet-a, -b, -c
// (dualstack), subnet-a2 (zone a), subnet-4 (no IPv6) and subnet-full, groups
// sg-1 to sg-6, running instances i-0a1, i-0b2, i-0c3, a stopped i-0d4, and the
// free addresses eipalloc-1 and eipalloc-2; eipalloc-3 is taken.
func NewWorld() *World {
	w := &World{
		VPCs: map[string]network.VPC{
			"vpc-1": {ID: "vpc-1", CIDR: "10.0.0.0/16", IPv6CIDR: "fd00::/56"},
			"vpc-2": {ID: "vpc-2", CIDR: "10.1.0.0/16"},
		},
		Subnets: map[string]network.Subnet{}, Groups: map[string]network.Group{},
		Instances: map[string]network.Instance{}, Addresses: map[string]network.Address{},
	}
	for _, s := range []network.Subnet{
		{ID: "subnet-a", Zone: "us-east-1a", CIDR: "10.0.0.0/24", IPv6CIDR: "fd00:0:0:1::/64"},
		{ID: "subnet-a2", Zone: "us-east-1a", CIDR: "10.0.1.0/24", IPv6CIDR: "fd00:0:0:2::/64"},
		{ID: "subnet-b", Zone: "us-east-1b", CIDR: "10.0.2.0/24", IPv6CIDR: "fd00:0:0:3::/64"},
		{ID: "subnet-c", Zone: "us-east-1c", CIDR: "10.0.3.0/24", IPv6CIDR: "fd00:0:0:4::/64"},
		{ID: "subnet-4", Zone: "us-east-1d", CIDR: "10.0.4.0/24"},
	} {
		s.VPC, s.FreeAddresses = "vpc-1", 250
		w.Subnets[s.ID] = s
	}
	w.Subnets["subnet-full"] = network.Subnet{ID: "subnet-full", VPC: "vpc-1", Zone: "us-east-1c", CIDR: "10.0.5.0/28", FreeAddresses: 7}
	w.Subnets["subnet-x"] = network.Subnet{ID: "subnet-x", VPC: "vpc-2", Zone: "us-east-1b", CIDR: "10.1.0.0/24", FreeAddresses: 250}
	for _, n := range []string{"1", "2", "3", "4", "5", "6"} {
		w.Groups["sg-"+n] = network.Group{ID: "sg-" + n, Name: "group-" + n, VPC: "vpc-1", Owner: "000000000000"}
	}
	w.Groups["sg-x"] = network.Group{ID: "sg-x", Name: "other", VPC: "vpc-2"}
	for _, in := range []network.Instance{
		{ID: "i-0a1", VPC: "vpc-1", Subnet: "subnet-a", Zone: "us-east-1a", PrivateIP: "10.0.0.10", State: "running"},
		{ID: "i-0b2", VPC: "vpc-1", Subnet: "subnet-b", Zone: "us-east-1b", PrivateIP: "10.0.2.10", State: "running"},
		{ID: "i-0c3", VPC: "vpc-1", Subnet: "subnet-c", Zone: "us-east-1c", PrivateIP: "10.0.3.10", State: "running"},
		{ID: "i-0d4", VPC: "vpc-1", Subnet: "subnet-a", Zone: "us-east-1a", PrivateIP: "10.0.0.11", State: "stopped"},
		{ID: "i-0e5", VPC: "vpc-2", Subnet: "subnet-x", Zone: "us-east-1b", PrivateIP: "10.1.0.10", State: "running"},
	} {
		w.Instances[in.ID] = in
	}
	w.Addresses["eipalloc-1"] = network.Address{AllocationID: "eipalloc-1", PublicIP: "203.0.113.1"}
	w.Addresses["eipalloc-2"] = network.Address{AllocationID: "eipalloc-2", PublicIP: "203.0.113.2"}
	w.Addresses["eipalloc-3"] = network.Address{AllocationID: "eipalloc-3", PublicIP: "203.0.113.3", AssociatedWith: "eni-1"}
	return w
}

// VPC looks up a VPC.
func (w *World) VPC(id string) (network.VPC, bool) { v, ok := w.VPCs[id]; return v, ok }

// Subnet looks up a subnet.
func (w *World) Subnet(id string) (network.Subnet, bool) { v, ok := w.Subnets[id]; return v, ok }

// Group looks up a security group.
func (w *World) Group(id string) (network.Group, bool) { v, ok := w.Groups[id]; return v, ok }

// Instance looks up an instance.
func (w *World) Instance(id string) (network.Instance, bool) { v, ok := w.Instances[id]; return v, ok }

// Address looks up an elastic IP address by allocation id.
func (w *World) Address(id string) (network.Address, bool) { v, ok := w.Addresses[id]; return v, ok }

// DefaultGroup finds none.
func (w *World) DefaultGroup(string) (network.Group, bool) { return network.Group{}, false }

// Attach does nothing: the network has no interfaces.
func (w *World) Attach(string, []network.Interface) {}

// Detach does nothing.
func (w *World) Detach(string, time.Duration) {}

// InUse finds every address free.
func (w *World) InUse(string, string) bool { return false }

// Serve runs a service until the test ends; now gives the time of each call.
func Serve(t *testing.T, service *query.Service, now func() time.Time) string {
	t.Helper()
	srv := httptest.NewServer(service.Handler(now))
	t.Cleanup(srv.Close)
	return srv.URL
}

// Call runs one call given as "Action Name=value Name=value" and gives the
// error code ("" on success) and the body.
func Call(service *query.Service, line string, now time.Time) (code, body string) {
	words := strings.Fields(line)
	form := url.Values{"Action": {words[0]}, "Version": {service.Version}}
	for _, word := range words[1:] {
		name, value, _ := strings.Cut(word, "=")
		form.Set(name, value)
	}
	answer := service.Do(service.NewRequest(form, now))
	return answer.Code, string(answer.Body)
}
