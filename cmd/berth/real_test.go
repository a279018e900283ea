package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/berth-lb/berth/test/golden"
	"github.com/berth-lb/berth/test/harness"
	"github.com/berth-lb/berth/test/schemas"
	"github.com/berth-lb/berth/test/sim/aws"
	simaws "github.com/berth-lb/berth/test/sim/aws/simtest"
	"github.com/berth-lb/berth/test/sim/azure"
	simazure "github.com/berth-lb/berth/test/sim/azure/simtest"
	"github.com/berth-lb/berth/test/sim/gce"
	simgce "github.com/berth-lb/berth/test/sim/gce/simtest"
)

// result is what a command left behind.
type result struct {
	code     int
	out, err string
}

// runBerth runs the program in this process.
func runBerth(t *testing.T, stdin string, args ...string) result {
	t.Helper()
	var out, errs bytes.Buffer
	code := runCommand(context.Background(), args, streams{in: strings.NewReader(stdin), out: &out, err: &errs})
	validateJSON(t, args, out.String())
	return result{code: code, out: out.String(), err: errs.String()}
}

// validateJSON compares the JSON output of a command with its published schema.
func validateJSON(t *testing.T, args []string, out string) {
	t.Helper()
	if i := slices.Index(args, "-o"); out == "" || i < 0 || i+1 >= len(args) || args[i+1] != "json" {
		return
	}
	name := args[0]
	if name == "orphans" {
		name = "plan"
	}
	document, err := schemas.Find(name)
	if err != nil {
		t.Fatal(err)
	}
	if err := document.Validate(out); err != nil {
		t.Errorf("berth %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

// startAWS starts the simulator of AWS and returns the flags that connect to it.
func startAWS(t *testing.T, nodes int) (flags []string, nodesFile string) {
	t.Helper()
	return startCloud(t, "aws", nodes)
}

// startCloud starts the simulator of a cloud and returns the flags that connect to it.
func startCloud(t *testing.T, provider string, nodes int) (flags []string, nodesFile string) {
	t.Helper()
	dir := t.TempDir()
	for key, value := range map[string]string{
		"AWS_ACCESS_KEY_ID": "AKIDSIMULATOR", "AWS_SECRET_ACCESS_KEY": "secret", "AWS_SESSION_TOKEN": "", "AWS_PROFILE": "",
		"AWS_CONFIG_FILE": "/dev/null", "AWS_SHARED_CREDENTIALS_FILE": "/dev/null", "AWS_EC2_METADATA_DISABLED": "true", "KUBECONFIG": "/dev/null",
	} {
		t.Setenv(key, value)
	}
	var err error
	switch provider {
	case "aws":
		running := simaws.StartLoopback(t, aws.Options{Seed: aws.SeedOptions{Nodes: nodes}})
		err = running.Cloud.Seed.WriteFiles(dir, running.URL)
	case "azure":
		running := simazure.StartLoopback(t, azure.Options{Seed: azure.SeedOptions{Nodes: nodes}})
		err = running.Cloud.WriteFiles(dir, running.PlainURL)
		t.Setenv("IDENTITY_ENDPOINT", running.PlainURL+"/msi/token")
		t.Setenv("IDENTITY_HEADER", "any")
	case "gce":
		running := simgce.StartLoopback(t, gce.Options{Seed: gce.SeedOptions{Nodes: nodes}})
		err = running.Cloud.WriteFiles(dir, running.URL)
		t.Setenv("GCE_METADATA_HOST", strings.TrimPrefix(running.URL, "http://"))
	}
	if err := errors.Join(err, harness.Identify(provider, dir)); err != nil {
		t.Fatal(err)
	}
	return []string{"--provider", provider, "--cloud-config", filepath.Join(dir, "cloud.conf")}, filepath.Join(dir, "nodes.yaml")
}

// publishedServices lists the files of Services that users have published for a cloud,
// and of the ones that name no cloud.
func publishedServices(t *testing.T, provider string) []string {
	t.Helper()
	least := map[string]int{"aws": 9, "azure": 7, "gce": 5, "any": 4}
	var out []string
	for _, dir := range []string{provider, "any"} {
		files, err := filepath.Glob("testdata/real/" + dir + "/*.yaml")
		if err != nil || len(files) < least[dir] {
			t.Fatalf("%s: %d files, %v", dir, len(files), err)
		}
		out = append(out, files...)
	}
	return out
}

// TestPlanOfRealServices plans the Services. The golden files are to be read:
// each key must be honoured or spoken of.
func TestPlanOfRealServices(t *testing.T) {
	for _, provider := range []string{"aws", "azure", "gce"} {
		t.Run(provider, func(t *testing.T) {
			flags, nodes := startCloud(t, provider, 3)
			for _, file := range publishedServices(t, provider) {
				t.Run(filepath.Base(file), func(t *testing.T) {
					got := runBerth(t, "", append([]string{"plan", "-f", file, "--nodes", nodes, "--width", "80"}, flags...)...)
					text := "exit code " + strconv.Itoa(got.code) + "\n--- stdout\n" + got.out + "--- stderr\n" + got.err
					golden.Check(t, filepath.Join("testdata/real", provider, strings.TrimSuffix(filepath.Base(file), ".yaml")+".plan.golden"), text)
				})
			}
		})
	}
}

// TestCheckOfRealServices judges the same Services without a cloud, one file at a
// time, since two of them have the same name.
func TestCheckOfRealServices(t *testing.T) {
	for _, provider := range []string{"aws", "azure", "gce"} {
		t.Run(provider, func(t *testing.T) {
			var text strings.Builder
			for _, file := range publishedServices(t, provider) {
				got := runBerth(t, "", "check", "-f", file, "--provider", provider, "--width", "80")
				fmt.Fprintf(&text, "%s: exit code %d\n%s%s\n", filepath.Base(file), got.code, got.out, got.err)
			}
			golden.Check(t, "testdata/real/"+provider+"/check.golden", text.String())
		})
	}
}
