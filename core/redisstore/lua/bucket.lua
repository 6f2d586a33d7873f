if kinds % 2 ^ 1 >= 2 ^ 0 or kinds % 2 ^ 3 >= 2 ^ 2 then
  -- A bucket's level is s.units + s.part/window units. It admits what fits the capacity
  -- or, with maxDelay, what will by then.
  take[0] = function(s, at, quota, window, capacity, cost, ahead, maxDelay, force)
    local u, f, gone = s.units, s.part, at - s.last
    if gone > 0 and u + f > 0 then
      local rest = gone % window
      local windows = (gone - rest) / window
      local whole, part = muldiv(rest, quota, 0, window)
      u, f = u - windows * quota - whole, f - part
      if f < 0 then
        u, f = u - 1, f + window
      end
      if u < 0 then
        u, f = 0, 0
      end
    end
    u = u + ahead

    local above, soon, rest = u + cost - capacity, 0, 0
    if maxDelay > 0 then
      soon, rest = muldiv(maxDelay, quota, 0, window) -- what drains by then
    end
    local wait
    if f < rest then
      wait = drainTime(above - soon - 1, f - rest + window, window, quota)
    else
      wait = drainTime(above - soon, f - rest, window, quota)
    end
    local units, allowed = charged(f > 0 and u + 1 or u, cost <= capacity and wait == 0, cost, force)
    local retry, delay = 0, 0
    if not allowed then
      retry = (cost > capacity or ahead + cost - capacity > soon) and -1 or wait
    elseif maxDelay > 0 and cost > 0 then
      delay = drainTime(above, f, window, quota)
    end
    u = u + units
    local used, nxt, reset = f > 0 and u + 1 or u, 0, 0
    if used > 0 then
      nxt = drainTime(u + 1 - (used < capacity and used or capacity), f, window, quota)
      reset = drainTime(u, f, window, quota)
    end
    return allowed, at, units, used, retry, reset, nxt, delay, 0, u, f
  end

  -- The leaky bucket is the same as a queue: what it admits waits until what was there
  -- before has drained.
  take[2] = function(s, at, quota, window, capacity, cost, ahead, _, force)
    local allowed, _, units, used, retry, reset, nxt, delay, fin, u, f = take[0](s, at, quota, window, capacity, cost, ahead, 0, force)
    if units > 0 then
      delay = drainTime(u - units, f, window, quota)
      fin = math.min(at + reset, 2 ^ 53 - 1)
    end
    return allowed, at, units, used, retry, reset, nxt, delay, fin, u, f
  end

  if give then
    give[0] = function(u, f, _, _, _, cost)
      if u + f == 0 or cost == 0 then
        return nil
      elseif cost > u then
        return 0, 0
      end
      return u - cost, f
    end

    -- A slot is given back only while the queue's end is where the charge put it: else
    -- somebody waits behind it, and would depart too early.
    give[2] = function(u, f, at, quota, window, cost, _, fin)
      if u + f == 0 or math.min(at + drainTime(u, f, window, quota), 2 ^ 53 - 1) ~= fin then
        return nil
      end
      u, f = give[0](u, f, at, quota, window, cost)
      return u, f, u and math.min(at + drainTime(u, f, window, quota), 2 ^ 53 - 1)
    end
  end
end
