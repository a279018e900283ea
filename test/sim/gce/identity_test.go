package gce_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"cloud.google.com/go/compute/metadata"
	"golang.org/x/oauth2/google"
	"google.golang.org/api/compute/v1"
	"google.golang.org/api/option"

	simgce "github.com/berth-lb/berth/test/sim/gce"
	"github.com/berth-lb/berth/test/sim/gce/simtest"
)

// TestCredentials takes every way to a token that a controller may take.
func TestCredentials(t *testing.T) {
	r := simtest.StartLoopback(t, simgce.Options{RequireToken: true})
	t.Setenv("GCE_METADATA_HOST", strings.TrimPrefix(r.URL, "http://"))
	dir := t.TempDir()
	if err := r.Cloud.WriteFiles(dir, r.URL); err != nil {
		t.Fatal(err)
	}
	list := func(name string, opts ...option.ClientOption) {
		t.Helper()
		api, err := compute.NewService(t.Context(), append(opts, option.WithEndpoint(r.URL+"/compute/v1/"))...)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if _, err := api.Zones.List(project).Do(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	list("metadata server", option.WithTokenSource(google.ComputeTokenSource("")))
	t.Setenv("HOME", dir)
	list("default credentials of an instance")
	t.Setenv("GOOGLE_APPLICATION_CREDENTIALS", filepath.Join(dir, "service-account.json"))
	key, err := os.ReadFile(filepath.Join(dir, "service-account.json"))
	if err != nil {
		t.Fatal(err)
	}
	config, err := google.JWTConfigFromJSON(key, compute.CloudPlatformScope)
	if err != nil {
		t.Fatal(err)
	}
	list("service account key", option.WithTokenSource(config.TokenSource(context.Background())))
	api, err := compute.NewService(t.Context(), option.WithoutAuthentication(), option.WithEndpoint(r.URL+"/compute/v1/"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := api.Zones.List(project).Do(); errorCode(err) != "401 required" {
		t.Errorf("no token: %v, want 401", err)
	}
	counts := r.Cloud.Journal.Counts()
	if counts["oauth2.token"] == 0 || counts["metadata.instance/service-accounts/default/token"] == 0 {
		t.Errorf("calls %v, want tokens of both kinds", counts)
	}
}

func TestMetadata(t *testing.T) {
	r := simtest.StartLoopback(t, simgce.Options{Seed: simgce.SeedOptions{ClusterID: "kube"}})
	t.Setenv("GCE_METADATA_HOST", strings.TrimPrefix(r.URL, "http://"))
	c := metadata.NewClient(nil)
	for path, want := range map[string]string{
		"project/project-id": "berth-demo", "instance/zone": "projects/123456789012/zones/us-central1-a", "instance/attributes/cluster-name": "kube",
		"instance/network-interfaces/0/network": "projects/123456789012/networks/default", "universe/universe-domain": "googleapis.com",
		"instance/attributes/": "cluster-location\ncluster-name\ncluster-uid\n",
	} {
		if got, err := c.GetWithContext(t.Context(), path); err != nil || got != want {
			t.Errorf("%s: %q, %v, want %q", path, got, err, want)
		}
	}
	if _, err := c.GetWithContext(t.Context(), "instance/attributes/ghost"); err == nil {
		t.Error("an attribute that is not there was answered")
	}
}
