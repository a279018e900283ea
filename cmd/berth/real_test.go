package main

import (
	"bytes"
	"context"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/berth-lb/berth/test/golden"
	simaws "github.com/berth-lb/berth/test/sim/aws"
	"github.com/berth-lb/berth/test/sim/aws/simtest"
)

// result is what a command left behind.
type result struct {
	code     int
	out, err string
}

// berth runs the program in this process.
func berth(t *testing.T, stdin string, args ...string) result {
	t.Helper()
	var out, errs bytes.Buffer
	code := run(context.Background(), args, streams{in: strings.NewReader(stdin), out: &out, err: &errs})
	return result{code: code, out: out.String(), err: errs.String()}
}

// cloud starts the simulator and returns the flags that lead to it.
func cloud(t *testing.T, nodes int) (flags []string, nodesFile string) {
	t.Helper()
	for key, value := range map[string]string{
		"AWS_ACCESS_KEY_ID": "AKIDSIMULATOR", "AWS_SECRET_ACCESS_KEY": "secret", "AWS_SESSION_TOKEN": "", "AWS_PROFILE": "",
		"AWS_CONFIG_FILE": "/dev/null", "AWS_SHARED_CREDENTIALS_FILE": "/dev/null", "AWS_EC2_METADATA_DISABLED": "true", "KUBECONFIG": "/dev/null",
	} {
		t.Setenv(key, value)
	}
	running := simtest.Start(t, simaws.Options{Seed: simaws.SeedOptions{Nodes: nodes}})
	dir := t.TempDir()
	if err := running.Cloud.Seed.WriteFiles(dir, running.URL); err != nil {
		t.Fatal(err)
	}
	return []string{"--provider", "aws", "--cloud-config", filepath.Join(dir, "cloud.conf")}, filepath.Join(dir, "nodes.yaml")
}

// TestPlanOfRealServices plans Services as people have published them. The
// golden files are to be read: each key must be honoured or spoken of.
func TestPlanOfRealServices(t *testing.T) {
	files, err := filepath.Glob("testdata/real/*.yaml")
	if err != nil || len(files) < 9 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	flags, nodes := cloud(t, 3)
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			got := berth(t, "", append([]string{"plan", "-f", file, "--nodes", nodes, "--width", "80"}, flags...)...)
			text := "exit code " + strconv.Itoa(got.code) + "\n--- stdout\n" + got.out + "--- stderr\n" + got.err
			golden.Check(t, strings.TrimSuffix(file, ".yaml")+".plan.golden", text)
		})
	}
}

// TestCheckOfRealServices judges the same Services without a cloud.
func TestCheckOfRealServices(t *testing.T) {
	got := berth(t, "", "check", "-f", "testdata/real", "--provider", "aws", "--width", "80")
	golden.Check(t, "testdata/real/check.golden", "exit code "+strconv.Itoa(got.code)+"\n--- stdout\n"+got.out+"--- stderr\n"+got.err)
}
