if kinds % 2 ^ 6 >= 2 ^ 5 then
  -- decay returns how far into a window floor(previous·(window − e)/window) is at most
  -- free for the first time.
  local function decay(previous, free, window)
    if previous <= free then
      return 0
    end
    local q, r = muldiv(free + 1, window, 0, previous)
    return window - (r > 0 and q + 1 or q) + 1
  end

  -- wait returns the wait until a cost fits beside the counts.
  local function wait(current, previous, into, cost, quota, window)
    local free = quota - cost - current
    if cost > quota then
      return -1
    elseif free >= 0 then
      return decay(previous, free, window) - into
    end
    -- Not before this window's count has become the last one's.
    return window - into + decay(current, quota - cost, window)
  end

  -- A sliding counter holds the count s.units of the window of s.last, and s.part of the
  -- one before, of which as much counts as the span of a window still reaches back.
  take[5] = function(s, at, quota, window, _, cost, ahead, _, force)
    local into = at % window
    local current, previous = 0, 0
    if s.last >= at - into then
      current, previous = s.units, s.part
    elseif s.last >= at - into - window then
      previous = s.units
    end
    local count = current + ahead -- the one that grows, and has a bound
    local used = count
    if previous > 0 then
      used = used + (muldiv(previous, window - into, 0, window))
    end
    local units, allowed = charged(count, cost <= quota - used, cost, force)
    local retry, nxt, reset = 0, 0, 0
    if not allowed then
      retry = wait(current, previous, into, ahead + cost, quota, window)
    end
    count, used = count + units, used + units
    if used > 0 then
      nxt = wait(count, previous, into, used < quota and quota - used + 1 or 1, quota, window)
      reset = wait(count, previous, into, quota, quota, window)
    end
    return allowed, at, units, used, retry, reset, nxt, 0, 0, count, previous
  end

  if give then
    give[5] = function(current, previous, at, _, window, cost, charge)
      local since = at - at % window - (charge - charge % window)
      if cost == 0 then
        return nil
      elseif since == 0 and current > 0 then
        return current > cost and current - cost or 0, previous
      elseif since == window and previous > 0 then
        return current, previous > cost and previous - cost or 0
      end
    end
  end
end
