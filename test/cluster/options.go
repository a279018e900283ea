package cluster

import (
	"io"
	"os"
	"strings"
)

// Options say what control plane to start. The zero value is a dual-stack cluster
// of the newest version with the EndpointSlice controller.
type Options struct {
	// Dir receives kubeconfigs, the logs of the programs and the audit log. It is
	// created when missing and stays. Empty means a temporary folder that Stop
	// removes.
	Dir string
	// Progress receives progress messages, mainly about programs being compiled. Nil
	// means standard error.
	Progress io.Writer
	// Tokens are users besides the administrator. For a user that needs no
	// kubeconfig, Impersonate is simpler.
	Tokens []Token
	// EmulatedVersion, such as 1.34, makes the API server behave like an older
	// minor where behaviour is gated.
	EmulatedVersion string
	// NoWatchLists has clients ask for lists and then for watches, as API servers up to 1.33 do.
	NoWatchLists bool
	// SingleStack leaves out the IPv6 range of Service addresses.
	SingleStack bool
	// NoEndpointSlices leaves out the EndpointSlice controller.
	NoEndpointSlices bool
	// Audit writes every request to the file that AuditLog names.
	Audit bool
}

// Token is a user with a kubeconfig of its own. It has only the rights that are bound to the
// user or a group, and those of system:authenticated.
type Token struct {
	// Name is what Kubeconfig and RESTConfig take: lower case letters, digits and
	// dashes, and not admin.
	Name string
	// User is the user name as RBAC sees it. It has no equal sign in it.
	User string
	// Groups are the user's groups.
	Groups []string
}

func (o Options) progress() io.Writer {
	if o.Progress == nil {
		return os.Stderr
	}
	return o.Progress
}

// args is the command line for the options.
func (o Options) args(dir string) []string {
	args := []string{"up", "--out=" + dir}
	if o.SingleStack {
		args = append(args, "--dual-stack=false")
	}
	if o.NoEndpointSlices {
		args = append(args, "--endpointslices=false")
	}
	if o.Audit {
		args = append(args, "--audit")
	}
	if o.EmulatedVersion != "" {
		args = append(args, "--emulated-version="+o.EmulatedVersion)
	}
	if o.NoWatchLists {
		args = append(args, "--watch-lists=false")
	}
	for _, token := range o.Tokens {
		args = append(args, "--token="+token.Name+"="+token.User+"="+strings.Join(token.Groups, ","))
	}
	return args
}
