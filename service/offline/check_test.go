package offline

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/berth-lb/berth/providers/all"
	"github.com/berth-lb/berth/service"
)

// checkText judges a text as `berth check -` does.
func checkText(t *testing.T, text string) Checked {
	t.Helper()
	out, err := Check(context.Background(), Input{Files: []string{"-"}, Stdin: strings.NewReader(text)},
		Checks{Clouds: all.List(), Classes: service.Classes{Default: true}})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// head1 begins a Service.
const head1 = "apiVersion: v1\nkind: Service\nmetadata: {name: a}\n"

// TestCheckPlaces: a parse error is reported at its line or field, and the file is
// named once.
func TestCheckPlaces(t *testing.T) {
	for name, tc := range map[string]struct{ text, want string }{
		"no YAML":      {head1 + "---\nkind: Service\n\tmetadata: {}\n", "error BRT101 standard input:6:1: yaml: found a tab character that violates indentation"},
		"a key twice":  {head1 + "kind: Service\n", `error BRT101 standard input:4:1: yaml: unmarshal errors: key "kind" already set in map`},
		"a wrong type": {head1 + "---\n" + head1 + "spec:\n  ports: eighty\n", "error BRT101 standard input:9:3: spec.ports: is a string, must be a list"},
	} {
		t.Run(name, func(t *testing.T) {
			out := checkText(t, tc.text)
			if len(out.Files) != 1 {
				t.Fatalf("%d files are at fault, want one: %v", len(out.Files), out.Files)
			}
			if diff := cmp.Diff(tc.want, out.Files[0].line("")); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestCheckSourceRanges: ranges that newer API servers refuse are reported with the intended
// one, in the field and in the annotation that counts without it.
func TestCheckSourceRanges(t *testing.T) {
	const fine, wrong = "[10.0.0.0/8, ' 192.0.2.0/24']", "[10.0.0.0/8, 192.168.32.1/24]"
	annotated := "apiVersion: v1\nkind: Service\nmetadata:\n  name: a\n  annotations:\n    service.beta.kubernetes.io/load-balancer-source-ranges: 10.0.0.0/8, 192.168.32.1/24\n" +
		"spec: {type: LoadBalancer, ports: [{port: 80}]"
	for name, tc := range map[string]struct{ text, at string }{
		"fine":           {head1 + "spec: {type: LoadBalancer, ports: [{port: 80}], loadBalancerSourceRanges: " + fine + "}\n", ""},
		"field":          {head1 + "spec: {type: LoadBalancer, ports: [{port: 80}], loadBalancerSourceRanges: " + wrong + "}\n", "standard input:4:88: spec.loadBalancerSourceRanges[1]"},
		"annotation":     {annotated + "}\n", "standard input:6:5: service.beta.kubernetes.io/load-balancer-source-ranges"},
		"not looked at":  {annotated + ", loadBalancerSourceRanges: " + fine + "}\n", ""},
		"of other types": {head1 + "spec: {type: ClusterIP, ports: [{port: 80}]}\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			var got string
			for _, f := range checkText(t, tc.text).Findings() {
				if strings.HasPrefix(f.Text, `"192.168.32.1/24" has bits behind`) {
					got = f.line("")
				}
			}
			want := ""
			if tc.at != "" {
				want = "warning BRT118 " + tc.at + `: "192.168.32.1/24" has bits behind the first 24, which API servers of Kubernetes 1.36 and later refuse; write 192.168.32.0/24`
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestCheckNotes: a file of many templates is passed over by one note, and a kind that
// is served only where the configuration says so is said to be one.
func TestCheckNotes(t *testing.T) {
	templates := strings.Repeat("---\nmetadata:\n  {{- if .Values.a }}\n  name: a\n", 3)
	optional := "---\n" + head1 + "spec: {type: LoadBalancer, loadBalancerClass: service.k8s.aws/nlb, ports: [{port: 80}]}\n"
	want := []string{
		"passed over 3 documents: templates; check what they render to: helm template . | berth check -",
		"1 Service of kind nlb-lbc on aws, which is served only where the cloud config says LoadBalancerController = true in the section [Berth]",
	}
	if diff := cmp.Diff(want, checkText(t, templates+optional).Notes); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestCheckOfNoCloud: with an unknown cloud, a key that one of the clouds reads is valid, a
// misspelt key is reported with the similar one, and a key of a cloud that is not served
// with its name.
func TestCheckOfNoCloud(t *testing.T) {
	const prefix = "service.beta.kubernetes.io/"
	for key, want := range map[string]string{
		prefix + "load-balancer-source-ranges": "",
		prefix + "load-balancer-source-range":  "warning BRT202 standard input:6:5: " + prefix + "load-balancer-source-range: is not known, so it has no effect; did you mean " + prefix + "load-balancer-source-ranges?",
		prefix + "cce-load-balancer-id":        "error BRT201 standard input:6:5: " + prefix + `cce-load-balancer-id: "10.0.0.0/8" is not an id that begins with lb-`,
		"kubernetes.io/elb.class":              "warning BRT203 standard input:6:5: kubernetes.io/elb.class: is a key of Huawei Cloud and has no effect on any cloud that Berth serves",
		"example.com/whatever":                 "",
	} {
		t.Run(key, func(t *testing.T) {
			text := "apiVersion: v1\nkind: Service\nmetadata:\n  name: a\n  annotations:\n    " + key + ": 10.0.0.0/8\nspec: {type: LoadBalancer, ports: [{port: 80}]}\n"
			var got string
			for _, f := range checkText(t, text).Findings() {
				got += f.line("")
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
