package wire

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net/http"
	"os"
	"strings"

	"github.com/gophercloud/gophercloud/v2"
	"github.com/gophercloud/gophercloud/v2/openstack"
	"github.com/gophercloud/gophercloud/v2/openstack/config/clouds"
	"github.com/gophercloud/gophercloud/v2/openstack/identity/v3/tokens"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/providers/kit"
	"github.com/berth-lb/berth/providers/meter"
	"github.com/berth-lb/berth/providers/openstack/model"
)

// authenticateClient authenticates with what the configuration has: password, application
// credential, token, trust, or a cloud of clouds.yaml.
func authenticateClient(ctx context.Context, c model.Config, env providers.Env) (*gophercloud.ProviderClient, gophercloud.EndpointOpts, error) {
	auth, endpoint := loginOptions(c.Login)
	transport, err := transportOf(c.Login)
	if err != nil {
		return nil, endpoint, err
	}
	if c.UseClouds {
		var own *tls.Config
		if auth, endpoint, own, err = fromClouds(c.Login); err != nil {
			return nil, endpoint, err
		}
		if own != nil {
			transport.TLSClientConfig = own
		}
	}
	if auth.IdentityEndpoint == "" {
		return nil, endpoint, fault.New(fault.Invalid, "Global auth-url: is empty; legal is the address of Keystone, such as https://keystone.example/v3")
	}
	auth.AllowReauth = auth.TokenID == ""
	provider, err := openstack.NewClient(auth.IdentityEndpoint)
	if err != nil {
		return nil, endpoint, fmt.Errorf("auth-url: %w", err)
	}
	provider.HTTPClient = http.Client{Transport: meter.New(transport, env.Calls, meter.Language{Name: nameOf, Refusal: refusalOf})}
	provider.UserAgent.Prepend(env.UserAgent)
	if c.TrustID != "" {
		opts := tokens.AuthOptions{IdentityEndpoint: auth.IdentityEndpoint, UserID: c.TrusteeID, Password: c.TrusteePassword, AllowReauth: true, Scope: tokens.Scope{TrustID: c.TrustID}}
		err = openstack.AuthenticateV3(ctx, provider, &opts, gophercloud.EndpointOpts{})
	} else {
		err = openstack.Authenticate(ctx, provider, auth)
	}
	if err != nil {
		return nil, endpoint, fmt.Errorf("login at %s: %w", auth.IdentityEndpoint, errorTable().Fault(err, 0))
	}
	return provider, endpoint, nil
}

// loginOptions returns the login and the place of the APIs as the SDK expects them.
func loginOptions(l model.Login) (gophercloud.AuthOptions, gophercloud.EndpointOpts) {
	auth := gophercloud.AuthOptions{
		IdentityEndpoint: l.AuthURL, UserID: l.UserID, Username: l.Username, Password: l.Password, TenantID: l.TenantID, TenantName: l.TenantName,
		TokenID: l.Token, ApplicationCredentialID: l.CredentialID, ApplicationCredentialName: l.CredentialName, ApplicationCredentialSecret: l.CredentialSecret,
	}
	auth.DomainID, auth.DomainName = firstNonBlank(l.UserDomainID, l.DomainID), firstNonBlank(l.UserDomainName, l.DomainName)
	if auth.DomainID != "" {
		auth.DomainName = ""
	}
	projectDomainID, projectDomain := firstNonBlank(l.TenantDomainID, l.DomainID), firstNonBlank(l.TenantDomainName, l.DomainName)
	if l.CredentialID == "" && l.CredentialName == "" && (l.TenantID != "" || l.TenantName != "") {
		auth.Scope = &gophercloud.AuthScope{ProjectID: l.TenantID}
		if l.TenantID == "" {
			auth.Scope.ProjectName, auth.Scope.DomainID, auth.Scope.DomainName = l.TenantName, projectDomainID, projectDomain
			if projectDomainID != "" {
				auth.Scope.DomainName = ""
			}
		}
	}
	return auth, gophercloud.EndpointOpts{Region: l.Region, Availability: gophercloud.Availability(firstNonBlank(l.EndpointType, "public"))}
}

// fromClouds takes the login from clouds.yaml.
func fromClouds(l model.Login) (gophercloud.AuthOptions, gophercloud.EndpointOpts, *tls.Config, error) {
	opts := []clouds.ParseOption{clouds.WithCloudName(firstNonBlank(l.Cloud, os.Getenv("OS_CLOUD")))}
	if l.CloudsFile != "" {
		opts = append(opts, clouds.WithLocations(l.CloudsFile))
	}
	if l.Region != "" {
		opts = append(opts, clouds.WithRegion(l.Region))
	}
	auth, endpoint, config, err := clouds.Parse(opts...)
	if err != nil {
		return auth, endpoint, nil, fmt.Errorf("clouds.yaml: %w", err)
	}
	return auth, endpoint, config, nil
}

// transportOf is the transport with the certificates of the configuration.
func transportOf(l model.Login) (*http.Transport, error) {
	t := kit.Transport()
	t.TLSClientConfig = &tls.Config{MinVersion: tls.VersionTLS12, InsecureSkipVerify: l.Insecure} // #nosec G402 -- the key tls-insecure of the official file
	if l.CAFile != "" {
		pem, err := os.ReadFile(l.CAFile)
		if err != nil {
			return nil, fmt.Errorf("ca-file: %w", err)
		}
		pool := x509.NewCertPool()
		if !pool.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("ca-file: %s has no certificate", l.CAFile)
		}
		t.TLSClientConfig.RootCAs = pool
	}
	if l.CertFile != "" {
		pair, err := tls.LoadX509KeyPair(l.CertFile, l.KeyFile)
		if err != nil {
			return nil, fmt.Errorf("cert-file and key-file: %w", err)
		}
		t.TLSClientConfig.Certificates = []tls.Certificate{pair}
	}
	return t, nil
}

// firstNonBlank returns the first of the texts that says something; empty if none does.
func firstNonBlank(texts ...string) string {
	for _, t := range texts {
		if strings.TrimSpace(t) != "" {
			return t
		}
	}
	return ""
}
