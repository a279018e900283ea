package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	elbv2 "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berth-lb/berth/stack/plan"
)

// elsewhere is a class that no controller of the test serves.
const elsewhere = "example.com/elsewhere"

// TestStatusTellsTheTruth holds `berth status` against a controller that runs, one that has
// stopped and none at all, and Services that are unchanged, changed, deleted in the cloud
// and of another controller.
func TestStatusTellsTheTruth(t *testing.T) {
	w := startWorld(t, 2)
	left := w.service("left", setClass(elsewhere))
	w.must(w.Create(t.Context(), left))
	controller := w.controller(electionFlags()...)
	same, edited, lost := w.create("same", useNetworkType), w.create("edited", useNetworkType), w.create("lost", useNetworkType)

	w.update("edited", setPorts(81, 0))
	w.programmed(edited)
	w.deleteInCloud("lost")
	w.tells("a controller runs", map[string]answer{
		"same":   {plan.ExitNothing, "Programmed True"},
		"edited": {plan.ExitNothing, "Programmed True"},
		"lost":   {plan.ExitChanges, "the cloud has no load balancer of the Service"},
		"left":   {plan.ExitNothing, "left alone: spec.loadBalancerClass"},
	})

	w.must(controller.Stop(10 * time.Second))
	w.expireLease()
	w.update("edited", setPorts(82, 0))
	w.tells("the controller has stopped", map[string]answer{
		"same":   {plan.ExitNothing, "no controller has renewed the Lease " + leaseNamespace + "/" + leaseName + " since"},
		"edited": {plan.ExitChanges, "changed since 2"},
		"lost":   {plan.ExitChanges, "the cloud has no load balancer of the Service"},
		"left":   {plan.ExitNothing, "left alone: spec.loadBalancerClass"},
	})
	if out, code := w.plain("status", "svc/edited", "-n", w.ns); code != plan.ExitChanges || !strings.Contains(out, "changed since 2") {
		t.Errorf("without a cloud: exit code %d\n%s", code, out)
	}
	if out, code := w.plain("status", "svc/same", "-n", w.ns); code != plan.ExitNothing || strings.Contains(out, "changed since") {
		t.Errorf("without a cloud: exit code %d\n%s", code, out)
	}
	w.plansTheLiveOne("same")

	w.dropLease()
	fresh, again, gone := w.service("fresh"), w.service("again"), w.service("gone")
	w.must(w.Create(t.Context(), fresh, again, gone))
	w.update("again", setPorts(83, 0))
	w.tells("there never was a controller", map[string]answer{
		"fresh": {plan.ExitChanges, "not looked at yet"},
		"again": {plan.ExitChanges, "not looked at yet"},
		"gone":  {plan.ExitChanges, "not looked at yet"},
		"left":  {plan.ExitNothing, "left alone: spec.loadBalancerClass"},
	})
	w.forceAway(left, fresh, again, gone, same, edited, lost)
}

// answer is the exit code of `berth status`, and what it says.
type answer struct {
	code int
	says string
}

// tells compares the answers for Services, with the cloud read.
func (w *world) tells(when string, want map[string]answer) {
	w.t.Helper()
	for name, a := range want {
		out, code := w.berth("status", "svc/"+name, "-n", w.ns)
		if text := strings.Join(strings.Fields(out), " "); code != a.code || !strings.Contains(text, a.says) {
			w.t.Errorf("%s, %s: exit code %d, want %d and %q in\n%s", when, name, code, a.code, a.says, out)
		}
	}
}

// plain runs the command line with the kubeconfig of the environment and no other flag.
func (w *world) plain(args ...string) (string, int) {
	w.t.Helper()
	cmd := exec.CommandContext(w.t.Context(), w.Binaries.Berth, args...)
	cmd.Env = slices.Concat(os.Environ(), w.Credentials(), w.Env, []string{"KUBECONFIG=" + w.Cluster.Kubeconfig("")})
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil {
		w.t.Fatalf("berth %q: %v", args, err)
	}
	return string(out), cmd.ProcessState.ExitCode()
}

// plansTheLiveOne plans an edit of a Service in a file: with the current context it changes the
// live Service, offline it is a new one.
func (w *world) plansTheLiveOne(name string) {
	w.t.Helper()
	file := filepath.Join(w.t.TempDir(), "edit.yaml")
	text := "apiVersion: v1\nkind: Service\nmetadata:\n  namespace: " + w.ns + "\n  name: " + name + "\nspec:\n  type: LoadBalancer\n  ports: [{name: tcp-80, port: 80}]\n"
	w.must(os.WriteFile(file, []byte(text), 0o600))
	args := []string{"plan", "-f", file, "--brief", "--provider", w.Cloud, "--cloud-config", filepath.Join(w.Sim.Dir, "cloud.conf")}
	if out, code := w.plain(args...); code != plan.ExitChanges || !strings.Contains(out, "delete network-load-balancer") || strings.Contains(out, "BRT104") {
		w.t.Errorf("an edit: exit code %d\n%s", code, out)
	}
	if out, code := w.plain(append(args, "--offline")...); code != plan.ExitChanges || strings.Contains(out, "delete ") || !strings.Contains(out, "No cluster was asked") {
		w.t.Errorf("offline: exit code %d\n%s", code, out)
	}
}

// deleteInCloud deletes the load balancer of a Service behind the controller's back.
func (w *world) deleteInCloud(name string) {
	w.t.Helper()
	arn := w.arnOf(nameOf(w.get(name)))
	_, err := w.aws.elbv2.DeleteLoadBalancer(w.t.Context(), &elbv2.DeleteLoadBalancerInput{LoadBalancerArn: &arn})
	w.must(err)
}

// expireLease makes the Lease look as if its holder had ended long ago.
func (w *world) expireLease() {
	w.t.Helper()
	leases := w.Client.CoordinationV1().Leases(leaseNamespace)
	lease, err := leases.Get(w.t.Context(), leaseName, metav1.GetOptions{})
	w.must(err)
	lease.Spec.RenewTime = new(metav1.NewMicroTime(time.Now().Add(-time.Hour)))
	_, err = leases.Update(w.t.Context(), lease, metav1.UpdateOptions{})
	w.must(err)
}
