// Command cloudsim serves one simulated cloud standing alone, for trying things
// out by hand and for the official controllers.
//
//	cloudsim --cloud aws --listen 127.0.0.1:4566 --nodes 3 --out ./sim
//
// It prints one line with its URL when it is ready, writes the seed into the
// folder given by --out, and stops on SIGINT or SIGTERM.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := runCommand(ctx, os.Args[1:], os.Stdout); err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "cloudsim:", err)
		stop()
		os.Exit(1)
	}
}

// simulator is one running cloud.
type simulator interface {
	http.Handler
	// WriteFiles writes the seed, with the URL that the cloud is served at.
	WriteFiles(dir, url string) error
	// Limit throttles at rates like those of the real cloud.
	Limit() error
}

// maker declares a cloud's own flags and gives the function that builds the
// cloud after parsing.
type maker func(flags *flag.FlagSet) func(common) (simulator, error)

// common are the flags of every cloud.
type common struct {
	nodes                    int
	region, account, cluster string
}

func cloudMakers() map[string]maker {
	return map[string]maker{"alibaba": alibabaCloud, "aws": awsCloud, "azure": azureCloud, "baidu": baiduCloud, "gce": gceCloud, "ibm": ibmCloud, "oci": ociCloud, "openstack": openstackCloud, "tencent": tencentCloud}
}

func runCommand(ctx context.Context, args []string, out io.Writer) error {
	name, err := cloudName(args)
	if err != nil {
		return err
	}
	flags := flag.NewFlagSet("cloudsim", flag.ContinueOnError)
	var c common
	flags.String("cloud", "aws", "the cloud to simulate")
	listen := flags.String("listen", "127.0.0.1:0", "address to serve on; port 0 takes a free one")
	dir := flags.String("out", "", "folder for the seed files; empty writes none")
	flags.IntVar(&c.nodes, "nodes", 3, "number of instances")
	flags.StringVar(&c.region, "region", "", "region; empty for the cloud's default")
	flags.StringVar(&c.account, "account", "", "account id; empty for the cloud's default")
	flags.StringVar(&c.cluster, "cluster-id", "berth-demo", "cluster id in tags")
	throttle := flags.Bool("throttle", false, "throttle at the documented rates, or at usual ones where none are")
	build := cloudMakers()[name](flags)
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("argument %q: not known", flags.Arg(0))
	}
	cloud, err := build(c)
	if err == nil && *throttle {
		err = cloud.Limit()
	}
	if err != nil {
		return err
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", *listen)
	if err != nil {
		return err
	}
	url := "http://" + listener.Addr().String()
	if *dir != "" {
		if err := cloud.WriteFiles(*dir, url); err != nil {
			return errors.Join(err, listener.Close())
		}
	}
	if wrapper, ok := cloud.(interface {
		Listener(net.Listener) net.Listener
	}); ok {
		listener = wrapper.Listener(listener)
	}
	fmt.Fprintf(out, "%s simulator ready at %s\n", name, url)
	return serveHTTP(ctx, listener, cloud)
}

// cloudName finds --cloud before the flags of that cloud are known.
func cloudName(args []string) (string, error) {
	name := "aws"
	for i, arg := range args {
		key, value, has := strings.Cut(strings.TrimLeft(arg, "-"), "=")
		if key != "cloud" || !strings.HasPrefix(arg, "-") {
			continue
		}
		if !has && i+1 < len(args) {
			value = args[i+1]
		}
		name = value
	}
	if cloudMakers()[name] == nil {
		return "", fmt.Errorf("cloud %q: not simulated; want one of %v", name, slices.Sorted(maps.Keys(cloudMakers())))
	}
	return name, nil
}

func serveHTTP(ctx context.Context, listener net.Listener, handler http.Handler) error {
	server := &http.Server{Handler: handler, ReadHeaderTimeout: 10 * time.Second}
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(listener) }()
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	// The signal has ended ctx already, and open calls get a moment to finish.
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
	defer cancel()
	if err := server.Shutdown(grace); err != nil {
		return server.Close()
	}
	return nil
}
