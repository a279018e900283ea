package argocd

import (
	"os"
	"strings"
	"testing"

	lua "github.com/yuin/gopher-lua"

	"github.com/berth-lb/berth/status"
)

const script = "../../integrations/argocd/health.lua"

// table makes a Lua table of what a Service looks like in JSON.
func table(l *lua.LState, value any) lua.LValue {
	switch v := value.(type) {
	case map[string]any:
		out := l.NewTable()
		for key, one := range v {
			out.RawSetString(key, table(l, one))
		}
		return out
	case []any:
		out := l.NewTable()
		for _, one := range v {
			out.Append(table(l, one))
		}
		return out
	case string:
		return lua.LString(v)
	}
	return lua.LNil
}

// health runs the script as Argo CD does: obj is the object, the result a table.
func health(t *testing.T, object map[string]any) (state, message string) {
	t.Helper()
	body, err := os.ReadFile(script)
	if err != nil {
		t.Fatal(err)
	}
	l := lua.NewState()
	defer l.Close()
	l.SetGlobal("obj", table(l, object))
	if err := l.DoString(string(body)); err != nil {
		t.Fatal(err)
	}
	result, ok := l.Get(-1).(*lua.LTable)
	if !ok {
		t.Fatalf("the script returns %s", l.Get(-1).Type())
	}
	return lua.LVAsString(result.RawGetString("status")), lua.LVAsString(result.RawGetString("message"))
}

func service(kind string, ingress bool, conditions ...any) map[string]any {
	of := map[string]any{"conditions": append([]any{map[string]any{"type": "example.com/Other", "status": "False"}}, conditions...)}
	if ingress {
		of["loadBalancer"] = map[string]any{"ingress": []any{map[string]any{"ip": "192.0.2.1"}}}
	}
	return map[string]any{"kind": "Service", "spec": map[string]any{"type": kind}, "status": of}
}

func condition(kind, truth string, reason status.Reason, message string) any {
	return map[string]any{"type": kind, "status": truth, "reason": string(reason), "message": message}
}

// TestHealth: a refused Service is degraded and says why, not under way for ever.
func TestHealth(t *testing.T) {
	accepted := condition(status.TypeAccepted, "True", status.ReasonAccepted, "")
	for name, tc := range map[string]struct {
		object         map[string]any
		state, message string
	}{
		"another type":          {service("ClusterIP", false), "Healthy", ""},
		"no status at all":      {map[string]any{"spec": map[string]any{"type": "LoadBalancer"}}, "Progressing", "waiting"},
		"served by another":     {service("LoadBalancer", true), "Healthy", ""},
		"refused":               {service("LoadBalancer", false, condition(status.TypeAccepted, "False", status.ReasonInvalidAnnotation, "x: is bad")), "Degraded", "InvalidAnnotation: x: is bad"},
		"refused, still serves": {service("LoadBalancer", true, condition(status.TypeAccepted, "False", status.ReasonPolicyRefused, "no")), "Degraded", "PolicyRefused"},
		"denied":                {service("LoadBalancer", false, accepted, condition(status.TypeProgrammed, "False", status.ReasonDenied, "m")), "Degraded", "Denied: m"},
		"the cloud is busy":     {service("LoadBalancer", false, accepted, condition(status.TypeProgrammed, "False", status.ReasonPending, "m")), "Progressing", "Pending: m"},
		"fine":                  {service("LoadBalancer", true, accepted, condition(status.TypeProgrammed, "True", status.ReasonProgrammed, "nlb a serves 80/TCP")), "Healthy", "nlb a serves"},
	} {
		t.Run(name, func(t *testing.T) {
			state, message := health(t, tc.object)
			if state != tc.state || !strings.Contains(message, tc.message) {
				t.Errorf("got %s %q, want %s %q", state, message, tc.state, tc.message)
			}
		})
	}
}

// TestReasonsAreKnown: the reasons that the script calls under way are real ones.
func TestReasonsAreKnown(t *testing.T) {
	body, err := os.ReadFile(script)
	if err != nil {
		t.Fatal(err)
	}
	_, list, found := strings.Cut(string(body), "underway = {")
	list, _, _ = strings.Cut(list, "}")
	if !found {
		t.Fatal("the script has no list of reasons")
	}
	for entry := range strings.SplitSeq(list, ",") {
		name := strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(entry), "= true"))
		known := false
		for _, r := range status.Reasons() {
			known = known || r.Type == status.TypeProgrammed && string(r.Reason) == name
		}
		if !known {
			t.Errorf("%q is no reason of %s", name, status.TypeProgrammed)
		}
	}
}
