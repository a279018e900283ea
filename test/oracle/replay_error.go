package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berth-lb/berth/test/harness"
)

// replayError puts the load balancer of a Service into ERROR while the quota has room for no
// other one. It may still forward, so it must stay, until an administrator fails it over. One
// that forwards nothing is replaced, and must stay until its replacement exists.
func (w *walker) replayError(ctx context.Context) (err error) {
	admin, err := openCloud(ctx, "real", w.real.Identity, "admin", adminPassword, "admin")
	if err != nil {
		return err
	}
	if err := w.configure("cluster"); err != nil {
		return err
	}
	if _, err := w.Controller("error", shortDrift); err != nil {
		return err
	}
	broken := newService("broken", nil, nil, newPort(corev1.ProtocolTCP, 80))
	if err := w.Create(ctx, broken); err != nil {
		return err
	}
	if err := w.become(ctx, map[string][]string{"broken": {"TCP 80: TCP ROUND_ROBIN, 3 members", "floating IP"}}); err != nil {
		return err
	}
	was, err := w.standing(ctx)
	if err != nil {
		return err
	}
	limit := func(n int) error {
		_, err := admin.must(ctx, http.MethodPut, "load-balancer", "/lbaas/quotas/"+w.cloud.project, document{"quota": document{"load_balancer": n}}, "")
		return err
	}
	if err := limit(1); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, limit(-1)) }() // as many as there may be
	if err := w.replayKept(ctx, admin, was); err != nil {
		return fmt.Errorf("it may still forward: %w", err)
	}
	if err := w.replayDark(ctx, was, func() error { return limit(2) }); err != nil {
		return fmt.Errorf("it forwards nothing: %w", err)
	}
	return w.removeAll(ctx, broken)
}

// replayKept changes the Service while its load balancer is in ERROR, and has an administrator
// fail it over in the end.
func (w *walker) replayKept(ctx context.Context, admin *cloud, was standing) error {
	mark := w.mark()
	if err := w.mar(ctx, "load_balancer", "provisioning_status", "ERROR", was.id); err != nil {
		return err
	}
	more := func(s *corev1.Service) { s.Spec.Ports = append(s.Spec.Ports, newPort(corev1.ProtocolTCP, 443)) }
	if err := w.Change(ctx, metav1.NamespaceDefault, "broken", more); err != nil {
		return err
	}
	if err := w.reports(ctx, "broken", was.id, "is in ERROR", "may still forward"); err != nil {
		return err
	}
	// The next process tries the failover once more.
	failover := call{http.MethodPut, balancerPath + "/" + was.id + "/failover", http.StatusForbidden}
	if err := w.triesAgain(ctx, mark, failover); err != nil {
		return err
	}
	if err := w.reports(ctx, "broken", was.id, "is in ERROR", "may still forward"); err != nil {
		return err
	}
	if err := errors.Join(w.unchanged(mark), w.stillStands(ctx, was, "ERROR")); err != nil {
		return err
	}
	if _, err := admin.must(ctx, http.MethodPut, "load-balancer", "/lbaas/loadbalancers/"+was.id+"/failover", nil, ""); err != nil {
		return err
	}
	if err := w.becomeAtOnce(ctx, "100"); err != nil {
		return err
	}
	return w.stillStands(ctx, was, "ACTIVE")
}

// replayDark puts the load balancer and its listeners out of operation, and lifts the quota in
// the end.
func (w *walker) replayDark(ctx context.Context, was standing, lift func() error) error {
	listeners, err := w.cloud.list(ctx, "load-balancer", "/lbaas/listeners?loadbalancer_id="+was.id, "listeners")
	if err != nil {
		return err
	}
	for _, l := range listeners {
		if err := w.mar(ctx, "listener", "operating_status", "OFFLINE", fmt.Sprint(valueAt(l, "id"))); err != nil {
			return err
		}
	}
	mark := w.mark()
	err = errors.Join(
		w.mar(ctx, "load_balancer", "operating_status", "OFFLINE", was.id),
		w.mar(ctx, "load_balancer", "provisioning_status", "ERROR", was.id))
	if err != nil {
		return err
	}
	if err := w.reports(ctx, "broken", "is in ERROR", "QuotaExceeded"); err != nil {
		return err
	}
	if err := w.triesAgain(ctx, mark, call{http.MethodPost, balancerPath, http.StatusForbidden}); err != nil {
		return err
	}
	if err := errors.Join(w.unchanged(mark), w.stillStands(ctx, was, "ERROR")); err != nil {
		return err
	}
	if err := lift(); err != nil {
		return err
	}
	if err := w.becomeAtOnce(ctx, "200"); err != nil {
		return err
	}
	return w.replaced(ctx, mark, was)
}

// becomeAtOnce changes the Service, which is tried at once, where retries pause for minutes. It
// waits until the load balancer serves both ports.
func (w *walker) becomeAtOnce(ctx context.Context, limit string) error {
	if err := w.Change(ctx, metav1.NamespaceDefault, "broken", setAnnotation(prefix+"connection-limit", limit)); err != nil {
		return err
	}
	want := []string{"TCP 443: TCP ROUND_ROBIN, 3 members", "TCP 80: TCP ROUND_ROBIN, 3 members", "floating IP"}
	return w.become(ctx, map[string][]string{"broken": want})
}

// triesAgain waits until a call was refused since the mark, and for a new process to be refused it
// as well.
func (w *walker) triesAgain(ctx context.Context, mark int, refused call) error {
	isTried := func(context.Context) error {
		if !slices.Contains(w.real.journal.since(mark), refused) {
			return fmt.Errorf("%s %s has not been refused", refused.method, refused.path)
		}
		return nil
	}
	if err := harness.Eventually(ctx, patience, isTried); err != nil {
		return err
	}
	if err := w.StopControllers(); err != nil {
		return err
	}
	mark = w.mark()
	if _, err := w.Controller("error", shortDrift); err != nil {
		return err
	}
	return harness.Eventually(ctx, patience, isTried)
}

// replaced compares the load balancer that has succeeded another one with that: its address is
// the same, and it was created before the other one was deleted.
func (w *walker) replaced(ctx context.Context, mark int, was standing) error {
	now, err := w.standing(ctx)
	if err != nil {
		return err
	}
	if now.id == was.id || now.address != was.address || now.published != was.published {
		return fmt.Errorf("%+v has become %+v", was, now)
	}
	var order []string
	for _, c := range w.real.journal.since(mark) {
		if c.status < http.StatusBadRequest && (c.method == http.MethodPost && c.path == balancerPath || c.method == http.MethodDelete && c.path == balancerPath+"/"+was.id) {
			order = append(order, c.method)
		}
	}
	if !slices.Equal(order, []string{http.MethodPost, http.MethodDelete}) {
		return fmt.Errorf("the load balancer was replaced by %v", order)
	}
	return nil
}

// standing is the load balancer of a Service and its address.
type standing struct {
	id, address string // of the floating IP
	published   string // in the status of the Service
}

// standing reads the only load balancer of the project.
func (w *walker) standing(ctx context.Context) (standing, error) {
	found, err := w.cloud.list(ctx, "load-balancer", "/lbaas/loadbalancers", "loadbalancers")
	if err != nil || len(found) != 1 {
		return standing{}, errors.Join(err, fmt.Errorf("%d load balancers: %v", len(found), found))
	}
	floating, err := w.cloud.list(ctx, "network", "/floatingips?port_id="+fmt.Sprint(valueAt(found[0], "vip_port_id")), "floatingips")
	if err != nil || len(floating) != 1 {
		return standing{}, errors.Join(err, fmt.Errorf("%d floating IPs at the load balancer", len(floating)))
	}
	svc, err := w.Get(ctx, metav1.NamespaceDefault, "broken")
	if err != nil {
		return standing{}, err
	}
	out := standing{id: fmt.Sprint(valueAt(found[0], "id")), address: fmt.Sprint(valueAt(floating[0], "floating_ip_address"))}
	for _, in := range svc.Status.LoadBalancer.Ingress {
		out.published += in.IP
	}
	return out, nil
}

// stillStands returns an error unless the load balancer and its address are as they were, and its
// provisioning status is as expected.
func (w *walker) stillStands(ctx context.Context, was standing, provisioning string) error {
	now, err := w.standing(ctx)
	if err != nil {
		return err
	}
	status, err := w.cloud.must(ctx, http.MethodGet, "load-balancer", "/lbaas/loadbalancers/"+was.id, nil, "loadbalancer.provisioning_status")
	if now != was || status != provisioning {
		return errors.Join(err, fmt.Errorf("%+v has become %+v, %s", was, now, status))
	}
	return err
}

// mar writes a status into Octavia's database, where a worker that fails would write it.
func (w *walker) mar(ctx context.Context, table, column, value, id string) error {
	script := "import sqlite3, sys; db = sqlite3.connect(sys.argv[1], timeout=60); " +
		"n = db.execute('UPDATE " + table + " SET " + column + " = ? WHERE id = ?', sys.argv[2:4]).rowcount; db.commit(); sys.exit(n != 1)"
	body, err := exec.CommandContext(ctx, python, "-c", script, filepath.Join(w.real.Dir, "octavia.db"), value, id).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s of %s: %w: %s", column, id, err, strings.TrimSpace(string(body)))
	}
	return nil
}
