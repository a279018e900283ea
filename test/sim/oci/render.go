package oci

import (
	"crypto/md5"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"github.com/berth-lb/berth/test/sim/seed"
)

// KubernetesNodes gives the Node objects of the seeded instances.
// Source: oracle/oci-cloud-controller-manager, labels and annotations of its node controllers.
func (s Seed) KubernetesNodes() []corev1.Node {
	out := make([]corev1.Node, 0, len(s.Nodes))
	for _, n := range s.Nodes {
		addresses := []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: n.InternalIP}}
		if n.IPv6 != "" {
			addresses = append(addresses, corev1.NodeAddress{Type: corev1.NodeInternalIP, Address: n.IPv6})
		}
		_, zone, _ := strings.Cut(n.Zone, ":")
		node := seed.Machine{
			Name: n.Name, Region: s.Region, Zone: zone, Size: machineShape, Spec: corev1.NodeSpec{ProviderID: n.ProviderID}, Addresses: addresses,
		}.Node()
		node.Annotations = map[string]string{"oci.oraclecloud.com/compartment-id": s.Compartment}
		node.Labels["oci.oraclecloud.com/fault-domain"] = n.Fault
		out = append(out, node)
	}
	return out
}

// NodesYAML gives the Node manifests as one YAML stream.
func (s Seed) NodesYAML() ([]byte, error) { return seed.Manifests(s.KubernetesNodes()) }

// CloudConf gives a cloud-provider.yaml of the official controller for the cloud at an
// address, which is said in Berth's own key, with a key of the seeded user in PEM.
// Source: oracle/oci-cloud-controller-manager:pkg/cloudprovider/providers/oci/config.
func (s Seed) CloudConf(url string, key []byte, fingerprint string) ([]byte, error) {
	return yaml.Marshal(map[string]any{
		"auth":     map[string]any{"region": s.Region, "tenancy": s.Tenancy, "user": s.User, "key": string(key), "fingerprint": fingerprint},
		"endpoint": url, "compartment": s.Compartment, "vcn": s.VCN,
		"loadBalancer": map[string]any{
			"subnet1": s.Public.ID, "securityListManagementMode": "All",
			"securityLists": map[string]any{s.Public.ID: s.Public.SecurityList, s.Workers.ID: s.Workers.SecurityList},
		},
	})
}

// keyBits is the length of the keys that are generated here. Oracle requires twice as much
// for an uploaded key; a simulator needs no protection, and signing thousands of requests
// with a longer one was half of the tests' processor time.
const keyBits = 1024

// ShortKey is the length of keys in tests that sign ten thousands of requests. Such a test needs
// the line go:debug rsa1024min=0.
const ShortKey = 512

// NewKey returns a key of some bits for signing requests, with its fingerprint.
// Source: API documentation, "Required Keys and OCIDs": MD5 of the public key in DER.
func NewKey(bits int) (key *rsa.PrivateKey, text []byte, fingerprint string, err error) {
	key, err = rsa.GenerateKey(rand.Reader, bits)
	if err != nil {
		return nil, nil, "", err
	}
	der, err := x509.MarshalPKIXPublicKey(&key.PublicKey)
	if err != nil {
		return nil, nil, "", err
	}
	sum := md5.Sum(der)
	parts := []string{}
	for _, b := range sum {
		parts = append(parts, fmt.Sprintf("%02x", b))
	}
	text = pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)})
	return key, text, strings.Join(parts, ":"), nil
}

// WriteFiles writes seed.json, nodes.yaml and cloud.conf into a folder, which it makes
// if need be. cloud.conf has a new key in it
// each time, which the cloud knows.
func (c *Cloud) WriteFiles(dir, url string) error {
	key, text, fingerprint, err := NewKey(keyBits)
	if err != nil {
		return err
	}
	c.Trust(c.Seed.Tenancy+"/"+c.Seed.User+"/"+fingerprint, &key.PublicKey)
	conf, err := c.Seed.CloudConf(url, text, fingerprint)
	if err != nil {
		return err
	}
	return seed.Write(dir, struct {
		URL string `json:"url"`
		Seed
	}{url, c.Seed}, c.Seed.KubernetesNodes(), map[string][]byte{"cloud.conf": conf})
}
