package annotations_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/test/mutate"
)

// FuzzParse puts any text as value of every declared key and as a key of its
// own. Nothing may panic, getters must answer, and the same input must say the
// same twice.
func FuzzParse(f *testing.F) {
	for _, seed := range []struct {
		key, value string
		port       int32
	}{
		{"scheme", "internal", 80}, {"check-intervall", "30", 443}, {"attributes.80", `a=b\,c,d=`, 80},
		{"attributes.", "=", 0}, {"action.TLS-443", `{"type":"forward"}`, 443}, {"action.-", "{", -1},
		{"source-ranges", "10.0.0.0/8, ::/0,", 80}, {"ssl-ports", "*,https,70000", 80}, {"ssl-ports", "99999999999999999999", 80},
		{"groups", "sg-1,,sg-2", 80}, {"cert", "arn:aws:acm:r:a:certificate/x", 80}, {"\xff<PORT>", "\xff\\", 1},
	} {
		mutate.Add(f, 8, seed.key, seed.value, seed.port)
	}
	set := mustSet(f)
	f.Fuzz(func(t *testing.T, key, value string, port int32) {
		src := annotations.Source{
			Annotations: map[string]string{prefix + key: value, key: value, prefix + "attributes.80": value, prefix + "action.TLS-80": value},
			Labels:      map[string]string{prefix + key: value},
			Ports:       []corev1.ServicePort{{Name: value, Port: port}, {Port: 80}},
		}
		for _, name := range set.Names() {
			src.Annotations[name] = value
		}
		for _, kind := range []string{"clb", "nlb", "", value} {
			bag, problems := set.Parse(kind, src)
			readAll(bag, port)
			again, repeated := set.Parse(kind, src)
			if diff := cmp.Diff(problems, repeated); diff != "" {
				t.Errorf("the same input says something else (-first +second):\n%s", diff)
			}
			if diff := cmp.Diff(bag.Origins(), again.Origins()); diff != "" {
				t.Errorf("the same input comes from somewhere else (-first +second):\n%s", diff)
			}
			if (problems.Err() != nil) != problems.Errors() {
				t.Errorf("Err and Errors disagree about %v", problems)
			}
		}
		released, _ := set.ParseOnDelete(src)
		readAll(released, port)
		if set.Digest(src) != set.Digest(src) {
			t.Error("the digest is not stable")
		}
	})
}

// readAll calls every getter.
func readAll(bag *annotations.Bag, port int32) {
	schemeKey.Get(bag)
	intervalKey.Get(bag)
	timeoutKey.Get(bag)
	checkProtocolKey.Get(bag)
	certKey.Get(bag)
	certsKey.Get(bag)
	sslPortsKey.Get(bag).Has(corev1.ServicePort{Port: port})
	rangesKey.Get(bag)
	groupsKey.Get(bag)
	attributesKey.Port(bag, port)
	attributesKey.All(bag)
	actionKey.PortProtocol(bag, port, "TLS")
	tierKey.Get(bag)
	targetKey.Get(bag)
	keepKey.Get(bag)
	quicKey.Get(bag)
	tokenKey.Get(bag)
	shareKey.Get(bag)
}
