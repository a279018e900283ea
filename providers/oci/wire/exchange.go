package wire

import (
	"fmt"
	"net/url"
	"os"
	"strconv"

	"github.com/oracle/oci-go-sdk/v65/common"
	"github.com/oracle/oci-go-sdk/v65/common/auth"

	"github.com/berth-lb/berth/providers/fault"
)

// Variables of a token exchange with an identity domain.
// Source: oracle/oci-cloud-controller-manager v1.35.0, useWorkloadIdentity.
const (
	exchangePrefix   = "OCI_WORKLOAD_IDENTITY_"
	exchangeDomain   = exchangePrefix + "DOMAIN_URL"
	exchangeResource = exchangePrefix + "RESOURCE_TYPE"
	exchangeClient   = exchangePrefix + "CLIENT_ID"
	exchangeSecret   = exchangePrefix + "CLIENT_SECRET"
	exchangeMachine  = exchangePrefix + "USE_INSTANCE_PRINCIPAL_FOR_TOKEN_EXCHANGE"
	exchangeAsked    = exchangePrefix + "REQUESTED_TOKEN_TYPE"
	exchangeSubject  = exchangePrefix + "SUBJECT_TOKEN_TYPE"
	exchangeExpiry   = exchangePrefix + "RPST_EXP"
	exchangeKey      = exchangePrefix + "PUBLIC_KEY"
)

// Types of tokens if the environment names none: a token of a resource principal for a JWT.
// Source: IAM documentation, "JWT-to-UPST token exchange" and "resource principal session tokens".
const (
	askedToken   = "urn:oci:token-type:oci-rpst" //nolint:gosec // the name of a type
	subjectToken = "jwt"
)

// identityForToken returns the identity that a ServiceAccount gets for its token: of an identity
// domain if the environment names one, else of the proxy of a cluster of Oracle.
func identityForToken(whose, region string, token auth.ServiceAccountTokenProvider) (common.ConfigurationProvider, error) {
	if os.Getenv(exchangeDomain) == "" {
		return workloadOf(whose, token)
	}
	return exchangeTokens(whose, region, token)
}

// exchangeTokens returns the identity of an identity domain, which is requested by the first call.
// The error says what the environment lacks.
func exchangeTokens(whose, region string, token auth.ServiceAccountTokenProvider) (common.ConfigurationProvider, error) {
	lacks := func(helps, format string, args ...any) error {
		return &fault.Fault{Meaning: fault.Denied, Text: whose + " gets no workload identity: " + fmt.Sprintf(format, args...), Helps: helps}
	}
	const unset = "%s is not set for the controller"
	b := auth.TokenExchangeBuilder{
		DomainUrl: os.Getenv(exchangeDomain), Region: region, ResType: os.Getenv(exchangeResource), RpstExp: os.Getenv(exchangeExpiry), PublicKey: os.Getenv(exchangeKey),
		ClientId: os.Getenv(exchangeClient), ClientSecret: os.Getenv(exchangeSecret), RequestedTokenType: readVariable(exchangeAsked, askedToken), SubjectTokenType: readVariable(exchangeSubject, subjectToken),
	}
	if u, err := url.Parse(b.DomainUrl); err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
		return nil, lacks("set it to the URL of the identity domain, by extraEnv of the chart", "%s is %q, which is no URL", exchangeDomain, b.DomainUrl)
	}
	if b.ResType == "" && b.RequestedTokenType == askedToken {
		return nil, lacks("set it to the resource type of the domain's trust, by extraEnv of the chart", unset, exchangeResource)
	}
	machine, err := strconv.ParseBool(readVariable(exchangeMachine, "false"))
	switch {
	case err != nil:
		return nil, lacks("set it to true or false", "%s is %q", exchangeMachine, os.Getenv(exchangeMachine))
	case machine:
		if b.InstancePrincipalProvider, err = auth.InstancePrincipalConfigurationProvider(); err != nil {
			return nil, lacks("run it on an instance of Oracle Cloud whose metadata it can reach, or set "+exchangeClient, "the machine gives the controller no identity (%s)", saidBySDK(err))
		}
	case b.ClientId == "" || b.ClientSecret == "":
		return nil, lacks("set "+exchangeClient+" and "+exchangeSecret+", or "+exchangeMachine+" to true, by extraEnv of the chart", "nothing authenticates it at %s", b.DomainUrl)
	}
	p, err := auth.TokenExchangeConfigurationProviderFromIssuer(issuer{token}, b)
	if err != nil {
		return nil, lacks("", "%s", saidBySDK(err))
	}
	return workload{
		ConfigurationProvider: p, whose: whose, token: token, source: "the identity domain " + b.DomainUrl,
		helps: "check the domain's trust of the cluster's issuer, the client, and " + exchangeResource,
	}, nil
}

func readVariable(name, standard string) string {
	if value := os.Getenv(name); value != "" {
		return value
	}
	return standard
}

// issuer gives the token of a ServiceAccount to the SDK.
type issuer struct {
	token auth.ServiceAccountTokenProvider
}

// GetToken implements auth.TokenIssuer.
func (i issuer) GetToken() (string, error) { return i.token.ServiceAccountToken() }
