package explore

import (
	"os"
	"slices"
	"testing"
)

// kept are schedules that once showed a fault.
func kept() [][3]string {
	return [][3]string{
		{"azure", "one life", "40:6"},                               // a list refused once, then a deletion
		{"gce ilb", "one life", "7:14384,49:19935"},                 // a predecessor's late address
		{"openstack", "one life", "31:5"},                           // a new leader, and where clients connect
		{"openstack", "one life", "10:9"},                           // a floating IP whose creation was not answered
		{"gce legacy", "to and fro", "16:44304,2:63053"},            // a claim that was not answered
		{"gce netlb", "renamed", "71:35695,97:52203"},               // a predecessor's late instance group, after the end
		{"quay", "renamed", "17:58921,20:595,24:38155"},             // a predecessor's late load balancer, after the end
		{"quay", "to and fro", "30:56735,37:38715"},                 // a predecessor's late opening, after the end
		{"quay", "to and fro", "23:22779,20:11390"},                 // a predecessor's late release, of what serves again
		{"quay", "stripped", "1:1,10:3"},                            // a Service that was deleted before it was claimed, and one of its name
		{"quay", "handed over", "11:1"},                             // another controller's address, written while a patch was on its way
		{"quay", "to and fro", "20:3,23:9"},                         // a read that still shows what was removed, by a Service that wants it again
		{"quay", "renamed", "19:3,24:9"},                            // and by another one, of something shared
		{"quay", "to and fro", "15:1,26:9"},                         // a Service that wants it again while its record is taken back
		{"quay", "to and fro", "14:33065,28:954,13:21441,12:12225"}, // a write of the record that was not answered
		{"quay", "to and fro", "3:42585,22:63115,34:3739"},          // a read that still shows what another one took the place of
		{"quay", "renamed", "23:28929,20:51997,37:37689,16:10023"},  // a new process whose reads still show a resource that the previous one deleted
		{"quay", "renamed", "39:38369,32:7599,35:36478"},            // a deletion that was lost, and a read from before the creation
		{"quay", "handed over", "36:3208,38:6999,14:16273,24:6861"}, // a new process whose reads show the previous load balancer
		{"quay", "to and fro", "2:57371,3:6201,15:43223"},           // an informer that missed a short-lived type
		{"aws nlb", "renamed", "10:22245,21:10961,14:39483"},        // a predecessor's late load balancer, and a read that took until then
		{"oci", "another kind", "7:1,10:5"},                         // a predecessor's late address, of another kind
		{"azure", "to and fro", "9:16646,63:21876,25:3684"},         // what needs two plans, and a list that was refused
	}
}

// TestReplay performs kept schedules again, or the one of EXPLORE_CLOUD, EXPLORE_TALE
// and EXPLORE_SCHEDULE, as a failing search has told them. EXPLORE_LOG=1 prints what the
// processes log.
func TestReplay(t *testing.T) {
	replayed := kept()
	if name := os.Getenv("EXPLORE_CLOUD"); name != "" {
		replayed = [][3]string{{name, os.Getenv("EXPLORE_TALE"), os.Getenv("EXPLORE_SCHEDULE")}}
	}
	for _, r := range replayed {
		cloud, known := clouds()[r[0]]
		tales := talesOf(r[0])
		at := slices.IndexFunc(tales, func(tale Tale) bool { return tale.Name == r[1] })
		plan, err := ParseSchedule(r[2])
		if !known || at < 0 || err != nil {
			t.Fatalf("cloud %q, tale %q, schedule %q: nothing to replay: %v", r[0], r[1], r[2], err)
		}
		report := explorer(cloud.fresh).Perform(t, tales[at], plan)
		if len(report.Faults) > 0 {
			t.Errorf("%s, %q, schedule %s:\n%s", r[0], r[1], r[2], report.Tell())
		} else if len(replayed) == 1 {
			t.Log("\n" + report.Tell())
		}
	}
}
