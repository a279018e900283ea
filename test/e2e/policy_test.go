package e2e

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berth-lb/berth/status"
	"github.com/berth-lb/berth/test/harness"
)

// write puts a policy file into the world's folder, as an update of a ConfigMap
// does: all at once.
func (w *world) write(policy string) string {
	w.t.Helper()
	path := filepath.Join(w.Dir, "policy.yaml")
	w.must(os.WriteFile(path+".new", []byte(policy), 0o600))
	w.must(os.Rename(path+".new", path))
	return path
}

// refused waits until a Service is refused by the policy, in words.
func (w *world) refused(name string, words ...string) {
	w.t.Helper()
	c := w.condition(name, status.TypeAccepted, metav1.ConditionFalse, status.ReasonPolicyRefused)
	if err := requireWords(c.Message, words...); err != nil {
		w.t.Errorf("%s: condition: %v", name, err)
	}
	w.eventually("the event", func() error {
		return requireWords(strings.Join(w.warnings(name), "\n"), append([]string{"PolicyRefused"}, words...)...)
	})
}

const (
	internalOnly = "rules: [{name: inside, namespaces: ['*'], forbidInternet: true}]\n"
	noGroups     = "rules: [{name: groups, namespaces: ['*'], names: {security-group: []}}]\n"
)

// TestPolicyRefuses: no resource is created for a Service that requests too much. Once it is
// corrected, it is served. Deletion is always allowed.
func TestPolicyRefuses(t *testing.T) {
	w := startWorld(t, 2)
	before := w.state()
	w.controller("--policy-config=" + w.write(internalOnly))
	meter := w.meter()
	open, shut := w.service("open"), w.service("shut", useNetworkType)
	w.must(w.Create(t.Context(), open, shut))
	for _, name := range []string{"open", "shut"} {
		w.refused(name, "aws-load-balancer-internal", `"inside"`, `"true"`)
	}
	w.noWrites("refused Services", meter)
	w.update("open", setAnnotation("internal", "true"))
	w.programmed(open)
	w.condition("open", status.TypeAccepted, metav1.ConditionTrue, status.ReasonAccepted)
	w.remove(open, shut)
	w.asBefore(before)
}

// TestPolicyForbidsOpenNodes: nothing opens the nodes to a group that a Service names, and
// one that did before the policy is not changed any further.
func TestPolicyForbidsOpenNodes(t *testing.T) {
	w := startWorld(t, 2)
	before := w.state()
	w.controller("--policy-config=" + w.write("rules: [{name: closed, namespaces: [other], forbidOpenNodes: true}]\n"))
	free := w.create("free")
	group := w.groupOf("free")
	live := w.create("live", setAnnotation("security-groups", group))
	was, err := w.balancer("live")
	w.must(err)
	w.write("rules: [{name: closed, namespaces: ['*'], forbidOpenNodes: true}]\n")
	fresh := w.service("fresh", setAnnotation("security-groups", group))
	w.must(w.Create(t.Context(), fresh))
	for _, name := range []string{"live", "fresh"} {
		w.refused(name, "aws-load-balancer-security-groups", group, `"closed"`, "on all ports")
	}
	w.update("live", setAnnotation("connection-idle-timeout", "120"))
	w.settled(w.meter())
	w.stays("live", was)
	w.update("live", setAnnotation("security-groups", ""))
	w.programmed(live, free)
	w.becomes("live", settingOf("idle"), "120")
	w.remove(live, fresh, free)
	w.asBefore(before)
}

// TestPolicyTightened: a live load balancer that would be refused today stays as it
// is and follows the nodes, also after a restart, and if the Service says that it is
// internal though it is not; a policy that allows more again takes effect by itself, one
// that cannot be read does not.
func TestPolicyTightened(t *testing.T) {
	w := startWorld(t, 3)
	before := w.state()
	nodes := w.seed(2)
	path := w.write(noGroups)
	first := w.controller("--policy-config=" + path)
	live := w.create("live")
	was, err := w.balancer("live")
	w.must(err)

	w.write(internalOnly)
	w.refused("live", "aws-load-balancer-internal")
	w.update("live", setAnnotation("connection-idle-timeout", "120"))
	w.must(w.JoinNode(t.Context(), &nodes[2]))
	w.eventually("it follows the nodes", func() error {
		b, err := w.balancer("live")
		if err != nil {
			return err
		}
		return atLeast(3, len(b.Members))
	})
	w.stays("live", was)

	first.Kill()
	w.must(w.LeaveNode(t.Context(), nodes[2].Name))
	second := w.controller("--policy-config=" + path)
	w.becomes("live", membersOf, was.Members)
	w.stays("live", was)
	if len(w.get("live").Status.LoadBalancer.Ingress) == 0 {
		t.Error("the address was taken away")
	}

	w.write("rules: [{name: broken")
	w.eventually("the file is told to be wrong", func() error { return requireWords(second.Output(), "the policy before stays in force") })
	w.condition("live", status.TypeAccepted, metav1.ConditionFalse, status.ReasonPolicyRefused)
	w.write(noGroups)
	w.condition("live", status.TypeAccepted, metav1.ConditionTrue, status.ReasonAccepted)
	w.becomes("live", settingOf("idle"), "120")
	w.write(internalOnly)
	w.refused("live", "aws-load-balancer-internal")

	was, err = w.balancer("live")
	w.must(err)
	w.update("live", setAnnotation("internal", "true"), setAnnotation("connection-idle-timeout", "240"))
	w.eventually("what is there is judged, whatever the Service says of it", func() error {
		return requireWords(w.condition("live", status.TypeAccepted, metav1.ConditionFalse, status.ReasonPolicyRefused).Message, "internet-facing")
	})
	w.stays("live", was)
	w.remove(live)
	w.asBefore(before)
}

// stays wants a load balancer to be as it was but for its members.
func (w *world) stays(name string, was balancer) {
	w.t.Helper()
	now, err := w.balancer(name)
	w.must(err)
	now.Members, was.Members = nil, nil
	now.Checks, was.Checks = nil, nil
	if err := diffError(name, was, now); err != nil {
		w.t.Error(err)
	}
}

// TestAllowedNamespaces serves some namespaces; a policy file that means nothing
// ends the program.
func TestAllowedNamespaces(t *testing.T) {
	w := startWorld(t, 1)
	elsewhere := plane.Cluster(t).Namespace(t)
	w.controller("--allowed-namespaces=other-*," + w.ns)
	inside, outside := w.service("inside"), w.service("outside")
	outside.Namespace = elsewhere
	w.must(w.Create(t.Context(), inside, outside))
	w.programmed(inside)
	w.eventually("the other is refused", func() error {
		svc, err := w.Get(t.Context(), elsewhere, "outside")
		if err != nil {
			return err
		}
		return requireWords(harness.Conditions(svc), "PolicyRefused", "metadata.namespace", w.ns)
	})
	w.remove(inside, outside)
	bad := w.controller("--policy-config=" + w.write("rules: [{name: a, namespaces: ['*'], forbidAnnotations: [aws-load-balancer-internl]}]"))
	w.eventually("the controller refuses to start", func() error {
		if bad.Running() {
			return errors.New("it runs")
		}
		return nil
	})
	if err := requireWords(bad.Output(), "--policy-config", `"aws-load-balancer-internl" is no annotation of aws`); err != nil {
		t.Error(err)
	}
}
