package lbkit

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"strconv"
	"strings"
)

// Hex derives n hexadecimal digits (at most 64) from the parts. Equal parts give
// equal digits, so two runs of one test name their resources alike.
func Hex(n int, parts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return hex.EncodeToString(sum[:])[:n]
}

// Digits derives a number of nine or ten digits, as classic DNS names carry it.
func Digits(parts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return strconv.FormatUint(100_000_000+binary.BigEndian.Uint64(sum[:8])%2_000_000_000, 10)
}

// Partition is the first field after "arn:" in a region.
func Partition(region string) string {
	switch {
	case strings.HasPrefix(region, "cn-"):
		return "aws-cn"
	case strings.HasPrefix(region, "us-gov-"):
		return "aws-us-gov"
	}
	return "aws"
}

// Suffix is the DNS domain of a region.
func Suffix(region string) string {
	if strings.HasPrefix(region, "cn-") {
		return "amazonaws.com.cn"
	}
	return "amazonaws.com"
}

// ClassicZone is the Route 53 hosted zone of classic and application load
// balancers of a region; source: AWS General Reference, ELB endpoints.
func ClassicZone(region string) string {
	return hostedZoneID(region, map[string]string{
		"us-east-1": "Z35SXDOTRQ7X7K", "us-east-2": "Z3AADJGX6KTTL2", "us-west-1": "Z368ELLRRE2KJ0", "us-west-2": "Z1H1FL5HABSF5",
		"eu-west-1": "Z32O12XQLNTSW2", "eu-west-2": "ZHURV8PSTC4K8", "eu-west-3": "Z3Q77PNBQS71R4", "eu-central-1": "Z215JYRZR1TBD5",
		"eu-north-1": "Z23TAZ6LKFMNIO", "ap-south-1": "ZP97RAFLXTNZK", "ap-southeast-1": "Z1LMS91P8CMLE5", "ap-southeast-2": "Z1GM3OXH4ZPM65",
		"ap-northeast-1": "Z14GRHDCWA56QT", "ap-northeast-2": "ZWKZPGTI48KDX", "ca-central-1": "ZQSVJUPU6J1EY", "sa-east-1": "Z2P70J7HTTTPLU",
	})
}

// NetworkZone is the Route 53 hosted zone of network load balancers of a
// region; source: AWS General Reference, ELB endpoints.
func NetworkZone(region string) string {
	return hostedZoneID(region, map[string]string{
		"us-east-1": "Z26RNL4JYFTOTI", "us-east-2": "ZLMOA37VPKANP", "us-west-1": "Z24FKFUX50B4VW", "us-west-2": "Z18D5FSROUN65G",
		"eu-west-1": "Z2IFOLAFXWLO4F", "eu-west-2": "ZD4D7Y8KGAS4G", "eu-west-3": "Z1CMS0P5QUZ6D5", "eu-central-1": "Z3F0SRJ5LGBH90",
		"eu-north-1": "Z1UDT6IFJ4EJM", "ap-south-1": "ZVDDRBQ08TROA", "ap-southeast-1": "ZKVM4W9LS7TM", "ap-southeast-2": "ZCT6FZBF4DROD",
		"ap-northeast-1": "Z31USIVHYNEOWT", "ap-northeast-2": "ZIBE1TIR4HY56", "ca-central-1": "Z2EPGBW3API2WT", "sa-east-1": "ZTK26PT1VY4CU",
	})
}

func hostedZoneID(region string, known map[string]string) string {
	if id, ok := known[region]; ok {
		return id
	}
	return "Z" + strings.ToUpper(Hex(13, "hosted zone", region))
}
