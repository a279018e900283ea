package wire

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/IBM/go-sdk-core/v5/core"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/providers/ibm/model"
	"github.com/berth-lb/berth/providers/kit"
	"github.com/berth-lb/berth/providers/meter"
)

// endpoints are the addresses of the APIs, without a path.
type endpoints struct{ vpc, iam, resources string }

// testRegion marks regions of IBM's own tests, which have other hosts.
const testRegion = "stage"

// endpointsOf returns the configured addresses, else those of the region: private ones unless
// the environment asks for public ones.
// Source: IBM-Cloud/cloud-provider-ibm:pkg/vpcctl/vpc_config.go (initialize).
func endpointsOf(c model.Config) endpoints {
	domain, host := "cloud.ibm.com", "private."
	if strings.Contains(c.Region, testRegion) {
		domain = "test.cloud.ibm.com"
	}
	out := endpoints{
		vpc: "https://" + c.Region + ".private.iaas." + domain,
		iam: "https://" + host + "iam." + domain, resources: "https://" + host + "resource-controller." + domain,
	}
	if c.Public {
		out = endpoints{vpc: "https://" + c.Region + ".iaas." + domain, iam: "https://iam." + domain, resources: "https://resource-controller." + domain}
	}
	for at, given := range map[*string]string{&out.vpc: c.VPCEndpoint, &out.iam: c.IAMEndpoint, &out.resources: c.ResourceEndpoint} {
		if given != "" {
			*at = strings.TrimSuffix(given, "/")
		}
	}
	return out
}

// clientFor returns the client of all calls, which are counted.
func clientFor(env providers.Env) *http.Client {
	return &http.Client{Transport: meter.New(kit.Transport(), env.Calls, meter.Language{Name: nameOf, Refusal: refusalOf})}
}

// identity gives calls a token of IAM, which it keeps until most of its life is over. The
// authenticators of the SDK do the same, with one lock for all of a process and without a
// context, so only their requests are used.
type identity struct {
	request func() (*core.IamTokenServerResponse, error)
	now     func() time.Time
	turn    chan struct{} // held while the token is read or requested

	token   string
	renewal time.Time
}

// spareLife is the part of a token's life before whose end it is renewed, as by the SDK.
const spareLife = 5

// authenticate adds the token to a call. The error is a fault: the call was not sent.
func (i *identity) authenticate(ctx context.Context, r *http.Request) error {
	select {
	case i.turn <- struct{}{}:
		defer func() { <-i.turn }()
	case <-ctx.Done():
		return &fault.Fault{Meaning: fault.Unavailable, Text: "stopped before it was sent", Err: ctx.Err()}
	}
	if i.token == "" || !i.now().Before(i.renewal) {
		got, err := i.request()
		if err != nil {
			return loginError(err)
		}
		life := time.Duration(got.ExpiresIn) * time.Second
		i.token, i.renewal = got.AccessToken, i.now().Add(life-life/spareLife)
	}
	r.Header.Set("Authorization", "Bearer "+i.token)
	return nil
}

// identityOf returns the credentials of the configuration: an API key in a file. Text with a
// blank inside is not a key.
func identityOf(c model.Config, iam string, env providers.Env, now func() time.Time) (*identity, error) {
	text, err := os.ReadFile(c.Credentials)
	if err != nil {
		return nil, fmt.Errorf("cloud config: provider.g2Credentials: %w", err)
	}
	key := strings.TrimSpace(string(text))
	if key == "" || strings.ContainsAny(key, " \t\n") {
		return nil, fault.New(fault.Invalid, "cloud config: provider.g2Credentials: the file %s has no API key", c.Credentials)
	}
	requester, err := core.NewIamAuthenticatorBuilder().SetApiKey(key).SetURL(iam).SetClient(clientFor(env)).Build()
	if err != nil {
		return nil, fmt.Errorf("cloud config: provider.g2Credentials: %w", err)
	}
	return &identity{request: requester.RequestToken, now: now, turn: make(chan struct{}, 1)}, nil
}
