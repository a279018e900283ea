package offline

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"
)

func newDeployment(args ...string) *appsv1.Deployment {
	d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "lb", Name: "lb-berth",
		Labels: map[string]string{"app.kubernetes.io/name": "berth", "app.kubernetes.io/instance": "lb"}}}
	d.Spec.Template.Spec = corev1.PodSpec{
		Containers: []corev1.Container{{Args: args, VolumeMounts: []corev1.VolumeMount{{Name: "cloud", MountPath: "/etc/berth/cloud"}, {Name: "policy", MountPath: "/etc/berth/policy"}}}},
		Volumes: []corev1.Volume{
			{Name: "cloud", VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "c"}}},
			{Name: "policy", VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: "p"}}}},
		},
	}
	return d
}

// TestRelease: what decides on Services is read from the Deployment and from what it
// mounts; what does not is passed over.
func TestRelease(t *testing.T) {
	meta := func(name string) metav1.ObjectMeta { return metav1.ObjectMeta{Namespace: "lb", Name: name} }
	client := fake.NewClientset(
		newDeployment("--cloud-provider=aws", "--cloud-config=/etc/berth/cloud/cloud.conf", "--cluster-name=prod", "--default-class=false",
			"--load-balancer-class=berth-lb.io/berth", "--policy=no-interrupt", "--on-takeover=keep", "--policy-config=/etc/berth/policy/policy.yaml",
			"--leader-elect-resource-name=lb", "--leader-elect-resource-namespace=lb", "--secure-port=10258", "--logging-format=json"),
		&corev1.Secret{ObjectMeta: meta("c"), Data: map[string][]byte{"cloud.conf": []byte("[Global]\n")}},
		&corev1.ConfigMap{ObjectMeta: meta("p"), Data: map[string]string{"policy.yaml": "rules: []\n"}},
	)
	got, err := readRelease(t.Context(), client, "lb")
	if err != nil {
		t.Fatal(err)
	}
	classes := got.classes()
	if got.Provider != "aws" || got.ClusterName != "prod" || got.Installation != "lb/lb" || classes.Default || !cmp.Equal(classes.Names, []string{"berth-lb.io/berth"}) {
		t.Errorf("got %+v", got.Target)
	}
	if keeps, err := got.Settings.KeepsDrift(); !keeps || err != nil || !cmp.Equal(got.Settings.Policies, []string{"no-interrupt"}) {
		t.Errorf("got %+v, %v", got.Settings, err)
	}
	for file, want := range map[string]string{got.CloudConfig: "[Global]\n", got.Settings.PolicyConfig: "rules: []\n"} {
		if body, err := os.ReadFile(file); err != nil || string(body) != want {
			t.Errorf("%s: %q, %v", file, body, err)
		}
	}
	if err := got.Close(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(got.CloudConfig); err == nil {
		t.Error("files are left behind")
	}
}

// TestReleaseThatIsNone: a wrong name, or a file that is not mounted, is reported.
func TestReleaseThatIsNone(t *testing.T) {
	client := fake.NewClientset(newDeployment("--cloud-provider=aws", "--cloud-config=/elsewhere/cloud.conf"))
	for name, want := range map[string]string{"typo": "found 0 Deployments", "lb": "neither of a ConfigMap nor of a Secret"} {
		if _, err := readRelease(t.Context(), client, name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", name, err, want)
		}
	}
}

// TestNamespaceThatIsNone: a namespace that is misspelt is not one where all is well.
func TestNamespaceThatIsNone(t *testing.T) {
	client := fake.NewClientset(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "empty"}})
	live := &cluster{client: client}
	w := &World{}
	if err := w.only(t.Context(), Input{Namespace: "empty"}, live); err != nil {
		t.Error(err)
	}
	if err := w.only(t.Context(), Input{Namespace: "nowhere"}, live); err == nil {
		t.Error("a namespace that is not there is taken for an empty one")
	}
}
