package kit

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/stack/plan"
)

// Command runs the command line of Berth against the world and returns what it
// printed and its exit code.
func (w *World) Command(stdin string, args ...string) (out string, code int) {
	w.T.Helper()
	args = append(args, "--provider="+w.Cloud, "--cloud-config="+w.CloudConfig(), "--kubeconfig="+w.Cluster.Kubeconfig(""))
	cmd := exec.CommandContext(w.T.Context(), w.Binaries.Berth, args...)
	cmd.Env = append(os.Environ(), w.Credentials()...)
	cmd.Stdin = strings.NewReader(stdin)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	body, err := cmd.Output()
	if _, ended := err.(interface{ ExitCode() int }); err != nil && !ended {
		w.T.Fatal(err)
	}
	if errs.Len() > 0 {
		w.T.Logf("berth %s: %s", args[0], errs.String())
	}
	return string(body), cmd.ProcessState.ExitCode()
}

// Plan asks the command line for the plans of Services, which the arguments choose,
// and returns them with the exit code.
func (w *World) Plan(args ...string) (plan.Document, int) {
	w.T.Helper()
	text, code := w.Command("", append([]string{"plan", "-o", "json"}, args...)...)
	var doc plan.Document
	w.Must(json.Unmarshal([]byte(text), &doc))
	return doc, code
}

// planned asks for the plan of the whole cluster and returns what it has to say on
// each Service: nothing, on a take-over.
func (w *World) planned(services []corev1.Service) map[string]string {
	w.T.Helper()
	doc, code := w.Plan("-A")
	if code != plan.ExitNothing {
		human, _ := w.Command("", "plan", "-A")
		w.T.Errorf("plan: exit code %d\n%s", code, human)
	}
	out := map[string]string{}
	for _, p := range doc.Plans {
		var lines []string
		for _, s := range p.Steps {
			lines = append(lines, s.ID)
		}
		out[p.Owner.Name] = strings.Join(lines, "; ")
	}
	if len(doc.Plans) != len(services) {
		w.T.Errorf("plan: %d Services, want %d", len(doc.Plans), len(services))
	}
	w.planChoices(services)
	return out
}

// planChoices asks for the Services of one namespace, and of one label.
func (w *World) planChoices(services []corev1.Service) {
	w.T.Helper()
	kind := kindOf(services[0])
	of := 0
	for _, s := range services {
		if kindOf(s) == kind {
			of++
		}
	}
	for _, c := range []struct {
		want int
		args []string
	}{
		{len(services), []string{"-n", w.Namespace}},
		{of, []string{"-n", w.Namespace, "-l", label + "=" + kind}},
		{of, []string{"-A", "-l", label + "=" + kind}},
		{0, []string{"-n", "default"}},
	} {
		if doc, code := w.Plan(c.args...); code != plan.ExitNothing || len(doc.Plans) != c.want {
			w.T.Errorf("plan %v: exit code %d, %d Services, want %d", c.args, code, len(doc.Plans), c.want)
		}
	}
}
