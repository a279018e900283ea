-- Health of Services for Argo CD: resource.customizations.health.Service
-- A Service of type LoadBalancer that Berth serves is judged by its conditions;
-- every other Service as Argo CD judges it without this file.
local hs = {}

local function condition(kind)
  if obj.status ~= nil and obj.status.conditions ~= nil then
    for _, c in ipairs(obj.status.conditions) do
      if c.type == "berth-lb.io/" .. kind then
        return c
      end
    end
  end
  return nil
end

if obj.spec == nil or obj.spec.type ~= "LoadBalancer" then
  hs.status = "Healthy"
  return hs
end

local accepted = condition("Accepted")
local programmed = condition("Programmed")

if accepted ~= nil and accepted.status == "False" then
  hs.status = "Degraded"
  hs.message = accepted.reason .. ": " .. (accepted.message or "")
  return hs
end

if programmed ~= nil then
  if programmed.status == "True" then
    hs.status = "Healthy"
    hs.message = programmed.message
    return hs
  end
  -- What the cloud still works on, or will be asked again, is under way.
  local underway = { Pending = true, Throttled = true, Conflict = true, InUse = true, CloudUnavailable = true, Deleting = true }
  if underway[programmed.reason] then
    hs.status = "Progressing"
  else
    hs.status = "Degraded"
  end
  hs.message = programmed.reason .. ": " .. (programmed.message or "")
  return hs
end

local ingress = obj.status ~= nil and obj.status.loadBalancer ~= nil and obj.status.loadBalancer.ingress or nil
if ingress ~= nil and #ingress > 0 then
  hs.status = "Healthy"
else
  hs.status = "Progressing"
  hs.message = "waiting for an address"
end
return hs
