package ibm_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/providers/ibm"
	simibm "github.com/berth-lb/berth/test/sim/ibm"
)

// TestKeyRotation: a key that is replaced in its file is used from the next call on; one that
// is not legal yet leaves the token that is valid.
func TestKeyRotation(t *testing.T) {
	w := beginWorld(t, simibm.Options{RequireToken: true, Seed: simibm.SeedOptions{Nodes: 3}})
	cloud := w.Open(t)
	tokens := func() int {
		if _, err := cloud.Orphans(t.Context(), providers.Live{}); err != nil {
			t.Fatal(err)
		}
		return w.Control().Journal.Counts()["iam.get_token"]
	}
	if n := tokens(); n != 1 {
		t.Errorf("%d tokens for one key", n)
	}
	for n, text := range []string{w.Sim.Cloud.RotateKey() + "\n", "not a key"} {
		if err := os.WriteFile(w.Sim.keyFile, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := tokens(); got != 2 {
			t.Errorf("%d tokens after change %d", got, n)
		}
	}
}

// TestCredentialsOfMachines: without a key file the credentials come from the environment, as
// the SDK reads it: a trusted profile of a container or of an instance.
func TestCredentialsOfMachines(t *testing.T) {
	token := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(token, []byte("simulated-container-token"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, env := range map[string]map[string]string{
		"container": {"VPC_AUTH_TYPE": "container", "VPC_IAM_PROFILE_NAME": "berth-controller", "VPC_CR_TOKEN_FILENAME": token},
		"instance":  {"VPC_AUTH_TYPE": "vpc", "VPC_IAM_PROFILE_NAME": "berth-controller"},
		"key":       {"VPC_AUTH_TYPE": "iam", "VPC_APIKEY": "simulated-api-key"},
		"none":      {},
		"basic":     {"VPC_AUTH_TYPE": "basic", "VPC_USERNAME": "u", "VPC_PASSWORD": "p"},
		"profile":   {"VPC_AUTH_TYPE": "vpc", "VPC_IAM_PROFILE_NAME": "another"},
	} {
		t.Run(name, func(t *testing.T) {
			s := onIBM().Start(t, simibm.Options{RequireToken: true, Seed: simibm.SeedOptions{Nodes: 3}})
			for key, value := range env {
				t.Setenv(key, value)
			}
			if name == "instance" || name == "profile" {
				t.Setenv("VPC_AUTH_URL", s.URL)
			}
			conf := strings.ReplaceAll(string(s.Cloud.Seed.CloudConf(s.URL, "")), "g2Credentials = \n", "")
			cloud, _, err := providers.EntryOf(ibm.Cloud()).Open(t.Context(), strings.NewReader(conf), providers.Env{Cluster: "kubernetes"})
			if wrong := map[string]string{"none": "and the environment has no credentials", "basic": "is not served; legal are iam, container and vpc"}[name]; wrong != "" {
				if err == nil || !strings.Contains(err.Error(), wrong) {
					t.Errorf("error %v, want %q", err, wrong)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			_, err = cloud.Orphans(t.Context(), providers.Live{})
			if name == "profile" {
				if !fault.Is(err, fault.Denied) {
					t.Errorf("a profile that the instance is not linked to: %v", err)
				}
			} else if err != nil {
				t.Error(err)
			}
		})
	}
}
