package wire

import (
	"cmp"
	"crypto/rsa"
	"fmt"
	"os"
	"strings"

	"github.com/oracle/oci-go-sdk/v65/common"
	"github.com/oracle/oci-go-sdk/v65/common/auth"

	"github.com/berth-lb/berth/providers/fault"
)

// workload is the identity that a ServiceAccount gets for its token.
type workload struct {
	common.ConfigurationProvider

	whose string
	token auth.ServiceAccountTokenProvider
	// source is what gives the identity, and helps the next step if it gives none.
	source, helps string
}

// workloadOf returns the workload identity of a ServiceAccount, which is had with the first
// call. The error says what the controller's pod lacks for it.
func workloadOf(whose string, token auth.ServiceAccountTokenProvider) (common.ConfigurationProvider, error) {
	lacks := func(helps, format string, args ...any) error {
		return &fault.Fault{Meaning: fault.Denied, Text: whose + " gets no workload identity: " + fmt.Sprintf(format, args...), Helps: helps}
	}
	const unset = "%s is not set for the controller"
	version := os.Getenv(auth.ResourcePrincipalVersionEnvVar)
	switch _, placed := os.LookupEnv(auth.ResourcePrincipalRegionEnvVar); {
	case version == "":
		return nil, lacks("set it to 2.2, by extraEnv of the chart", unset, auth.ResourcePrincipalVersionEnvVar)
	case version != auth.ResourcePrincipalVersion2_2 && version != auth.ResourcePrincipalVersion1_1:
		return nil, lacks("set it to 2.2, by extraEnv of the chart", "%s is %q for the controller", auth.ResourcePrincipalVersionEnvVar, version)
	case !placed:
		return nil, lacks("set it to the cluster's region, such as eu-frankfurt-1, by extraEnv of the chart", unset, auth.ResourcePrincipalRegionEnvVar)
	case proxyHost() == "":
		return nil, lacks("run the controller in a pod of the cluster, where it is set", unset, auth.KubernetesServiceHostEnvVar)
	}
	path := cmp.Or(os.Getenv(auth.OciKubernetesServiceAccountCertPath), auth.DefaultKubernetesServiceAccountCertPath)
	if _, err := os.ReadFile(path); err != nil { //nolint:gosec // who runs the process says where it is
		return nil, lacks("let the pod have the token of its ServiceAccount mounted, or name the file in "+auth.OciKubernetesServiceAccountCertPath, "the certificate of the cluster cannot be read: %v", err)
	}
	p, err := auth.OkeWorkloadIdentityConfigurationProviderWithServiceAccountTokenProvider(token)
	if err != nil {
		return nil, lacks("", "%s", saidBySDK(err))
	}
	return workload{
		ConfigurationProvider: p, whose: whose, token: token, source: "the cluster's proxy at " + proxyHost() + ":" + auth.KubernetesProxymuxServicePort,
		helps: "the cluster must be an enhanced one, and the controller reach that port",
	}, nil
}

// proxyHost returns the host at which a cluster issues workload identities.
func proxyHost() string { return os.Getenv(auth.KubernetesServiceHostEnvVar) }

// PrivateRSAKey is the key that signs requests.
func (w workload) PrivateRSAKey() (*rsa.PrivateKey, error) {
	key, err := w.ConfigurationProvider.PrivateRSAKey()
	return key, w.told(err)
}

// KeyID is what says whose key it is.
func (w workload) KeyID() (string, error) {
	id, err := w.ConfigurationProvider.KeyID()
	return id, w.told(err)
}

// Refreshable implements common.RefreshableConfigurationProvider: a refused call is retried
// with a new token.
func (w workload) Refreshable() bool { return true }

// told is why there is no identity, in words that say what to do.
func (w workload) told(err error) error {
	if err == nil {
		return nil
	}
	f := &fault.Fault{Meaning: fault.Unavailable, Err: err, Text: w.whose + " gets no workload identity: "}
	if _, mine := w.token.ServiceAccountToken(); mine != nil {
		f.Text += "its token cannot be used"
		f.Helps = fmt.Sprintf("let the pod have it mounted, or name the file in %s (%s)", tokenPath, saidBySDK(mine))
		return f
	}
	f.Text += w.source + " gives none for its token"
	f.Helps = w.helps + "; the controller retries (" + saidBySDK(err) + ")"
	return f
}

// saidBySDK returns the cause of an SDK error, without the documentation link, the
// attempted operation and the support contact.
func saidBySDK(err error) string {
	text, _, _ := strings.Cut(err.Error(), "\n")
	text = strings.TrimSuffix(text, ". Please contact OKE team")
	begins := []string{
		"failed to create a new key provider for instance principal: ", "failed to get private key: ", "failed to renew security token: ",
		"failed to get security token: ", "unable to exchange JWT for security token: ", "please ensure the cluster type is enhanced: ", "failed to get a Workload Identity token. ", "error ",
	}
	for again := true; again; {
		again = false
		for _, begin := range begins {
			rest, had := strings.CutPrefix(text, begin)
			text, again = rest, again || had
		}
	}
	return text
}
