package ec2

import (
	"cmp"
	"slices"
	"strings"
	"sync"
	"time"

	"k8s.io/utils/clock"

	"github.com/berth-lb/berth/test/sim"
	"github.com/berth-lb/berth/test/sim/aws/network"
	"github.com/berth-lb/berth/test/sim/aws/query"
)

// Version is the API version that this simulator speaks.
const Version = "2016-11-15"

// Limits are the account's quotas. Zero takes the default; a negative number means no limit.
type Limits struct {
	RulesPerGroup int `default:"60"`   // each way, IPv4 and IPv6 counted apart
	Groups        int `default:"2500"` // in the region
}

// Zone is an availability zone or a local zone.
type Zone struct {
	Name, ID string
	// Type is availability-zone, local-zone or wavelength-zone.
	Type string
}

// Options configures the simulator. The zero value is us-east-1 with three zones.
type Options struct {
	Region, Account string
	Zones           []Zone
	Clock           clock.PassiveClock
	Limits          Limits
	// NewGroupDelay is how long a new security group cannot be found, as real
	// EC2 may need some seconds. Creating it again fails at once nevertheless.
	NewGroupDelay time.Duration
	// TerminatedFor is how long a terminated instance stays visible; default one hour.
	TerminatedFor time.Duration
	// Users lists the users of groups, subnets and addresses besides EC2 itself. May be nil.
	Users network.Users
}

// API is the simulated service. It is safe for concurrent use.
type API struct {
	opt Options
	mu  sync.RWMutex
	st  *state
	// leaving says when the interfaces of deleted load balancers go, by owner.
	leaving map[string]time.Time
}

// New makes an empty region: no VPC, no group, no instance.
func New(opt Options) *API {
	return &API{opt: withDefaults(opt), st: newState(), leaving: map[string]time.Time{}}
}

func withDefaults(opt Options) Options {
	sim.Default(&opt.Region, "us-east-1")
	sim.Default(&opt.Account, "123456789012")
	if len(opt.Zones) == 0 {
		opt.Zones = DefaultZones(opt.Region)
	}
	sim.RealClock(&opt.Clock)
	sim.Default(&opt.TerminatedFor, time.Hour)
	if opt.Users == nil {
		opt.Users = network.AllUsers{}
	}
	sim.Numbers(&opt.Limits)
	return opt
}

// DefaultZones gives the zones a, b and c of a region.
func DefaultZones(region string) []Zone {
	parts := strings.Split(region, "-")
	short := parts[0]
	for _, p := range parts[1:] {
		if abbreviation, ok := map[string]string{"northeast": "ne", "northwest": "nw", "southeast": "se", "southwest": "sw"}[p]; ok {
			short += abbreviation
			continue
		}
		short += p[:min(1, len(p))]
	}
	var out []Zone
	for i, letter := range []string{"a", "b", "c"} {
		out = append(out, Zone{Name: region + letter, ID: short + "-az" + string(rune('1'+i)), Type: "availability-zone"})
	}
	return out
}

// SetUsers joins the load balancer simulators, which need the Directory of
// this one before they can exist. Call it before serving.
func (a *API) SetUsers(u network.Users) { a.opt.Users = u }

// Load adds objects as they are, without any check; objects of the same id are replaced.
func (a *API) Load(w World) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.st.load(w)
}

// World gives everything that exists, sorted by id.
func (a *API) World() World {
	a.mu.RLock()
	defer a.mu.RUnlock()
	return a.st.world()
}

// Snapshot is World for a JSON dump.
func (a *API) Snapshot() any { return a.World() }

// Service is the wire side of the simulator.
func (a *API) Service() *query.Service {
	s := &query.Service{
		Name:      "ec2",
		Version:   Version,
		Namespace: "http://ec2.amazonaws.com/doc/" + Version + "/",
		Style:     query.EC2Query,
		Writes:    query.NoDescription,
		Ops:       map[string]query.Op{},
	}
	for name, op := range newOperations() {
		s.Ops[name] = a.bind(op, s.Writes(name))
	}
	s.Freeze = func() *query.Service {
		a.mu.RLock()
		defer a.mu.RUnlock()
		return (&API{opt: a.opt, st: a.st.clone()}).Service()
	}
	return s
}

// call is one request being served: the state under lock, and the other users of its objects.
type call struct {
	*query.Request
	st  *state
	opt *Options
	// users is the answer of Options.Users for the object that the operation is
	// about to let go, asked before the lock was taken.
	users []string
	// attached is an index of interfaces by instance, for reads only: a write
	// would outdate it.
	attached map[string][]Interface
}

// interfacesOf lists an instance's interfaces by device index, for reads. Reads of many
// instances would be quadratic without the index.
func (c *call) interfacesOf(instance string) []Interface {
	if c.attached == nil {
		c.attached = map[string][]Interface{}
		for _, i := range c.st.interfaces {
			c.attached[i.Instance] = append(c.attached[i.Instance], i)
		}
		for _, list := range c.attached {
			slices.SortFunc(list, func(a, b Interface) int { return cmp.Compare(a.DeviceIndex, b.DeviceIndex) })
		}
	}
	return c.attached[instance]
}

type operation struct {
	run func(*call) (any, error)
	// users lists the other users of the object that the call names.
	users func(*call) []string
}

func (a *API) bind(op operation, write bool) query.Op {
	return func(req *query.Request) (any, error) {
		if dry, _, err := req.Bool("DryRun"); err != nil {
			return nil, err
		} else if dry {
			return nil, &query.Error{Status: 412, Code: "DryRunOperation", Message: "Request would have succeeded, but DryRun flag is set."}
		}
		a.expire()
		c := &call{Request: req, st: a.st, opt: &a.opt}
		if op.users != nil {
			// The other simulators call the Directory under their own locks, so
			// they must not be asked while the lock of this one is held.
			c.users = op.users(&call{Request: req, st: a.frozen(), opt: &a.opt})
		}
		if !write {
			c.st = a.frozen()
			return op.run(c)
		}
		a.mu.Lock()
		defer a.mu.Unlock()
		return op.run(c)
	}
}

func (a *API) frozen() *state {
	a.mu.RLock()
	defer a.mu.RUnlock()
	return a.st.clone()
}
