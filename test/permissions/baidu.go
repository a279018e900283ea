package permissions

import (
	"fmt"
	"slices"
	"strings"
)

// Baidu is an account of Baidu AI Cloud. What is granted are system policies, of which each product has three;
// one includes those below it.
// Source: https://intl.cloud.baidu.com/en/doc/BLB/s/0jwvxnrvd-intl-en,
// https://intl.cloud.baidu.com/en/doc/EIP/s/Ojwvz2rmi-intl-en.
func Baidu() Cloud {
	return Cloud{File: "baidu.txt", verb: baiduPolicy, file: baiduPolicies}
}

// baiduLevels lists the system policies of a product, each of which includes those before it.
func baiduLevels() []string { return []string{"read-only", "operation and maintenance", "management"} }

// baiduPolicy returns the product and the policy that an operation needs: what is paid for is created and
// deleted by managers alone.
func baiduPolicy(service, _, operation string) (string, bool) {
	product, known := map[string]string{"blb": "BLB", "eip": "EIP"}[service]
	switch {
	case strings.HasPrefix(operation, "Describe"), strings.HasPrefix(operation, "List"):
		return product + ": read-only", known
	case strings.HasSuffix(operation, "LoadBalancer"), operation == "CreateEip", operation == "DeleteEip", operation == "ResizeEip":
		return product + ": management", known
	}
	return product + ": operation and maintenance", known
}

// baiduPolicies writes the highest policy of each product.
func baiduPolicies(needs []string) ([]byte, error) {
	highest := map[string]int{}
	var products []string
	for _, need := range needs {
		product, level, _ := strings.Cut(need, ": ")
		highest[product] = max(highest[product], slices.Index(baiduLevels(), level))
		products = append(products, product)
	}
	slices.Sort(products)
	var text strings.Builder
	for _, product := range slices.Compact(products) {
		fmt.Fprintf(&text, "%s: %s\n", product, baiduLevels()[highest[product]])
	}
	return []byte(text.String()), nil
}
