package gce

import (
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"k8s.io/utils/clock"

	"github.com/berth-lb/berth/test/sim"
	"github.com/berth-lb/berth/test/sim/gce/compute"
	"github.com/berth-lb/berth/test/sim/gce/identity"
	"github.com/berth-lb/berth/test/sim/gce/wire"
)

// Options configures the cloud. The zero value is project berth-demo in
// us-central1, the default seed without nodes, no delays and no throttling.
type Options struct {
	Project string
	// NetworkProject is the host project of a shared network; empty for none.
	NetworkProject string
	Region         string
	// Zones are the letters of the region's zones; default a, b, c and f.
	Zones []string
	Clock clock.PassiveClock
	Seed  SeedOptions
	// Empty leaves the seed out: a project without any network.
	Empty bool
	// RequireToken refuses calls of Compute Engine without a token that the
	// simulator gave out; otherwise tokens are not looked at.
	RequireToken bool
	// TooMany answers calls beyond a rate with 429 and not with 403. Source:
	// kubernetes/ingress-gce, which takes that status and the reason as the same.
	TooMany bool
	// Compute takes further options; projects, regions and clock are filled in.
	Compute compute.Options
}

// Cloud is the simulated cloud. It is safe for concurrent use.
type Cloud struct {
	sim.Control
	Compute  *compute.API
	Identity *identity.Server
	Seed     Seed

	opt   Options
	clock clock.PassiveClock
	past  sim.History[*compute.View]
	role  atomic.Pointer[Role] // judges calls, if there is one
}

// New makes a cloud and seeds it. The error tells of options that do not fit
// together, such as more nodes than the subnetwork has addresses.
func New(opt Options) (*Cloud, error) {
	applyDefaults(&opt)
	c := &Cloud{opt: opt, clock: opt.Clock, Compute: compute.New(opt.Compute)}
	c.Rates = RealThrottle()
	c.State = func() any { return map[string]any{"compute": c.Compute.Snapshot()} }
	c.Identity = identity.New(identity.Machine{
		Project: opt.Project, ProjectNumber: projectNumber, Zone: opt.Region + "-" + opt.Zones[0], Name: "control-plane", IP: "10.128.15.200",
		Network: "default", ClusterName: opt.Seed.ClusterID, ClusterLocation: opt.Region, ClusterUID: clusterUID(opt.Seed.ClusterID),
	})
	if opt.Empty {
		return c, nil
	}
	seed, err := seedCloud(c.Compute, opt)
	if err != nil {
		return nil, fmt.Errorf("seed: %w", err)
	}
	c.Seed = seed
	return c, nil
}

const projectNumber, hostNumber = 123456789012, 210987654321

func applyDefaults(opt *Options) {
	sim.Default(&opt.Project, "berth-demo")
	sim.Default(&opt.Region, "us-central1")
	sim.Default(&opt.Seed.ClusterID, "berth-demo")
	if len(opt.Zones) == 0 {
		opt.Zones = []string{"a", "b", "c", "f"}
	}
	sim.RealClock(&opt.Clock)
	opt.Compute.Clock = opt.Clock
	opt.Compute.Projects = []compute.Project{{ID: opt.Project, Number: projectNumber, Host: opt.NetworkProject}}
	if opt.NetworkProject != "" {
		opt.Compute.Projects = append(opt.Compute.Projects, compute.Project{ID: opt.NetworkProject, Number: hostNumber})
	}
	opt.Compute.Regions = []compute.Region{{Name: opt.Region, Zones: opt.Zones}}
}

// apiPath is the path of a Compute Engine call: version and the rest. An endpoint
// may have the word compute before the version or not.
func apiPath(path string) (version, rest string, ok bool) {
	path = strings.TrimPrefix(strings.TrimPrefix(path, "/"), "compute/")
	version, rest, _ = strings.Cut(path, "/")
	known := version == "v1" || version == "beta" || version == "alpha"
	return version, rest, known && strings.HasPrefix(rest, "projects/")
}

// ServeHTTP answers the control API under /_sim/, and the three services.
func (c *Cloud) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c.Handle(w, r, func() (*sim.Visit, sim.Answer) {
		v := &visit{cloud: c, http: r}
		v.Time = c.clock.Now().UTC()
		v.serve()
		return v.note(), func(w http.ResponseWriter, _ int) {
			if v.token != nil {
				v.token.Write(w)
				return
			}
			v.answer.Write(w, v.request.Version)
		}
	})
}

// authenticate checks the token, if the cloud is configured to.
func (c *Cloud) authenticate(r *http.Request, now time.Time) error {
	if !c.opt.RequireToken {
		return nil
	}
	token, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	switch {
	case !ok:
		return &wire.Error{Status: http.StatusUnauthorized, Reason: "required", Canonical: "UNAUTHENTICATED", Message: "Request is missing required authentication credential."}
	case !c.Identity.Known(token, now):
		return &wire.Error{Status: http.StatusUnauthorized, Reason: "authError", Canonical: "UNAUTHENTICATED", Message: "Request had invalid authentication credentials."}
	}
	return nil
}
