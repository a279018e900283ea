package e2e

import (
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/berth-lb/berth/test/harness"
)

// helmBuilt is Helm, compiled from the module that pins it by the first test that
// asks.
var helmBuilt = sync.OnceValues(func() (string, error) {
	root, err := harness.Root()
	if err != nil {
		return "", err
	}
	path := filepath.Join(root, "bin", "helm")
	build := exec.Command("go", "-C", filepath.Join(root, "test", "helm"), "build", "-o", path, "helm.sh/helm/v4/cmd/helm")
	build.Stdout, build.Stderr = os.Stderr, os.Stderr
	return path, build.Run()
})

// release is an installation of the chart by Helm. Nothing runs Pods here, so the
// test reads the Deployment as a kubelet does and starts the program as it says:
// arguments, environment, volumes and the ServiceAccount's token.
type release struct {
	w         *world
	name      string
	namespace string
	ports     map[*harness.Process]int // of health and metrics
	hook      int                      // port on which Pods have the webhook; 0: they have none
	page      int                      // the same of the page
}

// helm runs Helm as the administrator of the cluster.
func (w *world) helm(args ...string) string {
	w.t.Helper()
	program, err := helmBuilt()
	w.must(err)
	cmd := exec.CommandContext(w.t.Context(), program, append(args, "--kubeconfig", w.Cluster.Kubeconfig(""))...)
	home := w.t.TempDir()
	cmd.Env = append(os.Environ(), "HELM_CACHE_HOME="+home, "HELM_CONFIG_HOME="+home, "HELM_DATA_HOME="+home)
	out, err := cmd.CombinedOutput()
	if err != nil {
		w.t.Fatalf("helm %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// values are those of the world's cloud: its cloud configuration, and more.
func (w *world) values(more map[string]any) string {
	w.t.Helper()
	conf, err := os.ReadFile(filepath.Join(w.Sim.Dir, "cloud.conf"))
	w.must(err)
	// The chart's test takes its identity from the cluster, as outside of tests.
	content, _, _ := strings.Cut(string(conf), "\n[berth]\n")
	switch {
	case w.Cloud == "oci":
		content = "# " + markedMount + "\n" + content
	case !strings.HasPrefix(content, "{"):
		content = "; " + markedMount + "\n" + content
	}
	values := map[string]any{
		"provider": w.Cloud, "image": map[string]any{"repository": "registry.example.com/berth"},
		"cloudConfig": map[string]any{"content": content, "kind": "Secret"},
	}
	for key, value := range more {
		values[key] = value
	}
	text, err := json.Marshal(values)
	w.must(err)
	file, err := os.CreateTemp(w.Dir, "values-*.json")
	w.must(err)
	_, err = file.Write(text)
	w.must(err)
	w.must(file.Close())
	return file.Name()
}

func chartFolder(w *world) string {
	root, err := harness.Root()
	w.must(err)
	return filepath.Join(root, "charts", "berth")
}

// install installs the chart. It does not wait for Pods, which never come.
func (w *world) install(name string, values map[string]any) *release {
	w.t.Helper()
	r := &release{w: w, name: name, namespace: w.ns + "-" + name, ports: map[*harness.Process]int{}}
	w.helm("install", name, chartFolder(w), "--namespace", r.namespace, "--create-namespace", "--values", w.values(values))
	return r
}

func (r *release) upgrade(values map[string]any) {
	r.w.t.Helper()
	r.w.helm("upgrade", r.name, chartFolder(r.w), "--namespace", r.namespace, "--values", r.w.values(values))
}

func (r *release) uninstall() string {
	r.w.t.Helper()
	return r.w.helm("uninstall", r.name, "--namespace", r.namespace)
}

// user is the name that the API server knows the release's account by.
func (r *release) user() string { return "system:serviceaccount:" + r.namespace + ":" + r.account() }

func (r *release) account() string {
	r.w.t.Helper()
	return r.template().Spec.ServiceAccountName
}

func (r *release) template() corev1.PodTemplateSpec {
	r.w.t.Helper()
	list, err := r.w.Client.AppsV1().Deployments(r.namespace).List(r.w.t.Context(), metav1.ListOptions{LabelSelector: "app.kubernetes.io/instance=" + r.name})
	r.w.must(err)
	if len(list.Items) != 1 {
		r.w.t.Fatalf("%s: %d Deployments", r.name, len(list.Items))
	}
	return list.Items[0].Spec.Template
}

// pod starts what one Pod of the Deployment would run.
func (r *release) pod() *harness.Process {
	r.w.t.Helper()
	pod := r.template().Spec
	container := pod.Containers[0]
	dir, err := os.MkdirTemp(r.w.Dir, "pod-")
	r.w.must(err)
	replace := strings.NewReplacer(r.mount(dir, pod, container)...)
	port := freePort(r.w)
	kubeconfig := r.login(filepath.Join(dir, "kubeconfig"))
	r.inEffect()
	args := []string{"--kubeconfig=" + kubeconfig, "--authentication-kubeconfig=" + kubeconfig, "--authorization-kubeconfig=" + kubeconfig, "--bind-address=127.0.0.1"}
	for _, arg := range container.Args {
		if strings.HasPrefix(arg, "--secure-port=") {
			arg = fmt.Sprintf("--secure-port=%d", port)
		}
		if strings.HasPrefix(arg, "--webhook-listen=") {
			arg = fmt.Sprintf("--webhook-listen=127.0.0.1:%d", r.hook)
		}
		if strings.HasPrefix(arg, "--ui-listen=") {
			arg = fmt.Sprintf("--ui-listen=127.0.0.1:%d", r.page)
		}
		args = append(args, replace.Replace(arg))
	}
	env := r.w.Credentials()
	for _, e := range container.Env {
		value := replace.Replace(e.Value)
		if e.ValueFrom != nil && e.ValueFrom.ResourceFieldRef != nil && e.ValueFrom.ResourceFieldRef.Resource == "limits.memory" {
			value = fmt.Sprint(container.Resources.Limits.Memory().Value())
		}
		env = append(env, e.Name+"="+value)
	}
	p, err := r.w.Run(r.name, r.w.Binaries.Controller, env, args...)
	r.w.must(err)
	r.ports[p] = port
	return p
}

// mount writes the volumes of a container below a folder, and returns where each
// is mounted and its folder, in turn.
func (r *release) mount(dir string, pod corev1.PodSpec, container corev1.Container) []string {
	r.w.t.Helper()
	var out []string
	for _, m := range container.VolumeMounts {
		for _, v := range pod.Volumes {
			if v.Name == m.Name {
				r.fill(filepath.Join(dir, v.Name), v)
				out = append(out, m.MountPath, filepath.Join(dir, v.Name))
			}
		}
	}
	return out
}

func (r *release) fill(dir string, v corev1.Volume) {
	r.w.t.Helper()
	files := map[string][]byte{}
	switch ctx := r.w.t.Context(); {
	case v.Secret != nil:
		secret, err := r.w.Client.CoreV1().Secrets(r.namespace).Get(ctx, v.Secret.SecretName, metav1.GetOptions{})
		r.w.must(err)
		files = secret.Data
	case v.ConfigMap != nil:
		found, err := r.w.Client.CoreV1().ConfigMaps(r.namespace).Get(ctx, v.ConfigMap.Name, metav1.GetOptions{})
		r.w.must(err)
		for name, text := range found.Data {
			files[name] = []byte(text)
		}
	default:
		r.w.t.Fatalf("volume %s is of a kind that the test does not know", v.Name)
	}
	r.w.must(os.MkdirAll(dir, 0o755))
	for name, text := range files {
		r.w.must(os.WriteFile(filepath.Join(dir, name), text, 0o600))
	}
}

// login writes a kubeconfig with a token of the release's account.
func (r *release) login(path string) string {
	r.w.t.Helper()
	return r.w.loginAs(path, r.namespace, r.account())
}

func (w *world) loginAs(path, namespace, account string) string {
	w.t.Helper()
	admin, err := w.Cluster.RESTConfig("")
	w.must(err)
	config := clientcmdapi.NewConfig()
	config.Clusters["berth"] = &clientcmdapi.Cluster{Server: admin.Host, CertificateAuthorityData: admin.CAData}
	config.AuthInfos["berth"] = &clientcmdapi.AuthInfo{Token: w.token(namespace, account)}
	config.Contexts["berth"] = &clientcmdapi.Context{Cluster: "berth", AuthInfo: "berth"}
	config.CurrentContext = "berth"
	w.must(clientcmd.WriteToFile(*config, path))
	return path
}

// token is one that the API server has made for an account.
func (w *world) token(namespace, account string) string {
	w.t.Helper()
	made, err := w.Client.CoreV1().ServiceAccounts(namespace).CreateToken(w.t.Context(), account, &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
	w.must(err)
	return made.Status.Token
}

// freePort returns a port that was free a moment ago.
func freePort(w *world) int {
	w.t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	w.must(err)
	address, ok := l.Addr().(*net.TCPAddr)
	if !ok {
		w.t.Fatalf("address %T", l.Addr())
	}
	w.must(l.Close())
	return address.Port
}
