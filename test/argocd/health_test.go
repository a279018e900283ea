package argocd

import (
	"os"
	"strings"
	"testing"

	lua "github.com/yuin/gopher-lua"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berth-lb/berth/status"
)

const script = "../../integrations/argocd/health.lua"

// luaTable converts the JSON form of a Service to a Lua table.
func luaTable(l *lua.LState, value any) lua.LValue {
	switch v := value.(type) {
	case map[string]any:
		out := l.NewTable()
		for key, one := range v {
			out.RawSetString(key, luaTable(l, one))
		}
		return out
	case []any:
		out := l.NewTable()
		for _, one := range v {
			out.Append(luaTable(l, one))
		}
		return out
	case string:
		return lua.LString(v)
	case int64:
		return lua.LNumber(v)
	}
	return lua.LNil
}

// runScript runs the script as Argo CD does: obj is the object, the result a table.
func runScript(t *testing.T, object map[string]any) (state, message string) {
	t.Helper()
	body, err := os.ReadFile(script)
	if err != nil {
		t.Fatal(err)
	}
	l := lua.NewState()
	defer l.Close()
	l.SetGlobal("obj", luaTable(l, object))
	if err := l.DoString(string(body)); err != nil {
		t.Fatal(err)
	}
	result, ok := l.Get(-1).(*lua.LTable)
	if !ok {
		t.Fatalf("the script returns %s", l.Get(-1).Type())
	}
	return lua.LVAsString(result.RawGetString("status")), lua.LVAsString(result.RawGetString("message"))
}

func newService(kind string, ingress bool, conditions ...any) map[string]any {
	of := map[string]any{"conditions": append([]any{map[string]any{"type": "example.com/Other", "status": "False"}}, conditions...)}
	if ingress {
		of["loadBalancer"] = map[string]any{"ingress": []any{map[string]any{"ip": "192.0.2.1"}}}
	}
	return map[string]any{"kind": "Service", "spec": map[string]any{"type": kind}, "status": of}
}

func newCondition(kind, truth string, reason status.Reason, message string) any {
	return map[string]any{"type": kind, "status": truth, "reason": string(reason), "message": message}
}

// TestHealth: a refused Service is degraded and says why, not under way for ever.
func TestHealth(t *testing.T) {
	accepted := newCondition(status.TypeAccepted, "True", status.ReasonAccepted, "")
	for name, tc := range map[string]struct {
		object         map[string]any
		state, message string
	}{
		"another type":          {newService("ClusterIP", false), "Healthy", ""},
		"no status at all":      {map[string]any{"spec": map[string]any{"type": "LoadBalancer"}}, "Progressing", "waiting"},
		"served by another":     {newService("LoadBalancer", true), "Healthy", ""},
		"refused":               {newService("LoadBalancer", false, newCondition(status.TypeAccepted, "False", status.ReasonInvalidAnnotation, "x: is bad")), "Degraded", "InvalidAnnotation: x: is bad"},
		"refused, still serves": {newService("LoadBalancer", true, newCondition(status.TypeAccepted, "False", status.ReasonPolicyRefused, "no")), "Degraded", "PolicyRefused"},
		"denied":                {newService("LoadBalancer", false, accepted, newCondition(status.TypeProgrammed, "False", status.ReasonDenied, "m")), "Degraded", "Denied: m"},
		"the cloud is busy":     {newService("LoadBalancer", false, accepted, newCondition(status.TypeProgrammed, "False", status.ReasonPending, "m")), "Progressing", "Pending: m"},
		"fine":                  {newService("LoadBalancer", true, accepted, newCondition(status.TypeProgrammed, "True", status.ReasonProgrammed, "nlb a serves 80/TCP")), "Healthy", "nlb a serves"},
	} {
		t.Run(name, func(t *testing.T) {
			state, message := runScript(t, tc.object)
			if state != tc.state || !strings.Contains(message, tc.message) {
				t.Errorf("got %s %q, want %s %q", state, message, tc.state, tc.message)
			}
		})
	}
}

// TestHealthAgrees: for every reason and generation, the script reports what `berth status`
// reports.
func TestHealthAgrees(t *testing.T) {
	for _, accepted := range []metav1.ConditionStatus{"", metav1.ConditionTrue, metav1.ConditionFalse} {
		for _, r := range status.Reasons() {
			if r.Type != status.TypeProgrammed {
				continue
			}
			for _, truth := range []metav1.ConditionStatus{metav1.ConditionTrue, metav1.ConditionFalse, metav1.ConditionUnknown} {
				for _, observed := range []int64{0, 1, 2} {
					compareHealth(t, accepted, metav1.Condition{Type: status.TypeProgrammed, Status: truth, Reason: string(r.Reason), ObservedGeneration: observed})
				}
			}
		}
	}
}

// compareHealth runs the script and the function on a Service of generation 2.
func compareHealth(t *testing.T, accepted metav1.ConditionStatus, programmed metav1.Condition) {
	t.Helper()
	svc := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Generation: 2}}
	svc.Status.Conditions = []metav1.Condition{programmed}
	all := []any{map[string]any{"type": programmed.Type, "status": string(programmed.Status), "reason": programmed.Reason, "observedGeneration": programmed.ObservedGeneration}}
	if accepted != "" {
		svc.Status.Conditions = append(svc.Status.Conditions, metav1.Condition{Type: status.TypeAccepted, Status: accepted, Reason: "x"})
		all = append(all, newCondition(status.TypeAccepted, string(accepted), "x", ""))
	}
	object := newService("LoadBalancer", true, all...)
	object["metadata"] = map[string]any{"generation": svc.Generation}
	if got, want := stateOf(runScript(t, object)), string(status.HealthOf(svc)); got != want {
		t.Errorf("accepted %q, programmed %s %s about generation %d: the script reports %s, want %s",
			accepted, programmed.Status, programmed.Reason, programmed.ObservedGeneration, got, want)
	}
}

func stateOf(state, _ string) string { return state }
