// Package laws holds the plans of a cloud against laws about traffic. It performs plans with
// the real diff and engine on a cloud in memory, which refuses the steps that a scenario
// names. No simulator, no clock and no socket takes part.
//
// # The laws
//
//   - Nothing is lost: clients that are served before and as desired are served after every
//     step, unless that step is marked as interrupting, and for as long as a refusal lasts.
//   - Nothing is opened: after every step, no flow admits clients that are admitted neither
//     before nor as desired. That holds for the flows of neighbours, too.
//   - Backends follow: whatever is refused, a flow has the backends of today, unless the step
//     that writes them is refused.
//   - Deletion is whole: while a deletion is refused, a flow is as it was, or does not exist.
//   - It settles: once nothing is refused any more, the traffic is as desired, after a
//     restart at any step as well.
//
// # A cloud
//
// A test of the cloud's model fills in a [Subject] and calls [Check]; test/quay/laws_test.go
// is the smallest one. It needs:
//
//   - Rules, Flows and Match from the table of contents of the cloud.
//   - Cases: [Services] makes them from Services as the loop does. Facts may be computed from
//     the [World], such as another Service's load balancer that a Service names. Nodes returns
//     those of two days; on the second one, one node should have replaced another.
//   - Created: the values that the cloud chooses, such as an address. Derive them from the ID
//     of the resource, which does not depend on the order of steps. Parts that exist with
//     their parent need nothing.
//   - Refuses: what the cloud itself refuses, such as a name that is taken. Slots are unique
//     already.
//   - Existing and Sees: shared and external resources that exist before all Services, and
//     which of the shared ones a read for an owner returns. Read adds what a read returns of
//     other owners' resources.
//   - Neighbours: which case can be had beside which other one.
//   - Known: violations that exist today, each with its reason. An entry that does not occur
//     any more fails the test. A violation with several refusals is covered by an entry for
//     one of them.
//
// Every move of one Service between two cases, its creation and its deletion are performed
// in several orders: as planned, deletions first, last steps first, and with each step as early
// as its needs allow. Each step is refused permanently, once, without an answer, with
// effect and without; each pair of steps is refused; a policy blocks each step; and the process
// is restarted after each step, with the neighbours first. A refusal by a quota ends once a
// step has made room. [Bounds] sample moves and pairs, the same ones in
// every run. A violation is shrunk and printed as the flows before, desired and left.
//
// [Mutate] checks the checker: it removes the edges of one reason or one mechanism of the rules at a time,
// and fails if the laws still hold.
package laws
