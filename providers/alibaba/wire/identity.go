package wire

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/berth-lb/berth/providers/alibaba/model"
	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/providers/kit"
)

// credentials sign calls.
type credentials struct {
	keyID, secret string
	token         string // of temporary ones
}

// identity is where credentials come from.
type identity struct {
	name  string // for errors
	fetch func(context.Context) (credentials, error)
	known kit.Aged[credentials]
}

// credentialsAge is how long credentials are used before they are read again.
// Source: kubernetes/cloud-provider-alibaba-cloud:pkg/provider/alibaba/base, TokenSyncPeriod.
const credentialsAge = 10 * time.Minute

// get returns credentials. Its error is a fault.
func (i *identity) get(ctx context.Context, now time.Time) (credentials, error) {
	out, err := i.known.Get(ctx, now, credentialsAge, i.fetch)
	if err == nil {
		return out, nil
	}
	f := &fault.Fault{Meaning: fault.Unavailable, Text: i.name + ": " + err.Error(), Err: err}
	if refused, is := errors.AsType[*refusedError](err); is {
		said := readRefusal(refused.status, refused.body)
		f.Meaning, f.Cause, f.Code, f.Text = fault.Denied, fault.Unauthenticated, said.Code, i.name+": "+said.Text
	}
	return credentials{}, f
}

// Variables of the environment for a role of the ServiceAccount.
// Source: aliyun/credentials-go, OIDC credentials.
const (
	envRole     = "ALIBABA_CLOUD_ROLE_ARN"
	envProvider = "ALIBABA_CLOUD_OIDC_PROVIDER_ARN"
	envToken    = "ALIBABA_CLOUD_OIDC_TOKEN_FILE"
	envSession  = "ALIBABA_CLOUD_ROLE_SESSION_NAME"
)

// identityOf returns where the credentials come from, the first that exists: the file of the
// addon, the access key of the configuration or of the environment, the role of the ServiceAccount,
// and the role of the instance.
// Source: kubernetes/cloud-provider-alibaba-cloud:pkg/provider/alibaba/base (token.go, clientMgr.go).
func identityOf(c model.Config, l login) *identity {
	if _, err := os.Stat(c.TokenFile); err == nil {
		return &identity{name: "credentials of " + c.TokenFile, fetch: func(context.Context) (credentials, error) { return addonCredentials(c.TokenFile, l.now()) }}
	}
	keyID, secret := c.KeyID, c.Secret
	if keyID == "" {
		keyID, secret = os.Getenv(envKeyID), os.Getenv(envSecret)
	}
	if keyID != "" && secret != "" {
		return &identity{name: "access key", fetch: func(context.Context) (credentials, error) { return credentials{keyID: keyID, secret: secret}, nil }}
	}
	if role, provider, file := os.Getenv(envRole), os.Getenv(envProvider), os.Getenv(envToken); role != "" && provider != "" && file != "" {
		return &identity{name: "role " + role, fetch: func(ctx context.Context) (credentials, error) { return l.assumeRole(ctx, role, provider, file) }}
	}
	return &identity{name: "role of the instance", fetch: l.instanceRole}
}

// login makes the calls that are not signed.
type login struct {
	client   *http.Client
	metadata string // address of the metadata server
	sts      string // address of the STS API
	now      func() time.Time
}

// addonFile is credentials as ACK writes them, encrypted with a key beside them.
type addonFile struct {
	KeyID      string `json:"access.key.id"`
	Secret     string `json:"access.key.secret"`
	Token      string `json:"security.token"`
	Expiration string `json:"expiration"`
	Key        string `json:"keyring"`
}

// addonCredentials reads the file of the addon.
func addonCredentials(path string, now time.Time) (credentials, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return credentials{}, err
	}
	var file addonFile
	if json.Unmarshal(text, &file) != nil {
		return credentials{}, errors.New("is not the file of the addon")
	}
	if until, err := time.Parse(time.RFC3339, file.Expiration); err == nil && until.Before(now) {
		return credentials{}, fmt.Errorf("has expired at %s", file.Expiration)
	}
	var out credentials
	for _, part := range []struct {
		text string
		to   *string
	}{{file.KeyID, &out.keyID}, {file.Secret, &out.secret}, {file.Token, &out.token}} {
		if *part.to, err = decryptText(part.text, file.Key); err != nil {
			return credentials{}, err
		}
	}
	return out, nil
}

// decryptText decrypts the base64 of an initial vector and a text in AES with chained blocks.
func decryptText(text, key string) (string, error) {
	failed := errors.New("cannot be decrypted")
	data, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return "", failed
	}
	block, err := aes.NewCipher([]byte(key))
	if err != nil || len(data) < 2*aes.BlockSize || len(data)%aes.BlockSize != 0 {
		return "", failed
	}
	out := make([]byte, len(data)-aes.BlockSize)
	cipher.NewCBCDecrypter(block, data[:aes.BlockSize]).CryptBlocks(out, data[aes.BlockSize:])
	padding := int(out[len(out)-1])
	if padding < 1 || padding > aes.BlockSize {
		return "", failed
	}
	return string(out[:len(out)-padding]), nil
}

// issued is temporary credentials as STS and the metadata server return them.
type issued struct {
	KeyID  string `json:"AccessKeyId"`
	Secret string `json:"AccessKeySecret"`
	Token  string `json:"SecurityToken"`
}

func (i issued) credentials() (credentials, error) {
	if i.KeyID == "" || i.Secret == "" {
		return credentials{}, errors.New("the answer has no access key")
	}
	return credentials{i.KeyID, i.Secret, i.Token}, nil
}

// assumeRole exchanges the token of the ServiceAccount for temporary credentials. Secrets are in the
// body, which no proxy logs.
// Source: API of STS, AssumeRoleWithOIDC.
func (l login) assumeRole(ctx context.Context, role, provider, file string) (credentials, error) {
	token, err := os.ReadFile(file) //nolint:gosec // the path is the operator's
	if err != nil {
		return credentials{}, err
	}
	session := os.Getenv(envSession)
	if session == "" {
		session = "berth"
	}
	query := url.Values{"Action": {"AssumeRoleWithOIDC"}, "Version": {"2015-04-01"}, "Format": {"JSON"}, "Timestamp": {l.now().UTC().Format(time.RFC3339)}, "SignatureNonce": {uuid.NewString()}}
	body := url.Values{"RoleArn": {role}, "OIDCProviderArn": {provider}, "OIDCToken": {strings.TrimSpace(string(token))}, "RoleSessionName": {session}, "DurationSeconds": {"3600"}}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, l.sts+"/?"+query.Encode(), strings.NewReader(body.Encode()))
	if err != nil {
		return credentials{}, err
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	var answer struct {
		Credentials issued `json:"Credentials"`
	}
	if err := l.ask(r, &answer); err != nil {
		return credentials{}, err
	}
	return answer.Credentials.credentials()
}

// Paths of the metadata server. Source: Alibaba Cloud, "Obtain instance metadata".
const (
	pathToken  = "/latest/api/token" //nolint:gosec // a path, not a secret
	pathRegion = "/latest/meta-data/region-id"
	pathVPC    = "/latest/meta-data/vpc-id"
	pathSwitch = "/latest/meta-data/vswitch-id"
	pathRoles  = "/latest/meta-data/ram/security-credentials/"
)

// completeConfig returns a configuration with the region, the VPC and the vSwitch of the instance where it has none.
// A machine that is no instance has only what is configured.
// Source: kubernetes/cloud-provider-alibaba-cloud:pkg/provider/alibaba/base/metadata.go (NewMetaData).
func completeConfig(ctx context.Context, c model.Config) (model.Config, error) {
	if c.Region != "" && c.VPC != "" && len(c.VSwitches) > 0 {
		return c, nil
	}
	l := login{client: &http.Client{Transport: kit.Transport(), Timeout: metadataTimeout}, metadata: metadataServer()}
	at := func(path string) (string, error) {
		text, err := l.metadataAt(ctx, path)
		return strings.TrimSpace(text), err
	}
	if c.Region == "" {
		region, err := at(pathRegion)
		if c.Region = region; err != nil {
			return c, fmt.Errorf("cloud config: Global.region: is empty, and the metadata server of the instance cannot be asked: %w", err)
		}
	}
	answers := true // an instance without metadata is asked once
	if c.VPC == "" {
		vpc, err := at(pathVPC)
		c.VPC, answers = vpc, err == nil
	}
	if len(c.VSwitches) == 0 && answers {
		if vswitch, err := at(pathSwitch); err == nil && vswitch != "" {
			c.VSwitches = []string{vswitch}
		}
	}
	return c, nil
}

// instanceRole reads temporary credentials of the role of the instance.
func (l login) instanceRole(ctx context.Context) (credentials, error) {
	role, err := l.metadataAt(ctx, pathRoles)
	if err != nil {
		return credentials{}, err
	}
	text, err := l.metadataAt(ctx, pathRoles+url.PathEscape(strings.TrimSpace(role)))
	if err != nil {
		return credentials{}, err
	}
	var answer issued
	if json.Unmarshal([]byte(text), &answer) != nil {
		return credentials{}, errors.New("the answer of the metadata server is no JSON")
	}
	return answer.credentials()
}

// metadataAt reads from the metadata server, with a session token of its second version.
func (l login) metadataAt(ctx context.Context, path string) (string, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPut, l.metadata+pathToken, http.NoBody)
	if err != nil {
		return "", err
	}
	r.Header.Set("X-aliyun-ecs-metadata-token-ttl-seconds", "60")
	var token, text string
	if err := l.ask(r, &token); err != nil {
		return "", err
	}
	if r, err = http.NewRequestWithContext(ctx, http.MethodGet, l.metadata+path, http.NoBody); err != nil {
		return "", err
	}
	r.Header.Set("X-aliyun-ecs-metadata-token", token)
	err = l.ask(r, &text)
	return text, err
}

// ask makes a call and reads its answer into out: a text as it is, and other values from JSON.
func (l login) ask(r *http.Request, out any) error {
	answer, err := l.client.Do(r)
	if err != nil {
		return err
	}
	defer func() { _ = answer.Body.Close() }() // it is only read
	text, err := io.ReadAll(io.LimitReader(answer.Body, maxAnswer))
	switch {
	case err != nil:
		return err
	case answer.StatusCode >= http.StatusBadRequest:
		return &refusedError{answer.StatusCode, text}
	}
	if to, is := out.(*string); is {
		*to = string(text)
		return nil
	}
	return json.Unmarshal(text, out)
}
