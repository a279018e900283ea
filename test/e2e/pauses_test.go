package e2e

import (
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/berth-lb/berth/status"
	"github.com/berth-lb/berth/test/harness"
	"github.com/berth-lb/berth/test/sim"
)

const (
	// leaseDuration is that of the replicas, see electionFlags.
	leaseDuration = 6 * time.Second
	// longestPause leaves a successor time to work before the paused leader continues.
	longestPause = 14 * time.Second
	// changeEvery is the interval between two changes by users.
	changeEvery = 150 * time.Millisecond
	// pausedServices is how many Services the users change.
	pausedServices = 8
)

// TestPauses pauses the leader of two replicas while users create, change and delete
// Services. A paused process never writes after its Lease has run out, so that the terms of
// two leaders do not overlap; nothing is lost, and no event is false. BERTH_PAUSES is the
// number of pauses, BERTH_PAUSES_CLOUDS lists the clouds, BERTH_PAUSES_SEED selects other
// moments and lengths.
func TestPauses(t *testing.T) {
	known := map[string]func() *place{"aws": onAWS, "azure": onAzure, "gce": onGCE, "oci": onOCI, "openstack": onOpenStack}
	for _, cloud := range strings.Split(cmp.Or(os.Getenv("BERTH_PAUSES_CLOUDS"), "openstack"), ",") {
		on, ok := known[cloud]
		if !ok {
			t.Fatalf("BERTH_PAUSES_CLOUDS: %q is no cloud", cloud)
		}
		t.Run(cloud, func(t *testing.T) { newPauses(t, on()).run() })
	}
}

// pauses is one run of TestPauses.
type pauses struct {
	*world
	random   *rand.Rand
	count    int
	replicas []*harness.Replica
	services []*corev1.Service // by number; nil: deleted, or on its way
	deleted  map[string]bool   // UIDs of Services that a user has deleted
	changes  int
	took     []time.Duration // from the end of each long pause to the end of the process
}

func newPauses(t *testing.T, p *place) *pauses {
	t.Helper()
	p.plane = &plane
	w := p.start(t, 3)
	seed := fromEnv(t, "BERTH_PAUSES_SEED", 1)
	return &pauses{
		world: w, random: rand.New(rand.NewPCG(uint64(seed), 1)), count: fromEnv(t, "BERTH_PAUSES", 2),
		services: make([]*corev1.Service, pausedServices), deleted: map[string]bool{},
	}
}

// fromEnv returns a number from the environment.
func fromEnv(t *testing.T, name string, otherwise int) int {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("%s: %q is no number", name, text)
	}
	return n
}

func (p *pauses) run() {
	before := p.dump()
	p.slowWrites()
	p.replica()
	p.replica()
	for n := range p.count {
		length := leaseDuration + time.Duration(p.random.Int64N(int64(longestPause-leaseDuration)))
		if n%4 == 1 {
			length = time.Duration(p.random.Int64N(int64(leaseDuration)))
		}
		p.pause(length)
	}
	fleet := p.finish()
	p.programmed(fleet...)
	p.oncePerService(before, fleet)
	p.remove(fleet...)
	for _, svc := range p.services {
		p.deleted[string(svc.UID)] = true
	}
	p.nothingLeft(before)
	p.termsAreApart()
	p.eventsAreTrue()
	p.dropLease()
}

// replica starts a further replica.
func (p *pauses) replica() {
	p.t.Helper()
	r, err := p.Replica("replica", electionFlags()...)
	p.must(err)
	p.replicas = append(p.replicas, r)
}

// leader returns the running replica that has renewed the Lease last.
func (p *pauses) leader() (leader *harness.Replica) {
	p.t.Helper()
	p.eventually("a leader", func() error {
		var youngest time.Time
		for _, r := range p.replicas {
			if all := p.renewals(r); len(all) > 0 && r.Running() && all[len(all)-1].renewed.After(youngest) {
				leader, youngest = r, all[len(all)-1].renewed
			}
		}
		if time.Since(youngest) > leaseDuration {
			return fmt.Errorf("the last renewal is %v old", time.Since(youngest))
		}
		return nil
	})
	return leader
}

// pause stops the leader at a random moment of the work, and starts another replica when it
// has ended, as a kubelet does.
func (p *pauses) pause(length time.Duration) {
	p.t.Helper()
	leader := p.leader()
	p.work(time.Second + time.Duration(p.random.Int64N(int64(3*time.Second))))
	began := time.Now()
	p.must(leader.Freeze())
	p.work(length)
	p.must(leader.Thaw())
	thawed := time.Now()
	if thawed.Sub(began) <= leaseDuration {
		return // it may have kept its Lease
	}
	p.eventually(leader.Name+" ends after a pause of "+length.String(), func() error {
		if leader.Running() {
			return fmt.Errorf("it runs, %v after the pause", time.Since(thawed))
		}
		return nil
	})
	p.took = append(p.took, time.Since(thawed))
	p.replica()
}

// work changes Services for a time.
func (p *pauses) work(length time.Duration) {
	p.t.Helper()
	ticker := time.NewTicker(changeEvery)
	defer ticker.Stop()
	for end := time.After(length); ; {
		select {
		case <-ticker.C:
			p.change(p.random.IntN(len(p.services)))
		case <-end:
			return
		case <-p.t.Context().Done():
			return
		}
	}
}

// change creates, changes or deletes the i-th Service.
func (p *pauses) change(i int) {
	p.t.Helper()
	p.changes++
	svc := p.services[i]
	switch {
	case svc == nil:
		p.makeService(i)
	case p.random.IntN(3) == 0:
		p.must(p.Delete(p.t.Context(), *svc))
		p.deleted[string(svc.UID)] = true
		p.services[i] = nil
	default:
		// The node port stays: a refused allocation would keep another one for minutes.
		p.update(svc.Name, setPorts(int32(8000+p.random.IntN(100)), nodePort(i, 0)))
	}
}

// makeService creates the i-th Service, unless the one before it is still on its way out.
func (p *pauses) makeService(i int) bool {
	p.t.Helper()
	kinds := p.place.kinds
	svc := p.one(kinds[i%len(kinds)], i)
	made, err := p.Client.CoreV1().Services(p.ns).Create(p.t.Context(), &svc, metav1.CreateOptions{})
	if err == nil {
		p.services[i] = made
		return true
	}
	if !apierrors.IsAlreadyExists(err) && !apierrors.IsInvalid(err) { // invalid: the node port is not free yet
		p.t.Fatal(err)
	}
	return false
}

// finish gives every Service its first port, and returns all of them.
func (p *pauses) finish() []corev1.Service {
	p.t.Helper()
	var out []corev1.Service
	for i := range p.services {
		p.eventually("the Service exists", func() error {
			if p.services[i] == nil && !p.makeService(i) {
				return fmt.Errorf("the one before Service %d is not gone", i)
			}
			return nil
		})
		p.update(p.services[i].Name, setPorts(80, nodePort(i, 0)))
		out = append(out, *p.services[i])
	}
	for i, svc := range out {
		p.eventually(svc.Name+" serves its first port", func() error {
			f, err := p.front(svc.Name)
			return errors.Join(err, diffError("ports", p.place.kinds[i%len(p.place.kinds)].ports(80), f.Ports))
		})
	}
	return out
}

// renewal is one successful write of the Lease.
type renewal struct {
	holder  string // empty: given up
	renewed time.Time
	arrived time.Time
}

// renewals lists those of a replica in order.
func (p *pauses) renewals(r *harness.Replica) []renewal {
	p.t.Helper()
	var out []renewal
	for _, w := range r.API.Writes() {
		if !isLease(w) || w.Status/100 != 2 {
			continue
		}
		object, _, err := scheme.Codecs.UniversalDeserializer().Decode(w.Body, nil, nil)
		p.must(err)
		lease, ok := object.(*coordinationv1.Lease)
		if !ok || lease.Spec.RenewTime == nil {
			p.t.Fatalf("the Lease is written as %T", object)
		}
		out = append(out, renewal{*lease.Spec.HolderIdentity, lease.Spec.RenewTime.Time, w.Arrived})
	}
	return out
}

func isLease(w harness.Written) bool {
	return strings.Contains(w.Path, "/namespaces/"+leaseNamespace+"/leases")
}

// term is from the first to the last moment at which a replica led.
type term struct {
	replica    string
	from, till time.Time
	renewals   []renewal
}

// covers reports whether the Lease was the replica's at a moment, as far as renewals that
// had been sent by then say.
func (t term) covers(at time.Time) bool {
	last := time.Time{}
	for _, r := range t.renewals {
		if !r.renewed.After(at) {
			last = r.renewed
			if r.holder == "" {
				return false
			}
		}
	}
	return at.Before(last.Add(leaseDuration))
}

// terms lists those of all replicas by their begin.
func (p *pauses) terms() []term {
	p.t.Helper()
	var out []term
	for _, r := range p.replicas {
		all := p.renewals(r)
		if len(all) == 0 {
			continue
		}
		last := all[len(all)-1]
		t := term{replica: r.Name, from: all[0].renewed, till: last.renewed.Add(leaseDuration), renewals: all}
		if last.holder == "" {
			t.till = last.arrived
		}
		out = append(out, t)
	}
	slices.SortFunc(out, func(a, b term) int { return a.from.Compare(b.from) })
	return out
}

// termsAreApart is the oracle: by the journal of the cloud and by what was sent to the API
// server, each write falls into the term of its writer, and no two terms overlap.
func (p *pauses) termsAreApart() {
	p.t.Helper()
	terms := p.terms()
	for i, next := range terms[1:] {
		if was := terms[i]; next.from.Before(was.till) {
			p.t.Errorf("%s leads since %v, and the term of %s lasts until %v", next.replica, next.from, was.replica, was.till)
		}
	}
	writes := p.written(0)
	for _, e := range writes {
		p.within(terms, writerOf(e), e.Time, e.Service+"."+e.Operation)
	}
	sent := 0
	for _, r := range p.replicas {
		for _, w := range r.API.Writes() {
			if !isLease(w) && !isReview(w) {
				sent++
				p.within(terms, r.Name, w.Arrived, w.Method+" "+w.Path)
			}
		}
	}
	p.t.Logf("%d pauses, %d changes by users, %d terms, %d writes to the cloud, %d to the API server; paused leaders ended within %v",
		p.count, p.changes, len(terms), len(writes), sent, p.took)
	if len(terms) < 2 || len(writes) == 0 || sent == 0 {
		p.t.Error("the test proves nothing: a second term and writes to both are needed")
	}
}

// isReview reports whether a request asks for rights or checks a token: it changes nothing.
func isReview(w harness.Written) bool { return strings.HasSuffix(w.Path, "reviews") }

// writerOf returns the name of the replica that sent a call.
func writerOf(e sim.Entry) string { return e.Agent[strings.LastIndex(e.Agent, " ")+1:] }

func (p *pauses) within(terms []term, replica string, at time.Time, what string) {
	p.t.Helper()
	i := slices.IndexFunc(terms, func(t term) bool { return t.replica == replica })
	if i < 0 {
		p.t.Errorf("%s is written by %q, which never led", what, replica)
		return
	}
	if !terms[i].covers(at) {
		p.t.Errorf("%s is written by %s at %v, outside of its term from %v to %v", what, replica, at, terms[i].from, terms[i].till)
	}
}

// eventsAreTrue wants no warning, and no report of a deletion for a Service that was not
// deleted.
func (p *pauses) eventsAreTrue() {
	p.t.Helper()
	list, err := p.Client.CoreV1().Events(p.ns).List(p.t.Context(), metav1.ListOptions{})
	p.must(err)
	ours := 0
	for _, e := range list.Items {
		if e.Source.Component != "berth" {
			continue // such as the API server's repair of cluster IPs
		}
		ours++
		deletion := e.Reason == string(status.EventDeleting) || e.Reason == string(status.EventDeleted)
		if e.Type == corev1.EventTypeWarning || deletion && !p.deleted[string(e.InvolvedObject.UID)] {
			p.t.Errorf("false event of %s: %s %s: %s", e.InvolvedObject.Name, e.Type, e.Reason, e.Message)
		}
	}
	if ours == 0 {
		p.t.Error("there is no event of the controller")
	}
}
