package alibaba

import (
	"time"

	"github.com/berth-lb/berth/test/sim/rest"
)

// job is a change that the NLB API has accepted.
type job struct {
	due        time.Time
	failed     bool
	collection string
	before     rest.Object    // nil: it did not exist
	after      rest.Object    // nil: it is deleted
	part       func(s *state) // what becomes of a part of it, whether the job fails or not
}

// begin starts a change: the object has a status of its own until the job ends.
func (v *visit) begin(collection string, before, after rest.Object, field, during, done string, takes time.Duration) string {
	id := v.State.id("job-")
	j := job{due: v.Time.Add(takes), failed: v.Breaks, collection: collection, before: before}
	shown := before
	if after != nil {
		j.after, shown = after.With(rest.Object{field: done}), after
	}
	v.State.Put(collection, shown.With(rest.Object{field: during}))
	v.State.jobs[id] = j
	v.State.endJobs(v.Time)
	return id
}

// accept answers the change of an object with its job.
func (v *visit) accept(collection string, before, after rest.Object, field, done string) rest.Object {
	return answerDone(rest.Object{"JobId": v.begin(collection, before, after, field, configuring, done, v.cloud.opt.Jobs)})
}

// remove answers the deletion of an object with its job.
func (v *visit) remove(collection string, o rest.Object, field string) rest.Object {
	return answerDone(rest.Object{"JobId": v.begin(collection, o, nil, field, deleting, "", v.cloud.opt.Jobs)})
}

// endJobs ends the jobs that are due. The change of a failed one is taken back.
func (s *state) endJobs(now time.Time) {
	for id, j := range s.jobs {
		if now.Before(j.due) {
			continue
		}
		result := j.after
		if j.failed {
			result = j.before
		}
		s.finish(j, result)
		if j.part != nil {
			j.part(s)
		}
		delete(s.jobs, id)
		s.ended[id] = "Succeeded"
		if j.failed {
			s.ended[id] = "Failed"
		}
	}
}

// finish stores the result of a job. Tags and protections that were written meanwhile stay.
func (s *state) finish(j job, result rest.Object) {
	one := j.before
	if one == nil {
		one = j.after
	}
	present, ok := s.Get(j.collection, one.Text("id"))
	switch {
	case result != nil && ok:
		s.Put(j.collection, result.With(present.Only("Tags", "DeletionProtectionConfig", "ModificationProtectionConfig")))
	case result == nil:
		s.Drop(j.collection, one.Text("id"))
		if j.collection == nets {
			for _, l := range s.Having(netListeners, owner, one.Text("id")) {
				s.Drop(netListeners, l.Text("id"))
			}
		}
	}
}

// listJobs answers the states of jobs.
// Source: kubernetes/cloud-provider-alibaba-cloud:pkg/provider/alibaba/nlb.
func listJobs(v *visit) (any, error) {
	ids := v.members("JobIds")
	if len(ids) > 20 {
		return nil, refuseInvalid("JobIds", "%d ids are more than 20", len(ids))
	}
	items := []any{}
	for _, id := range ids {
		if _, open := v.State.jobs[id]; open {
			items = append(items, rest.Object{"Id": id, "Status": "Processing"})
		} else if status, ok := v.State.ended[id]; ok {
			items = append(items, rest.Object{"Id": id, "Status": status})
		}
	}
	return answerDone(rest.Object{"Jobs": items, "TotalCount": len(items)}), nil
}

func getJob(v *visit) (any, error) {
	id := v.text("JobId")
	if _, open := v.State.jobs[id]; open {
		return answerDone(rest.Object{"Status": "Processing"}), nil
	}
	return answerDone(rest.Object{"Status": standardText(v.State.ended[id], "Succeeded")}), nil
}
