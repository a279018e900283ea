package wire

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"cloud.google.com/go/compute/metadata"
	"golang.org/x/oauth2"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/gce/model"
	"github.com/berth-lb/berth/providers/kit"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/observed"
)

// Session is an open connection to one region of Google Cloud. It is safe for
// concurrent use. What it remembers between calls are facts that change seldom,
// the members of shared groups, and the operations that it waits for.
type Session struct {
	*clients

	config model.Config // completed by what was found
	now    func() time.Time
	facts  *factCache
	groups *observed.Values[string, []string]         // instances by the path of their group
	points *observed.Values[string, []model.Endpoint] // endpoints by the path of their group
	places *observed.Values[string, string]           // where clients send to, by the path of a forwarding rule
	done   *observed.Values[stack.Key, deed]          // to shared resources
	rules  *gatherer[string, ruleAnswer]

	open   *openOperations
	waits  *kit.Limits // of the calls that wait for operations
	nodes  *machines
	doubts *doubts
	web    *http.Client // of Diagnose, which calls another API

	legacy bool // the network has no subnets
}

// Open finds credentials, project, zone and network the way the official controllers do
// and returns a session. Values of the configuration are not looked up; the rest is read
// from the metadata server and from the network itself. The returned configuration
// contains everything that was found.
func Open(ctx context.Context, c model.Config, env providers.Env) (providers.Session[*model.Facts], model.Config, error) {
	// Clients outlive the call that opens them.
	found, err := credentialsOf(context.WithoutCancel(ctx), c)
	if err != nil {
		return nil, c, fmt.Errorf("gce: credentials: %w", err)
	}
	c.Universe = found.universe
	return OpenOver(ctx, c, env, &oauth2.Transport{Source: found.tokens, Base: newMeter(kit.Transport(), env.Calls)})
}

// OpenOver is Open with a transport that adds credentials.
func OpenOver(ctx context.Context, c model.Config, env providers.Env, next http.RoundTripper) (providers.Session[*model.Facts], model.Config, error) {
	s, err := openOver(ctx, c, env, next)
	if err != nil {
		return nil, c, fmt.Errorf("gce: %w", err)
	}
	return s, s.config, nil
}

func openOver(ctx context.Context, c model.Config, env providers.Env, next http.RoundTripper) (*Session, error) {
	c, err := locateConfig(ctx, c)
	if err != nil {
		return nil, err
	}
	now := env.Now
	if now == nil {
		now = time.Now
	}
	calls := &limited{next: next, calls: newLimits(env.Share, now, callLimit), waits: newLimits(env.Share, now, waitLimit)}
	client := &http.Client{Transport: &agent{name: env.UserAgent, next: calls}}
	s := &Session{config: c, now: now, web: client, facts: newFactCache(), open: newOpenOperations(), waits: calls.waits, nodes: newMachines(), doubts: &doubts{}}
	s.groups, s.points = observed.NewValues[string, []string](now), observed.NewValues[string, []model.Endpoint](now)
	s.places, s.done = observed.NewValues[string, string](now), observed.NewValues[stack.Key, deed](now)
	if err := s.identify(ctx, env); err != nil {
		return nil, err
	}
	if s.clients, err = connectClients(context.WithoutCancel(ctx), c, client); err != nil {
		return nil, err
	}
	s.rules = newGatherer(company, s.answerRules)
	if err := s.resolveConfig(ctx); err != nil {
		return nil, err
	}
	return s, nil
}

// identify fills in the cluster's identifiers that the configuration does not
// have. A uid with "--" in it keeps what follows the last one.
// Source: kubernetes/ingress-gce:cmd/glbc/app/init.go.
func (s *Session) identify(ctx context.Context, env providers.Env) error {
	id := &s.config.Identity
	if env.ClusterIDs == nil || id.SystemUID != "" && id.ClusterID != "" && id.ClusterUID != "" {
		return nil
	}
	found, err := env.ClusterIDs(ctx)
	if err != nil {
		return fmt.Errorf("cluster id: %w", err)
	}
	uid := found.Ingress["uid"]
	id.SystemUID = cmp.Or(id.SystemUID, found.SystemUID)
	id.ClusterID = cmp.Or(id.ClusterID, found.Ingress["provider-uid"], uid)
	if at := strings.LastIndex(uid, "--"); at >= 0 {
		uid = uid[at+len("--"):]
	}
	id.ClusterUID = cmp.Or(id.ClusterUID, uid)
	return nil
}

// agent is the User-Agent of our calls.
type agent struct {
	name string
	next http.RoundTripper
}

func (a *agent) RoundTrip(r *http.Request) (*http.Response, error) {
	out := r.Clone(r.Context())
	out.Header.Set("User-Agent", strings.TrimSpace(a.name+" "+r.UserAgent()))
	return a.next.RoundTrip(out)
}

// locateConfig reads from the metadata server what the configuration leaves open.
func locateConfig(ctx context.Context, c model.Config) (model.Config, error) {
	here := metadata.NewClient(nil)
	var err error
	if c.Project == "" {
		if c.Project, err = here.ProjectIDWithContext(ctx); err != nil {
			return c, fmt.Errorf("project-id: %w", err)
		}
	}
	if c.Zone == "" {
		if c.Zone, err = here.ZoneWithContext(ctx); err != nil {
			return c, fmt.Errorf("local-zone: %w", err)
		}
	}
	if c.Region, err = model.RegionOf(c.Zone); err != nil {
		return c, fmt.Errorf("local-zone: %w", err)
	}
	if c.Network == "" {
		// projects/<number>/networks/<name>, which lacks "global".
		path, err := here.GetWithContext(ctx, "instance/network-interfaces/0/network")
		if err != nil {
			return c, fmt.Errorf("network-name: %w", err)
		}
		c.Network = model.LastOf(strings.TrimSpace(path))
	}
	return c, nil
}

// resolveConfig completes projects, network and subnet by asking the cloud.
func (s *Session) resolveConfig(ctx context.Context) error {
	c := &s.config
	var err error
	if c.Project, err = s.projectID(ctx, c.Project); err != nil {
		return fmt.Errorf("project-id: %w", err)
	}
	c.NetworkProject = cmp.Or(c.NetworkProject, c.Project)
	if c.NetworkProject, err = s.projectID(ctx, c.NetworkProject); err != nil {
		return fmt.Errorf("network-project-id: %w", err)
	}
	c.Network = c.NetworkPath()
	if _, err = s.facts.zones.Get(ctx, s.now(), placeAge, s.managedZones); err != nil {
		return fmt.Errorf("zones: %w", err)
	}
	if c.Subnet != "" {
		c.Subnet = c.SubnetPath(c.Subnet)
		return nil
	}
	if err := s.findSubnet(ctx); err != nil {
		return fmt.Errorf("subnetwork-name: %w", err)
	}
	return nil
}

// isProjectNumber distinguishes a project's number from its id, which begins with a
// letter.
func isProjectNumber(project string) bool {
	return project != "" && strings.Trim(project, "0123456789") == ""
}
