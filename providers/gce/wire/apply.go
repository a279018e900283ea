package wire

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/providers/gce/model"
	"github.com/berth-lb/berth/providers/kit"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/plan"
)

// mergeTries is how often an object that another writer changes at the same time is read
// again before a step gives up.
const mergeTries = 3

// Apply performs the steps of one batch and returns one outcome per step. Steps
// of several Services that do the same to something shared become one call.
func (s *Session) Apply(ctx context.Context, b plan.Batch) []plan.Outcome {
	out := make([]plan.Outcome, len(b.Steps))
	for _, same := range groupSame(b) {
		lead := &change{s, kit.Change[*Session]{Session: s, Ctx: ctx, Batch: b, Step: b.Steps[same[0]], Same: same}}
		for i, outcome := range lead.outcomes() {
			out[same[i]] = outcome
		}
	}
	return out
}

// groupSame groups the steps of a batch, by index, that do the same to one resource.
// Creations are first, deletions last.
func groupSame(b plan.Batch) [][]int {
	type work struct {
		owner   stack.Owner // zero for shared resources
		key     stack.Key
		verb    kit.Verb
		content string // of shared resources
	}
	var order []work
	groups := map[work][]int{}
	for _, action := range []plan.Action{plan.Create, plan.Update, plan.Delete} {
		for i, s := range b.Steps {
			if s.ID.Action != action {
				continue
			}
			w := work{owner: s.ID.Owner, key: s.ID.Key, verb: kit.VerbOf(s)}
			if s.Target.Ownership == stack.Shared {
				w.owner, w.content = stack.Owner{}, contentOf(s)
			}
			if groups[w] == nil {
				order = append(order, w)
			}
			groups[w] = append(groups[w], i)
		}
	}
	out := make([][]int, 0, len(order))
	for _, w := range order {
		out = append(out, groups[w])
	}
	return out
}

// contentOf is what a step writes, whichever Service wants it: Services that have read
// the cloud at different times may want different content of a shared resource. It is
// empty for deletions, which are all the same, and for instance groups, where the
// desired members of all steps are put together.
func contentOf(s plan.Step) string {
	if s.ID.Action == plan.Delete || s.ID.Key.Kind == model.KindGroup {
		return ""
	}
	s.ID.Owner = stack.Owner{}
	return s.Digest()
}

// change is a step at work, and for something shared all steps of the batch that
// do the same.
type change struct {
	*Session
	kit.Change[*Session]
}

func (c *change) outcomes() []plan.Outcome {
	c.awaitNeeds()
	id := c.Step.ID
	if id.Key.Kind == model.KindGroup && id.Action == plan.Update {
		return c.changeMembers()
	}
	outcome := c.oneForAll()
	out := make([]plan.Outcome, len(c.Same))
	for i := range out {
		out[i] = outcome
	}
	return out
}

// oneForAll applies a step to a shared resource once for all Services that want the same
// of it, including steps that were queued while another batch did it.
func (c *change) oneForAll() plan.Outcome {
	if !c.shared() {
		return c.run()
	}
	id := c.Step.ID
	what := cmp.Or(contentOf(c.Step), fmt.Sprintf("%s %s %+v", id.Action, id.Part, c.Step.Target.Spec))
	if id.Action == plan.Delete {
		if c.wantedByOthers() {
			return plan.Outcome{}
		}
		what = string(plan.Delete)
	}
	if last, ok := c.done.Get(id.Key, recentAge); ok && last.what == what {
		return last.outcome
	}
	o := c.run()
	c.recordDeed(id.Key, what, o)
	return o
}

func (c *change) run() plan.Outcome {
	if c.shared() && c.Step.ID.Action == plan.Delete {
		return c.release()
	}
	return c.call()
}

// call makes the call of the step.
func (c *change) call() plan.Outcome {
	return callTable().Run(&kit.Change[*change]{Session: c, Step: c.Step})
}

func (c *change) shared() bool { return c.Step.Target.Ownership == stack.Shared }

// wantedByOthers reports whether at this moment another Service wants the shared
// resource, which may have been created since the plan.
func (c *change) wantedByOthers() bool {
	return c.Batch.Claims != nil && slices.ContainsFunc(c.Same, func(i int) bool {
		s := c.Batch.Steps[i]
		return len(c.Batch.Claims.Others(s.ID.Owner, s.Target)) > 0
	})
}

// release deletes a shared resource. One that an unknown user still refers to stays.
func (c *change) release() plan.Outcome {
	if c.Step.ID.Key.Kind == model.KindCheckFirewall {
		if used, err := c.checksExist(); used || err != nil {
			return plan.Outcome{Used: used && err == nil, Err: err}
		}
	}
	outcome := c.call()
	if fault.Is(outcome.Err, fault.InUse) {
		return plan.Outcome{Used: true}
	}
	return outcome
}

// callTable returns the table of all calls. Members of groups are changed for many
// steps at once; see changeMembers.
func callTable() kit.Verbs[*change] {
	return kit.Verbs[*change]{
		{Kind: model.KindExternalRule, Action: plan.Create}: typedVerb(createRule),
		{Kind: model.KindExternalRule, Action: plan.Update}: typedVerb(updateRule),
		{Kind: model.KindExternalRule, Action: plan.Delete}: stepVerb(deleteRule),
		{Kind: model.KindInternalRule, Action: plan.Create}: typedVerb(createRule),
		{Kind: model.KindInternalRule, Action: plan.Update}: typedVerb(updateRule),
		{Kind: model.KindInternalRule, Action: plan.Delete}: stepVerb(deleteRule),
		{Kind: model.KindAddress, Action: plan.Create}:      typedVerb(createAddress),
		{Kind: model.KindAddress, Action: plan.Delete}:      stepVerb(deleteAddress),

		{Kind: model.KindPool, Action: plan.Create}:                     typedVerb(createPool),
		{Kind: model.KindPool, Action: plan.Update, Part: "instances+"}: stepVerb(addToPool),
		{Kind: model.KindPool, Action: plan.Update, Part: "instances-"}: stepVerb(removeFromPool),
		{Kind: model.KindPool, Action: plan.Update, Part: "checks+"}:    stepVerb(addPoolChecks),
		{Kind: model.KindPool, Action: plan.Update, Part: "checks-"}:    stepVerb(removePoolChecks),
		{Kind: model.KindPool, Action: plan.Delete}:                     stepVerb(deletePool),

		{Kind: model.KindBackend, Action: plan.Create}:                   typedVerb(createBackend),
		{Kind: model.KindBackend, Action: plan.Update}:                   typedVerb(updateBackend),
		{Kind: model.KindBackend, Action: plan.Update, Part: "protocol"}: typedVerb(updateBackend),
		{Kind: model.KindBackend, Action: plan.Delete}:                   stepVerb(deleteBackend),

		{Kind: model.KindCheck, Action: plan.Create}:         typedVerb(createCheck),
		{Kind: model.KindCheck, Action: plan.Update}:         typedVerb(updateCheck),
		{Kind: model.KindCheck, Action: plan.Delete}:         stepVerb(deleteCheck),
		{Kind: model.KindRegionalCheck, Action: plan.Create}: typedVerb(createRegionalCheck),
		{Kind: model.KindRegionalCheck, Action: plan.Update}: typedVerb(updateRegionalCheck),
		{Kind: model.KindRegionalCheck, Action: plan.Delete}: stepVerb(deleteRegionalCheck),
		{Kind: model.KindHTTPCheck, Action: plan.Create}:     typedVerb(createHTTPCheck),
		{Kind: model.KindHTTPCheck, Action: plan.Update}:     typedVerb(updateHTTPCheck),
		{Kind: model.KindHTTPCheck, Action: plan.Delete}:     stepVerb(deleteHTTPCheck),

		{Kind: model.KindGroup, Action: plan.Create}:                   typedVerb(createGroup),
		{Kind: model.KindGroup, Action: plan.Delete}:                   stepVerb(deleteGroup),
		{Kind: model.KindNEG, Action: plan.Create}:                     typedVerb(createNEG),
		{Kind: model.KindNEG, Action: plan.Update, Part: "endpoints+"}: stepVerb(attachEndpoints),
		{Kind: model.KindNEG, Action: plan.Update, Part: "endpoints-"}: stepVerb(detachEndpoints),
		{Kind: model.KindNEG, Action: plan.Delete}:                     stepVerb(deleteNEG),

		{Kind: model.KindFirewall, Action: plan.Create}:                          typedVerb(createFirewall),
		{Kind: model.KindFirewall, Action: plan.Update}:                          typedVerb(updateFirewall),
		{Kind: model.KindFirewall, Action: plan.Update, Part: model.PartClients}: typedVerb(updateFirewall),
		{Kind: model.KindFirewall, Action: plan.Delete}:                          stepVerb(deleteFirewall),

		{Kind: model.KindCheckFirewall, Action: plan.Create}: typedVerb(createFirewall),
		{Kind: model.KindCheckFirewall, Action: plan.Update}: typedVerb(updateFirewall),
		{Kind: model.KindCheckFirewall, Action: plan.Delete}: stepVerb(deleteFirewall),
		{Kind: model.KindDeny, Action: plan.Create}:          typedVerb(createFirewall),
		{Kind: model.KindDeny, Action: plan.Update}:          typedVerb(updateFirewall),
		{Kind: model.KindDeny, Action: plan.Delete}:          stepVerb(deleteFirewall),
	}
}

// typedVerb returns a verb that receives the content of the step.
func typedVerb[T any](f func(*change, T) plan.Outcome) func(*kit.Change[*change]) plan.Outcome {
	return kit.With(func(c *kit.Change[*change], spec T) plan.Outcome { return f(c.Session, spec) })
}

// stepVerb returns a verb that receives the step.
func stepVerb(f func(*change) plan.Outcome) func(*kit.Change[*change]) plan.Outcome {
	return func(c *kit.Change[*change]) plan.Outcome { return f(c.Session) }
}

// path is the path of a resource that is in the region or global, as the cloud answers it.
func (s *Session) path(kind stack.Kind, name string) string {
	region := "regions/" + s.config.Region + "/"
	switch kind {
	case model.KindRules, model.KindExternalRule, model.KindInternalRule:
		return region + "forwardingRules/" + name
	case model.KindAddress:
		return region + "addresses/" + name
	case model.KindPool:
		return region + "targetPools/" + name
	case model.KindBackend:
		return region + "backendServices/" + name
	case model.KindRegionalCheck:
		return region + "healthChecks/" + name
	case model.KindCheck:
		return "global/healthChecks/" + name
	case model.KindHTTPCheck:
		return "global/httpHealthChecks/" + name
	}
	return "global/firewalls/" + name
}

// name is the name of the step's resource.
func (c *change) name() string { return model.LastOf(c.ID()) }

// link is the URL of what a reference leads to; empty for none.
func (c *change) link(r stack.Ref) string {
	if r.IsZero() {
		return ""
	}
	return c.urlOf(c.Batch.ID(c.Step, r))
}

func (c *change) links(refs []stack.Ref) []string {
	var out []string
	for _, r := range refs {
		out = append(out, c.link(r))
	}
	return out
}

// linkBase returns how the cloud writes links to its resources, whatever the address
// that it is called at. Both official controllers compare some of them as texts. In
// other universes links are sent without a host, which the API completes.
// Source: Compute Engine API reference, forwardingRules, target: full and partial URLs.
func (s *Session) linkBase() string {
	if s.config.Universe != "" && s.config.Universe != commonUniverse {
		return ""
	}
	return "https://www." + commonUniverse + versionPath + "/"
}

// urlOf is the URL of a path of ours, or of a path that names its project.
func (s *Session) urlOf(path string) string {
	switch {
	case path == "" || strings.Contains(path, "://"):
		return path
	case strings.HasPrefix(path, "projects/"):
		return s.linkBase() + path
	}
	return s.linkBase() + "projects/" + s.config.Project + "/" + path
}

// optionalText leaves empty texts out of a request.
func optionalText(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// orNil leaves zeros out of a request.
func orNil[N ~int32 | ~int64](n N) *int32 {
	if n == 0 {
		return nil
	}
	return new(int32(n))
}
