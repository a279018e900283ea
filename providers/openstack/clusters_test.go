package openstack_test

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berth-lb/berth/providers/openstack/model"
	"github.com/berth-lb/berth/test/sim"
	simopenstack "github.com/berth-lb/berth/test/sim/openstack"
)

// beside is another cluster in the same project, with machines of its own.
func (w *world) beside(cluster string) *world {
	w.Helper()
	other := &world{TB: w.TB, subject: subject{running: w.running, config: w.config, cluster: cluster}, nodes: slices.Clone(w.nodes)}
	for i := range other.nodes {
		other.nodes[i].Name = fmt.Sprintf("%s-%d", cluster, i)
	}
	other.restart()
	return other
}

// TestSharedPortOfClusters: Services of two clusters ask for the same port of a load
// balancer at the same time. The older one, which has only its pools when the other one
// appears, gets the port. The other one leaves nothing behind, reports the conflict, and
// gets the port after the deletion of the first.
func TestSharedPortOfClusters(t *testing.T) {
	ours := startWorld(t, simopenstack.Options{}, "max-shared-lb = 4\n")
	theirs := ours.beside("beside")
	host := ours.guests(1)[0]
	without := ours.portrait()
	guest := func(name string, port int32, since time.Time) *corev1.Service {
		svc := withAnnotations(namedService(name, port), map[string]string{idKey: host.Annotations[idKey]})
		svc.CreationTimestamp = metav1.NewTime(since)
		return svc
	}
	now := time.Now()
	older, younger := guest("older", 9000, now.Add(-time.Minute)), guest("younger", 9001, now)
	if _, err := ours.Control().Faults.Add(sim.Fault{Operation: "BatchUpdateMembers", Kind: sim.FaultError, Status: http.StatusBadRequest}); err != nil {
		t.Fatal(err)
	}
	if res, err := ours.once(older, false); err != nil || res.Err == nil {
		t.Fatalf("nothing has stopped the older one: %v, %v", err, res.Err)
	}
	ours.Control().Faults.Clear()
	pools := len(ours.tables()["pools"])
	res, err := theirs.once(younger, false)
	if lines := messagesOf(res); err != nil || !slices.ContainsFunc(lines, func(l string) bool {
		return strings.Contains(l, "port 9001") && strings.Contains(l, "asked for by kube_service_kubernetes_shop_older")
	}) {
		t.Errorf("no message names the older one: %v, %v", err, lines)
	}
	for _, p := range ours.tables()["pools"] {
		if name, _ := p["name"].(string); strings.Contains(name, "younger") && !strings.HasPrefix(name, "pool_1_") {
			t.Errorf("the younger one has left the pool %s of a port that it has not got", name)
		}
	}
	if n := len(ours.tables()["pools"]); n > pools+1 {
		t.Errorf("%d pools, %d before", n, pools)
	}
	ours.serve(older)
	res, err = theirs.once(younger, false)
	if lines := messagesOf(res); err != nil || !slices.ContainsFunc(lines, func(l string) bool { return strings.Contains(l, `"http (9001/TCP)" is taken`) }) {
		t.Errorf("no warning: %v, %v", err, lines)
	}
	for _, svc := range []*corev1.Service{host, older} {
		ours.unchanged(svc)
	}
	ours.release(older)
	theirs.serve(younger)
	theirs.restart()
	theirs.unchanged(younger)
	theirs.release(younger)
	if d := diffLines(without, ours.portrait()); d != "" {
		t.Errorf("something is left:\n%s", d)
	}
}

// TestSharedPortOfTheDead: an unfinished claim of a stopped controller blocks a port only
// for a short time.
func TestSharedPortOfTheDead(t *testing.T) {
	now := time.Now()
	mine := "tcp-80 200 kube_service_ours_shop_web"
	for name, c := range map[string]struct {
		its  string
		made time.Time
		want string
	}{
		"an older Service":          {"tcp-80 100 kube_service_theirs_shop_web", now, "kube_service_theirs_shop_web"},
		"one of the same age":       {"tcp-80 200 kube_service_a_shop_web", now, "kube_service_a_shop_web"},
		"a younger one":             {"tcp-80 300 kube_service_theirs_shop_web", now, ""},
		"another port":              {"tcp-81 100 kube_service_theirs_shop_web", now, ""},
		"its own":                   {"tcp-80 100 kube_service_ours_shop_web", now, ""},
		"one that has got nowhere":  {"tcp-80 100 kube_service_theirs_shop_web", now.Add(-time.Hour), ""},
		"a tag of another owner":    {"", now, ""},
		"a text that is no claim":   {"tcp-80 soon kube_service_theirs_shop_web", now, ""},
		"a name that is cut by 255": {"tcp-80 100 " + strings.Repeat("x", 300), now, strings.Repeat("x", 255-len("berth-claim  tcp-80 100 ")-len(strconv.FormatInt(now.Unix(), 10)))},
	} {
		if got := model.YieldsTo(mine, []string{"of-somebody", model.ClaimTag(c.its, c.made)}, now); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
