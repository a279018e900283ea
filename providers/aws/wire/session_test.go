package wire

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/aws/model"
	simaws "github.com/berth-lb/berth/test/sim/aws"
)

// metadataServer answers as the instance metadata service of an instance.
func metadataServer(t *testing.T, instance, region string) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.Method + " " + r.URL.Path {
		case "PUT /latest/api/token":
			w.Header().Set("X-Aws-Ec2-Metadata-Token-Ttl-Seconds", "21600")
			_, _ = io.WriteString(w, "token")
		case "GET /latest/meta-data/instance-id":
			_, _ = io.WriteString(w, instance)
		case "GET /latest/dynamic/instance-identity/document":
			_, _ = io.WriteString(w, `{"region": "`+region+`", "instanceId": "`+instance+`"}`)
		default:
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// TestOpenFindsWhereItIs: a configuration that says nothing is completed from
// the metadata service and the tags of our own instance.
func TestOpenFindsWhereItIs(t *testing.T) {
	r := newRig(t, simaws.Options{Seed: simaws.SeedOptions{Nodes: 1}})
	own := r.seed.Nodes[0]
	t.Setenv("AWS_EC2_METADATA_DISABLED", "false")
	c := model.Config{Overrides: append([]model.ServiceOverride{
		{Service: "ec2imds", Region: "any", URL: metadataServer(t, own.InstanceID, r.seed.Region), SigningRegion: "any"},
	}, r.config.Overrides...)}
	_, got, err := Open(t.Context(), c, providers.Env{})
	if err != nil {
		t.Fatal(err)
	}
	want := c
	want.Region, want.VPC, want.Subnet, want.Cluster = r.seed.Region, r.seed.VPC, own.Subnet, model.ClusterTag{ID: r.seed.ClusterID}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("configuration (-want +got):\n%s", diff)
	}
}

// TestOpenAsksNothingItKnows: with VPC and cluster in the configuration the metadata
// service is not needed, and is switched off here.
func TestOpenAsksNothingItKnows(t *testing.T) {
	r := newRig(t, simaws.Options{})
	if calls := r.calls(); len(calls) > 0 {
		t.Errorf("calls of opening a session: %v", calls)
	}
	c := r.config
	c.VPC = ""
	if _, _, err := Open(t.Context(), c, providers.Env{}); err == nil || !strings.Contains(err.Error(), "own instance") {
		t.Errorf("without VPC and metadata: got %v, want an error about the own instance", err)
	}
}

// TestOpenWithRole: the role is assumed for the resource that the configuration
// names, and all calls are signed as that role.
func TestOpenWithRole(t *testing.T) {
	r := newRig(t, simaws.Options{})
	var mu sync.Mutex
	seen := map[string]string{}
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		mu.Lock()
		for _, h := range []string{"X-Amz-Source-Arn", "X-Amz-Source-Account"} {
			if v := req.Header.Get(h); v != "" {
				seen[h] = v
			}
		}
		if key, ok := strings.CutPrefix(req.Header.Get("Authorization"), "AWS4-HMAC-SHA256 Credential="); ok {
			seen["key"] = key[:4]
		}
		mu.Unlock()
		r.sim.Cloud.ServeHTTP(w, req)
	}))
	t.Cleanup(front.Close)
	t.Setenv("AWS_ENDPOINT_URL_STS", front.URL)
	c := r.config
	c.RoleARN, c.SourceARN = "arn:aws:iam::123456789012:role/berth", "arn:aws:eks:us-east-1:123456789012:cluster/demo"
	c.Overrides = append([]model.ServiceOverride(nil), c.Overrides...)
	for i := range c.Overrides {
		c.Overrides[i].URL = front.URL
	}
	session, _, err := Open(t.Context(), c, providers.Env{})
	if err != nil {
		t.Fatal(err)
	}
	noFaults(t, session.Read(t.Context(), []providers.Scope{r.scope(ownerOf(1))}))
	want := map[string]string{"X-Amz-Source-Arn": c.SourceARN, "X-Amz-Source-Account": "123456789012", "key": "ASIA"}
	if diff := cmp.Diff(want, seen); diff != "" {
		t.Errorf("headers (-want +got):\n%s", diff)
	}
}
