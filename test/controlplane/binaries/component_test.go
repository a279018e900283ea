package binaries

import "testing"

func TestLinkerFlags(t *testing.T) {
	const stamp = "-X=k8s.io/component-base/version."
	cases := map[string]struct {
		component Component
		version   string
		want      string
	}{
		"kubernetes is stamped": {
			APIServer(), "v1.37.2",
			"-s -w " + stamp + "gitVersion=v1.37.2 " + stamp + "gitMajor=1 " + stamp + "gitMinor=37",
		},
		"etcd is not": {Etcd(), "v3.7.0", "-s -w"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := tc.component.linkerFlags(tc.version); got != tc.want {
				t.Errorf("want %q\n got %q", tc.want, got)
			}
		})
	}
}

func TestEveryComponentHasAVersion(t *testing.T) {
	for _, component := range All() {
		if _, err := component.Version(); err != nil {
			t.Errorf("%s: %v", component.Name, err)
		}
	}
}
