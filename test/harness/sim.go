package harness

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/berth-lb/berth/test/sim"
)

// Sim is a running cloud simulator.
type Sim struct {
	*Process
	URL string
	Dir string // where it has put its seed: nodes.yaml, cloud.conf, seed.json
}

// Configure changes the cloud configuration, before a program reads it.
func (s *Sim) Configure(change func(string) string) error { return editConfig(s.Dir, change) }

// editConfig changes the cloud configuration in a folder.
func editConfig(dir string, change func(string) string) error {
	file := filepath.Join(dir, "cloud.conf")
	conf, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	return os.WriteFile(file, []byte(change(string(conf))), 0o600)
}

var urlPattern = regexp.MustCompile(`https?://[^\s"]+`)

// startSim starts the simulator of a cloud with a number of nodes.
func startSim(ctx context.Context, bin, cloud, dir string, nodes int, more []string) (*Sim, error) {
	seed := filepath.Join(dir, "cloud")
	if err := os.MkdirAll(seed, 0o755); err != nil {
		return nil, err
	}
	args := append([]string{"--cloud", cloud, "--listen", "127.0.0.1:0", "--nodes", strconv.Itoa(nodes), "--out", seed}, more...)
	first := make(chan string, 1)
	p, err := startProcess("cloudsim", dir, nil, first, bin, args...)
	if err != nil {
		return nil, err
	}
	line, err := awaitLine(ctx, p, first)
	if err != nil {
		return nil, err
	}
	url := urlPattern.FindString(line)
	if url == "" {
		return nil, fmt.Errorf("cloudsim: no address in %q", line)
	}
	return &Sim{Process: p, URL: url, Dir: seed}, Identify(cloud, seed)
}

// Identify writes into the cloud configuration by which ids the cluster's load
// balancers are named, so that every run has the same names. The folder is the
// one that the simulator has written it to.
//
// Azure's says that the machine has an identity, since tokens for it come over
// plain HTTP; the login of applications needs a trusted certificate.
func Identify(cloud, dir string) error {
	if cloud != "gce" && cloud != "azure" {
		return nil
	}
	return editConfig(dir, func(conf string) string {
		if cloud == "azure" {
			return strings.Replace(conf, "{", `{"useManagedIdentityExtension": true,`, 1)
		}
		return conf + "\n[berth]\ncluster-id = 0123456789abcdef\ncluster-uid = 0123456789abcdef\nkube-system-uid = 11111111-2222-3333-4444-555555555555\n"
	})
}

// Journal returns the calls after the one with the number.
func (s *Sim) Journal(ctx context.Context, since int) ([]sim.Entry, error) {
	body, err := s.do(ctx, http.MethodGet, "/_sim/journal?since="+strconv.Itoa(since), nil)
	if err != nil {
		return nil, err
	}
	var out []sim.Entry
	if err := json.Unmarshal(body, &out); err != nil {
		return nil, fmt.Errorf("journal: %w", err)
	}
	return out, nil
}

// State is a JSON dump of everything in the simulated cloud.
func (s *Sim) State(ctx context.Context) (json.RawMessage, error) {
	return s.do(ctx, http.MethodGet, "/_sim/state", nil)
}

// Arm makes calls fail.
func (s *Sim) Arm(ctx context.Context, f sim.Fault) error {
	body, err := json.Marshal(f)
	if err != nil {
		return err
	}
	_, err = s.do(ctx, http.MethodPost, "/_sim/faults", body)
	return err
}

// Disarm ends all faults.
func (s *Sim) Disarm(ctx context.Context) error {
	_, err := s.do(ctx, http.MethodDelete, "/_sim/faults", nil)
	return err
}

// Throttle lets calls through at the rate of the buckets only; none lets all through.
func (s *Sim) Throttle(ctx context.Context, buckets ...sim.Bucket) error {
	body, err := json.Marshal(append([]sim.Bucket{}, buckets...))
	if err != nil {
		return err
	}
	_, err = s.do(ctx, http.MethodPost, "/_sim/throttle", body)
	return err
}

// Rates are the buckets that the cloud's vendor documents.
func (s *Sim) Rates(ctx context.Context) ([]sim.Bucket, error) {
	body, err := s.do(ctx, http.MethodGet, "/_sim/rates", nil)
	if err != nil {
		return nil, err
	}
	var out []sim.Bucket
	if err := json.Unmarshal(body, &out); err != nil {
		return nil, fmt.Errorf("rates: %w", err)
	}
	return out, nil
}

func (s *Sim) do(ctx context.Context, method, path string, body []byte) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, method, s.URL+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer func() { _ = res.Body.Close() }() // it was only read
	out, err := io.ReadAll(res.Body)
	if err != nil {
		return nil, err
	}
	if res.StatusCode >= http.StatusMultipleChoices {
		return nil, fmt.Errorf("simulator: %s %s: %s: %s", method, path, res.Status, out)
	}
	return out, nil
}
