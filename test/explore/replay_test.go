package explore

import (
	"os"
	"slices"
	"testing"
)

// listReplays returns schedules that once showed a fault.
func listReplays() [][3]string {
	return [][3]string{
		{"azure", "one life", "40:6"},                     // a list refused once, then a deletion
		{"gce ilb", "one life", "7:4,49:5"},               // a predecessor's late address
		{"gce netlb", "one life", "40:6"},                 // a refused replacement, which is tried again after an hour
		{"openstack", "one life", "31:5"},                 // a new leader, and where clients connect
		{"openstack", "one life", "10:9"},                 // a floating IP whose creation was not answered
		{"gce legacy", "to and fro", "16:4,2:8"},          // a claim that was not answered
		{"gce netlb", "renamed", "71:5,97:3"},             // a predecessor's late instance group, after the end
		{"quay", "renamed", "17:1,20:3,24:5"},             // a predecessor's late load balancer, after the end
		{"quay", "to and fro", "30:5,37:3"},               // a predecessor's late opening, after the end
		{"quay", "to and fro", "23:3,20:5"},               // a predecessor's late release, of what serves again
		{"quay", "stripped", "1:1,10:3"},                  // a Service that was deleted before it was claimed, and one of its name
		{"quay", "handed over", "11:1"},                   // another controller's address, written while a patch was on its way
		{"quay", "to and fro", "20:3,23:9"},               // a read that still shows what was removed, by a Service that wants it again
		{"quay", "renamed", "19:3,24:9"},                  // and by another one, of something shared
		{"quay", "to and fro", "15:1,26:9"},               // a Service that wants it again while its record is taken back
		{"quay", "to and fro", "14:8,28:4,13:3,12:3"},     // a write of the record that was not answered
		{"quay", "to and fro", "3:5,22:3,34:9"},           // a read that still shows what another one took the place of
		{"quay", "renamed", "23:9,20:5,37:9,16:3"},        // a new process whose reads still show a resource that the previous one deleted
		{"quay", "renamed", "39:9,32:3,35:8"},             // a deletion that was lost, and a read from before the creation
		{"quay", "handed over", "36:4,38:9,14:1,24:3"},    // a new process whose reads show the previous load balancer
		{"quay", "handed over", "0:1,11:6"},               // another controller's address, kept by a run that failed
		{"quay", "handed over", "0:1,9:9"},                // and by one that was not answered
		{"quay", "soon back", "16:19637,3:58663,22:8784"}, // a read that still shows what a deletion without an answer has deleted
		{"quay", "short-lived", "15:8,20:9"},              // a lost deletion of something shared, and a read from before its creation
		{"quay", "short-lived", "7:61165,22:36032"},       // what a previous process had under way, and a last read that does not show it
		{"quay", "to and fro", "2:3,3:1,15:7"},            // an informer that missed a short-lived type
		{"aws nlb", "renamed", "10:5,21:1,14:3"},          // a predecessor's late load balancer, and a read that took until then
		{"aws lbc", "two at once", "6:11"},                // a rule for a group that was created during the read
		{"oci", "another kind", "7:1,10:5"},               // a predecessor's late address, of another kind
		{"azure", "to and fro", "9:6,63:6,25:4"},          // what needs two plans, and a list that was refused
	}
}

// TestReplay performs kept schedules again, or the one of EXPLORE_CLOUD, EXPLORE_TALE
// and EXPLORE_SCHEDULE, as a failing search has told them. EXPLORE_LOG=1 prints what the
// processes log.
func TestReplay(t *testing.T) {
	replayed := listReplays()
	if name := os.Getenv("EXPLORE_CLOUD"); name != "" {
		replayed = [][3]string{{name, os.Getenv("EXPLORE_TALE"), os.Getenv("EXPLORE_SCHEDULE")}}
	}
	for _, r := range replayed {
		cloud, known := listClouds()[r[0]]
		tales := talesOf(r[0])
		at := slices.IndexFunc(tales, func(tale Tale) bool { return tale.Name == r[1] })
		plan, err := ParseSchedule(r[2])
		if !known || at < 0 || err != nil {
			t.Fatalf("cloud %q, tale %q, schedule %q: nothing to replay: %v", r[0], r[1], r[2], err)
		}
		report := newExplorer(cloud.fresh).Perform(t, tales[at], plan)
		if len(report.Faults) > 0 {
			t.Errorf("%s, %q, schedule %s:\n%s", r[0], r[1], r[2], report.Tell())
		} else if len(replayed) == 1 {
			t.Log("\n" + report.Tell())
		}
	}
}
