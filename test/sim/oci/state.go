package oci

import (
	"crypto/sha256"
	"encoding/base32"
	"encoding/hex"
	"fmt"
	"maps"
	"strconv"
	"strings"
	"time"

	"github.com/berth-lb/berth/test/sim/rest"
)

// The collections of the store, which are also the types in the identifiers.
const (
	balancers    = "loadbalancer"
	networkLBs   = "networkloadbalancer"
	workLB       = "loadbalancerworkrequest"
	workNLB      = "networkloadbalancerworkrequest"
	compartments = "compartment"
	vcns         = "vcn"
	subnets      = "subnet"
	lists        = "securitylist"
	groups       = "networksecuritygroup"
	vnics        = "vnic"
	attachments  = "vnicattachment"
	instances    = "instance"
	publicIPs    = "publicip"
	privateIPs   = "privateip"
	ipv6s        = "ipv6"
)

// state is everything that the cloud holds. Objects in it are never changed in place,
// so a copy of the tables is a copy of the state.
type state struct {
	rest.Tables
	region string
	made   int             // objects made so far, for identifiers
	lent   int             // public addresses given so far
	taken  map[string]bool // private addresses in use, after their subnet
	open   map[string]work // work requests that run, by their load balancer
}

func newState(region string) *state {
	return &state{Tables: rest.Tables{}, region: region, taken: map[string]bool{}, open: map[string]work{}}
}

func (s *state) Clone() *state {
	return &state{Tables: s.Tables.Clone(), region: s.region, made: s.made, lent: s.lent, taken: maps.Clone(s.taken), open: maps.Clone(s.open)}
}

// id is a new identifier, the same in every run that makes the same things.
func (s *state) id(kind string) string {
	s.made++
	return s.idOf(kind, strconv.Itoa(s.made))
}

// idOf is the identifier of what has a name.
// Source: IAM documentation, "Resource Identifiers": ocid1.<type>.<realm>.[region].<unique>.
func (s *state) idOf(kind, name string) string {
	region := s.region
	if kind == compartments || kind == "tenancy" || kind == "user" {
		region = ""
	}
	sum := sha256.Sum256([]byte(kind + " " + name))
	unique := strings.ToLower(base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(sum[:]))
	return fmt.Sprintf("ocid1.%s.oc1.%s.aaaaaaaa%s", kind, region, unique)
}

// store enters an object, new or in place of the one of its id, with a new etag.
func (s *state) store(c string, o rest.Object) rest.Object {
	s.made++
	sum := sha256.Sum256([]byte("etag " + strconv.Itoa(s.made)))
	return s.Put(c, o.With(rest.Object{etag: hex.EncodeToString(sum[:8])}))
}

// etag is the key of what is answered in the header of that name.
const etag = "etag"

// formatTime formats a time as the APIs do. Source: API reference, RFC 3339.
func formatTime(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z07:00") }
