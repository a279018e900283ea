package offline

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/spf13/pflag"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/berth-lb/berth/service/settings"
)

// Release is how a controller in the cluster is set up, as its Deployment says.
type Release struct {
	Target
	Provider string // the value of --cloud-provider
	Notes    []string
	folder   string // of the files that were mounted there
}

// Close removes what was written for the release.
func (r *Release) Close() error { return os.RemoveAll(r.folder) }

// Judging returns the target for a comparison of the cloud with all Services, whichever
// controller serves them and whatever a policy blocks.
func (r *Release) Judging() Target {
	out := r.Target
	out.Installation = ""
	out.Settings = settings.Settings{Classes: r.Settings.Classes, DefaultClass: true, OnTakeover: r.Settings.OnTakeover}
	return out
}

// chartLabels are on everything that the chart makes.
// Source: Helm, "Labels and Annotations"; charts/berth/templates/_helpers.tpl.
const chartLabels = "app.kubernetes.io/name=berth,app.kubernetes.io/instance="

// ReadRelease reads flags and files of the controller that a release of the chart has
// installed, from its Deployment and what that mounts. It is to be closed. An error
// means that it cannot be found or read.
func ReadRelease(ctx context.Context, in Input, name string) (*Release, error) {
	client, _, err := in.dial(in.Kubeconfig)
	if err != nil {
		return nil, err
	}
	return readRelease(ctx, client, name)
}

func readRelease(ctx context.Context, client kubernetes.Interface, name string) (*Release, error) {
	list, err := client.AppsV1().Deployments(metav1.NamespaceAll).List(ctx, metav1.ListOptions{LabelSelector: chartLabels + name})
	if err != nil {
		return nil, fmt.Errorf("release %s: %w", name, err)
	}
	if len(list.Items) != 1 {
		return nil, fmt.Errorf("release %s: found %s with the labels %s%s, want one", name, countOf(len(list.Items), "Deployment"), chartLabels, name)
	}
	deployment := list.Items[0]
	r := &Release{}
	if r.folder, err = os.MkdirTemp("", "berth-release-"); err != nil {
		return nil, fmt.Errorf("release %s: %w", name, err)
	}
	if err := r.take(ctx, client, deployment); err != nil {
		return nil, errors.Join(fmt.Errorf("release %s: %w", name, err), r.Close())
	}
	r.Notes = append(r.Notes, fmt.Sprintf("set up as Deployment %s/%s: %s", deployment.Namespace, deployment.Name, strings.Join(deployment.Spec.Template.Spec.Containers[0].Args, " ")))
	return r, nil
}

// take reads the arguments of the controller. Flags that decide on nothing in a plan
// are passed over.
func (r *Release) take(ctx context.Context, client kubernetes.Interface, d appsv1.Deployment) error {
	spec := d.Spec.Template.Spec
	if len(spec.Containers) == 0 {
		return fmt.Errorf("the Deployment %s/%s has no container", d.Namespace, d.Name)
	}
	var lease, leaseNamespace string
	set := pflag.NewFlagSet("controller", pflag.ContinueOnError)
	set.ParseErrorsAllowlist.UnknownFlags = true
	r.Settings.Register(set)
	set.StringVar(&r.Provider, "cloud-provider", "", "")
	set.StringVar(&r.CloudConfig, "cloud-config", "", "")
	set.StringVar(&r.ClusterName, "cluster-name", "kubernetes", "")
	set.StringVar(&lease, "leader-elect-resource-name", "cloud-controller-manager", "")
	set.StringVar(&leaseNamespace, "leader-elect-resource-namespace", "kube-system", "")
	if err := set.Parse(append(append([]string{}, spec.Containers[0].Command...), spec.Containers[0].Args...)); err != nil {
		return err
	}
	r.Installation = leaseNamespace + "/" + lease
	for _, file := range []*string{&r.CloudConfig, &r.Settings.PolicyConfig} {
		if *file == "" {
			continue
		}
		text, err := readMounted(ctx, client, d.Namespace, spec, *file)
		if err != nil {
			return err
		}
		*file = filepath.Join(r.folder, path.Base(*file))
		if err := os.WriteFile(*file, text, 0o600); err != nil {
			return err
		}
	}
	return nil
}

// readMounted reads a file as the container sees it, from the ConfigMap or Secret that is
// mounted.
func readMounted(ctx context.Context, client kubernetes.Interface, namespace string, spec corev1.PodSpec, file string) ([]byte, error) {
	for _, m := range spec.Containers[0].VolumeMounts {
		key, inside := strings.CutPrefix(file, strings.TrimSuffix(m.MountPath, "/")+"/")
		if !inside {
			continue
		}
		for _, v := range spec.Volumes {
			switch {
			case v.Name != m.Name:
			case v.ConfigMap != nil:
				found, err := client.CoreV1().ConfigMaps(namespace).Get(ctx, v.ConfigMap.Name, metav1.GetOptions{})
				if err != nil {
					return nil, err
				}
				if text, ok := found.Data[key]; ok {
					return []byte(text), nil
				}
				return nil, fmt.Errorf("the ConfigMap %s/%s has no key %s", namespace, v.ConfigMap.Name, key)
			case v.Secret != nil:
				found, err := client.CoreV1().Secrets(namespace).Get(ctx, v.Secret.SecretName, metav1.GetOptions{})
				if err != nil {
					return nil, err
				}
				if body, ok := found.Data[key]; ok {
					return body, nil
				}
				return nil, fmt.Errorf("the Secret %s/%s has no key %s", namespace, v.Secret.SecretName, key)
			}
		}
	}
	return nil, fmt.Errorf("%s is neither of a ConfigMap nor of a Secret that is mounted", file)
}
