package offline

import (
	"bytes"
	"testing"

	"github.com/berth-lb/berth/providers/all"
	"github.com/berth-lb/berth/test/mutate"
)

// FuzzFiles reads what the command line is given, in both ways of reading, and checks
// what is a Service, without a panic.
func FuzzFiles(f *testing.F) {
	mutate.Add(f, 60, []byte("apiVersion: v1\nkind: Service\nmetadata: {name: web}\nspec: {type: LoadBalancer, ports: [{port: 80}]}\n"))
	mutate.Add(f, 60, []byte("apiVersion: v1\nkind: List\nitems: [{apiVersion: v1, kind: Node, metadata: {name: n}}]\n---\n{{ x }}\n---\n- 1\n"))
	mutate.Add(f, 60, []byte(`{"apiVersion":"v1","kind":"Service","metadata":{"name":"a","annotations":{"service.beta.kubernetes.io/aws-load-balancer-type":"nlb"}},"spec":{"type":"LoadBalancer","ports":[{"port":-1,"nodePort":99999}]}}`))
	clouds := all.List()
	f.Fuzz(func(t *testing.T, body []byte) {
		for _, lenient := range []bool{false, true} {
			o := &objects{lenient: lenient}
			if err := o.decode("fuzz.yaml", bytes.NewReader(body), true); err != nil {
				continue
			}
			_, _ = Check(t.Context(), Input{Files: []string{"-"}, Stdin: bytes.NewReader(body)}, Checks{Clouds: clouds})
		}
	})
}
