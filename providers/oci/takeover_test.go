package oci_test

import (
	"encoding/json"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/test/props"
	simoci "github.com/berth-lb/berth/test/sim/oci"
	"github.com/berth-lb/berth/test/sim/oci/simtest"
	"github.com/berth-lb/berth/test/sim/virtual"
)

// officialState holds what the cloud-controller-manager 1.35.0 of Oracle Cloud has built
// for Services of all its keys on the simulator: its write calls, in their order, and the
// Services. Of the calls that write a security list only the last one is included, which
// has all rules. A call that creates a network security group has the resulting OCID before
// its parameters; certificates and their keys are placeholders.
const officialState = "testdata/official-ccm/"

// official is a cloud in which that controller has served until now.
type official struct {
	subject
	secrets map[providers.Reference]providers.Object
}

func (o official) Objects() map[providers.Reference]providers.Object { return o.secrets }

// replayCalls sends the calls of the file again, with these certificates.
func replayCalls(t *testing.T, running *simtest.Running, known map[string]map[string][]byte) {
	t.Helper()
	body, err := os.ReadFile(officialState + "requests.txt")
	if err != nil {
		t.Fatal(err)
	}
	text := string(body)
	for name, data := range known {
		for file, content := range data {
			quoted, err := json.Marshal(string(content))
			if err != nil {
				t.Fatal(err)
			}
			text = strings.ReplaceAll(text, `"$`+name+"/"+file+`"`, string(quoted))
		}
	}
	for at := 0; at < len(text); {
		line, _, _ := strings.Cut(text[at:], "\n")
		at += len(line) + 1
		call, parameters, _ := strings.Cut(line, "{")
		words := strings.Fields(call)
		made := sendWrite(t, running, words[0], words[1], "{"+parameters)
		if len(words) == 3 {
			text = text[:at] + strings.ReplaceAll(text[at:], words[2], made)
		}
	}
}

// sendWrite sends one call and returns the id of what it created, if it created
// something.
func sendWrite(t *testing.T, running *simtest.Running, method, path, parameters string) string {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, running.URL+path, strings.NewReader(parameters))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	answer, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	said, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode >= http.StatusMultipleChoices {
		t.Fatalf("%s %s %s: %s %s %v", method, path, parameters, answer.Status, said, err)
	}
	if err := answer.Body.Close(); err != nil {
		t.Fatal(err)
	}
	var made struct {
		ID string `json:"id"`
	}
	if len(said) > 0 {
		if err := json.Unmarshal(said, &made); err != nil {
			t.Fatal(err)
		}
	}
	return made.ID
}

// TestTakeOverOfTheController verifies that no resource built by Oracle Cloud's own
// controller is rewritten, and that all of them are deleted with the Services. The
// exception is the tag that it sets on the nodes' network security group, which it has not
// created.
func TestTakeOverOfTheController(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		running := simtest.Start(t, simoci.Options{Seed: simoci.SeedOptions{Nodes: 4, DualStack: true}, Limits: simoci.Limits{ListRules: 2000}})
		simtest.ForgetWork(running.Cloud)
		known := map[string]map[string][]byte{"web-tls": certificates()[0], "nodes-tls": certificates()[1]}
		o := official{subject: subject{running: running}, secrets: secretObjects(known)}
		before := props.State(t, o.Control())
		replayCalls(t, running, known)
		served := props.Documents[corev1.Service](t, officialState+"services.yaml")
		writes, _ := props.TakeOver(t, o, served)
		for _, call := range writes {
			t.Errorf("%s %v", call.Operation, call.Request)
		}
		if len(served) < 40 {
			t.Errorf("%d Services", len(served))
		}
		sendWrite(t, running, http.MethodPut, "/20160918/networkSecurityGroups/"+running.Cloud.Seed.WorkerGroup, `{"freeformTags": {}}`)
		rest, err := props.StateOf(o.Control())
		if err != nil || rest != before {
			t.Errorf("left (-before +after), %v:\n%s", err, cmp.Diff(before, rest))
		}
	})
}
