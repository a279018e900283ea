package main

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestRunGCE(t *testing.T) {
	url, dir := startCloud(t, "gce", "--nodes", "2", "--account", "my-project", "--region", "europe-west1")
	resp, err := http.Get(url + "/compute/v1/projects/my-project/zones/europe-west1-b/instances/berth-demo-node-2")
	if err != nil {
		t.Fatal(err)
	}
	var vm struct {
		Status string `json:"status"`
	}
	if err := json.NewDecoder(resp.Body).Decode(&vm); err != nil || vm.Status != "RUNNING" {
		t.Errorf("instance %+v, %v, want it running", vm, err)
	}
	if err := resp.Body.Close(); err != nil {
		t.Error(err)
	}
	for _, name := range []string{"cloud.conf", "gce.conf"} {
		conf, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil || !strings.Contains(string(conf), "api-endpoint = "+url+"/compute/v1/\n") {
			t.Errorf("%s %s, %v, want the URL %s", name, conf, err, url)
		}
	}
}
