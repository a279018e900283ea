package compute

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"k8s.io/utils/clock"

	"github.com/berth-lb/berth/test/sim"
	"github.com/berth-lb/berth/test/sim/gce/wire"
	"github.com/berth-lb/berth/test/sim/rest"
)

// Project is one project that the cloud has.
type Project struct {
	ID     string
	Number uint64
	// Host is the project whose networks this one uses; empty for its own.
	Host string
}

// Region is a region and the letters of its zones.
type Region struct {
	Name  string
	Zones []string
}

// Options configures the service. The zero value has the project berth-demo, the
// region us-central1 with zones a, b, c and f, and no delays.
type Options struct {
	Clock    clock.PassiveClock
	Projects []Project
	Regions  []Region
	// OperationDelay is how long an operation takes. The change itself can be
	// seen at once, but until then the resource takes no other change.
	OperationDelay time.Duration
	// OperationSpread is how much longer some operations take than others: up to so
	// much. Source: logs of Terraform, such as GoogleCloudPlatform/magic-modules pull
	// request 5031, where a forwarding rule takes 20 seconds and other things fewer.
	OperationSpread time.Duration
	// WaitLimit is how long a wait call waits at most; default 2 minutes, as the real one.
	WaitLimit time.Duration
	// LateFailures lets operations fail for quota, for addresses and resources in
	// use, instead of refusing the call.
	LateFailures bool
	// DrainingDelay is how long a detached endpoint is still listed, if a backend
	// service with connection draining uses its group.
	DrainingDelay time.Duration
	// Quotas replaces default quotas by metric, such as "FORWARDING_RULES".
	Quotas map[string]float64
	// QuotaFactor multiplies the default quotas; 0 means 1.
	QuotaFactor float64
}

// API is the simulated service. It is safe for concurrent use.
type API struct {
	opt      Options
	mu       sync.RWMutex
	st       *state
	ops      operations
	seq      uint64
	bump     map[string]uint32
	reads    map[string]func(*call) (wire.Object, error)
	changes  map[string]func(*call) error // each checks everything before it changes anything
	routes   []wire.Route
	patterns [][]string // of the paths of routes

	collections []*collection
}

// call is one request at work.
type call struct {
	*wire.Request
	api *API
	st  *state
	// held and linked are what holders and rulesOf found out.
	held   map[string][]holder
	linked map[string][]*entry
	// duration is what takes found out.
	duration *time.Duration
}

// New makes an empty cloud: its projects, regions and zones, and nothing in them.
func New(opt Options) *API {
	sim.RealClock(&opt.Clock)
	if len(opt.Projects) == 0 {
		opt.Projects = []Project{{ID: "berth-demo", Number: 123456789012}}
	}
	if len(opt.Regions) == 0 {
		opt.Regions = []Region{{Name: "us-central1", Zones: []string{"a", "b", "c", "f"}}}
	}
	sim.Default(&opt.WaitLimit, 2*time.Minute)
	a := &API{
		opt: opt, st: newState(), ops: newOperations(), bump: map[string]uint32{}, collections: newCollections(),
		reads: map[string]func(*call) (wire.Object, error){}, changes: map[string]func(*call) error{},
	}
	for _, c := range a.collections {
		a.serveCollection(c)
	}
	a.servePlaces()
	a.serveOperations()
	return a
}

func (a *API) serve(id, method, path string, read func(*call) (wire.Object, error)) {
	a.route(wire.Route{ID: id, Method: method, Path: path})
	a.reads[id] = read
}

func (a *API) serveChange(id, method, path string, change func(*call) error) {
	a.route(wire.Route{ID: id, Method: method, Path: path, Write: true})
	a.changes[id] = change
}

func (a *API) route(r wire.Route) {
	a.routes = append(a.routes, r)
	a.patterns = append(a.patterns, strings.Split(r.Path, "/"))
}

// Routes are all methods that the service has.
func (a *API) Routes() []wire.Route { return a.routes }

// Find gives the route of an HTTP call, with the parameters of its path. The path
// begins behind the version of the API.
func (a *API) Find(method, path string) (wire.Route, map[string]string, bool) {
	parts := strings.Split(path, "/")
	for i, r := range a.routes {
		if r.Method != method || slices.Contains(parts, "") {
			continue
		}
		if params, ok := rest.Match(a.patterns[i], parts); ok {
			return r, params, true
		}
	}
	return wire.Route{}, nil, false
}

// View is the state at some time, for reads from the past.
type View struct{ st *state }

// Read answers a reading request, from the view if there is one.
func (a *API) Read(ctx context.Context, req *wire.Request, view *View) *wire.Answer {
	a.nameProject(req)
	if strings.HasSuffix(req.ID, "Operations.wait") {
		a.await(ctx, req)
	}
	a.sweep()
	a.mu.RLock()
	defer a.mu.RUnlock()
	c := &call{Request: req, api: a, st: a.st}
	if view != nil {
		c.st = view.st
	}
	return c.run()
}

// Write does a changing request. With keep it also gives the state as it was
// before.
func (a *API) Write(req *wire.Request, keep bool) (*wire.Answer, *View) {
	a.mu.Lock()
	defer a.mu.Unlock()
	req.Now = a.opt.Clock.Now().UTC()
	a.nameProject(req)
	var before *View
	if keep {
		before = &View{a.st.clone()}
	}
	a.st.advance(req.Now)
	c := &call{Request: req, api: a, st: a.st}
	return c.run(), before
}

func (c *call) run() *wire.Answer {
	if err := c.checkPlace(); err != nil {
		return wire.Refuse(err)
	}
	if c.writes() {
		return c.mutate()
	}
	body, err := c.api.reads[c.ID](c)
	if err != nil {
		return wire.Refuse(err)
	}
	return &wire.Answer{Status: http.StatusOK, Body: body}
}

// writes reports whether the call changes state.
func (c *call) writes() bool { return c.api.changes[c.ID] != nil }

// sweep lets deletions that are due happen.
func (a *API) sweep() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.st.advance(a.opt.Clock.Now().UTC())
}

func (c *call) project() string { return c.Path["project"] }

// scope is where the path of the request leads, without the project.
func (c *call) scope() string {
	if r := c.Path["region"]; r != "" {
		return "regions/" + r
	}
	if z := c.Path["zone"]; z != "" {
		return "zones/" + z
	}
	return "global"
}

// checkPlace misses unknown projects, regions and zones.
func (c *call) checkPlace() error {
	if c.api.project(c.project()) == nil {
		return wire.NotFound("projects/" + c.project())
	}
	scope := c.scope()
	if scope == "global" || c.api.hasScope(scope) || strings.HasPrefix(c.ID, "regions.") || strings.HasPrefix(c.ID, "zones.") {
		return nil
	}
	return wire.NotFound("projects/" + c.project() + "/" + scope)
}

// nameProject lets a path name its project by number. Answers always have the id.
// Source: Compute Engine API reference, projects.get.
func (a *API) nameProject(req *wire.Request) {
	for _, p := range a.opt.Projects {
		if req.Path["project"] == strconv.FormatUint(p.Number, 10) {
			req.Path["project"] = p.ID
		}
	}
}

func (a *API) project(id string) *Project {
	for i := range a.opt.Projects {
		p := &a.opt.Projects[i]
		if p.ID == id {
			return p
		}
	}
	return nil
}

// scopes are "global", all regions and all zones, in this order.
func (a *API) scopes() []string {
	out := []string{"global"}
	for _, r := range a.opt.Regions {
		out = append(out, "regions/"+r.Name)
	}
	for _, r := range a.opt.Regions {
		for _, z := range r.Zones {
			out = append(out, "zones/"+r.Name+"-"+z)
		}
	}
	return out
}

func (a *API) hasScope(scope string) bool { return slices.Contains(a.scopes(), scope) }
