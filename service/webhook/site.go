package webhook

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"k8s.io/client-go/kubernetes"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"

	"github.com/berth-lb/berth/service/logkey"
)

// Serve serves a handler for users until ctx ends, with a certificate like that of the webhooks,
// which is in no configuration of the API server: users find it in the Secret.
func Serve(ctx context.Context, client kubernetes.Interface, name string, site Site, c clock.Clock, handler http.Handler) error {
	keeper, err := newKeeper(client, site, c)
	if err != nil {
		return err
	}
	return serveSite(ctx, name, site, keeper, handler)
}

// serveSite listens until ctx ends.
func serveSite(ctx context.Context, name string, site Site, keeper *keeper, handler http.Handler) error {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", site.Listen)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	server := &http.Server{
		Handler: handler, ReadHeaderTimeout: 10 * time.Second, ReadTimeout: 30 * time.Second, IdleTimeout: 2 * time.Minute,
		TLSConfig: &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: keeper.certificate},
	}
	klog.InfoS(name+" listens", logkey.Addr, listener.Addr().String())
	ends := context.AfterFunc(ctx, func() { _ = server.Close() }) // its later answers are of no use
	defer ends()
	go keeper.run(ctx)
	if err := server.ServeTLS(listener, "", ""); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}
