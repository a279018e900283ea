package conform

import (
	"net/http"
	"strings"
	"testing"
	"text/template"
	"time"

	"google.golang.org/api/compute/v1"
	"google.golang.org/api/option"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berth-lb/berth/test/conform/kit"
	"github.com/berth-lb/berth/test/sim"
	simgce "github.com/berth-lb/berth/test/sim/gce"
)

// suite is the service controller of Google Cloud's own program.
var suite = kit.Suite{
	Cloud: "gce",
	Program: kit.Program{
		Name: "gce-cloud-controller-manager", Source: "./ccm", Flags: []string{"--concurrent-service-syncs=20"},
	},
	Nodes:    5,
	SimFlags: []string{"--quota-factor=10"},
	Quiet:    2500 * time.Millisecond, // it sleeps for a second before it looks at an operation
	Refusal:  sim.Fault{Status: http.StatusForbidden, Code: "forbidden"},
	Stride:   5, // not 1, for the same reason
	Leaks:    true,

	Prepare:   prepareCloud,
	Names:     templateNames,
	Configure: replaceConfig,
	Watch:     kit.Ensured,
	Cuts:      cutsTraffic,
}

func TestMain(m *testing.M) { suite.Main(m) }

func seedOf(w *kit.World) simgce.Seed {
	w.T.Helper()
	var s simgce.Seed
	w.Seed(&s)
	return s
}

func prepareCloud(w *kit.World) {
	userAddresses(w)
	clusterID(w)
}

// userAddresses makes the addresses that Services may ask for.
func userAddresses(w *kit.World) {
	s := seedOf(w)
	client, err := compute.NewService(w.T.Context(), option.WithEndpoint(w.Sim.URL+"/compute/v1/"), option.WithoutAuthentication())
	w.Must(err)
	for _, a := range []*compute.Address{
		{Name: "user-premium", NetworkTier: "PREMIUM"},
		{Name: "user-standard", NetworkTier: "STANDARD"},
		{Name: "user-internal", AddressType: "INTERNAL", Subnetwork: s.Subnets[0].URL},
	} {
		_, err := client.Addresses.Insert(s.Project, s.Region, a).Do()
		w.Must(err)
		made, err := client.Addresses.Get(s.Project, s.Region, a.Name).Do()
		w.Must(err)
		w.Made[a.Name] = made.Address
	}
}

// clusterID writes the ConfigMap that all controllers find the cluster's id in.
func clusterID(w *kit.World) {
	const id = "0123456789abcdef"
	_, err := w.Client.CoreV1().ConfigMaps(metav1.NamespaceSystem).Create(w.T.Context(), &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Name: "ingress-uid"}, Data: map[string]string{"uid": id, "provider-uid": id},
	}, metav1.CreateOptions{})
	if !apierrors.IsAlreadyExists(err) {
		w.Must(err)
	}
}

// templateNames returns what the simulated cloud has chosen.
func templateNames(w *kit.World) template.FuncMap {
	s := seedOf(w)
	return template.FuncMap{
		"address": func(name string) string { return w.Made[name] },
		"subnet":  func(i int) string { return s.Subnets[i].Name },
	}
}

// replaceConfig replaces keys of the section global; a key without value is left out.
// Keys that only Berth reads are removed too: the ids are found in the cluster.
func replaceConfig(conf string, more []byte) string {
	global, _, _ := strings.Cut(conf, "\n[berth]")
	for line := range strings.Lines(string(more)) {
		key, value, _ := strings.Cut(line, "=")
		var kept []string
		for old := range strings.Lines(global) {
			if !strings.HasPrefix(old, strings.TrimSpace(key)+" =") {
				kept = append(kept, old)
			}
		}
		if strings.TrimSpace(value) != "" {
			kept = append(kept, strings.TrimSpace(line)+"\n")
		}
		global = strings.Join(kept, "")
	}
	return global
}

// cutsTraffic does not count addresses: the official controller reserves the
// address of a live rule and gives it back, and the rule keeps it.
func cutsTraffic(e sim.Entry) bool {
	collection, verb, _ := strings.Cut(e.Operation, ".")
	switch verb {
	case "delete", "insert":
		return collection != "addresses"
	}
	return strings.HasPrefix(verb, "remove") || strings.HasPrefix(verb, "detach")
}
