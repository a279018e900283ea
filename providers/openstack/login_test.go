package openstack_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/openstack"
	simopenstack "github.com/berth-lb/berth/test/sim/openstack"
	"github.com/berth-lb/berth/test/sim/openstack/simtest"
)

// login is a section Global, without the address of Keystone.
type login struct {
	name, global string
	clouds       string // clouds.yaml
	without      bool   // the address stands in clouds.yaml
	refused      string // a part of the error; empty: the login succeeds
}

func loginCases() []login {
	user := "username = " + simopenstack.UserName + "\ndomain-name = Default\ntenant-name = berth\n"
	credential := "application-credential-id = " + simopenstack.CredentialID + "\n"
	const clouds = "clouds:\n  ours:\n    region_name: RegionOne\n    auth:\n      auth_url: %s/identity/v3\n      username: " + simopenstack.UserName +
		"\n      password: " + simopenstack.Password + "\n      project_name: berth\n      user_domain_name: Default\n      project_domain_name: Default\n"
	return []login{
		{name: "a password", global: user + "password = " + simopenstack.Password + "\n"},
		{name: "a wrong password", global: user + "password = guessed\n", refused: "requires authentication"},
		{name: "a project that is not there", global: strings.Replace(user, "berth", "other", 1) + "password = " + simopenstack.Password + "\n", refused: "requires authentication"},
		{name: "an application credential", global: credential + "application-credential-secret = " + simopenstack.Credential + "\n"},
		{name: "an application credential by its name", global: "username = " + simopenstack.UserName + "\ndomain-name = Default\napplication-credential-name = berth\napplication-credential-secret = " + simopenstack.Credential + "\n"},
		{name: "a wrong application credential", global: credential + "application-credential-secret = guessed\n", refused: "requires authentication"},
		{name: "a trust", global: "trust-id = " + simopenstack.Trust + "\ntrustee-id = " + simopenstack.UserID() + "\ntrustee-password = " + simopenstack.Password + "\n"},
		{name: "a trust that is not there", global: "trust-id = 0\ntrustee-id = " + simopenstack.UserID() + "\ntrustee-password = " + simopenstack.Password + "\n", refused: "requires authentication"},
		{name: "clouds.yaml", clouds: clouds, global: "use-clouds = true\ncloud = ours\n", without: true},
		{name: "a cloud that clouds.yaml does not have", clouds: clouds, global: "use-clouds = true\ncloud = theirs\n", without: true, refused: "theirs"},
		{name: "no address", global: user, without: true, refused: "Global auth-url"},
		{name: "a file of certificates that is not there", global: user + "ca-file = /nowhere/ca.pem\n", refused: "ca-file"},
		{name: "another region", global: user + "password = " + simopenstack.Password + "\nregion = Elsewhere\n", refused: "catalog"},
	}
}

// TestLogins verifies that every login method reaches the cloud, and that a refused login
// reports the reason without any secret.
func TestLogins(t *testing.T) {
	running := simtest.Start(t, simopenstack.Options{})
	for _, l := range loginCases() {
		t.Run(l.name, func(t *testing.T) {
			global := l.global
			if !l.without {
				global = "auth-url = " + running.URL + "/identity/v3\n" + global
			}
			if l.clouds != "" {
				path := filepath.Join(t.TempDir(), "clouds.yaml")
				if err := os.WriteFile(path, fmt.Appendf(nil, l.clouds, running.URL), 0o600); err != nil {
					t.Fatal(err)
				}
				global += "clouds-file = " + path + "\n"
			}
			_, problems, err := providers.EntryOf(openstack.Cloud()).Open(t.Context(), bytes.NewReader([]byte("[Global]\n"+global)), providers.Env{Cluster: "kubernetes", Now: time.Now})
			if l.refused == "" && (err != nil || len(problems) > 0) {
				t.Errorf("not let in: %v, %v", err, problems)
			}
			if l.refused != "" && (err == nil || !strings.Contains(err.Error(), l.refused)) {
				t.Errorf("told %v, want %q", err, l.refused)
			}
			if err != nil {
				for _, secret := range []string{simopenstack.Credential, "guessed"} {
					if strings.Contains(err.Error(), secret) {
						t.Errorf("a secret is told: %v", err)
					}
				}
			}
		})
	}
}
