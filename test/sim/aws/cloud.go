package aws

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/utils/clock"

	"github.com/berth-lb/berth/test/sim"
	"github.com/berth-lb/berth/test/sim/aws/ec2"
	"github.com/berth-lb/berth/test/sim/aws/elb"
	"github.com/berth-lb/berth/test/sim/aws/elb/lbkit"
	"github.com/berth-lb/berth/test/sim/aws/elbv2"
	"github.com/berth-lb/berth/test/sim/aws/iam"
	"github.com/berth-lb/berth/test/sim/aws/network"
	"github.com/berth-lb/berth/test/sim/aws/query"
)

// Options configures the cloud. The zero value is us-east-1, account
// 123456789012, the default seed without nodes, no delays and no throttling.
type Options struct {
	Region, Account string
	Clock           clock.PassiveClock
	Seed            SeedOptions
	// Empty leaves the seed out: a region without any VPC.
	Empty bool
	// ReleaseDelay is how long a deleted load balancer of either kind keeps its
	// security groups, subnets and addresses in use.
	ReleaseDelay time.Duration
	// EC2, ELB and ELBV2 take further options; region, account, clock and the
	// delay above are filled in where they are empty there.
	EC2   ec2.Options
	ELB   elb.Options
	ELBV2 elbv2.Options
}

// Cloud is the simulated cloud. It is safe for concurrent use.
type Cloud struct {
	sim.Control
	EC2   *ec2.API
	ELB   *elb.API
	ELBV2 *elbv2.API
	Seed  Seed

	clock    clock.PassiveClock
	services []*query.Service
	past     map[string]*sim.History[*query.Service] // by the names of the services
	account  string
	region   string
	// role judges calls, if there is one; linked is whether the role that load
	// balancing acts with was made.
	role     *iam.Policy
	linked   bool
	refusals atomic.Int64
	// running lets reads pass side by side and writes one at a time, so that a
	// security group cannot vanish while a load balancer is about to take it.
	running sync.RWMutex
}

// New makes a cloud and seeds it. The error tells of options that do not fit
// together, such as more nodes than the subnets have addresses.
func New(opt Options) (*Cloud, error) {
	applyDefaults(&opt)
	c := &Cloud{clock: opt.Clock, account: opt.Account, region: opt.Region, EC2: ec2.New(opt.EC2)}
	c.ELB = elb.New(c.EC2, opt.ELB)
	c.ELBV2 = elbv2.New(c.EC2, opt.ELBV2)
	c.EC2.SetUsers(network.AllUsers{c.ELB, c.ELBV2})
	c.services = []*query.Service{c.EC2.Service(), c.ELB.Service(), c.ELBV2.Service(), tokenService(opt), c.policyService()}
	c.past = map[string]*sim.History[*query.Service]{}
	for _, s := range c.services {
		c.past[s.Name] = &sim.History[*query.Service]{}
	}
	c.Rates = RealThrottle()
	c.State = func() any {
		return map[string]any{"ec2": c.EC2.Snapshot(), "elb": c.ELB.Snapshot(), "elbv2": c.ELBV2.Snapshot()}
	}
	if opt.Empty {
		return c, nil
	}
	seed, world, err := buildSeed(opt)
	if err != nil {
		return nil, fmt.Errorf("seed: %w", err)
	}
	c.Seed = seed
	c.EC2.Load(world)
	return c, nil
}

func applyDefaults(opt *Options) {
	sim.Default(&opt.Region, "us-east-1")
	sim.Default(&opt.Account, "123456789012")
	sim.RealClock(&opt.Clock)
	sim.Default(&opt.ELB.ReleaseDelay, opt.ReleaseDelay)
	sim.Default(&opt.ELBV2.Delays.Release, opt.ReleaseDelay)
	opt.EC2.Region, opt.EC2.Account, opt.EC2.Clock = opt.Region, opt.Account, opt.Clock
	for _, o := range []*lbkit.Options{&opt.ELB.Options, &opt.ELBV2.Options} {
		o.Region, o.Account, o.Clock = opt.Region, opt.Account, opt.Clock
		if o.Certificates == nil {
			o.Certificates = Certificates(opt.Region, opt.Account)
		}
	}
}

// ServeHTTP answers the control API under /_sim/ and the three services everywhere else.
func (c *Cloud) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c.Handle(w, r, func() (*sim.Visit, sim.Answer) {
		form, err := query.ReadForm(r)
		service := c.pick(form, r)
		v := c.visit(service, service.NewRequest(form, c.clock.Now()), form)
		if err == nil {
			err = checkSignature(r, form)
		}
		if err != nil {
			v.answer = service.Fail(v.request, err)
		} else {
			v.run(r.Context(), form)
		}
		return v.note(form), func(w http.ResponseWriter, _ int) { v.answer.Write(w) }
	})
}

// pick tells the services apart by version and, for versions that none of them
// has, by the service in the credential scope.
func (c *Cloud) pick(form url.Values, r *http.Request) *query.Service {
	version := form.Get("Version")
	for _, s := range c.services {
		if s.Version == version {
			return s
		}
	}
	switch scopeService(r) {
	case "ec2":
		return c.services[0]
	case "sts":
		return c.services[3]
	}
	return c.services[1]
}

// scopeService reads the service out of "Credential=KEY/DATE/REGION/SERVICE/aws4_request".
func scopeService(r *http.Request) string {
	text := r.Header.Get("Authorization") + r.URL.Query().Get("X-Amz-Credential")
	if _, rest, ok := strings.Cut(text, "Credential="); ok {
		text = rest
	}
	parts := strings.Split(text, "/")
	if len(parts) < 5 {
		return ""
	}
	return parts[3]
}

// checkSignature requires a signature of any kind and verifies none.
func checkSignature(r *http.Request, form url.Values) error {
	if form.Get("Action") == webIdentity || r.Header.Get("Authorization") != "" || form.Get("X-Amz-Signature") != "" || form.Get("Signature") != "" {
		return nil
	}
	return &query.Error{Status: http.StatusForbidden, Code: "MissingAuthenticationToken", Message: "Request is missing Authentication Token"}
}
