package ec2

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
)

type state struct {
	vpcs       map[string]VPC
	subnets    map[string]Subnet
	groups     map[string]Group
	instances  map[string]Instance
	interfaces map[string]Interface
	addresses  map[string]Address
	tables     map[string]RouteTable
	lists      map[string]PrefixList
	tags       map[string]Tags
	serial     int
}

func newState() *state {
	return &state{
		vpcs: map[string]VPC{}, subnets: map[string]Subnet{}, groups: map[string]Group{},
		instances: map[string]Instance{}, interfaces: map[string]Interface{}, addresses: map[string]Address{},
		tables: map[string]RouteTable{}, lists: map[string]PrefixList{},
		tags: map[string]Tags{},
	}
}

// clone needs no deep copy, because objects are never changed in place.
func (s *state) clone() *state {
	return &state{
		vpcs: maps.Clone(s.vpcs), subnets: maps.Clone(s.subnets), groups: maps.Clone(s.groups),
		instances: maps.Clone(s.instances), interfaces: maps.Clone(s.interfaces), addresses: maps.Clone(s.addresses),
		tables: maps.Clone(s.tables), lists: maps.Clone(s.lists),
		tags: maps.Clone(s.tags), serial: s.serial,
	}
}

func (s *state) load(w World) {
	insertAll(s.vpcs, w.VPCs, func(o VPC) string { return o.ID })
	insertAll(s.subnets, w.Subnets, func(o Subnet) string { return o.ID })
	insertAll(s.groups, w.Groups, func(o Group) string { return o.ID })
	insertAll(s.instances, w.Instances, func(o Instance) string { return o.ID })
	insertAll(s.interfaces, w.Interfaces, func(o Interface) string { return o.ID })
	insertAll(s.addresses, w.Addresses, func(o Address) string { return o.ID })
	insertAll(s.tables, w.RouteTables, func(o RouteTable) string { return o.ID })
	insertAll(s.lists, w.PrefixLists, func(o PrefixList) string { return o.ID })
	for id, tags := range w.Tags {
		s.tags[id] = maps.Clone(tags)
	}
}

func insertAll[T any](into map[string]T, list []T, id func(T) string) {
	for _, o := range list {
		into[id(o)] = o
	}
}

func (s *state) world() World {
	return World{
		VPCs: sortedByID(s.vpcs), Subnets: sortedByID(s.subnets), Groups: sortedByID(s.groups),
		Instances: sortedByID(s.instances), Interfaces: sortedByID(s.interfaces), Addresses: sortedByID(s.addresses),
		RouteTables: sortedByID(s.tables), PrefixLists: sortedByID(s.lists),
		Tags: maps.Clone(s.tags),
	}
}

// sortedByID returns the objects in the order of their ids.
func sortedByID[T any](m map[string]T) []T {
	out := make([]T, 0, len(m))
	for _, id := range slices.Sorted(maps.Keys(m)) {
		out = append(out, m[id])
	}
	return out
}

// newID makes the next id of a kind. Ids depend on nothing but the calls made
// so far, so that two runs of one test see the same ones. They count upwards,
// so that lists, which are sorted by id, show objects in the order of their making.
func (s *state) newID(prefix string) string {
	s.serial++
	id := ID(prefix, fmt.Sprintf("#%d", s.serial))
	digits := id[len(prefix)+2:]
	return fmt.Sprintf("%s-0%05x%s", prefix, s.serial&0xfffff, digits[5:])
}

// ID derives a well-formed resource id, such as sg-0123456789abcdef0, from a
// name. Seeds use it to have the same ids in every run.
func ID(prefix, name string) string {
	sum := sha256.Sum256([]byte(prefix + "/" + name))
	return prefix + "-0" + hex.EncodeToString(sum[:8])
}

// drop removes an object's tags along with it.
func (s *state) drop(id string) { delete(s.tags, id) }

func (s *state) groupRules(g Group) []Rule {
	return append(slices.Clone(g.Ingress), g.Egress...)
}

// groupsNamed finds a group by name in one VPC.
func (s *state) groupNamed(vpc, name string) (Group, bool) {
	for _, g := range sortedByID(s.groups) {
		if g.VPC == vpc && g.Name == name {
			return g, true
		}
	}
	return Group{}, false
}

// interfacesOf lists an instance's interfaces by device index.
func (s *state) interfacesOf(instance string) []Interface {
	var out []Interface
	for _, i := range s.interfaces {
		if i.Instance == instance {
			out = append(out, i)
		}
	}
	slices.SortFunc(out, func(a, b Interface) int { return a.DeviceIndex - b.DeviceIndex })
	return out
}
