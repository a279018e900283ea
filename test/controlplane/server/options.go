package server

import (
	"errors"
	"fmt"
	"regexp"
)

// admin is the name of the token and kubeconfig that has every right.
const admin = "admin"

// controllerManager is the name of the internal token. It is apart from admin so
// that the audit log tells the controller's requests from those of the tests.
const controllerManager = "kube-controller-manager"

// Token is a user that the API server knows by a bearer token.
type Token struct {
	// Name names the kubeconfig file: lower case letters, digits and dashes.
	Name string
	// User is the user name as RBAC sees it.
	User string
	// Groups are the user's groups besides system:authenticated, which the
	// server adds.
	Groups []string
}

// Options say what Start starts.
type Options struct {
	// Binaries are the paths of the programs by name, from binaries.Store.
	Binaries map[string]string
	// Out is the folder for kubeconfigs, logs and the audit log.
	Out string
	// Tokens are users besides the administrator.
	Tokens []Token
	// DualStack adds an IPv6 range to the IPv4 range of Service addresses.
	DualStack bool
	// EndpointSlices starts the EndpointSlice controller.
	EndpointSlices bool
	// EmulatedVersion, such as 1.34, makes the API server behave like an older
	// minor. Empty means its own version.
	EmulatedVersion string
	// WatchLists serves a list as the start of a watch, as API servers do from 1.34 on.
	WatchLists bool
	// Audit writes every request to Out/audit.log.
	Audit bool
}

func (o Options) validate() error {
	nameForm := regexp.MustCompile(`^[a-z0-9]([a-z0-9-]*[a-z0-9])?$`)
	seen := map[string]bool{admin: true, controllerManager: true}
	for _, token := range o.Tokens {
		switch {
		case !nameForm.MatchString(token.Name):
			return fmt.Errorf("token %q: name must be lower case letters, digits and dashes", token.Name)
		case seen[token.Name]:
			return fmt.Errorf("token %q: name is taken", token.Name)
		case token.User == "":
			return fmt.Errorf("token %q: user is empty", token.Name)
		}
		seen[token.Name] = true
	}
	if o.Out == "" {
		return errors.New("output folder is not given")
	}
	return nil
}
