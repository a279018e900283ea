package main

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/spf13/cobra"

	"github.com/berth-lb/berth/providers/all"
	"github.com/berth-lb/berth/service/offline"
	"github.com/berth-lb/berth/service/page"
	"github.com/berth-lb/berth/service/settings"
)

const uiHelp = `Ui serves a page that shows Services of type LoadBalancer: their state, their load
balancers as graphs and tables, the origin of each field, the plan, and the resources that
several Services share. It listens on this machine only and prints the address of the page,
which contains a secret token. It writes nothing, neither to the cloud nor to the cluster.

The rights are those of your kubeconfig and, with --release or --provider, of your cloud
credentials. Without a cloud the page shows what the cluster says. The cloud is read when a
view needs it, and at most every 15 seconds.`

// uiFlags are the flags of the command.
type uiFlags struct {
	services serviceFlags
	setupFlags
	lease string
}

func newUI() *cobra.Command {
	f := &uiFlags{}
	cmd := &cobra.Command{
		Use:     "ui [--release NAME | --provider NAME]",
		Short:   "Show Services and their load balancers in a browser",
		Long:    uiHelp,
		Example: "  berth ui -A --release berth\n  berth ui -f services.yaml --nodes nodes.yaml --provider aws --cloud-config cloud.conf --offline",
		Args:    cobra.NoArgs,
	}
	f.services.register(cmd)
	set := cmd.Flags()
	set.BoolVarP(&f.services.input.AllNamespaces, "all-namespaces", "A", false, "the Services of every namespace")
	set.StringSliceVar(&f.services.input.NodeFiles, "nodes", nil, "file with the Nodes of the cluster; may be given several times")
	set.BoolVar(&f.services.input.Offline, "offline", false, "with -f: show new Services, without the cluster of the current context")
	set.StringVar(&f.lease, "lease", "", "Lease of the controller as NAMESPACE/NAME (default: that of the release, else "+offline.DefaultLease+")")
	f.services.input.RegisterConnection(set)
	f.setupFlags.register(cmd, "read the cloud too, set up as this release of the chart in the cluster", "read the cloud too")
	f.target.Settings.Register(set)
	cmd.MarkFlagsMutuallyExclusive("offline", "kubeconfig")
	completeFlags(cmd, settings.Values())
	cmd.RunE = f.run
	return cmd
}

func (f *uiFlags) run(cmd *cobra.Command, _ []string) error {
	if f.provider != "" || f.release != "" {
		opened, err := f.read(cmd, f.services.input, func(r *offline.Release) offline.Target { return r.Target })
		defer closeRelease(opened)
		if err != nil {
			return err
		}
	}
	token, err := newToken()
	if err != nil {
		return err
	}
	listener, err := (&net.ListenConfig{}).Listen(cmd.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	_, port, err := net.SplitHostPort(listener.Addr().String())
	if err != nil {
		return err
	}
	judge := func() offline.Judge {
		return offline.Judge{Target: f.target, Clouds: all.List(), Lease: f.lease, Now: time.Now()}
	}
	source := offline.NewBrowser(f.services.from(cmd), judge, watchInterval, examineInterval)
	handler := page.New(source, page.Guard{Token: token, Hosts: []string{"127.0.0.1:" + port, "localhost:" + port}})
	if err := printResult(cmd, "http://127.0.0.1:"+port+"/#token="+token+"\n"); err != nil {
		return err
	}
	cmd.PrintErrln("The page is served until you press Ctrl-C. Its address contains a secret: treat it as your credentials.")
	return serveUntil(cmd.Context(), listener, handler)
}

// tokenBytes is the length of the secret.
const tokenBytes = 32

func newToken() (string, error) {
	secret := make([]byte, tokenBytes)
	if _, err := rand.Read(secret); err != nil {
		return "", fmt.Errorf("token: %w", err)
	}
	return hex.EncodeToString(secret), nil
}

// Times of the server.
const (
	headerTime   = 10 * time.Second
	shutdownTime = 2 * time.Second
)

// serveUntil serves until the context ends.
func serveUntil(ctx context.Context, l net.Listener, h http.Handler) error {
	server := &http.Server{Handler: h, ReadHeaderTimeout: headerTime}
	done := make(chan error, 1)
	go func() { done <- server.Serve(l) }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
	}
	end, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownTime)
	defer cancel()
	if err := server.Shutdown(end); err != nil {
		_ = server.Close() // requests that read a cloud are abandoned
	}
	return nil
}
