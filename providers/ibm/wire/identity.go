package wire

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/IBM/go-sdk-core/v5/core"

	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/providers/ibm/model"
)

// identity gives calls a token of IAM, which it keeps until most of its life is over or the
// credentials have changed. The authenticators of the SDK do the same, with one lock for all
// of a process and without a context, so only their requests are used.
type identity struct {
	source credentials
	now    func() time.Time
	turn   chan struct{} // held while the token is read or requested

	token           string
	renewal, expiry time.Time
}

// credentials requests tokens.
type credentials interface {
	// RequestToken returns a new token.
	RequestToken() (*core.IamTokenServerResponse, error)
	// changed reports whether the credentials differ from those of the last request.
	changed() bool
}

// spareLife is the part of a token's life before whose end it is renewed, as by the SDK.
const spareLife = 5

// authenticate adds the token to a call. The error is a fault: the call was not sent. A token
// that is valid outlives a request that fails.
func (i *identity) authenticate(ctx context.Context, r *http.Request) error {
	select {
	case i.turn <- struct{}{}:
		defer func() { <-i.turn }()
	case <-ctx.Done():
		return &fault.Fault{Meaning: fault.Unavailable, Text: "stopped before it was sent", Err: ctx.Err()}
	}
	if i.token == "" || !i.now().Before(i.renewal) || i.source.changed() {
		if err := i.renew(); err != nil && (i.token == "" || !i.now().Before(i.expiry)) {
			return err
		}
	}
	r.Header.Set("Authorization", "Bearer "+i.token)
	return nil
}

func (i *identity) renew() error {
	got, err := i.source.RequestToken()
	if err != nil {
		return loginError(err)
	}
	life := time.Duration(got.ExpiresIn) * time.Second
	i.token, i.expiry, i.renewal = got.AccessToken, i.now().Add(life), i.now().Add(life-life/spareLife)
	return nil
}

// keyFile is an API key in a file, which is read for each token.
type keyFile struct {
	path, iam string
	client    *http.Client
	read      os.FileInfo // as of the last request
}

// changed implements credentials. A file that cannot be looked at has not changed.
func (k *keyFile) changed() bool {
	now, err := os.Stat(k.path)
	return err == nil && (k.read == nil || !now.ModTime().Equal(k.read.ModTime()) || now.Size() != k.read.Size())
}

// RequestToken implements credentials. Text with a blank inside is not a key.
func (k *keyFile) RequestToken() (*core.IamTokenServerResponse, error) {
	if info, err := os.Stat(k.path); err == nil {
		k.read = info
	}
	text, err := os.ReadFile(k.path)
	if err != nil {
		return nil, fmt.Errorf("cloud config: provider.g2Credentials: %w", err)
	}
	key := strings.TrimSpace(string(text))
	if key == "" || strings.ContainsAny(key, " \t\n") {
		return nil, fault.New(fault.Invalid, "cloud config: provider.g2Credentials: the file %s has no API key", k.path)
	}
	requester, err := core.NewIamAuthenticatorBuilder().SetApiKey(key).SetURL(k.iam).SetClient(k.client).Build()
	if err != nil {
		return nil, fmt.Errorf("cloud config: provider.g2Credentials: %w", err)
	}
	return requester.RequestToken()
}

// fromEnvironment is credentials that the SDK reads from the environment: an API key, a
// trusted profile of a container, or the identity of an instance.
type fromEnvironment struct {
	request func() (*core.IamTokenServerResponse, error)
}

// changed implements credentials: the environment of a process does not change.
func (fromEnvironment) changed() bool { return false }

// RequestToken implements credentials.
func (f fromEnvironment) RequestToken() (*core.IamTokenServerResponse, error) { return f.request() }

// identityOf returns the credentials of the configuration: an API key in a file, else those of
// the environment.
func identityOf(c model.Config, iam string, client *http.Client, now func() time.Time) (*identity, error) {
	out := &identity{now: now, turn: make(chan struct{}, 1)}
	if c.Credentials != "" {
		if _, err := os.Stat(c.Credentials); err != nil {
			return nil, fmt.Errorf("cloud config: provider.g2Credentials: %w", err)
		}
		out.source = &keyFile{path: c.Credentials, iam: iam, client: client}
		return out, nil
	}
	found, err := core.GetAuthenticatorFromEnvironment("vpc")
	if err != nil {
		return nil, fmt.Errorf("credentials of the environment: %w", err)
	}
	switch a := found.(type) {
	case nil:
		return nil, fault.New(fault.Invalid, "cloud config: provider.g2Credentials: is empty, and the environment has no credentials; name a file with an API key, or set VPC_AUTH_TYPE to container or vpc with a trusted profile")
	case *core.IamAuthenticator:
		a.Client, a.URL = client, cmp.Or(a.URL, iam)
		out.source = fromEnvironment{request: a.RequestToken}
	case *core.ContainerAuthenticator:
		a.Client, a.URL = client, cmp.Or(a.URL, iam)
		out.source = fromEnvironment{request: a.RequestToken}
	case *core.VpcInstanceAuthenticator:
		a.Client = client
		out.source = fromEnvironment{request: a.RequestToken}
	default:
		return nil, fault.New(fault.Invalid, "VPC_AUTH_TYPE: %q is not served; legal are iam, container and vpc", found.AuthenticationType())
	}
	return out, nil
}
