package wire

import (
	"cmp"
	"crypto/rsa"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"time"

	"github.com/oracle/oci-go-sdk/v65/common"
	"github.com/oracle/oci-go-sdk/v65/common/auth"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/providers/kit"
	"github.com/berth-lb/berth/providers/meter"
	"github.com/berth-lb/berth/providers/oci/model"
)

// service is one API.
type service struct {
	name   string
	client common.BaseClient
}

// The APIs with their addresses and versions.
// Source: API reference, endpoints of each service.
const (
	apiLB   = "loadbalancer"
	apiNLB  = "networkloadbalancer"
	apiCore = "core"
	// apiLimits is asked by checks of the setup alone.
	apiLimits = "limits"

	hostIaaS = "https://iaas.{region}.{secondLevelDomain}"
	hostNLB  = "https://network-load-balancer-api.{region}.oci.{secondLevelDomain}"

	hostLimits = "https://limits.{region}.oci.{secondLevelDomain}"
)

// fromEnvironment adds what the official controller reads from its environment.
func fromEnvironment(c model.Config) model.Config {
	c.Prefix = os.Getenv("LOAD_BALANCER_PREFIX")
	if seconds, err := strconv.Atoi(os.Getenv("OCI_CUSTOM_CLIENT_TIMEOUT")); err == nil && seconds > 0 {
		c.RequestTimeout = time.Duration(seconds) * time.Second
	}
	return c
}

// regionOf is the region that is called; empty where an endpoint is configured.
func regionOf(c model.Config, identity common.ConfigurationProvider, told error) (string, error) {
	region := cmp.Or(c.Auth.Region, c.RegionKey)
	if region == "" {
		region, _ = identity.Region() // checked below
	}
	if region == "" && c.Endpoint == "" {
		return "", fault.New(fault.Invalid, "cloud config: regionKey: is empty, and the metadata of the machine do not tell it (%v); legal is the key or name of a region, such as eu-frankfurt-1", told)
	}
	return region, nil
}

// connect makes the clients of the three APIs. None of them repeats a call: the limits
// of the session do.
func (s *Session) connect(identity common.ConfigurationProvider, region string, env providers.Env) {
	open := func(name, prefix, template, version string) *service {
		client := common.DefaultBaseClientWithSigner(common.DefaultRequestSigner(identity))
		client.HTTPClient = &http.Client{Transport: meter.New(sdkTransport(), env.Calls, meter.Language{Name: nameOf, Refusal: refusalOf})}
		client.UserAgent += " " + cmp.Or(env.UserAgent, "berth")
		client.Host, client.BasePath = s.config.Endpoint, version
		if s.config.Endpoint == "" {
			client.Host = common.StringToRegion(region).EndpointForTemplate(prefix, template)
		}
		return &service{name: name, client: client}
	}
	s.lb = open(apiLB, "iaas", hostIaaS, "20170115")
	s.nlb = open(apiNLB, "networkloadbalancer", hostNLB, "20200501")
	s.core = open(apiCore, "iaas", hostIaaS, "20160918")
	s.allowed = open(apiLimits, "limits", hostLimits, "20190729")
	s.kinds = s.products()
}

// tokenPath names the file with the token of the controller's ServiceAccount.
const tokenPath = "OCI_WORKLOAD_IDENTITY_TOKEN_PATH" //nolint:gosec // the name of a variable

// identityOf are the credentials of the configuration.
func identityOf(c model.Config) (common.ConfigurationProvider, error) {
	switch {
	case c.WorkloadIdentity:
		token := auth.NewDefaultServiceAccountTokenProvider()
		if path := os.Getenv(tokenPath); path != "" {
			token = token.WithSaTokenPath(path)
		}
		p, err := identityForToken("the controller", cmp.Or(c.Auth.Region, c.RegionKey), token)
		if err != nil {
			return nil, fmt.Errorf("cloud config: useWorkloadIdentity: %w", err)
		}
		return p, nil
	case c.InstancePrincipals:
		p, err := auth.InstancePrincipalConfigurationProvider()
		if err != nil {
			return nil, &fault.Fault{
				Meaning: fault.Denied, Err: err, Text: "cloud config: useInstancePrincipals: the machine gives the controller no identity",
				Helps: "run it on an instance of Oracle Cloud whose metadata it can reach, or give it an API key (" + saidBySDK(err) + ")",
			}
		}
		return p, nil
	}
	a := c.Auth
	for key, value := range map[string]string{"tenancy": a.Tenancy, "user": a.User, "key": a.Key, "fingerprint": a.Fingerprint} {
		if value == "" {
			return nil, fault.New(fault.Invalid, "cloud config: auth.%s: is empty; an API key needs it, or say useInstancePrincipals or useWorkloadIdentity", key)
		}
	}
	p := common.NewRawConfigurationProvider(a.Tenancy, a.User, a.Region, a.Fingerprint, a.Key, &a.Passphrase)
	key, err := p.PrivateRSAKey()
	if err != nil {
		return nil, fmt.Errorf("cloud config: auth.key: %w", err)
	}
	return parsed{ConfigurationProvider: p, key: key}, nil
}

// parsed is an API key that is read once: the SDK asks for it, and would decode its text,
// at every request.
type parsed struct {
	common.ConfigurationProvider

	key *rsa.PrivateKey
}

// PrivateRSAKey is the key that signs requests.
func (p parsed) PrivateRSAKey() (*rsa.PrivateKey, error) { return p.key, nil }

// sdkTransport returns the transport of the SDK's clients, which reads certificates
// from its environment.
func sdkTransport() http.RoundTripper {
	if os.Getenv("OCI_DEFAULT_CERTS_PATH") == "" {
		return kit.Transport()
	}
	return &common.OciHTTPTransportWrapper{TLSConfigProvider: common.GetTLSConfigTemplateForTransport()}
}
