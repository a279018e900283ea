package conform

// knownGaps returns the ends of the known differences, each with its reason and source.
func knownGaps() map[string]string {
	return map[string]string{
		".clusterProperty: missing":            "the creating call of the open controller lacks it as well; baidu/cloud-provider-baiducloud:pkg/cloud-provider/load_balancer_blb.go",
		".portList: missing":                   "one of both lists is enough, and this one would name every protocol; bce-sdk-go:services/appblb/listener.go, DeleteAppListeners",
		".listenerList[].description: unknown": "the creating calls have it; the policy identifies a listener whose answer lacks it; bce-sdk-go:services/appblb/model.go, CreateAppTCPListenerArgs",
	}
}
