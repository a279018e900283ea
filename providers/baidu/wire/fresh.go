package wire

import (
	"context"
	"net/http"
	"time"

	"github.com/berth-lb/berth/providers/baidu/model"
	"github.com/berth-lb/berth/providers/fault"
)

// freshFor bounds how long answers may lack what a creating call has named. The open controller looks for
// a new address for 100 seconds, and waits as long again until it is available.
// Source: baidu/cloud-provider-baiducloud at v1.0.14:pkg/cloud-provider/load_balancer_eip.go.
const freshFor = 200 * time.Second

// fresh is a load balancer or an address that a creating call has named.
type fresh struct {
	until time.Time // answers may lack it until then
	doc   balancerDoc
}

// noteFresh records what a creating call has named. A repeated answer does not extend the time, because
// what it names may have been deleted.
func (s *Session) noteFresh(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, known := s.fresh[id]; !known {
		s.fresh[id] = fresh{until: s.now().Add(freshFor)}
	}
	for other, f := range s.fresh {
		if s.now().Sub(f.until) > tokenAge { // its token can be used again
			delete(s.fresh, other)
		}
	}
}

// noteCreated records a load balancer whose creation has ended, which lists may lack.
func (s *Session) noteCreated(d balancerDoc) {
	s.mu.Lock()
	defer s.mu.Unlock()
	d.kind = model.AppBLB
	s.fresh[d.ID] = fresh{until: s.now().Add(freshFor), doc: d}
}

// noteDeleted records that a load balancer or an address was deleted.
func (s *Session) noteDeleted(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.fresh, id)
}

// unlisted returns the load balancers that this process has created and that a list lacks. A list can be
// older than a creation: without them the Service would get a second load balancer.
func (s *Session) unlisted(ctx context.Context, listed map[string]bool) ([]balancerDoc, error) {
	var out []balancerDoc
	for _, d := range s.listFresh() {
		if listed[d.kind+d.ID] {
			continue
		}
		var got balancerDoc
		err := s.read(ctx, newRequest(apiBLB, http.MethodGet, rootApp+"/"+d.ID, nil), &got)
		switch {
		case fault.Is(err, fault.NotFound): // it was read before, so that it was deleted since
			s.noteDeleted(d.ID)
		case err != nil:
			return nil, err
		default:
			d.Status, d.PublicIP, d.Address = got.Status, got.PublicIP, got.Address
			out = append(out, d)
		}
	}
	return out, nil
}

// listFresh returns the load balancers that lists may lack.
func (s *Session) listFresh() []balancerDoc {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []balancerDoc
	for _, id := range sortedKeys(s.fresh) {
		if f := s.fresh[id]; f.doc.ID != "" && s.now().Before(f.until) {
			out = append(out, f.doc)
		}
	}
	return out
}

// isFresh reports whether answers may lack what a creating call has named. The lock is held.
func (s *Session) isFresh(id string) bool {
	f, known := s.fresh[id]
	return known && s.now().Before(f.until)
}
