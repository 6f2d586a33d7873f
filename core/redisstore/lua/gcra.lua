if kinds % 2 ^ 2 >= 2 ^ 1 then
  -- Nanoseconds reach 2^62, so a time is a pair of numbers: µs, and below 1,000 ns.
  local MOST, MOST_NS = 4611686018427387, 904 -- 2^62 ns

  -- interval returns the time of one unit, rounded up.
  local function interval(quota, window)
    local rest = window % quota
    local part = rest * 1000 % quota
    local u, n = (window - rest) / quota, (rest * 1000 - part) / quota
    if part > 0 then
      n = n + 1
    end
    if n == 1000 then
      return u + 1, 0
    end
    return u, n
  end

  -- carry returns u µs and n ns, however many, as a time.
  local function carry(u, n)
    local rest = n % 1000
    return u + (n - rest) / 1000, rest
  end

  -- divide returns how often the time t is in x, and what is left.
  local function divide(xu, xn, tu, tn)
    local q = (xu * 1000 + xn) / (tu * 1000 + tn)
    q = q - q % 1 -- at most one off
    local n = xn - q * tn
    local rest = n % 1000
    local u = xu - q * tu + (n - rest) / 1000
    if u < 0 then
      q = q - 1
      u, rest = carry(u + tu, rest + tn)
    elseif u > tu or u == tu and rest >= tn then
      q = q + 1
      u, rest = carry(u - tu, rest - tn)
    end
    return q, u, rest
  end

  -- scale returns the time x·m/d, rounded up or down, at most 2^62 ns.
  local function scale(xu, xn, mu, mn, du, dn, up)
    local q, ru, rn = divide(xu, xn, du, dn)
    -- The rest, r·m/d, is long division by the digits of m: base 128 those of its µs,
    -- which are below 2^49, then 125 and 8 those of its ns.
    local au, an, times = 0, 0, 0
    local us, ns, place, left = 0, 0, 2 ^ 42, mu
    while place >= 1 do
      local low = left % place
      local digit = (left - low) / place
      au, an = carry(au * 128 + ru * digit, an * 128 + rn * digit)
      times, au, an = divide(au, an, du, dn)
      us, left, place = us * 128 + times, low, place / 128
    end
    local low = mn % 8
    au, an = carry(au * 125 + ru * ((mn - low) / 8), an * 125 + rn * ((mn - low) / 8))
    times, au, an = divide(au, an, du, dn)
    ns = times * 8
    au, an = carry(au * 8 + ru * low, an * 8 + rn * low)
    times, au, an = divide(au, an, du, dn)
    ns = ns + times
    if up and au + an > 0 then
      ns = ns + 1
    end
    local u, n = carry(us + q * mu, ns + q * mn)
    if u > MOST or u == MOST and n > MOST_NS then
      return MOST, MOST_NS
    end
    return u, n
  end

  -- GCRA holds the level as the time until the theoretical arrival time: s.units µs and
  -- s.part % 1000 ns, written when the quota was the rest of s.part / 1000.
  take[1] = function(s, at, quota, window, capacity, cost, ahead, maxDelay, force)
    local tu, tn = interval(quota, window)
    -- As written lu and ln are left, of which a unit took ou and on; now cu and cn, tu and tn.
    local ln = s.part % 1000
    local lu, rate, ou, on = s.units - (at - s.last), (s.part - ln) / 1000, tu, tn
    if lu < 0 or s.units + ln == 0 then
      lu, ln = 0, 0
    end
    local cu, cn, used = lu, ln, 0
    if lu + ln > 0 then
      if rate ~= quota then
        ou, on = interval(rate, window)
        cu, cn = scale(lu, ln, tu, tn, ou, on, true)
      end
      local u, n
      used, u, n = divide(cu, cn, tu, tn)
      if u + n > 0 then
        used = used + 1
      end
    end
    local level = used + ahead
    if ahead > 0 then
      local room = divide(MOST - cu, MOST_NS - cn, tu, tn)
      room = room < ahead and room or ahead
      cu, cn = carry(cu + room * tu, cn + room * tn)
      used = used + room
    end

    local above, fits = 0, cost <= capacity
    if fits then
      local u, n = carry(cu - (capacity - cost) * tu, cn - (capacity - cost) * tn)
      above = n > 0 and u + 1 or u
      above = above > 0 and above or 0
    end
    local units, allowed = charged(level, fits and above <= maxDelay, cost, force)
    if units > 0 and cu + units * (tu + 1) >= MOST then
      units = math.min(units, (divide(MOST - cu, MOST_NS - cn, tu, tn)))
    end

    -- wait returns the µs until at most the time g is left.
    local function wait(gu, gn)
      if (ou ~= tu or on ~= tn) and gu + gn > 0 then
        gu, gn = scale(gu, gn, ou, on, tu, tn)
      end
      local left = lu - gu
      if ln > gn then
        left = left + 1
      end
      return left > 0 and left or 0
    end
    local retry, nxt, reset = 0, 0, 0
    if not fits then
      retry = -1
    elseif not allowed then
      local goal = capacity - cost - math.min(ahead, (divide(MOST, MOST_NS, tu, tn)))
      local gu, gn = carry(goal * tu + maxDelay, goal * tn)
      retry = gu < 0 and -1 or wait(gu, gn)
    end
    if ahead + units > 0 then
      cu, cn = carry(cu + units * tu, cn + units * tn)
      lu, ln, ou, on = cu, cn, tu, tn
      used = used + units
    end
    if used > 0 then
      local goal = (used < capacity and used or capacity) - 1
      nxt = wait(carry(goal * tu, goal * tn))
      reset = ln > 0 and lu + 1 or lu
    end
    return allowed, at, units, used, retry, reset, nxt, allowed and cost > 0 and above or 0, 0, cu, quota * 1000 + cn
  end

  if give then
    give[1] = function(u, part, _, quota, window, cost)
      local n = part % 1000
      if u + n == 0 or cost == 0 then
        return nil
      end
      local tu, tn = interval(quota, window)
      if cost > divide(u, n, tu, tn) then
        return 0, quota * 1000
      end
      u, n = carry(u - cost * tu, n - cost * tn)
      return u, quota * 1000 + n
    end
  end
end
