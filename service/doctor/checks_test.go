package doctor

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"math/big"
	"slices"
	"strings"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berth-lb/berth/providers"
)

// checkTime is the time of the checks.
func checkTime() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC) }

// newCertificate returns a certificate that verifies itself, valid for an hour before and after now.
func newCertificate(t *testing.T, host string) []byte {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), DNSNames: []string{host}, NotBefore: checkTime().Add(-time.Hour), NotAfter: checkTime().Add(time.Hour), IsCA: true, BasicConstraintsValid: true}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
}

// newHealthy returns a cluster with one release in which nothing is wrong.
func newHealthy(t *testing.T) Cluster {
	t.Helper()
	renewed, holder := metav1.NewMicroTime(checkTime().Add(-time.Second)), "berth-1"
	labels := map[string]string{labelName: programName, labelInstance: "lb", labelVersion: "0.1.0"}
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n1"}, Spec: corev1.NodeSpec{ProviderID: "aws:///a/i-1"},
		Status: corev1.NodeStatus{Addresses: []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: "10.0.0.4"}}}}
	const host = "lb-berth-webhook.lb.svc"
	cert := newCertificate(t, host)
	return Cluster{
		Controller: Controller{Release: "lb", Provider: "aws", Lease: "lb/lb", DefaultClass: true, Classes: []string{"berth-lb.io/berth"}},
		Now:        checkTime(), Program: "v0.1.0", Server: "v1.34.1",
		Workloads: []Workload{
			{Kind: "Deployment", Namespace: "lb", Name: "lb-berth", Labels: labels, Wanted: 2, Available: 2, Pod: newPod("registry.example.com/berth/cloud-controller-manager:v0.1.0")},
			{Kind: "DaemonSet", Namespace: "kube-system", Name: "ccm", Pod: newPod("registry.k8s.io/provider-aws/cloud-controller-manager:v1.34.0", "--controllers=*,-service-lb-controller")},
			{Kind: "Deployment", Namespace: "kube-system", Name: "lbc", Pod: newPod("public.ecr.aws/eks/aws-load-balancer-controller:v2")},
		},
		Lease:    &coordinationv1.Lease{Spec: coordinationv1.LeaseSpec{RenewTime: &renewed, HolderIdentity: &holder}},
		Nodes:    []*corev1.Node{node},
		Proxy:    "kind: KubeProxyConfiguration\nnodePortAddresses: [10.0.0.0/8]\n",
		Webhooks: []Webhook{{Configuration: "lb.lb-berth.services", Release: "lb", Name: "warn.services.berth-lb.io", Bundle: cert, Host: host}},
		Secret:   map[string][]byte{corev1.TLSCertKey: cert},
	}
}

func newPod(image string, args ...string) corev1.PodSpec {
	return corev1.PodSpec{Containers: []corev1.Container{{Image: image, Args: args}}}
}

// listFaults returns "code about: cause" of the errors and warnings.
func listFaults(all []providers.Diagnosis) []string {
	var out []string
	for _, d := range all {
		if d.Result == providers.Faulty || d.Result == providers.Doubtful {
			out = append(out, d.Code+" "+d.About+": "+d.State+": "+d.Cause)
		}
		if d.Result != providers.Fine && (d.Next == "" || d.Cause == "") {
			out = append(out, d.Code+" has no cause or no next step")
		}
	}
	return out
}

// TestHealthy: nothing is reported of a sound cluster, and every check was made.
func TestHealthy(t *testing.T) {
	found := Diagnose(newHealthy(t))
	if list := listFaults(found); len(list) > 0 {
		t.Errorf("%q", list)
	}
	for _, check := range clusterChecks() {
		if check.run != nil && !slices.ContainsFunc(found, func(d providers.Diagnosis) bool { return d.Code == check.Code && d.Result == providers.Fine }) {
			t.Errorf("%s was not made", check.Code)
		}
	}
}

// TestFaults: each fault is found, by its code, and nothing else is.
func TestFaults(t *testing.T) {
	berth := func(args ...string) Workload {
		return Workload{Kind: "Deployment", Namespace: "b", Name: "other", Labels: map[string]string{labelName: programName, labelInstance: "other"}, Pod: newPod("berth:v1", args...)}
	}
	for name, c := range map[string]struct {
		spoil func(*Cluster)
		want  string // how the only result begins, and, after "...", a part of it
	}{
		"old API server":          {func(c *Cluster) { c.Server = "v1.30.9" }, "BRT401 API server...1.31.0"},
		"versions":                {func(c *Cluster) { c.Program = "v0.2.0" }, "BRT402 Deployment lb/lb-berth...berth v0.2.0"},
		"no pod":                  {func(c *Cluster) { c.Workloads[0].Available = 0 }, "BRT403 Deployment lb/lb-berth...0 of 2"},
		"no replica":              {func(c *Cluster) { c.Workloads[0].Wanted, c.Workloads[0].Available = 0, 0 }, "BRT403 Deployment lb/lb-berth...spec.replicas"},
		"no holder":               {func(c *Cluster) { c.Lease.Spec.HolderIdentity = nil }, "BRT403 Lease lb/lb...no process holds it"},
		"old Lease":               {func(c *Cluster) { c.Now = c.Now.Add(time.Minute) }, "BRT403 Lease lb/lb...berth-1 has ended"},
		"no Lease":                {func(c *Cluster) { c.Lease = nil }, "BRT403 Lease lb/lb...not found"},
		"official controller":     {func(c *Cluster) { c.Workloads[1].Pod.Containers[0].Args = nil }, "BRT404 DaemonSet kube-system/ccm...Services without a class"},
		"service controller only": {func(c *Cluster) { c.Workloads[1].Pod.Containers[0].Args[0] = "--controllers=service" }, "BRT404 DaemonSet kube-system/ccm"},
		"official class":          {func(c *Cluster) { c.Classes = append(c.Classes, "service.k8s.aws/nlb") }, "BRT404 Deployment kube-system/lbc...service.k8s.aws/nlb"},
		"official image of one architecture": {func(c *Cluster) {
			c.Workloads[1].Pod = newPod("registry-vpc.cn-hangzhou.aliyuncs.com/acs/cloud-controller-manager-amd64:v2.9.1", "--controllers=node,service")
		}, "BRT404 DaemonSet kube-system/ccm...Services without a class"},
		"official class of network load balancers": {func(c *Cluster) {
			c.Classes = append(c.Classes, "alibabacloud.com/nlb")
			c.Workloads[1].Pod = newPod("registry-vpc.cn-hangzhou.aliyuncs.com/acs/cloud-controller-manager-amd64:v2.9.1", "--controllers=node,nlb")
		}, "BRT404 DaemonSet kube-system/ccm...alibabacloud.com/nlb"},
		"hidden controller of TKE": {func(c *Cluster) { c.Settings = []string{"tke-service-controller-config"} }, "BRT404 ConfigMap kube-system/tke-service-controller-config...Services without a class"},
		"another installation":     {func(c *Cluster) { c.Workloads = append(c.Workloads, berth("--default-class=true")) }, "BRT404 Deployment b/other...the release lb"},
		"same class": {func(c *Cluster) {
			c.Workloads = append(c.Workloads, berth("--default-class=false", "--load-balancer-class", "berth-lb.io/berth"))
		}, "BRT404 Deployment b/other...berth-lb.io/berth"},
		"another webhook": {func(c *Cluster) {
			c.Webhooks = append(c.Webhooks, Webhook{Name: "mservice", Mutates: []string{"services"}})
		}, "BRT404 webhook mservice"},
		"no providerID":       {func(c *Cluster) { c.Nodes[0].Spec.ProviderID = "" }, "BRT405 Nodes n1...providerID"},
		"excluded nodes":      {func(c *Cluster) { c.Nodes[0].Labels = map[string]string{corev1.LabelNodeExcludeBalancers: ""} }, "BRT405 Nodes: none...on all 1"},
		"node ports":          {func(c *Cluster) { c.Proxy = "nodePortAddresses: [127.0.0.0/8]" }, "BRT406 kube-proxy...127.0.0.0/8"},
		"no CA bundle":        {func(c *Cluster) { c.Webhooks[0].Bundle = nil }, "BRT407 webhook warn.services.berth-lb.io...caBundle"},
		"another certificate": {func(c *Cluster) { c.Secret[corev1.TLSCertKey] = newCertificate(t, c.Webhooks[0].Host) }, "BRT407 webhook...unknown authority"},
		"another name":        {func(c *Cluster) { c.Webhooks[0].Host = "other.lb.svc" }, "BRT407 webhook...other.lb.svc"},
		"no certificate":      {func(c *Cluster) { c.Secret = nil }, "BRT407 webhook...Secret"},
	} {
		t.Run(name, func(t *testing.T) {
			cluster := newHealthy(t)
			c.spoil(&cluster)
			got := listFaults(Diagnose(cluster))
			first, part, _ := strings.Cut(c.want, "...")
			if len(got) != 1 || !strings.HasPrefix(got[0], first) || !strings.Contains(got[0], part) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

// TestHiddenClass: a hidden controller does not disturb an installation that serves a class of its own.
func TestHiddenClass(t *testing.T) {
	c := newHealthy(t)
	c.Settings, c.DefaultClass = []string{"tke-service-controller-config"}, false
	if got := listFaults(Diagnose(c)); len(got) > 0 {
		t.Errorf("%q", got)
	}
}

// TestExpired: a certificate is good until its end.
func TestExpired(t *testing.T) {
	c := newHealthy(t)
	c.Now = c.Now.Add(2 * time.Hour)
	renewed := metav1.NewMicroTime(c.Now)
	c.Lease.Spec.RenewTime = &renewed
	if got := listFaults(Diagnose(c)); len(got) != 1 || !strings.Contains(got[0], "expired at 2026-01-02T04:04:05Z") {
		t.Errorf("%q", got)
	}
}

// TestUnread: a check whose objects cannot be read is never passed over, nor taken for a good one.
func TestUnread(t *testing.T) {
	found := Diagnose(Absent(errors.New("forbidden")))
	for _, check := range clusterChecks() {
		if check.run != nil && !slices.ContainsFunc(found, func(d providers.Diagnosis) bool {
			return d.Code == check.Code && d.Result == providers.NotChecked && d.Cause == "forbidden"
		}) {
			t.Errorf("%s: %v", check.Code, found)
		}
	}
}

// TestCodes: a code is used once.
func TestCodes(t *testing.T) {
	var seen []string
	for _, c := range Checks() {
		if slices.Contains(seen, c.Code) {
			t.Errorf("%s is used twice", c.Code)
		}
		seen = append(seen, c.Code)
	}
	if !slices.IsSorted(seen) {
		t.Errorf("not in order: %v", seen)
	}
}
