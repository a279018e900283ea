package main

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestRunGCE(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	dir := filepath.Join(t.TempDir(), "seed")
	in, out := io.Pipe()
	done := make(chan error, 1)
	go func() {
		err := run(ctx, []string{"--cloud", "gce", "--nodes", "2", "--account", "my-project", "--region", "europe-west1", "--out", dir, "--throttle"}, out)
		out.CloseWithError(err)
		done <- err
	}()
	line, err := bufio.NewReader(in).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	url, ok := strings.CutPrefix(strings.TrimSpace(line), "gce simulator ready at ")
	if !ok {
		t.Fatalf("printed %q, want the URL", line)
	}
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
	stop()
	if err := <-done; err != nil {
		t.Errorf("stopped with %v, want no error", err)
	}
}
