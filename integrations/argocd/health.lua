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

-- A condition about an earlier generation of the Service says nothing about this one.
local function outdated(c)
  return c ~= nil and c.observedGeneration ~= nil and c.observedGeneration ~= 0
    and obj.metadata ~= nil and obj.metadata.generation ~= nil and c.observedGeneration < obj.metadata.generation
end

if outdated(accepted) or outdated(programmed) then
  hs.status = "Progressing"
  hs.message = "waiting for the controller to observe the change"
  return hs
end

if accepted ~= nil and accepted.status == "False" then
  hs.status = "Degraded"
  hs.message = accepted.reason .. ": " .. (accepted.message or "")
  return hs
end

if accepted ~= nil or programmed ~= nil then
  -- These states end without an action of a person.
  local underway = { Pending = true, Throttled = true, Conflict = true, InUse = true, CloudUnavailable = true, Deleting = true }
  if accepted == nil or programmed == nil then
    hs.status = "Progressing"
    hs.message = "waiting for the controller"
    return hs
  end
  if programmed.status == "True" then
    hs.status = "Healthy"
    hs.message = programmed.message
    return hs
  end
  if programmed.status == "Unknown" or underway[programmed.reason] then
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
