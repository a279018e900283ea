package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// asProgram makes the test binary the program: the scripts of the integrations call it.
const asProgram = "BERTH_TEST_AS_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		main()
	}
	os.Exit(m.Run())
}

// scriptStep is a step of a GitHub action.
type scriptStep struct {
	Name string `yaml:"name"`
	Run  string `yaml:"run"`
}

// readScripts returns the shell steps of an integration in order.
func readScripts(t *testing.T, file string) []scriptStep {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var document struct {
		Runs struct {
			Steps []scriptStep `yaml:"steps"`
		} `yaml:"runs"`
		Job struct {
			Script []string `yaml:"script"`
		} `yaml:"berth-diff"`
	}
	if err := yaml.Unmarshal(text, &document); err != nil {
		t.Fatal(err)
	}
	out := document.Runs.Steps
	for _, line := range document.Job.Script {
		out = append(out, scriptStep{Run: line})
	}
	if len(out) == 0 {
		t.Fatalf("%s has no steps", file)
	}
	return out
}

// installTool puts a program on the PATH that records its arguments in a file.
func installTool(t *testing.T, bin, name, script string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(bin, name), []byte("#!/bin/sh\n"+script), 0o700); err != nil {
		t.Fatal(err)
	}
}

// TestIntegrations runs the shell steps of the action of GitHub and of the job of GitLab over a
// change, one that is wrong, and none. Only the wrong one fails; the others
// comment what they find.
func TestIntegrations(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"github/action.yml", "gitlab/berth-diff.yml"} {
		file, err := filepath.Abs("../../integrations/" + name)
		if err != nil {
			t.Fatal(err)
		}
		steps := readScripts(t, file)
		before, after := manifestVersions()
		for change, tc := range map[string]struct {
			file, text string
			fails      bool
			comment    string
		}{
			"changes": {"web.yaml", after["web.yaml"], false, "ignored after creation"},
			"wrong":   {"web.yaml", strings.Replace(before["web.yaml"], "port: 80", "port: 80000", 1), true, "2 errors"},
			"nothing": {"web.yaml", before["web.yaml"], false, ""},
		} {
			t.Run(filepath.Dir(name)+" "+change, func(t *testing.T) {
				r := newRepository(t)
				r.commit(before)
				bin := t.TempDir()
				installTool(t, bin, "berth", asProgram+"=1 exec "+self+` "$@"`+"\n")
				installTool(t, bin, "gh", `cp berth-diff.md comment`+"\n")
				installTool(t, bin, "curl", `cp berth-diff.md comment`+"\n")
				if err := os.WriteFile(filepath.Join("deploy", tc.file), []byte(tc.text), 0o600); err != nil {
					t.Fatal(err)
				}
				failed := runSteps(t, steps, bin)
				comment, err := os.ReadFile("comment")
				if (err == nil) != (tc.comment != "") || !strings.Contains(string(comment), tc.comment) {
					t.Errorf("comment %q, want %q", comment, tc.comment)
				}
				if failed != tc.fails {
					t.Errorf("failed: %t, want %t", failed, tc.fails)
				}
			})
		}
	}
}

// runSteps runs the steps as a CI service does: each in a shell of its own, with what earlier ones
// have set, until one fails. A comment is left out when there is no difference.
func runSteps(t *testing.T, steps []scriptStep, bin string) (failed bool) {
	t.Helper()
	env := append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"), "BASE=HEAD", "PATHS=deploy", "FLAGS=", "NUMBER=7", "GITHUB_STEP_SUMMARY=summary", "GITHUB_ENV=env",
		"CI_MERGE_REQUEST_DIFF_BASE_SHA=HEAD", "BERTH_PATHS=deploy", "BERTH_FLAGS=", "BERTH_TOKEN=token", "CI_API_V4_URL=http://127.0.0.1:1", "CI_PROJECT_ID=1", "CI_MERGE_REQUEST_IID=7")
	status := ""
	for _, step := range steps {
		if step.Name == "Comment" && status == "status=0" {
			continue
		}
		cmd := exec.CommandContext(t.Context(), "bash", "-eo", "pipefail", "-c", step.Run)
		cmd.Env = append(env, status)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Logf("%s: %v\n%s", step.Name, err, out)
			return true
		}
		if set, err := os.ReadFile("env"); err == nil {
			status = strings.TrimSpace(string(set))
		}
	}
	return false
}
