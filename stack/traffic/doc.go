// Package traffic describes what load balancers let through, as values: which
// clients reach which port of which address, and which backends answer.
//
// A stack says which resources exist. It does not say what they do for clients: a
// listener whose firewall rule is missing serves no one, and a firewall rule that
// outlives its listener is an open door. A cloud's model therefore provides one
// function, [Func], that computes flows from stacks. The same function serves
// desired and observed stacks. Plans, status and the laws of test/laws read its
// result; none of them knows a cloud.
//
// # Writing the function of a cloud
//
// The function is pure, lives in flows.go of the cloud's model, and takes 100 to 250
// lines. test/quay/flows.go is the smallest complete example. It gets the stacks of
// all owners, because a rule of one Service can open the address of another.
//
//  1. Index the shared resources: go over all stacks once and collect the resources that
//     admit traffic (firewall rules, allowed ranges, node rules) by the address or
//     machine that they open.
//  2. For each owner and each listening resource (listener, forwarding rule) emit one
//     flow per port, protocol and family. Address is the literal address or cloud id
//     where the stack has it, else the text of the key of the resource that will have it.
//  3. From is the intersection of everything on the way that filters clients: the
//     listener's own ranges, and the union of the firewall rules that open the
//     address. No rule means no clients where the cloud denies by default. Check for
//     each field what an empty list means at that cloud: closed, or open to everyone.
//  4. To is what traffic reaches in fact: members of the pools with a weight above
//     zero that the machine's own rules let in.
//  5. An admitting resource without a listener is a door: a flow whose To is empty.
//  6. Through lists every resource that the flow needs, the one that clients connect
//     to first. Return [Merge] of all flows.
//
// A resource that is missing closes, a resource that admits more opens. The function
// reads specs only; it trusts no state. References are resolved in the owner's stack
// first (Ref.To), else by identifier (Ref.ID).
//
// Client ranges are sets: [Union], [Intersect], [Subtract], [Contains]. An empty set is
// no one; everyone is [Everyone]. Start at [Flow].
package traffic
