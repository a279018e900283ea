package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/berth-lb/berth/test/controlplane/binaries"
	"github.com/berth-lb/berth/test/controlplane/server"
)

func startPlane(args []string) error {
	options, err := upOptions(args)
	if err != nil {
		return err
	}
	ctx, stop := untilSignal(context.Background())
	defer stop()
	ctx, orders := ordersFrom(ctx, os.Stdin)

	components := []binaries.Component{binaries.Etcd(), binaries.APIServer()}
	if options.EndpointSlices {
		components = append(components, binaries.ControllerManager())
	}
	options.Binaries, err = ensureBinaries(ctx, components)
	if err != nil {
		return err
	}
	plane, err := server.Start(ctx, options)
	if err != nil {
		return err
	}
	defer plane.Stop()
	return serveOrders(ctx, plane, orders)
}

// restartOrder is the line on standard input that kills the API server and starts
// it again. What is printed at the start is printed again when it is ready.
const restartOrder = "restart"

// serveOrders follows orders until the context ends or a program does.
func serveOrders(ctx context.Context, plane *server.ControlPlane, orders <-chan string) error {
	out := json.NewEncoder(os.Stdout)
	if err := out.Encode(plane.Info()); err != nil {
		return err
	}
	for {
		select {
		case <-ctx.Done():
			return nil
		case err := <-plane.Failed():
			return err
		case order := <-orders:
			if order != restartOrder {
				return &usageError{err: fmt.Errorf("standard input: %q is no order; legal: %s", order, restartOrder)}
			}
			if err := plane.RestartAPIServer(ctx); err != nil {
				return err
			}
			if err := out.Encode(plane.Info()); err != nil {
				return err
			}
		}
	}
}

func upOptions(args []string) (server.Options, error) {
	var o server.Options
	flags := flag.NewFlagSet("controlplane up", flag.ContinueOnError)
	flags.StringVar(&o.Out, "out", "", "`folder` for kubeconfigs, logs and the audit log (required)")
	flags.BoolVar(&o.DualStack, "dual-stack", true, "give Services IPv4 and IPv6 ranges, not IPv4 alone")
	flags.BoolVar(&o.EndpointSlices, "endpointslices", true, "run the EndpointSlice controller")
	flags.StringVar(&o.EmulatedVersion, "emulated-version", "", "behave like this older `minor`, for example 1.34")
	flags.BoolVar(&o.WatchLists, "watch-lists", true, "serve a list as the start of a watch; not, as API servers up to 1.33")
	flags.BoolVar(&o.Audit, "audit", false, "write every request to audit.log in the output folder")
	flags.Func("token", "one more user, as `name=user=group,group`; may be repeated", func(text string) error {
		token, err := parseToken(text)
		o.Tokens = append(o.Tokens, token)
		return err
	})
	if err := parseFlags(flags, args); err != nil {
		return o, err
	}
	if o.Out == "" {
		return o, &usageError{err: errors.New("--out is required")}
	}
	return o, nil
}

// parseToken splits at equal signs, because colons are part of nearly every user
// and group name that matters in Kubernetes.
func parseToken(text string) (server.Token, error) {
	parts := strings.Split(text, "=")
	if len(parts) < 2 || len(parts) > 3 {
		return server.Token{}, fmt.Errorf("%q is not name=user or name=user=group,group", text)
	}
	token := server.Token{Name: parts[0], User: parts[1]}
	if len(parts) == 3 && parts[2] != "" {
		token.Groups = strings.Split(parts[2], ",")
	}
	return token, nil
}

// untilSignal returns a context that ends with the first signal to stop.
func untilSignal(ctx context.Context) (context.Context, context.CancelFunc) {
	// A disconnected reader must not kill this process before it has stopped its children: once
	// a handler is registered, a write to a broken pipe is an error.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	return signal.NotifyContext(ctx, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
}

// ordersFrom delivers the lines of the reader. The context that it returns also
// ends when the reader does. The process that started this one holds the other
// end, so its end, however sudden, is seen.
func ordersFrom(ctx context.Context, reader io.Reader) (context.Context, <-chan string) {
	ctx, cancel := context.WithCancel(ctx)
	orders := make(chan string)
	go func() {
		defer cancel()
		for lines := bufio.NewScanner(reader); lines.Scan(); {
			select {
			case orders <- lines.Text():
			case <-ctx.Done():
				return
			}
		}
	}()
	return ctx, orders
}
