package wire

import (
	"context"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/berth-lb/berth/providers/alibaba/model"
	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/providers/kit"
)

// network is what a session remembers of network load balancers.
type network struct {
	jobs    *kit.Settling // of the NLB API
	active  *kit.Settling // load balancers that are being created
	netMu   sync.Mutex
	netSeen map[string]netDoc    // load balancers that were waited for
	missing map[string]time.Time // since when those are in no list
	removed map[string]string    // load balancers and server groups that are being deleted, by their jobs
	listed  map[string]int       // how many resources the lists have had, by the prefixes of their ids
}

// jobsAtOnce is how many jobs one call asks for. Source: kubernetes/cloud-provider-alibaba-cloud:pkg/provider/alibaba/nlb.
const jobsAtOnce = 20

// Prefixes of the ids of network load balancers and server groups.
const (
	netPrefix   = "nlb-"
	groupPrefix = "sgp-"
)

// usualJob is how long jobs usually take, and usualCreation how long a load balancer is being created.
const (
	usualJob      = 3 * time.Second
	usualCreation = 10 * time.Second
)

// longestLag is how long a list may lack a load balancer that was just created. One that is missing
// for longer has been deleted: a token may be answered with the id of such a one.
const longestLag = time.Minute

// States of jobs and load balancers.
const (
	jobProcessing = "Processing"
	jobFailed     = "Failed"
	jobGone       = ""
	netActive     = "Active"
	netPending    = "Provisioning"
	netFailed     = "CreateFailed"

	statusDeleting = "Deleting"
)

// jobStates returns the states of jobs. Many deletions are shown by fewer pages of a list than calls about jobs:
// what the list does not have is deleted. A job that no call shows has ended.
func (s *Session) jobStates(ctx context.Context, ids []string) (map[string]string, error) {
	out := map[string]string{}
	var failed error
	for _, kind := range []struct {
		prefix string
		list   func(context.Context) (map[string]string, error)
	}{{netPrefix, s.listNetStates}, {groupPrefix, s.listGroupStates}} {
		deletions, pages := s.deletionsOf(ids, kind.prefix)
		if (len(deletions)+jobsAtOnce-1)/jobsAtOnce <= pages {
			continue
		}
		listed, err := kind.list(ctx)
		if err != nil {
			continue // the calls about jobs report it
		}
		s.noteListed(kind.prefix, len(listed))
		for job, id := range deletions {
			switch status, found := listed[id]; {
			case !found:
				out[job] = jobGone
			case status == statusDeleting:
				out[job] = jobProcessing
			}
		}
	}
	open := slices.DeleteFunc(slices.Clone(ids), func(id string) bool { _, known := out[id]; return known })
	for some := range slices.Chunk(open, jobsAtOnce) {
		if err := s.askJobs(ctx, some, out); err != nil {
			failed = err
		}
	}
	return out, failed
}

// askJobs enters the states of some jobs.
func (s *Session) askJobs(ctx context.Context, ids []string, out map[string]string) error {
	params := url.Values{}
	addList(params, "JobIds", ids)
	found, err := pagesOf[jobDoc](ctx, s, actListJobs, "Jobs", params)
	if err != nil {
		return err
	}
	for _, id := range ids {
		out[id] = jobGone
	}
	for _, d := range found {
		out[d.ID] = d.Status
		if d.Status == jobFailed {
			out[d.ID] = strings.TrimSpace(jobFailed + " " + d.Code + " " + d.Message)
		}
	}
	return nil
}

// noteListed records how many resources a list has whose ids have a prefix.
func (s *Session) noteListed(prefix string, n int) {
	s.netMu.Lock()
	defer s.netMu.Unlock()
	s.listed[prefix] = n
}

// deletionsOf returns those of some jobs that delete resources whose ids have a prefix, with these ids, and how
// many pages the list of these resources had last.
func (s *Session) deletionsOf(jobs []string, prefix string) (of map[string]string, pages int) {
	s.netMu.Lock()
	defer s.netMu.Unlock()
	out := map[string]string{}
	for _, job := range jobs {
		if id := s.removed[job]; strings.HasPrefix(id, prefix) {
			out[job] = id
		}
	}
	return out, s.listed[prefix]/pageNet + 1
}

// listNetStates returns the states of the cluster's network load balancers.
func (s *Session) listNetStates(ctx context.Context) (map[string]string, error) {
	found, err := pagesOf[netDoc](ctx, s, actListNets, "LoadBalancers", s.clusterTag())
	out := map[string]string{}
	for _, d := range found {
		out[d.ID] = d.Status
	}
	return out, err
}

// listGroupStates returns the states of the cluster's server groups.
func (s *Session) listGroupStates(ctx context.Context) (map[string]string, error) {
	found, err := pagesOf[netGroupDoc](ctx, s, actListServerGroups, "ServerGroups", s.clusterTag())
	out := map[string]string{}
	for _, d := range found {
		out[d.ID] = d.Status
	}
	return out, err
}

// clusterTag returns the parameters of a list of what has the tag of the cluster.
func (s *Session) clusterTag() url.Values {
	return url.Values{"Tag.1.Key": {model.TagCluster}, "Tag.1.Value": {s.config.ClusterID}}
}

// finishDeletion waits for a job that deletes a load balancer or a server group.
func (s *Session) finishDeletion(ctx context.Context, job, id string) error {
	s.netMu.Lock()
	s.removed[job] = id
	s.netMu.Unlock()
	defer func() {
		s.netMu.Lock()
		defer s.netMu.Unlock()
		delete(s.removed, job)
	}()
	return s.finishJob(ctx, job)
}

type jobDoc struct {
	ID      string `json:"Id"`
	Status  string `json:"Status"`
	Code    string `json:"ErrorCode"`
	Message string `json:"ErrorMessage"`
}

// finishJob waits for a job. The error is Ambiguous where the end was not seen or was a failure, so that the
// state is read again.
func (s *Session) finishJob(ctx context.Context, id string) error {
	if id == "" {
		return nil
	}
	state, err := s.jobs.Wait(ctx, id)
	switch {
	case err != nil:
		return &fault.Fault{Meaning: fault.Ambiguous, Text: "stopped before the job " + id + " had ended", Err: err}
	case strings.HasPrefix(state, jobFailed):
		return fault.New(fault.Ambiguous, "the job %s has failed: %s", id, strings.TrimSpace(strings.TrimPrefix(state, jobFailed)))
	}
	return nil
}
