package explore

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/alibaba"
	"github.com/berth-lb/berth/providers/ibm"
	"github.com/berth-lb/berth/test/sim"
	simalibaba "github.com/berth-lb/berth/test/sim/alibaba"
	simibm "github.com/berth-lb/berth/test/sim/ibm"
)

// onIBM is an account of IBM Cloud with a VPC in three zones.
func onIBM(t testing.TB) Subject {
	cloud, err := simibm.New(simibm.Options{Seed: simibm.SeedOptions{Nodes: 3}})
	if err != nil {
		t.Fatal(err)
	}
	keyFile := filepath.Join(t.TempDir(), "api-key")
	if err := os.WriteFile(keyFile, []byte(cloud.Seed.APIKey()), 0o600); err != nil {
		t.Fatal(err)
	}
	return Subject{
		Handler: cloud, Control: &cloud.Control, Nodes: cloud.Seed.KubernetesNodes(),
		Open: func(ctx context.Context, url string) (providers.Bound, error) {
			return openCloud(ctx, ibm.Cloud().Name, cloud.Seed.CloudConf(url, keyFile), newEnv("kubernetes"))
		},
		Call:      byPath("/identity", "/v2/resource_groups"),
		Throttled: sim.Fault{Status: http.StatusTooManyRequests, Code: "over_rate_limit"},
	}
}

// onAlibaba is an account of Alibaba Cloud, whose calls are named by their action and what it
// is about.
func onAlibaba(t testing.TB) Subject {
	cloud, err := simalibaba.New(simalibaba.Options{Seed: simalibaba.SeedOptions{Nodes: 3}})
	if err != nil {
		t.Fatal(err)
	}
	return Subject{
		Handler: cloud, Control: &cloud.Control, Nodes: cloud.Seed.KubernetesNodes(),
		Open: func(ctx context.Context, url string) (providers.Bound, error) {
			return openCloud(ctx, alibaba.Cloud().Name, cloud.Seed.CloudConf(url), newEnv("kubernetes"))
		},
		Call: func(r *http.Request, _ []byte) (string, bool) {
			query := r.URL.Query()
			action := query.Get("Action")
			reads := strings.HasPrefix(action, "Describe") || action == "ListTagResources"
			return fmt.Sprint(action, " ", query.Get("VServerGroupId"), query.Get("LoadBalancerId"), " ", query.Get("ListenerPort")), !reads
		},
		Throttled: sim.Fault{Status: http.StatusBadRequest, Code: "Throttling.User"},
	}
}
