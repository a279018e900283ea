package alibaba_test

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/alibaba"
	"github.com/berth-lb/berth/providers/alibaba/model"
	"github.com/berth-lb/berth/service/reconcile"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/test/account"
	"github.com/berth-lb/berth/test/props"
	simalibaba "github.com/berth-lb/berth/test/sim/alibaba"
)

// encryptText encrypts a text as ACK does: AES with chained blocks, after the initial vector.
func encryptText(t *testing.T, text, key string) string {
	t.Helper()
	block, err := aes.NewCipher([]byte(key))
	if err != nil {
		t.Fatal(err)
	}
	padding := aes.BlockSize - len(text)%aes.BlockSize
	plain := append([]byte(text), bytes.Repeat([]byte{byte(padding)}, padding)...)
	out := make([]byte, aes.BlockSize+len(plain))
	copy(out, "0123456789abcdef")
	cipher.NewCBCEncrypter(block, out[:aes.BlockSize]).CryptBlocks(out[aes.BlockSize:], plain)
	return base64.StdEncoding.EncodeToString(out)
}

// addonText returns the file of the addon with an access key of the simulator.
func addonText(t *testing.T, until time.Time) []byte {
	t.Helper()
	const key = "a-key-of-16-byte"
	id, secret := simalibaba.AccessKey()
	out, err := json.Marshal(map[string]string{
		"access.key.id": encryptText(t, id, key), "access.key.secret": encryptText(t, secret, key), "security.token": encryptText(t, "", key),
		"expiration": until.UTC().Format(time.RFC3339), "keyring": key,
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// draftWith opens a session with a configuration and plans a Service.
func draftWith(t *testing.T, w *world, conf []byte) error {
	t.Helper()
	cloud, _, err := providers.EntryOf(alibaba.Cloud()).Open(t.Context(), bytes.NewReader(conf), account.Env())
	if err != nil {
		return err
	}
	process := props.Process(t, cloud, w.Machines)
	_, err = process.Draft(t.Context(), reconcile.Job{Service: props.Service("web", nil).Service})
	return err
}

// TestCredentials: a session has credentials from the file of the addon, an access key of the
// environment, a role of the ServiceAccount and a role of the instance. Errors name the source and no secret.
func TestCredentials(t *testing.T) {
	w := beginWorld(t, withNodes(2))
	dir := t.TempDir()
	plain := w.Sim.Cloud.Seed.ConfWithoutKey(w.Sim.URL)
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	id, secret := simalibaba.AccessKey()
	role := map[string]string{"ALIBABA_CLOUD_ROLE_ARN": simalibaba.RoleARN, "ALIBABA_CLOUD_OIDC_PROVIDER_ARN": simalibaba.ProviderARN, "ALIBABA_CLOUD_OIDC_TOKEN_FILE": write("token", simalibaba.AccountToken+"\n")}
	wrong := map[string]string{"ALIBABA_CLOUD_ROLE_ARN": simalibaba.RoleARN, "ALIBABA_CLOUD_OIDC_PROVIDER_ARN": simalibaba.ProviderARN, "ALIBABA_CLOUD_OIDC_TOKEN_FILE": write("wrong", "hidden-token")}
	at := map[string]string{"ALIBABA_CLOUD_STS_ENDPOINT": strings.TrimPrefix(w.Sim.URL, "http://"), "ALICLOUD_CLIENT_SCHEME": "HTTP"}
	maps.Copy(at, role)
	files := 0
	addon := func(text string) []byte {
		files++
		return fmt.Appendf(bytes.Clone(plain), "  tokenFile: %s\n", write(fmt.Sprint("addon", files), text))
	}
	for _, c := range []struct {
		name string
		conf []byte
		env  map[string]string
		want string // in the error
	}{
		{"access key of the environment", plain, map[string]string{"ACCESS_KEY_ID": id, "ACCESS_KEY_SECRET": secret}, ""},
		{"role of the ServiceAccount", plain, role, ""},
		{"host of STS", bytes.ReplaceAll(plain, []byte("  stsEndpoint: "+w.Sim.URL+"\n"), nil), at, ""},
		{"wrong token", plain, wrong, "role " + simalibaba.RoleARN + ": This JWT token is illegal."},
		{"role of the instance", plain, nil, ""},
		{"no metadata server", plain, map[string]string{"METADATA_ENDPOINT": w.Sim.URL + "/elsewhere"}, "role of the instance"},
		{"region of the instance", bytes.ReplaceAll(plain, []byte("region: cn-hangzhou"), []byte(`region: ""`)), nil, ""},
		{"addon", addon(string(addonText(t, time.Now().Add(time.Hour)))), nil, ""},
		{"expired addon", addon(string(addonText(t, time.Now().Add(-time.Hour)))), nil, "has expired at"},
		{"broken addon", addon(`{"access.key.id": "AAAA", "keyring": "a-key-of-16-byte"}`), nil, "cannot be decrypted"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Setenv("METADATA_ENDPOINT", w.Sim.URL)
			for key, value := range c.env {
				t.Setenv(key, value)
			}
			err := draftWith(t, w, c.conf)
			switch {
			case c.want == "" && err != nil, c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
				t.Errorf("error %v, want %q", err, c.want)
			case err != nil && (strings.Contains(err.Error(), "hidden-token") || strings.Contains(err.Error(), secret)):
				t.Errorf("error %v has a secret", err)
			}
		})
	}
}

// TestCredentialsRenewed: temporary credentials are replaced before they expire, and after the cloud has refused them.
func TestCredentialsRenewed(t *testing.T) {
	w := beginWorld(t, withNodes(2))
	t.Setenv("METADATA_ENDPOINT", w.Sim.URL)
	cloud, _, err := providers.EntryOf(alibaba.Cloud()).Open(t.Context(), bytes.NewReader(w.Sim.Cloud.Seed.ConfWithoutKey(w.Sim.URL)), account.Env())
	if err != nil {
		t.Fatal(err)
	}
	read := func() error {
		_, err := cloud.Orphans(t.Context(), providers.Live{})
		return err
	}
	if err := read(); err != nil {
		t.Fatal(err)
	}
	w.Sim.Cloud.ExpireSessions()
	if err := read(); err == nil {
		t.Error("expired credentials are accepted")
	}
	if err := read(); err != nil {
		t.Error(err)
	}
}

// TestPlaceOfInstance: the VPC and the vSwitch that the configuration does not have are those of the instance.
func TestPlaceOfInstance(t *testing.T) {
	w := beginWorld(t, withNodes(2))
	seed := w.Sim.Cloud.Seed
	conf := regexp.MustCompile(`  (vpcid|vswitchid): .*\n`).ReplaceAll(seed.CloudConf(w.Sim.URL), nil)
	for at, found := range map[string]bool{w.Sim.URL: true, w.Sim.URL + "/elsewhere": false} {
		t.Setenv("METADATA_ENDPOINT", at)
		cloud, _, err := providers.EntryOf(alibaba.Cloud()).Open(t.Context(), bytes.NewReader(conf), account.Env())
		if err != nil {
			t.Fatal(err)
		}
		d, err := props.Process(t, cloud, w.Machines).Draft(t.Context(), reconcile.Job{Service: props.Service("web", withKeys("address-type", "intranet")).Service})
		if err != nil || d.Problems.Errors() == found {
			t.Fatal(err, d.Problems)
		}
		if !found {
			continue
		}
		if spec, _ := stack.SpecOf[model.Balancer](d.Want, stack.Key{Kind: model.KindBalancer}); spec.VPC != seed.VPC || spec.VSwitch != seed.VSwitches[1].ID {
			t.Errorf("VPC %q, vSwitch %q", spec.VPC, spec.VSwitch)
		}
	}
}
