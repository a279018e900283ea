package model

// What a read returns and what a write does, kind by kind. The pure half decides
// by it; the other keeps to it. Functions named here are pure and do
// the thinking: I/O turns bodies into Object (object.go) and back.
//
// # Look-ups (scope.go)
//
// Own: {load-balancer-entries, base, a<uid>}, {public-ip, service, ns/name},
// {private-link-service, service, ns/name}, {security-rule-entry, base, a<uid>}.
// Facts: {load-balancer, all}, {zones, region}, {network-security-group, name},
// {public-ip, group, <group>}: list that group; {subnet, name, <subnet>};
// {private-link-service, group, <group>}; {security-rule-entry, destination, <address>}:
// bring entries for that address;
// {public-ip, address, <address>} and {public-ip, name, <name>}: bring a managed public
// IP although it does not list the Service; {load-balancer, wanted, <lb>}: bring the
// pools of that load balancer although the Service has nothing in it;
// {private-link-service, wanted, any}: the Service wants one; {load-balancer, place,
// <wish>}: Facts.Ahead, see place.go. The load balancers of
// the cluster are exactly Config.balancers.
//
// Resources whose accepted operation failed (provisioningState Failed) are read with
// Trouble, which is never desired: the next plan writes them again.
//
// The lists may be some seconds old. They are read again for a resource that the user
// names, for a release, and for a Service that has read its own resources since then.
// They hold what the session itself has written since.
//
// A group that does not exist (404) is empty. A list that is refused (403) makes
// its kinds blind.
//
// # load-balancer-entries
//
// Read: one per load balancer in which EntriesOf finds something; Owned, Proof
// by EntriesProof, ID the load balancer's. EntriesOf needs the address of public IPs, so
// that Frontend.Address is what clients connect to, on public frontends as well.
//
// Batch lb/<group>/<lb>, with the pools of that load balancer. Apply: GET (404 is
// a nil Object), MergeBalancer, then by LBEdit: nothing changed: no call; Delete:
// DELETE the load balancer; else one PUT with the etag. 412, and "superseded": GET
// and merge again, three times. Refused[i] is the fault of step i; what the
// others want is written nevertheless. After that the pools, see below. Spec of
// After: EntriesOf the answer, with the address that Azure chose.
// The load balancer is created by the first entries and deleted with its last
// frontend, unless another controller fills its pools; then it is PUT with a frontend
// without rules. "In use by scale set" is InUse.
// A create that was sent and not answered is MaybeSent; SDK retries of PUT are
// harmless where If-Match is sent, off for creation.
//
// # backend-pool
//
// Read: the pools named PoolName or LocalPoolName in load balancers where the
// Service has entries (Proof Derived) or that are looked up as wanted (Proof
// None; adopt proves wanted ones). Shared. Addresses only in the mode nodeIP. None
// of load balancers for which Config.PreConfigured holds, nor members of them.
// The name alone is no proof: clusters have pools that they share with AKS.
// Where other owners use the load balancer as well the pool of all Services has no
// proof at all (PoolProof): it is filled, and stays with its members.
//
// Apply, after the entries of the same batch: create and addresses+/addresses-
// of all owners together become one PUT of loadBalancers/<lb>/backendAddressPools/
// <pool> by MergePool on the pool as read; equal: no call. In the mode
// nodeIPConfiguration a create only makes sure of the name: MergeBalancer makes it.
// Delete: MergeBalancer takes the pool out unless anything refers to it or it has
// members of others; then it stays and the step is done. Absent is done.
// A pool of interfaces that is to become one of addresses (PoolIsNIC): migrate
// call if the configuration says so, else the fault Invalid that names the key.
//
// # pool-nics, pool-scale-set
//
// Read: where the pool is read. Flexible scale sets and single machines are in
// pool-nics, their scale set's model in pool-scale-set with Flex and no Instances.
// A scale set is found by its model, whatever its capacity, or by its instances.
// Ownership Shared, Proof as the pool's.
//
// Batch "nics": one lane for all; Apply groups by interface: one list where there are
// many, else GET; merge pool ids of all pools, PUT with etag, interfaces in parallel;
// failed ones are Refused members. Batch vmss/<id>: the same for its machines, all
// pools at once; the model (only its interfaces in the PUT, etag) before machines that
// join and after machines that leave. A machine that no longer exists counts as
// removed. Deletion asks Claims first, and leaves everything where PoolInUse(load
// balancer, pool, base) holds.
//
// # public-ip
//
// Read: PublicIPResources: managed ones that list the Service in their tag and are
// of this cluster: Shared, Proof Tag, Services filled; those asked for by name or
// address (the last segment of the name counts, in any group) that do not list it:
// Shared, Proof None (adopt proves wanted ones). All others are facts only, even
// those with our name: without the tag they are the user's. ID PublicIPID(key).
//
// Batch pip/<group>/<name>, with its binding. Create: GET first (PUT overwrites),
// unless the lists of this moment show that there is none; there without our mark:
// Exists. Else PUT with the tags of mergeTags and, With
// the binding, bound; GET for the address; After.Spec has Address. Update: GET,
// change only the fields of the step (Tags, IPTags), PUT with etag. Delete: GET;
// unbound() decides between DELETE, PUT without the Service, and no call.
// Attached to a deleted frontend of the cluster's: InUse, a wait. Held by
// anything else: PUT without the Service, done; it is the Service's again by its name
// once it is free (GivenUp). Absent is done.
//
// # public-ip-binding
//
// Read: for each public IP above (PublicIPResources makes both), Proof Tag, Service
// and DNSLabel as found (nil never: no label is the empty text).
// Create and Update: bound() on the body as read, PUT with etag; the DNS label of
// another Service is Invalid. Delete: there is no step where the public IP itself is deleted, which
// includes it, nor where that is held. Else nothing is written unless Claims name
// another Service; then unbound() and PUT. On a user's public IP: done without a call.
//
// # security-rule-entry
//
// Read: AccessOf(the security group, the Service): entries whose destination is the
// Service's alone, or is shared and fits its rules: Proof Derived; entries whose
// destination is in use by no Service, or whose port no rule of the frontend forwards:
// Proof Leftover; looked up destinations: Proof None (adopt proves
// wanted ones). In use is every address of a frontend of the cluster's load balancers, of a
// public IP that a controller created or that is on another load balancer, and of a node of
// the scope.
// Batch nsg/<group>/<name>. Apply: GET, MergeSecurity, PUT with etag if Changed,
// 412 again, three times; 404 of the security group: Invalid, it must exist.
//
// # private-link-service
//
// Read: those of the group with the owner tag of the Service and the cluster's:
// Proof Tag. Entries RefTo(EntriesKey(lb)), On from the load balancer's frontend,
// Subnet RefTo(PolicyKey).
// Create, Update: LinkBody, PUT without etag. The write changes the etag of the
// load balancer: forget what is remembered of it. Delete: private endpoint
// connections first, then the service; 404 is done.
//
// # subnet-policy
//
// Read: only if already Disabled: Proof None, Shared, so that it is never undone.
// Create: GET the subnet, set privateLinkServiceNetworkPolicies, PUT.
//
// # Where pools are of pods
//
// Look-ups: {container-load-balancer, name, <uid>}, {container-public-ip, name,
// <uid>-pip}, {gateway-service, name, <uid>}, {gateway-addresses, service, <uid>}. A
// read is four lists, of load balancers and public IPs of the cluster's group and of
// services and locations of its gateway; a scope that owns nothing costs no call.
// Everything is Owned, Proof Name (PodWorld.stack); a service of the gateway that is
// of another type than inbound has no proof.
//
// container-public-ip: GET, PUT if it does not exist; an existing one of the name is the
// Service's. container-load-balancer: GET, ContainerBody, PUT with etag, again as
// above. Neither shares calls.
//
// gateway-service, gateway-service-pool, gateway-addresses: one batch for all. Apply:
// the list of services as it is now, MergeServices, one partial update; then the list
// of locations, MergeAddresses, one partial update; no call where nothing changes. A
// call that is refused because of some members is repeated for each alone. There are no
// etags: a write of another controller to the same address between the read and the
// write is lost.
