if kinds % 2 ^ 4 >= 2 ^ 3 then
  -- A fixed window's count is s.units, in the window of s.last. Windows start at multiples
  -- of their length since 1970.
  take[3] = function(s, at, quota, window, _, cost, ahead, _, force)
    local into = at % window
    local used, left = ahead, window - into
    if s.last >= at - into then
      used = used + s.units
    end
    local units, allowed = charged(used, cost <= quota - used, cost, force)
    local retry = 0
    if not allowed then
      retry = cost > quota - ahead and -1 or left
    end
    used = used + units
    if used == 0 then
      left = 0
    end
    return allowed, at, units, used, retry, left, left, 0, 0, used, 0
  end

  if give then
    give[3] = function(count, _, at, _, window, cost, charge)
      if count == 0 or cost == 0 or charge - charge % window ~= at - at % window then
        return nil
      end
      return count > cost and count - cost or 0, 0
    end
  end
end
