package conform

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/berth-lb/berth/test/conform/kit"
	"github.com/berth-lb/berth/test/harness"
)

const (
	systemNamespace = "kube-system"
	mainLease       = "cloud-controller-manager"
	ownLease        = "berth"
	migrationLease  = "cloud-provider-extraction-migration"
	allControllers  = "*"
	allButOurs      = "*,-service-lb-controller"
)

// migration moves the service controller, and nothing else, under the migration
// lease. Its own name is in it: that of the defaults, service-controller, is one
// that cloud-controller-managers do not have any more.
const migration = `apiVersion: controllermanager.config.k8s.io/v1
kind: LeaderMigrationConfiguration
leaderName: ` + migrationLease + `
controllerLeaders:
- name: service-lb-controller
  component: "*"
`

// elected are the flags of a program that elects a leader, faster than by default.
// They are all: a list of controllers that is given twice adds up.
func (h *handOver) elected(lease, controllers string, more ...string) []string {
	return append([]string{
		"--cloud-provider=aws", "--cloud-config=" + h.CloudConfig(), "--kubeconfig=" + h.Cluster.Kubeconfig(""), "--secure-port=0", "-v=2",
		"--kube-api-qps=100", "--kube-api-burst=200", "--configure-cloud-routes=false", "--controllers=" + controllers,
		"--leader-elect=true", "--leader-elect-resource-name=" + lease,
		"--leader-elect-lease-duration=6s", "--leader-elect-renew-deadline=4s", "--leader-elect-retry-period=1s",
	}, more...)
}

// handOver is one attempt to take the service controller over while the official
// program continues with its others.
type handOver struct {
	*kit.World
	services []corev1.Service
	start    string // the cloud before the first Service
	made     string // and with load balancers on it
}

// TestLeaderMigration takes the service controller out of a running official
// program in the two ways that its flags have for that.
func TestLeaderMigration(t *testing.T) {
	t.Run("by the migration lease", byMigrationLease)
	t.Run("without its service controller", withoutServiceController)
}

// byMigrationLease is leader migration as Kubernetes documents it: first the old
// program puts its controller under the second lease, then the new one waits for
// that lease, and then the old one gives the controller up.
func byMigrationLease(t *testing.T) {
	h := newHandOver(t)
	file := filepath.Join(h.Dir, "migration.yaml")
	h.Must(os.WriteFile(file, []byte(migration), 0o600))
	migrating := []string{"--enable-leader-migration", "--leader-migration-config=" + file}

	plain := h.runOfficial(allControllers)
	h.build()
	first := h.runOfficial(allControllers, migrating...)
	plain.Kill()
	h.held("the official program starts to migrate", migrationLease)
	holder := h.holder(migrationLease)
	berth := h.runBerth(migrating...)
	h.held("Berth leads what is not migrated", ownLease)
	h.officialWorks("under the migration lease")
	if strings.Contains(berth.Output(), "service loop is running") {
		t.Error("Berth works although the official program holds the migration lease")
	}
	if now := h.holder(migrationLease); now != holder {
		t.Errorf("the migration lease went from %s to %s", holder, now)
	}

	second := h.runOfficial(allButOurs)
	mark := h.Mark()
	first.Kill()
	h.berthWorks(mark, berth, second)
	// A program has one name in all leases.
	if now := h.holder(migrationLease); now != h.holder(ownLease) {
		t.Errorf("the migration lease is held by %s", now)
	}
}

// withoutServiceController is the simple way: the official program is restarted
// without its service controller, and Berth is started with a lease of its own once the
// restart is complete.
func withoutServiceController(t *testing.T) {
	h := newHandOver(t)
	first := h.runOfficial(allControllers)
	h.build()
	h.officialWorks("alone")
	second := h.runOfficial(allButOurs)
	holder := h.holder(mainLease)
	mark := h.Mark()
	first.Kill()
	h.Eventually("the official program goes on", func(context.Context) error {
		if now := h.holder(mainLease); now == holder || now == "" {
			return fmt.Errorf("held by %q", now)
		}
		return nil
	})
	berth := h.runBerth()
	h.berthWorks(mark, berth, second)
}

func newHandOver(t *testing.T) *handOver {
	h := &handOver{World: suite.NewWorld(t, "stock")}
	h.services = kit.Pick(t, h.World.Services("stock"), "clb-plain", "nlb-ranges", "nlb-ports")
	h.start = h.State()
	t.Cleanup(func() {
		for _, lease := range []string{mainLease, ownLease, migrationLease} {
			err := h.Client.CoordinationV1().Leases(systemNamespace).Delete(context.Background(), lease, metav1.DeleteOptions{})
			if err != nil && !apierrors.IsNotFound(err) {
				t.Error(err)
			}
		}
	})
	return h
}

// runOfficial starts the official program. A kill ends it in the end: it answers
// no signal.
func (h *handOver) runOfficial(controllers string, flags ...string) *harness.Process {
	h.T.Helper()
	p, err := h.Run("official", h.Theirs, h.Credentials(), h.elected(mainLease, controllers, flags...)...)
	h.Must(err)
	h.T.Cleanup(p.Kill)
	return p
}

// runBerth starts our program beside it, with a lease of its own.
func (h *handOver) runBerth(flags ...string) *harness.Process {
	h.T.Helper()
	p, err := h.Run("berth", h.Binaries.Controller, h.Credentials(), h.elected(ownLease, allControllers, flags...)...)
	h.Must(err)
	return p
}

// build lets the official program make the load balancers.
func (h *handOver) build() {
	h.T.Helper()
	h.Must(h.Create(h.T.Context(), h.services...))
	h.Eventually("the official program builds", h.Addressed(h.services...))
	h.Settle(0)
	h.made = h.State()
}

// officialWorks changes a Service and sees that the official program follows, and
// Berth has never done anything.
func (h *handOver) officialWorks(when string) {
	h.T.Helper()
	h.Settle(0)
	before, mark := h.by("service-controller"), h.Mark()
	h.Must(h.Change(h.T.Context(), h.Namespace, h.services[0].Name, addPort(7001)))
	h.Eventually("the official program works "+when, func(context.Context) error {
		if n := len(kit.Writes(h.Since(mark))); n == 0 {
			return errors.New("no call yet")
		}
		if h.by("service-controller") == before {
			return errors.New("no event yet")
		}
		return nil
	})
	h.Settle(mark)
	h.made = h.State()
	if n := h.by("berth"); n > 0 {
		h.T.Errorf("Berth told %d events while the official program leads", n)
	}
}

// berthWorks checks that Berth takes over the resources of the official program, and
// that from then on it alone works on Services, while that program continues.
func (h *handOver) berthWorks(mark int, berth, official *harness.Process) {
	h.T.Helper()
	t, theirs := h.T, h.by("service-controller")
	h.Eventually("Berth takes over", h.Programmed(h.services...))
	for _, e := range kit.Writes(h.Settle(mark)) {
		t.Errorf("written at the hand-over: %s", kit.Describe(e))
	}
	if diff := cmp.Diff(h.made, h.State()); diff != "" {
		t.Errorf("the cloud changed at the hand-over (-want +got):\n%s", diff)
	}
	mark = h.Mark()
	h.Must(h.Change(t.Context(), h.Namespace, h.services[0].Name, addPort(7002)))
	h.Eventually("Berth works", func(ctx context.Context) error {
		if len(kit.Writes(h.Since(mark))) == 0 {
			return errors.New("no call yet")
		}
		return h.Programmed(h.services...)(ctx)
	})
	for _, e := range kit.Writes(h.Settle(mark)) {
		if strings.HasPrefix(e.Operation, "Delete") || strings.HasPrefix(e.Operation, "Deregister") {
			t.Errorf("a port more has cut traffic: %s", kit.Describe(e))
		}
	}
	h.Must(h.Delete(t.Context(), h.services...))
	h.Eventually("Berth deletes", h.Gone(h.services...))
	if diff := cmp.Diff(h.start, h.State()); diff != "" {
		t.Errorf("left after deletion (-want +got):\n%s", diff)
	}
	if now := h.by("service-controller"); now != theirs {
		t.Errorf("the stock service controller told %d events after Berth has taken over", now-theirs)
	}
	if h.by("berth") == 0 {
		t.Error("Berth told nothing: events do not say who works")
	}
	for _, p := range []*harness.Process{berth, official} {
		if !p.Running() {
			t.Errorf("%s has ended", p.Name)
		}
	}
	if h.holder(mainLease) == "" {
		t.Error("the official program has no leader")
	}
}

// addPort adds a port to a Service.
func addPort(number int32) func(*corev1.Service) {
	return func(svc *corev1.Service) {
		svc.Spec.Ports = append(svc.Spec.Ports, corev1.ServicePort{
			Name: fmt.Sprintf("more-%d", number), Protocol: corev1.ProtocolTCP, Port: number, TargetPort: intstr.FromInt32(number),
		})
	}
}

// by counts the events on Services that a component has told.
func (h *handOver) by(component string) int {
	h.T.Helper()
	list, err := h.Client.CoreV1().Events(h.Namespace).List(h.T.Context(), metav1.ListOptions{FieldSelector: "involvedObject.kind=Service"})
	h.Must(err)
	n := 0
	for _, e := range list.Items {
		if e.Source.Component == component {
			n += int(max(e.Count, 1))
		}
	}
	return n
}

// holder returns the holder of a lease; empty if there is none.
func (h *handOver) holder(lease string) string {
	got, err := h.Client.CoordinationV1().Leases(systemNamespace).Get(h.T.Context(), lease, metav1.GetOptions{})
	if err != nil || got.Spec.HolderIdentity == nil {
		return ""
	}
	return *got.Spec.HolderIdentity
}

// held waits until a lease has a holder.
func (h *handOver) held(what, lease string) {
	h.T.Helper()
	h.Eventually(what, func(context.Context) error {
		if h.holder(lease) == "" {
			return fmt.Errorf("the lease %s has no holder", lease)
		}
		return nil
	})
}
