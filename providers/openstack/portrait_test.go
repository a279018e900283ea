package openstack_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// portrait is the cloud in lines, one for each value that says something, with names in
// the place of identifiers.
func (w *world) portrait() []string {
	w.Helper()
	tables := w.tables()
	names := namesOf(tables)
	var out []string
	for table, rows := range tables {
		for _, row := range rows {
			who := table + " " + names[fmt.Sprint(row["id"])]
			for key, value := range row {
				if key == "provisioning_status" && value == "ACTIVE" {
					continue
				}
				if text := valueText(names, value); text != "" && !slices.Contains(unrelatedFields(), key) {
					out = append(out, who+": "+key+" = "+text)
				}
			}
		}
	}
	slices.Sort(out)
	return out
}

// unrelatedFields lists fields that do not depend on the annotation.
func unrelatedFields() []string {
	return []string{"id", "name", "created_at", "updated_at", "revision_number", "project_id", "tenant_id", "mac_address", "operating_status", "admin_state_up", "status", "vip_vnic_type", "port_security_enabled", "router_id", "weight", "pool",
		"loadbalancer", "fixed_ip_address", "floating_ip_address", "device_owner", "healthmonitor_id", "vip_network_id", "network_id"}
}

// namesOf gives every object a name: its own, or what tells it from others of its sort.
func namesOf(tables map[string][]map[string]any) map[string]string {
	names := map[string]string{}
	name := func(table string, by ...string) {
		for _, row := range tables[table] {
			var parts []string
			for _, k := range by {
				if text := valueText(names, row[k]); text != "" {
					parts = append(parts, text)
				}
			}
			names[fmt.Sprint(row["id"])] = strings.ReplaceAll(strings.Join(parts, " "), `"`, "")
		}
	}
	for _, table := range []string{"networks", "subnets", "servers", "flavors", "security-groups", "loadbalancers", "containers"} {
		name(table, "name")
	}
	name("ports", "device_id", "name")
	name("floatingips", "floating_ip_address")
	for _, table := range []string{"listeners", "pools", "healthmonitors"} {
		name(table, "name")
	}
	name("members", "pool", "name")
	name("security-group-rules", "security_group_id", "direction", "protocol", "port_range_min", "ethertype", "remote_ip_prefix")
	return names
}

func valueText(names map[string]string, value any) string {
	raw, err := json.Marshal(value)
	if err != nil {
		return err.Error()
	}
	text := string(raw)
	for id, name := range names {
		text = strings.ReplaceAll(text, id, name)
	}
	text = moments.ReplaceAllString(text, "berth-claim TIME ")
	switch text {
	case "null", `""`, "[]", "{}", "false", "0":
		return ""
	}
	return text
}

// moments are when claims were made.
var moments = regexp.MustCompile(`berth-claim \d+ `)

// diffLines returns the lines that exist only before, and the ones that exist only
// after.
func diffLines(before, after []string) string {
	var b strings.Builder
	for _, line := range before {
		if !slices.Contains(after, line) {
			b.WriteString("  - " + line + "\n")
		}
	}
	for _, line := range after {
		if !slices.Contains(before, line) {
			b.WriteString("  + " + line + "\n")
		}
	}
	return b.String()
}
