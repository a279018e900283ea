package wire

import (
	"context"
	"fmt"
	"maps"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/alibaba/model"
	"github.com/berth-lb/berth/providers/kit"
)

// addressesAtOnce is how many addresses one call asks for. Source: API of ECS,
// DescribeNetworkInterfaces.
const addressesAtOnce = 100

// readFacts returns the facts that scopes ask for, each once, and the look-ups that failed.
func (s *Session) readFacts(ctx context.Context, scopes []providers.Scope) (*model.Facts, kit.Unanswered) {
	facts := &model.Facts{Lists: map[string]model.List{}, Interfaces: map[string]string{}}
	failed := kit.Unanswered{}
	var lists, interfaces []providers.Lookup
	for _, sc := range scopes {
		for _, l := range sc.Facts {
			if l.Kind == model.FactList {
				lists = append(lists, l)
			} else {
				interfaces = append(interfaces, l)
			}
		}
	}
	var ids, keys []string
	for _, l := range lists {
		ids = append(ids, l.Value)
	}
	for _, l := range interfaces {
		keys = append(keys, l.By+" "+l.Value)
	}
	found, err := s.listsOf(ctx, distinctTexts(ids))
	noteFailure(failed, lists, "access control lists", err)
	maps.Copy(facts.Lists, found)
	if len(keys) > 0 {
		known, _, err := s.interfaces.Get(ctx, s.now(), distinctTexts(keys), s.interfacesOf)
		noteFailure(failed, interfaces, "network interfaces of pods", err)
		maps.Copy(facts.Interfaces, known)
	}
	return facts, failed
}

func distinctTexts(texts []string) []string {
	return slices.Compact(slices.Sorted(slices.Values(texts)))
}

// noteFailure records the error of look-ups of some things.
func noteFailure(failed kit.Unanswered, lookups []providers.Lookup, things string, err error) {
	if err == nil {
		return
	}
	for _, l := range lookups {
		failed[l] = fmt.Errorf("%s: %w", things, err)
	}
}

// listsOf returns the access control lists that exist.
func (s *Session) listsOf(ctx context.Context, ids []string) (map[string]model.List, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	found, _, err := s.lists.Get(ctx, s.now(), ids, kit.Each(s.listOf))
	return found, err
}

func (s *Session) listOf(ctx context.Context, id string) (model.List, error) {
	var answer struct {
		Entries struct {
			All []struct {
				Range string `json:"AclEntryIP"`
			} `json:"AclEntry"`
		} `json:"AclEntrys"`
	}
	var out model.List
	err := s.read(ctx, actGetList, url.Values{"AclId": {id}}, &answer)
	for _, e := range answer.Entries.All {
		out.Entries = append(out.Entries, e.Range)
	}
	slices.Sort(out.Entries)
	return out, err
}

// interfacesOf returns the network interfaces of pods, which are given by their UID and address.
func (s *Session) interfacesOf(ctx context.Context, keys []string) (map[string]string, error) {
	byFamily := map[bool][]string{}
	pods := map[string][]string{}
	for _, key := range keys {
		_, text, _ := strings.Cut(key, " ")
		address, err := netip.ParseAddr(text)
		if err != nil {
			continue
		}
		byFamily[address.Is4()] = append(byFamily[address.Is4()], text)
		pods[text] = append(pods[text], key)
	}
	out := map[string]string{}
	for is4, name := range map[bool]string{true: "PrivateIpAddress", false: "Ipv6Address"} {
		for some := range slices.Chunk(distinctTexts(byFamily[is4]), addressesAtOnce) {
			found, err := s.interfacesAt(ctx, name, some)
			if err != nil {
				return nil, err
			}
			for address, id := range found {
				for _, key := range pods[address] {
					out[key] = id
				}
			}
		}
	}
	return out, nil
}

// interfacesAt returns the ids of network interfaces in use, by the addresses that were asked for.
func (s *Session) interfacesAt(ctx context.Context, param string, addresses []string) (map[string]string, error) {
	params := url.Values{"VpcId": {s.config.VPC}, "Status": {"InUse"}, "MaxResults": {strconv.Itoa(addressesAtOnce)}}
	for i, address := range addresses {
		params.Set(param+"."+strconv.Itoa(i+1), address)
	}
	out := map[string]string{}
	for {
		var answer struct {
			Next string `json:"NextToken"`
			Sets struct {
				All []interfaceDoc `json:"NetworkInterfaceSet"`
			} `json:"NetworkInterfaceSets"`
		}
		if err := s.read(ctx, actListInterfaces, params, &answer); err != nil {
			return nil, err
		}
		for _, d := range answer.Sets.All {
			for _, address := range d.addresses() {
				out[address] = d.ID
			}
		}
		if answer.Next == "" {
			return out, nil
		}
		params.Set("NextToken", answer.Next)
	}
}

// interfaceDoc is a network interface as the ECS API shows it.
type interfaceDoc struct {
	ID      string `json:"NetworkInterfaceId"`
	Private struct {
		All []struct {
			Address string `json:"PrivateIpAddress"`
		} `json:"PrivateIpSet"`
	} `json:"PrivateIpSets"`
	IPv6 struct {
		All []struct {
			Address string `json:"Ipv6Address"`
		} `json:"Ipv6Set"`
	} `json:"Ipv6Sets"`
}

func (d interfaceDoc) addresses() []string {
	var out []string
	for _, a := range d.Private.All {
		out = append(out, a.Address)
	}
	for _, a := range d.IPv6.All {
		out = append(out, a.Address)
	}
	return out
}
