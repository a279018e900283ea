package wire

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/berth-lb/berth/nodeports"
	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/aws/model"
	"github.com/berth-lb/berth/providers/kit"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/diff"
	"github.com/berth-lb/berth/stack/engine"
	"github.com/berth-lb/berth/stack/ledger"
	"github.com/berth-lb/berth/test/sessions"
	"github.com/berth-lb/berth/test/sim"
	simaws "github.com/berth-lb/berth/test/sim/aws"
	"github.com/berth-lb/berth/test/sim/aws/elb"
	"github.com/berth-lb/berth/test/sim/aws/elbv2"
	"github.com/berth-lb/berth/test/sim/aws/simtest"
)

// rig is a session on a simulator of its own, and the tools to walk from one
// wish to the next.
type rig struct {
	testing.TB
	sim     *simtest.Running
	session *Session
	seed    simaws.Seed
	book    *ledger.Ledger
	engine  *engine.Engine
	config  model.Config
	cloud   providers.Cloud[model.Config, *model.Facts] // what is pure of it
}

func newRig(t testing.TB, opt simaws.Options) *rig {
	t.Helper()
	for k, v := range map[string]string{
		"AWS_ACCESS_KEY_ID": "AKIDSIMULATOR", "AWS_SECRET_ACCESS_KEY": "secret", "AWS_EC2_METADATA_DISABLED": "true",
		"AWS_CONFIG_FILE": "/dev/null", "AWS_SHARED_CREDENTIALS_FILE": "/dev/null",
	} {
		t.Setenv(k, v)
	}
	running := simtest.Start(t, opt)
	seed := running.Cloud.Seed
	c := model.Config{Region: seed.Region, VPC: seed.VPC, Subnet: seed.Subnets[0].ID, Cluster: model.ClusterTag{ID: seed.ClusterID}}
	for _, service := range []string{"EC2", "Elastic Load Balancing", "Elastic Load Balancing v2"} {
		c.Overrides = append(c.Overrides, model.ServiceOverride{Service: service, Region: seed.Region, URL: running.URL, SigningRegion: seed.Region})
	}
	opened, completed, err := Open(t.Context(), c, providers.Env{Cluster: "kubernetes", UserAgent: "berth-test", Now: time.Now, Share: kit.Unlimited()})
	if err != nil {
		t.Fatalf("open: %v", err)
	}
	session, ok := opened.(*Session)
	if !ok {
		t.Fatalf("open: got a %T", opened)
	}
	r := &rig{TB: t, sim: running, session: session, seed: seed, book: ledger.New(), config: completed, cloud: model.Cloud()}
	r.book.SetReady()
	r.engine = engine.New(session.Apply, r.book, engine.Options{})
	return r
}

// ownerOf returns the n-th Service of a test.
func ownerOf(n int) stack.Owner {
	return stack.Owner{Namespace: "shop", Name: fmt.Sprintf("web-%d", n), UID: fmt.Sprintf("%08d-1234-1234-1234-123456789012", n)}
}

func (r *rig) identity(o stack.Owner) providers.Identity[model.Config] {
	return providers.Identity[model.Config]{Owner: o, Cluster: "kubernetes", Config: r.config}
}

// owned are the tags of what the cluster makes.
func (r *rig) owned() model.Tags { return model.Tags{r.config.Cluster.Key(): "owned"} }

// ownedBy are the tags of what it makes for a Service.
func (r *rig) ownedBy(o stack.Owner) model.Tags {
	tags := r.owned()
	tags["kubernetes.io/service-name"] = o.Namespace + "/" + o.Name
	return tags
}

// nodes are the first n of the seeded ones.
func (r *rig) nodes(n int) nodeports.NodeSet {
	var list []nodeports.Node
	for _, s := range r.seed.Nodes[:n] {
		list = append(list, nodeports.Node{Name: s.Name, ProviderID: s.ProviderID, Zone: s.Zone})
	}
	return nodeports.Select(list, nodeports.Filter{})
}

// scope is what a deep read of a Service looks up.
func (r *rig) scope(o stack.Owner) providers.Scope {
	s := r.cloud.OwnedScope(r.identity(o))
	s.Nodes = r.nodes(len(r.seed.Nodes))
	s.Facts = append(s.Facts,
		providers.Lookup{Kind: model.KindSubnets, By: model.ByVPC},
		providers.Lookup{Kind: model.KindTargetAttr, By: model.ByWanted},
	)
	return s
}

func (r *rig) read(o stack.Owner) *stack.Stack {
	r.Helper()
	found := r.session.Read(r.Context(), []providers.Scope{r.scope(o)})
	if len(found) != 1 || found[0].Err != nil || len(found[0].Blind) > 0 {
		r.Fatalf("read: got %+v", found)
	}
	return found[0].Have
}

// walk plans from the existing to the desired state, runs the plan and returns the
// resulting state.
func (r *rig) walk(o stack.Owner, want *stack.Stack) engine.Report {
	r.Helper()
	have := r.cloud.MatchFound(want, r.read(o))
	if want != nil {
		r.book.Enter(o, want.Resources)
	} else {
		r.book.Leave(o)
	}
	p := diff.Compare(want, have, model.Rules(), r.book)
	if len(p.Blocked) > 0 {
		r.Fatalf("plan holds steps: %+v", p.Blocked)
	}
	return r.engine.Run(r.Context(), p, have, nil)
}

// arrive is walk, after which the cloud must show exactly the desired state and exactly
// what the run reported.
func (r *rig) arrive(o stack.Owner, want *stack.Stack) {
	r.Helper()
	report := r.walk(o, want)
	if err := report.Err(); err != nil || !report.Clean() {
		r.Fatalf("run: %v %+v", err, report.Results)
	}
	have := r.cloud.MatchFound(want, r.read(o))
	if again := diff.Compare(want, have, model.Rules(), r.book); !again.Empty() {
		r.Errorf("a second plan is not empty: %s", sessions.Steps(again))
	}
	if want != nil {
		sameStack(r, want, report.Have, have)
	}
}

// sameStack compares what a run knows with what a read finds: of every wanted
// resource both must have the same content.
func sameStack(t testing.TB, want, known, found *stack.Stack) {
	t.Helper()
	for _, w := range want.Resources {
		k, told := known.Get(w.Key)
		f, ok := found.Get(w.Key)
		if !ok {
			t.Errorf("%s: wanted, not found by the read", w.Key)
			continue
		}
		if !told {
			continue // inherent, and as wanted from the start
		}
		if diff := cmp.Diff(k, f, specOptions()...); diff != "" {
			t.Errorf("%s (-known after the run +read):\n%s", k.Key, diff)
		}
	}
}

// specOptions leave out fields that a read does not return because they are not
// compared.
func specOptions() []cmp.Option {
	return []cmp.Option{
		cmpopts.EquateEmpty(),
		cmpopts.IgnoreFields(stack.Resource{}, "State", "Proof"),
		cmpopts.IgnoreFields(model.TargetGroup{}, "Tags"),
		cmpopts.IgnoreFields(model.Listener{}, "Tags", "SSLPolicy"), // the policy that AWS chose is sticky
		cmpopts.IgnoreFields(model.ClassicPolicy{}, "Type", "Attributes"),
	}
}

// calls counts the calls since the last reset, by operation.
func (r *rig) calls() map[string]int { return r.sim.Cloud.Journal.Counts() }

func (r *rig) reset() { r.sim.Cloud.Journal.Reset() }

func (r *rig) fault(f sim.Fault) {
	r.Helper()
	if _, err := r.sim.Cloud.Faults.Add(f); err != nil {
		r.Fatal(err)
	}
}

// Quotas that let a test make as many load balancers as it likes.

func manyClassic() elb.Options { return elb.Options{Limits: elb.Limits{LoadBalancers: 1000}} }

func manyNetwork() elbv2.Options {
	return elbv2.Options{Limits: elbv2.Limits{NetworkLoadBalancers: 1000, Interfaces: 100000}}
}

// throttle limits the simulator to AWS's own rates.
func (r *rig) throttle() {
	r.Helper()
	if err := r.sim.Cloud.Throttle.Set(simaws.RealThrottle()...); err != nil {
		r.Fatal(err)
	}
}
