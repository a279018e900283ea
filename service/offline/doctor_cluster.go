package offline

import (
	"context"
	"errors"
	"slices"
	"strings"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/berth-lb/berth/service/doctor"
)

// errNoCluster means that the kubeconfig has no context.
var errNoCluster = errors.New("there is no cluster: the kubeconfig has no context")

// setupReader reads the parts of a cluster. A part that cannot be read is noted.
type setupReader struct {
	client kubernetes.Interface
	found  doctor.Cluster
}

// readSetup reads what the checks of the cluster need.
func readSetup(ctx context.Context, client kubernetes.Interface, t Target, x Examination) doctor.Cluster {
	lease := DefaultLease
	for _, other := range []string{t.Installation, x.Lease} {
		if other != "" {
			lease = other
		}
	}
	classes := t.classes()
	r := setupReader{client: client, found: doctor.Cluster{
		Controller: doctor.Controller{Release: x.Release, Provider: t.Cloud.Name, Lease: lease, DefaultClass: classes.Default, Classes: classes.Names},
		Now:        x.Now, Program: x.Program, Unread: map[doctor.Part]error{},
	}}
	for _, part := range []struct {
		name doctor.Part
		read func(context.Context) error
	}{
		{doctor.Server, r.readServer}, {doctor.Workloads, r.readWorkloads}, {doctor.Leases, r.readLease}, {doctor.Nodes, r.readNodes},
		{doctor.Proxy, r.readProxy}, {doctor.Webhooks, r.readWebhooks}, {doctor.Secrets, r.readSecret}, {doctor.Settings, r.readSettings},
	} {
		if err := part.read(ctx); err != nil {
			r.found.Unread[part.name] = err
		}
	}
	return r.found
}

func (r *setupReader) readServer(context.Context) error {
	v, err := r.client.Discovery().ServerVersion()
	if err == nil {
		r.found.Server = v.GitVersion
	}
	return err
}

func (r *setupReader) readWorkloads(ctx context.Context) error {
	deployments, err := r.client.AppsV1().Deployments(metav1.NamespaceAll).List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	for _, d := range deployments.Items {
		wanted := int32(1) // the default of the field
		if d.Spec.Replicas != nil {
			wanted = *d.Spec.Replicas
		}
		r.add("Deployment", d.ObjectMeta, d.Spec.Template.Spec, wanted, d.Status.AvailableReplicas)
	}
	daemons, err := r.client.AppsV1().DaemonSets(metav1.NamespaceAll).List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	for _, d := range daemons.Items {
		r.add("DaemonSet", d.ObjectMeta, d.Spec.Template.Spec, d.Status.DesiredNumberScheduled, d.Status.NumberAvailable)
	}
	pods, err := r.client.CoreV1().Pods(metav1.NamespaceSystem).List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	for _, p := range pods.Items {
		// Static pods belong to their Node.
		if slices.ContainsFunc(p.OwnerReferences, func(o metav1.OwnerReference) bool { return o.Kind == "Node" }) {
			r.add("Pod", p.ObjectMeta, p.Spec, 1, 1)
		}
	}
	return nil
}

func (r *setupReader) add(kind string, meta metav1.ObjectMeta, pod corev1.PodSpec, wanted, available int32) {
	r.found.Workloads = append(r.found.Workloads, doctor.Workload{
		Kind: kind, Namespace: meta.Namespace, Name: meta.Name, Labels: meta.Labels, Pod: pod, Wanted: wanted, Available: available,
	})
}

func (r *setupReader) readLease(ctx context.Context) error {
	namespace, name, _ := strings.Cut(r.found.Controller.Lease, "/")
	found, err := r.client.CoordinationV1().Leases(namespace).Get(ctx, name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err == nil {
		r.found.Lease = found
	}
	return err
}

func (r *setupReader) readNodes(ctx context.Context) (err error) {
	r.found.Nodes, err = listNodes(ctx, r.client)
	return err
}

func (r *setupReader) readProxy(ctx context.Context) error {
	found, err := r.client.CoreV1().ConfigMaps(metav1.NamespaceSystem).Get(ctx, "kube-proxy", metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err == nil {
		r.found.Proxy = found.Data["config.conf"]
	}
	return err
}

// readSettings looks for the ConfigMaps of controllers that a managed cluster hides.
func (r *setupReader) readSettings(ctx context.Context) error {
	for _, h := range doctor.HiddenControllers() {
		_, err := r.client.CoreV1().ConfigMaps(metav1.NamespaceSystem).Get(ctx, h.Settings, metav1.GetOptions{})
		switch {
		case err == nil:
			r.found.Settings = append(r.found.Settings, h.Settings)
		case !apierrors.IsNotFound(err):
			return err
		}
	}
	return nil
}

func (r *setupReader) readWebhooks(ctx context.Context) error {
	mutating, err := r.client.AdmissionregistrationV1().MutatingWebhookConfigurations().List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	for _, c := range mutating.Items {
		for _, h := range c.Webhooks {
			r.addWebhook(c.ObjectMeta, h.Name, h.ClientConfig, resourcesOf(h.Rules))
		}
	}
	validating, err := r.client.AdmissionregistrationV1().ValidatingWebhookConfigurations().List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	for _, c := range validating.Items {
		for _, h := range c.Webhooks {
			r.addWebhook(c.ObjectMeta, h.Name, h.ClientConfig, nil)
		}
	}
	return nil
}

func (r *setupReader) addWebhook(meta metav1.ObjectMeta, name string, client admissionv1.WebhookClientConfig, mutates []string) {
	h := doctor.Webhook{Configuration: meta.Name, Name: name, Bundle: client.CABundle, Mutates: mutates}
	h.Release = doctor.ReleaseOf(meta.Labels)
	if s := client.Service; s != nil {
		h.Host, h.Secret = s.Name+"."+s.Namespace+".svc", s.Namespace+"/"+s.Name
	}
	r.found.Webhooks = append(r.found.Webhooks, h)
}

// resourcesOf lists the resources of rules.
func resourcesOf(rules []admissionv1.RuleWithOperations) []string {
	var out []string
	for _, rule := range rules {
		out = append(out, rule.Resources...)
	}
	return out
}

// readSecret reads the Secret with the certificate of the release's webhooks, which has the name of
// their Service.
func (r *setupReader) readSecret(ctx context.Context) error {
	for _, h := range r.found.Webhooks {
		if r.found.Release == "" || h.Release != r.found.Release || h.Secret == "" {
			continue
		}
		namespace, name, _ := strings.Cut(h.Secret, "/")
		found, err := r.client.CoreV1().Secrets(namespace).Get(ctx, name, metav1.GetOptions{})
		if err == nil {
			r.found.Secret = found.Data
		}
		if !apierrors.IsNotFound(err) {
			return err
		}
	}
	return nil
}
