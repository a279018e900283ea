package e2e

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	elbv2 "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2"
	elbv2types "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2/types"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// forController are the values of a release that serves what the AWS Load Balancer Controller
// serves, with a part of the chart switched on.
func forController(part string, value any, args ...string) map[string]any {
	return map[string]any{
		"defaultClass": true, "loadBalancerClasses": []string{}, "extraArgs": append([]string{}, args...),
		"leaderElection": map[string]any{"leaseDuration": "6s", "renewDeadline": "4s", "retryPeriod": "1s"},
		"aws":            map[string]any{part: value},
	}
}

// hasTargets waits until these addresses and no others are targets of a group.
func (w *world) hasTargets(group string, want ...string) {
	w.t.Helper()
	slices.Sort(want)
	w.eventually("targets", func() error {
		return diffError("targets", want, slices.Sorted(maps.Keys(w.targets(group))))
	})
}

// TestSharedTargetGroupOnAWS: another cluster has targets in the target group of a Service,
// and registers more at any time. Pods are added and deleted and the controller restarts; it
// deregisters only its own targets. The record of these targets is deleted with the Service.
func TestSharedTargetGroupOnAWS(t *testing.T) {
	w := startWorld(t, 2)
	w.serveController()
	before := w.state()
	r := w.install("berth", forController("multiClusterTargetGroups", true))
	first := r.pod()
	svc := w.service("shared", podTargets, setAnnotation("multi-cluster-target-group", "true"))
	w.must(w.Create(t.Context(), svc))
	w.programmed(svc)
	group := w.onlyGroup()
	arn := awssdk.ToString(group.TargetGroupArn)
	k := w.kubelet("shared")
	old := k.run(2)
	w.hasTargets(arn, podAddresses(old)...)
	elsewhere := func(ip string) {
		_, err := w.aws.elbv2.RegisterTargets(t.Context(), &elbv2.RegisterTargetsInput{
			TargetGroupArn: &arn, Targets: []elbv2types.TargetDescription{{Id: &ip, Port: awssdk.Int32(8080)}},
		})
		w.must(err)
	}
	elsewhere("10.0.201.1")
	fresh := k.run(2)
	k.end(old, arn)
	w.hasTargets(arn, append(podAddresses(fresh), "10.0.201.1")...)
	w.must(first.Stop(limit))

	elsewhere("10.0.201.2")
	fewer := fresh[1:]
	k.must(k.Client.CoreV1().Pods(k.ns).Delete(t.Context(), fresh[0].Name, metav1.DeleteOptions{GracePeriodSeconds: new(int64)}))
	second := r.pod()
	w.hasTargets(arn, append(podAddresses(fewer), "10.0.201.1", "10.0.201.2")...)
	var note *corev1.ConfigMap
	w.eventually("the note has its own targets alone", func() (err error) {
		if note, err = w.Client.CoreV1().ConfigMaps(w.ns).Get(t.Context(), "aws-lbc-targets-"+awssdk.ToString(group.TargetGroupName), metav1.GetOptions{}); err != nil {
			return err
		}
		return diffError("note", fewer[0].Status.PodIP+":8080", note.Data["targets"])
	})
	w.remove(svc)
	w.must(w.noteGoes(note))
	w.must(second.Stop(limit))
	r.uninstall()
	w.asBefore(before)
}

// noteGoes wants that a note belongs to its Service, with which Kubernetes takes it away.
func (w *world) noteGoes(note *corev1.ConfigMap) error {
	_, err := w.Client.CoreV1().ConfigMaps(w.ns).Get(w.t.Context(), note.Name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err == nil && !slices.ContainsFunc(note.OwnerReferences, func(o metav1.OwnerReference) bool { return o.Kind == "Service" && o.Name == "shared" }) {
		err = fmt.Errorf("%s has the owners %v", note.Name, note.OwnerReferences)
	}
	return err
}

func podAddresses(pods []corev1.Pod) []string {
	var out []string
	for _, p := range pods {
		out = append(out, p.Status.PodIP)
	}
	return out
}

// servers are the ids of the targets of a group, by address.
func (w *world) servers(group string) map[string]string {
	w.t.Helper()
	answer, err := w.aws.elbv2.DescribeTargetHealth(w.t.Context(), &elbv2.DescribeTargetHealthInput{TargetGroupArn: &group})
	w.must(err)
	out := map[string]string{}
	for _, d := range answer.TargetHealthDescriptions {
		if d.TargetHealth.State != elbv2types.TargetHealthStateEnumDraining {
			out[awssdk.ToString(d.Target.Id)] = awssdk.ToString(d.Target.QuicServerId)
		}
	}
	return out
}

// serverID is the id that a pod was given, as AWS writes it; empty: none.
func (w *world) serverID(pod corev1.Pod) string {
	w.t.Helper()
	now, err := w.Client.CoreV1().Pods(w.ns).Get(w.t.Context(), pod.Name, metav1.GetOptions{})
	w.must(err)
	for _, e := range now.Spec.Containers[0].Env {
		if e.Name == "AWS_LBC_QUIC_SERVER_ID" {
			raw, err := base64.StdEncoding.DecodeString(e.Value)
			w.must(err)
			return "0x" + hex.EncodeToString(raw)
		}
	}
	return ""
}

// TestQUICOnAWS: pods get their ids from the webhook of the chart, and are registered with
// them behind a QUIC port. A pod created before the label has no id: it is not registered,
// and an event reports it. Replaced pods take their ids along.
func TestQUICOnAWS(t *testing.T) {
	w := startWorld(t, 2)
	w.serveController()
	before := w.state()
	r := w.install("berth", forController("quic", map[string]any{"enabled": true}, "--webhook-host=127.0.0.1"))
	r.hook = freePort(w)
	r.callDirectly()
	controller := r.pod()
	svc := w.service("quic", podTargets, setAnnotation("quic-enabled-ports", "443"), func(svc *corev1.Service) {
		svc.Spec.Ports = []corev1.ServicePort{newPort(corev1.ProtocolUDP, 443, 0)}
	})
	w.must(w.Create(t.Context(), svc))
	w.programmed(svc)
	group := w.onlyGroup()
	w.must(diffError("protocol", elbv2types.ProtocolEnumQuic, group.Protocol))
	arn := awssdk.ToString(group.TargetGroupArn)
	k := w.kubelet("quic")
	k.notes = map[string]string{"service.beta.kubernetes.io/aws-load-balancer-quic-enabled-containers": "web"}
	early := k.run(1)
	w.must(diffError("id of a pod from before the label", "", w.serverID(early[0])))
	w.eventually("the pod without an id is told of", func() error {
		return requireWords(strings.Join(w.warnings("quic"), "\n"), "no id for QUIC")
	})
	w.labelNamespace("elbv2.k8s.aws/quic-server-id-inject", "enabled")
	w.eventually("a new pod gets its id", func() error {
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "trial", Annotations: k.notes}}
		pod.Spec.Containers = []corev1.Container{{Name: "web", Image: "example.com/web"}}
		made, err := w.Client.CoreV1().Pods(w.ns).Create(t.Context(), pod, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		if err == nil && len(made.Spec.Containers[0].Env) == 0 {
			err = fmt.Errorf("it has none")
		}
		return err
	})
	old := k.run(2)
	w.registered(arn, old)
	fresh := k.run(2)
	k.end(append(old, early...), arn)
	w.registered(arn, fresh)
	w.remove(svc)
	w.must(controller.Stop(limit))
	r.uninstall()
	w.asBefore(before)
}

// registered waits until these pods and no others are targets, each by its own id.
func (w *world) registered(group string, pods []corev1.Pod) {
	w.t.Helper()
	want := map[string]string{}
	for _, p := range pods {
		want[p.Status.PodIP] = w.serverID(p)
	}
	w.eventually("targets with ids", func() error { return diffError("ids", want, w.servers(group)) })
}
