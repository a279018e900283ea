package model

import (
	"fmt"

	"github.com/berth-lb/berth/annotations"
)

// Keys of settings, logs and target group attributes.
var (
	crossZoneKey = &annotations.Key[bool]{
		Name: lbPrefix + "cross-zone-load-balancing-enabled", Group: groupSettings, Example: "true",
		Doc: "Spreads over the targets of all zones instead of the own one.",
		Forms: []annotations.Form[bool]{
			{Kinds: onCPA(), Type: annotations.Bool(), Empty: annotations.EmptyAbsent, Source: cpaBalancer, Doc: "Without the key it is switched off, even if it was switched on by hand."},
			{Kinds: onLBC(), Type: annotations.Bool(), DefaultDoc: "not managed", Removal: annotations.Stays, Source: lbcGuide, Doc: "Wins over " + lbPrefix + "attributes. Taking the key away changes nothing."},
		},
	}
	idleTimeoutKey = annotations.Number(lbPrefix+"connection-idle-timeout", groupSettings, "Time after which a silent connection is closed.", "60", annotations.Form[int]{
		Kinds: onCLB(), Type: annotations.IntRange(1, 4000).In("seconds"), Default: 60, Empty: annotations.EmptyAbsent, Source: cpaMain,
	})
	drainingKey = annotations.Flag(lbPrefix+"connection-draining-enabled", groupSettings, "Lets connections of instances that leave come to their end.", annotations.Form[bool]{
		Kinds: onCLB(), Type: annotations.Bool(), Empty: annotations.EmptyAbsent, Source: cpaMain,
	})
	drainingTimeoutKey = annotations.Number(lbPrefix+"connection-draining-timeout", groupSettings, "How long connections of instances that leave may last.", "300", annotations.Form[int]{
		Kinds: onCLB(), Type: annotations.IntRange(1, 3600).In("seconds"), DefaultDoc: "as it is, 300 for a new load balancer", Removal: annotations.Stays, Empty: annotations.EmptyAbsent, Source: cpaMain,
	})
	targetAttrKey = &annotations.Key[map[string]string]{
		Name: lbPrefix + "target-group-attributes", Names: annotations.NamesNothing(), Group: groupBackends, Example: "preserve_client_ip.enabled=true,proxy_protocol_v2.enabled=true",
		Doc: "Attributes of all target groups of the Service.",
		Forms: []annotations.Form[map[string]string]{
			{Kinds: onCLB(), Type: annotations.Forbidden[map[string]string]("a Classic Load Balancer has no target groups"), Change: annotations.Refused, Source: cpaValidation},
			{Kinds: onNLB(), Type: annotations.MapLenient().Checked(targetAttributes).Legally(
				attrPreserveIP + " and " + attrProxyV2 + ", each =true or =false"), DefaultDoc: "not managed", Removal: annotations.Stays, Source: cpaValidation,
				Doc: "Taking the key away leaves the attributes as they are."},
			{Kinds: onLBC(), Type: annotations.MapStrict().Checked(preserveIsBool), DefaultDoc: "proxy_protocol_v2.enabled=false, others not managed", Removal: annotations.Stays, Source: lbcGuide,
				Doc: "Any attribute that AWS knows. Taking one away leaves it as it is. The keys about the PROXY protocol win over it."},
		},
	}
	logsKey = &annotations.Key[bool]{
		Name: lbPrefix + "access-log-enabled", Group: groupLogs, Example: "true",
		Doc: "Writes access logs to an S3 bucket.",
		Forms: []annotations.Form[bool]{
			{Kinds: onCPA(), Type: annotations.Bool(), Empty: annotations.EmptyAbsent, Source: cpaBalancer, Doc: "Without the key logs are switched off, even if they were switched on by hand."},
			{Kinds: onLBC(), Type: annotations.Bool(), DefaultDoc: "not managed", Removal: annotations.Stays, Source: lbcGuide,
				Doc: "Wins over " + lbPrefix + `attributes. "false" switches logs off; the official controller leaves them on.`},
		},
	}
	logsBucketKey = &annotations.Key[string]{
		Name: lbPrefix + "access-log-s3-bucket-name", Names: annotations.NamesThe(annotations.ThingBucket), Group: groupLogs, Example: "shop-logs",
		Doc:   "S3 bucket of the access logs.",
		Forms: logDetail(),
	}
	logsPrefixKey = &annotations.Key[string]{
		Name: lbPrefix + "access-log-s3-bucket-prefix", Names: annotations.NamesNothing(), Group: groupLogs, Example: "shop/prod",
		Doc:   "Folder of the access logs in their S3 bucket.",
		Forms: logDetail(),
	}
	logsIntervalKey = annotations.Number(lbPrefix+"access-log-emit-interval", groupLogs, "Time between two access log files.", "5", annotations.Form[int]{
		Kinds: onCLB(), Type: annotations.IntOneOf(5, 60).In("minutes"), DefaultDoc: "as it is, 60 for a new load balancer", Removal: annotations.Stays, Empty: annotations.EmptyAbsent, Source: cpaMain,
	})
)

// logDetail is a detail of access logs. A Classic Load Balancer keeps it while they are
// switched off.
func logDetail() []annotations.Form[string] {
	on := logsKey.Is(true)
	return []annotations.Form[string]{
		{Kinds: onCLB(), Type: annotations.String(), Empty: annotations.EmptyAbsent, Source: cpaBalancer},
		{Kinds: onNLB(), Type: annotations.String(), Empty: annotations.EmptyAbsent, Source: cpaBalancer, Needs: []annotations.Need{{on}}},
		{Kinds: onLBC(), Type: annotations.String(), Empty: annotations.EmptyAbsent, Source: lbcGuide, Needs: []annotations.Need{{on}}},
	}
}

// targetAttributes knows the two attributes that the official controller takes.
func targetAttributes(values map[string]string) error {
	if err := annotations.Only(attrPreserveIP, attrProxyV2)(values); err != nil {
		return err
	}
	for _, key := range sortedKeys(values) {
		if v := values[key]; v != "true" && v != "false" {
			return fmt.Errorf("sets %s to %q, only true and false are possible", key, v)
		}
	}
	return nil
}

func settingKeys() []annotations.Declaration {
	return []annotations.Declaration{
		crossZoneKey, idleTimeoutKey, drainingKey, drainingTimeoutKey, targetAttrKey,
		logsKey, logsBucketKey, logsPrefixKey, logsIntervalKey,
	}
}
