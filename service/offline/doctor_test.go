package offline

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/service/doctor"
	"github.com/berth-lb/berth/service/settings"
	"github.com/berth-lb/berth/stack/plan"
)

// newInstalled returns a cluster with a release of the chart and its webhook.
func newInstalled(now time.Time) *fake.Clientset {
	meta := func(namespace, name string) metav1.ObjectMeta {
		return metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: newDeployment().Labels}
	}
	static := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: "ccm-cp", OwnerReferences: []metav1.OwnerReference{{Kind: "Node", Name: "cp"}}},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{Image: "registry.k8s.io/provider-aws/cloud-controller-manager:v1"}}}}
	managed := static.DeepCopy()
	managed.Name, managed.OwnerReferences[0].Kind = "ccm-1", "ReplicaSet"
	client := admissionv1.WebhookClientConfig{CABundle: []byte("none"), Service: &admissionv1.ServiceReference{Namespace: "lb", Name: "lb-webhook"}}
	rules := []admissionv1.RuleWithOperations{{Rule: admissionv1.Rule{Resources: []string{"services"}}}}
	return fake.NewClientset(newDeployment(), static, managed,
		&coordinationv1.Lease{ObjectMeta: meta("lb", "lb"), Spec: coordinationv1.LeaseSpec{HolderIdentity: new("a"), RenewTime: new(metav1.NewMicroTime(now))}},
		&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: "kube-proxy"}, Data: map[string]string{"config.conf": "nodePortAddresses: [127.0.0.0/8]"}},
		&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: "tke-service-controller-config"}, Data: map[string]string{"VERSION": "v2.4.2"}},
		&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n1"}},
		&admissionv1.ValidatingWebhookConfiguration{ObjectMeta: meta("", "ours"), Webhooks: []admissionv1.ValidatingWebhook{{Name: "warn", ClientConfig: client}}},
		&admissionv1.MutatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: "theirs"}, Webhooks: []admissionv1.MutatingWebhook{{Name: "mservice", Rules: rules}}},
		&corev1.Secret{ObjectMeta: meta("lb", "lb-webhook"), Data: map[string][]byte{corev1.TLSCertKey: []byte("none")}},
	)
}

// TestReadSetup: every part of a cluster reaches the checks, and nothing is written.
func TestReadSetup(t *testing.T) {
	now := time.Now()
	client := newInstalled(now)
	target := Target{Installation: "lb/lb", Settings: settings.Settings{DefaultClass: true}}
	found := readSetup(t.Context(), client, target, Examination{Release: "lb", Now: now})
	if len(found.Unread) > 0 {
		t.Errorf("unread: %v", found.Unread)
	}
	var got []string
	for _, d := range doctor.Diagnose(found) {
		if d.Result == providers.Faulty || d.Result == providers.Doubtful {
			got = append(got, d.Code+" "+d.About)
		}
	}
	for _, want := range []string{"BRT403 Deployment lb/lb-berth", "BRT404 Pod kube-system/ccm-cp", "BRT404 webhook mservice", "BRT404 ConfigMap kube-system/tke-service-controller-config", "BRT405 Nodes n1", "BRT406 kube-proxy", "BRT407 webhook warn"} {
		if !slices.Contains(got, want) {
			t.Errorf("%q is not among %q", want, got)
		}
	}
	if slices.ContainsFunc(got, func(s string) bool { return strings.Contains(s, "ccm-1") }) {
		t.Errorf("a pod of a ReplicaSet counts beside it: %q", got)
	}
	for _, a := range client.Actions() {
		if verb := a.GetVerb(); verb != "get" && verb != "list" {
			t.Errorf("%s %s", verb, a.GetResource().Resource)
		}
	}
}

// TestReadSetupWithoutRights: what may not be read is no reason to end.
func TestReadSetupWithoutRights(t *testing.T) {
	client := newInstalled(time.Now())
	client.PrependReactor("list", "nodes", func(clienttesting.Action) (bool, runtime.Object, error) { return true, nil, errors.New("forbidden") })
	found := readSetup(t.Context(), client, Target{}, Examination{Now: time.Now()})
	if len(found.Unread) != 1 || found.Unread[doctor.Nodes] == nil {
		t.Errorf("unread: %v", found.Unread)
	}
}

// TestCheckupText: errors are first, and equal results are one entry.
func TestCheckupText(t *testing.T) {
	c := Checkup{Results: []providers.Diagnosis{
		providers.Permitted("a", true, "", ""), providers.Permitted("b", true, "", ""),
		providers.Permitted("x", false, "c", "n"), providers.Permitted("y", false, "c", "n"), providers.WithinQuota("q", 9, 10),
		providers.Unchecked(providers.CheckQuota, "z", "no right", "ask"),
	}}
	text, err := c.Render("human", 0)
	want := "error BRT502: x, y: not granted\n  cause: c\n  next: n\n" +
		"warning BRT503: q: 9 of 10 in use\n  cause: the quota is nearly exhausted\n" +
		"  next: Delete what is unused, such as orphans (berth orphans), or have the\n    quota raised.\n" +
		"not checked BRT503: z: unknown\n  cause: no right\n  next: ask\n" +
		"ok BRT502: 2 objects: granted\nChecks: 2 error, 1 warning, 1 not checked, 2 ok.\n"
	if err != nil || text != want {
		t.Errorf("%v\n%s\nwant\n%s", err, text, want)
	}
	if c.ExitCode() != plan.ExitChanges || (Checkup{Results: c.Results[4:]}).ExitCode() != plan.ExitNothing {
		t.Error("exit code: errors alone change it")
	}
}
