package oci_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"math/big"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/service/reconcile"
	"github.com/berth-lb/berth/test/props"
	simoci "github.com/berth-lb/berth/test/sim/oci"
	"github.com/berth-lb/berth/test/sim/oci/simtest"
)

// issueCertificate creates a certificate with its key, as a Secret has them.
func issueCertificate(serial int64) map[string][]byte {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		panic(err) // there is no randomness
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(serial), Subject: pkix.Name{CommonName: "web.example"}, NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		panic(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		panic(err)
	}
	return map[string][]byte{
		"tls.crt": pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
		"tls.key": pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private}),
	}
}

// certificates are two, the same for all tests.
var certificates = sync.OnceValue(func() []map[string][]byte { return []map[string][]byte{issueCertificate(1), issueCertificate(2)} })

// secretObjects returns the Secrets of the Service's namespace, by name.
func secretObjects(known map[string]map[string][]byte) map[providers.Reference]providers.Object {
	out := map[providers.Reference]providers.Object{}
	for name, data := range known {
		out[providers.Reference{Kind: providers.Secret, Namespace: "shop", Name: name}] = providers.Object{Data: data}
	}
	return out
}

// certificateMap returns the ConfigMap web-certificates with the given data.
func certificateMap(data map[string]string) map[providers.Reference]providers.Object {
	known := map[string][]byte{}
	for port, ids := range data {
		known[port] = []byte(ids)
	}
	return map[providers.Reference]providers.Object{{Kind: providers.ConfigMap, Namespace: "shop", Name: "web-certificates"}: {Data: known}}
}

// tlsService ends TLS on its first port, and speaks it to the nodes behind it.
func tlsService() *corev1.Service {
	svc := props.Service("web", annotationPairs(oldPrefix+"tls-secret", "web-tls", oldPrefix+"tls-backendset-secret", "shop/nodes-tls", prefix+"security-rule-management-mode", "None",
		prefix+"oci-load-balancer-listener-ssl-config", `{"CipherSuiteName": "oci-modern-ssl-cipher-suite-v1", "Protocols": ["TLSv1.2"]}`)).Service
	svc.Annotations[oldPrefix+"ssl-ports"] = "80"
	svc.Spec.Ports[0].Port = 80
	return svc
}

// runUntilDone works on a job until nothing is left to do, and returns how many writes
// it took.
func runUntilDone(t *testing.T, s subject, r *reconcile.Reconciler, job reconcile.Job) int {
	t.Helper()
	before := s.Control().Journal.Writes()
	var last reconcile.Result
	for range 12 {
		var err error
		if last, err = props.Work(t.Context(), r, job); err != nil {
			t.Fatal(err)
		}
		if last.Clean || last.Released {
			return s.Control().Journal.Writes() - before
		}
	}
	t.Fatalf("not done: %v, %v", last.Err, last.Draft.Problems)
	return 0
}

// encrypted is what a load balancer has of TLS.
type encrypted struct {
	Certificates map[string]struct {
		Public string `json:"publicCertificate"`
	} `json:"certificates"`
	Listeners map[string]encryption `json:"listeners"`
	Sets      map[string]encryption `json:"backendSets"`
}

type encryption struct {
	TLS *struct {
		Certificate string   `json:"certificateName"`
		Managed     []string `json:"certificateIds"`
		Suite       string   `json:"cipherSuiteName"`
		Protocols   []string `json:"protocols"`
	} `json:"sslConfiguration"`
}

// encrypted is the one load balancer.
func (s subject) encrypted(t *testing.T) encrypted {
	t.Helper()
	raw, err := json.Marshal(s.Control().State())
	var cloud struct {
		Balancers []encrypted `json:"loadbalancer"`
	}
	if err == nil {
		err = json.Unmarshal(raw, &cloud)
	}
	if err != nil || len(cloud.Balancers) != 1 {
		t.Fatalf("%d load balancers, %v", len(cloud.Balancers), err)
	}
	return cloud.Balancers[0]
}

// public are the public certificates of a load balancer, by the Secrets that they are from.
func (e encrypted) public() map[string]string {
	out := map[string]string{}
	for name, c := range e.Certificates {
		out[name[:max(strings.LastIndex(name, "-"), 0)]] += c.Public
	}
	return out
}

func beginTLS(t *testing.T) (subject, *reconcile.Reconciler) {
	t.Helper()
	s := subject{running: simtest.Start(t, simoci.Options{Seed: simoci.SeedOptions{Nodes: 3}})}
	return s, props.Process(t, s.Open(t), s.Nodes())
}

// TestCertificates verifies that listeners and backend sets have the certificates of the
// Secrets. When a Secret changes, the new certificate is created before the old one is
// deleted. A Secret that is no longer readable changes nothing.
func TestCertificates(t *testing.T) {
	s, r := beginTLS(t)
	svc, both := tlsService(), certificates()
	d, err := r.Draft(t.Context(), reconcile.Job{Service: svc})
	if err != nil || !d.Problems.Errors() || !strings.Contains(strings.Join(d.Problems.Strings(), "\n"), "names Secret shop/web-tls, which is not known here") {
		t.Errorf("without the Secret: %v, %v", d.Problems.Strings(), err)
	}
	runUntilDone(t, s, r, reconcile.Job{Service: svc, Objects: secretObjects(map[string]map[string][]byte{"web-tls": both[0], "nodes-tls": both[0]})})
	now := s.encrypted(t)
	l, set := now.Listeners["TCP-80"].TLS, now.Sets["TCP-80"].TLS
	if l == nil || set == nil || l.Suite != "oci-modern-ssl-cipher-suite-v1" || !slices.Equal(l.Protocols, []string{"TLSv1.2"}) || !strings.HasPrefix(set.Certificate, "nodes-tls-") {
		t.Fatalf("listener %+v, backend set %+v", l, set)
	}
	for name, other := range now.Listeners {
		if name != "TCP-80" && other.TLS != nil {
			t.Errorf("%s ends TLS", name)
		}
	}
	rotated := reconcile.Job{Service: svc, Objects: secretObjects(map[string]map[string][]byte{"web-tls": both[1], "nodes-tls": both[0]})}
	writes := runUntilDone(t, s, r, rotated)
	if d := cmp.Diff(map[string]string{"web-tls": string(both[1]["tls.crt"]), "nodes-tls": string(both[0]["tls.crt"])}, s.encrypted(t).public()); d != "" {
		t.Errorf("after a change (-want +got):\n%s", d)
	}
	if writes != 3 {
		t.Errorf("a change of one certificate was %d writes, want certificate, listener and the old certificate", writes)
	}
	d, err = r.Draft(t.Context(), reconcile.Job{Service: svc})
	if err != nil || d.Plan.Writes() {
		t.Errorf("the Secrets are gone, and the plan is to write %d steps, %v", len(d.Plan.Steps), err)
	}
	again := reconcile.New(s.Open(t), reconcile.Options{})
	again.SetNodes(s.Nodes())
	_, _ = again.Draft(t.Context(), rotated) // the run below shows a failure
	again.AllKnown()
	if n := runUntilDone(t, s, again, rotated); n != 0 {
		t.Errorf("a new process makes %d writes", n)
	}
	for _, e := range s.Control().Journal.Entries() {
		for _, value := range e.Request {
			if strings.Contains(value, "PRIVATE KEY") {
				t.Fatalf("the journal shows a key in %s", e.Operation)
			}
		}
	}
}

// TestCertificateMap verifies that listeners have the certificates of the Certificates
// service that a ConfigMap assigns to their ports, also instead of a Secret's certificate.
// A changed ConfigMap is one write; an invalid one changes nothing and is reported.
func TestCertificateMap(t *testing.T) {
	s, r := beginTLS(t)
	first := tlsService()
	delete(first.Annotations, oldPrefix+"tls-backendset-secret")
	runUntilDone(t, s, r, reconcile.Job{Service: first, Objects: secretObjects(map[string]map[string][]byte{"web-tls": certificates()[0]})})
	svc := first.DeepCopy()
	delete(svc.Annotations, oldPrefix+"tls-secret")
	svc.Annotations[mapPrefix+"tls-certificate-map"] = "web-certificates"
	mapped := func(id string) reconcile.Job {
		return reconcile.Job{Service: svc, Objects: certificateMap(map[string]string{"80": `["` + id + `"]`, "other": "key"})}
	}
	for n, id := range []string{"ocid1.certificate.oc1..a", "ocid1.certificate.oc1..b"} {
		writes := runUntilDone(t, s, r, mapped(id))
		now := s.encrypted(t)
		if l := now.Listeners["TCP-80"].TLS; l == nil || l.Certificate != "" || !slices.Equal(l.Managed, []string{id}) || l.Suite != "oci-modern-ssl-cipher-suite-v1" || len(now.Certificates) != 0 {
			t.Errorf("listener %+v, certificates %v", l, now.Certificates)
		}
		if want := 2 - n; writes != want {
			t.Errorf("%s was %d writes, want %d: the listener, and at first the certificate that goes", id, writes, want)
		}
	}
	var named []string
	again := reconcile.New(s.Open(t), reconcile.Options{Admit: func(_ *corev1.Service, reach providers.Reach) annotations.Problems {
		named = nil
		for _, n := range reach.Names {
			named = append(named, string(n.Thing)+" "+n.Value)
		}
		return nil
	}})
	again.SetNodes(s.Nodes())
	again.AllKnown()
	if n := runUntilDone(t, s, again, mapped("ocid1.certificate.oc1..b")); n != 0 {
		t.Errorf("a new process makes %d writes", n)
	}
	if want := []string{"config-map web-certificates", "certificate ocid1.certificate.oc1..b"}; !slices.Equal(named, want) {
		t.Errorf("policies are asked about %v, want %v", named, want)
	}
	for broken, want := range map[string]string{
		"": "has no certificate for port 80", "ocid1.certificate.oc1..a": "no JSON array", `[]`: "not the OCID of one certificate",
		`["ocid1.certificate.oc1..a", "ocid1.certificate.oc1..b"]`: "not the OCID of one certificate", `["ocid1.cabundle.oc1..a"]`: "not the OCID of one certificate",
	} {
		job := reconcile.Job{Service: svc, Objects: certificateMap(map[string]string{"80": broken})}
		if broken == "" {
			job.Objects = certificateMap(map[string]string{"443": "[]"})
		}
		d, err := r.Draft(t.Context(), job)
		if said := strings.Join(d.Problems.Strings(), "\n"); err != nil || d.Plan.Writes() || !strings.Contains(said, want) || !strings.Contains(said, "names ConfigMap shop/web-certificates") {
			t.Errorf("%s: %d steps, %v, told %q, want %q", broken, len(d.Plan.Steps), err, said, want)
		}
	}
}

// TestOfficialCertificate: a certificate that is named after its Secret alone, as the
// official controller does it, is used as it is while it is the same.
func TestOfficialCertificate(t *testing.T) {
	s, r := beginTLS(t)
	svc, both := tlsService(), certificates()
	delete(svc.Annotations, oldPrefix+"tls-backendset-secret")
	runUntilDone(t, s, r, reconcile.Job{Service: svc, Objects: secretObjects(map[string]map[string][]byte{"web-tls": both[0]})})
	s.rename(t, "web-tls")
	again := reconcile.New(s.Open(t), reconcile.Options{})
	again.SetNodes(s.Nodes())
	same := reconcile.Job{Service: svc, Objects: secretObjects(map[string]map[string][]byte{"web-tls": both[0]})}
	_, _ = again.Draft(t.Context(), same) // the run below shows a failure
	again.AllKnown()
	if n := runUntilDone(t, s, again, same); n != 0 {
		t.Errorf("the certificate of the official controller costs %d writes", n)
	}
	runUntilDone(t, s, again, reconcile.Job{Service: svc, Objects: secretObjects(map[string]map[string][]byte{"web-tls": both[1]})})
	now := s.encrypted(t)
	if name := now.Listeners["TCP-80"].TLS.Certificate; name == "web-tls" || now.Certificates[name].Public != string(both[1]["tls.crt"]) {
		t.Errorf("after a change the listener has %q", name)
	}
}

// rename puts the listener's certificate under another name, by the API.
func (s subject) rename(t *testing.T, name string) {
	t.Helper()
	raw, err := json.Marshal(s.Control().State())
	var cloud struct {
		Balancers []struct {
			ID        string                    `json:"id"`
			Listeners map[string]map[string]any `json:"listeners"`
		} `json:"loadbalancer"`
	}
	if err == nil {
		err = json.Unmarshal(raw, &cloud)
	}
	if err != nil {
		t.Fatal(err)
	}
	lb := cloud.Balancers[0]
	listener := lb.Listeners["TCP-80"]
	ssl, _ := listener["sslConfiguration"].(map[string]any)
	was, _ := ssl["certificateName"].(string)
	ssl["certificateName"] = name
	delete(listener, "name")
	call := func(method, path string, body any) {
		t.Helper()
		text, err := json.Marshal(body)
		if err != nil {
			t.Fatal(err)
		}
		req, err := http.NewRequestWithContext(t.Context(), method, s.running.URL+"/20170115/loadBalancers/"+lb.ID+path, strings.NewReader(string(text)))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", `Signature version="1",keyId="a/b/c",algorithm="rsa-sha256",headers="date",signature="YQ=="`)
		answer, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = answer.Body.Close() }() // it was only read
		if answer.StatusCode >= http.StatusMultipleChoices {
			t.Fatalf("%s %s: %s", method, path, answer.Status)
		}
	}
	one := certificates()[0]
	call(http.MethodPost, "/certificates", map[string]string{"certificateName": name, "publicCertificate": string(one["tls.crt"]), "privateKey": string(one["tls.key"])})
	call(http.MethodPut, "/listeners/TCP-80", listener)
	call(http.MethodDelete, "/certificates/"+was, nil)
}
