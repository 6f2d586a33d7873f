-- extra charges units at an instant, wherever that leads, and returns the receipt.
local function extra(c, s, units, at)
  local _, own, put, _, _, reset, _, _, fin, u, f = ask(c, s, at, units, 0, 0, true)
  if put > 0 and not broken then
    save(s, own, put, u, f, told(reset, at - now))
  end
  return own, put, fin
end

-- refund gives units of a charge back, and returns the end of its queue.
local function refund(c, s, units, charge, fin)
  local at, state = effective(s, c.window, now)
  if state ~= s or broken then
    return fin
  end
  local u, f, moved = 0, 0, nil
  if c.kind == 4 then
    if not takeOut(s, charge, units) then
      return fin
    end
  else
    local level, rest = select(10, take[c.kind](s, at, c.quota, c.window, c.capacity, 0, 0, 0, false))
    u, f, moved = give[c.kind](level, rest, at, c.quota, c.window, units, charge, fin)
    if not u then
      return fin
    end
    s.last, s.units, s.part = at, u, f
  end
  local reset = select(6, ask(c, s, now, 0, 0, 0, false))
  reset = math.max(reset, s.last - now) -- until then the last write's instant counts
  if broken then
    return fin
  elseif reset > 0 then
    save(s, at, 0, u, f, reset)
  else
    redis.call('DEL', s.key)
  end
  return moved or fin
end

local reply, wrong = '', nil
for i = 1, #KEYS do
  local flags, quota, window, capacity, units, charge, charged, fin = read('<dddddddd', ARGV[1], 64 * i - 39)
  local kind = flags % 8
  local op = (flags - kind) / 8
  local c = {kind = kind, quota = quota, window = window, capacity = capacity}
  broken = nil
  if op == 3 then -- Reset
    redis.call('DEL', KEYS[i])
  else
    local s = load(KEYS[i], kind, window)
    if op == 0 then -- Refund
      fin = refund(c, s, units, charge, fin)
    elseif op == 1 then -- Extra
      charge, charged, fin = extra(c, s, units, now)
    elseif charged > 0 then -- Renew
      local at, state = effective(s, window, now)
      if state == s then
        takeOut(s, charge, charged)
      end
      charge, charged, fin = extra(c, s, charged, at)
    end
  end
  wrong = broken and refuse() or wrong -- each is on its own
  reply = reply .. pack('<ddd', charge, charged, fin)
end
return wrong or reply
