-- put puts a cost on a charge's key, where it fits or is forced, and tells the answer; of
-- a denied Take with what was answered before. It returns whether it fits, and what is left.
local function put(c, cost, maxDelay, force, denied)
  local s = c.s
  local allowed, at, units, used, retry, reset, nxt, delay, fin, u, f = ask(c, s, now, cost, s.ahead, maxDelay, force)
  if units > 0 then
    s.ahead, s.write = s.ahead + units, true
    s.at, s.u, s.f, s.reset = at, u, f, reset
  end
  if denied then
    allowed, retry = c.allowed, c.retry
  else
    c.allowed, c.retry = allowed, retry
  end
  c.moved = s.ahead > 0 -- not what the state as it was would tell
  local left = c.capacity - used
  left = left > 0 and left or 0
  c.told = pack('<dddddddddd', allowed and 1 or 0, used, left, retry, reset, nxt, delay, at, units, fin)
  return allowed, left
end

local pair, punish -- made where they are needed
if kinds % 2 ^ 8 >= 2 ^ 7 then
  -- pair puts a cost on a charge's key as far as it has quota left, and the rest on that of
  -- the Spill behind it.
  pair = function(c, d)
    local ahead = c.s.ahead
    local _, left = put(c, 0, 0, false)
    local part = math.min(c.cost, left)
    put(c, part, 0, false)
    if put(d, c.cost - part, 0, false) then
      return true
    end
    c.s.ahead = ahead

    -- alone returns the wait until a key has so many units left.
    local function alone(x, units)
      if units == 0 then
        return 0
      end
      return (select(5, ask(x, x.s, now, x.s.ahead + units, 0, 0, false)))
    end
    -- The wait for a way to split the cost is that of the key which takes longer. The more
    -- the one is to hold the longer it takes, and the sooner the other holds the rest.
    local low = math.max(0, c.cost - math.max(0, d.capacity - d.s.ahead))
    local high = math.min(c.cost, math.max(0, c.capacity - c.s.ahead))
    local wait = low <= high and 2 ^ 53 or -1
    while low <= high do
      local middle = math.floor((low + high) / 2)
      local one, two = alone(c, middle), alone(d, c.cost - middle)
      wait = math.min(wait, math.max(one, two))
      if one < two then
        low = middle + 1
      else
        high = middle - 1
      end
    end
    c.allowed, c.retry, c.moved = false, wait, true
    d.allowed, d.retry, d.moved = false, wait, true
    return false
  end
end
if kinds % 2 ^ 7 >= 2 ^ 6 then
  -- punish looks whether a key is banned, counting a denial first where there was one, and
  -- returns whether the Take may pass.
  punish = function(c, over)
    local s, looks = c.s, c.mode == 5
    if not s.told then
      local at, state = effective(s, c.window, now)
      local allowed, counted, used, left, retry, reset, nxt, gone, start, length, count =
        strike(state, at, c.quota, c.window, c.capacity, c.cost, c.maxDelay, over and not looks)
      retry, reset, nxt = told(retry, at - now), told(reset, at - now), told(nxt, at - now)
      if counted then
        s.write, s.at, s.u, s.reset = true, at, state == s and gone or s.n, reset
        s.ahead = allowed and 1 or 0
        s.rest = pack('<dddd', at, start, length, count)
      end
      s.allowed = allowed
      s.told = pack('<dddddddddd', allowed and 1 or 0, used, left, retry, reset, nxt, 0, at, 0, 0)
    end
    c.told = s.told
    return s.allowed or looks
  end
end

local n, over, items, states = #KEYS, call == 1, {}, {}
for i = 1, n do
  local key = KEYS[i]
  local flags, quota, window, capacity, cost, maxDelay = read('<dddddd', ARGV[1], 48 * i - 23)
  local kind = flags % 8
  local s = states[key] or load(key, kind, window)
  states[key] = s
  items[i] = {
    kind = kind, mode = (flags - kind) / 8, quota = quota, window = window, capacity = capacity, cost = cost, maxDelay = maxDelay,
    s = s, allowed = false, retry = 0, told = '', moved = false,
  }
end
for i = 1, n do
  local c, spill = items[i], items[i + 1]
  if c.mode == 0 and spill and spill.mode == 3 then
    over = not pair(c, spill) or over
  elseif c.mode < 3 then
    local fits = put(c, c.cost, c.maxDelay, c.mode == 2)
    over = over or not fits and c.mode == 0
  end
end
if n > 1 or call == 1 or punish then
  local denied = over
  for i = 1, n do
    if items[i].kind == 6 then
      denied = not punish(items[i], over) or denied
    end
  end
  -- Of a denied Take nothing but strikes is written, and the numbers are those of the
  -- state as it was.
  for i = 1, denied and n or 0 do
    local c = items[i]
    if c.moved then
      c.s.ahead, c.s.write = 0, false
      put(c, 0, 0, false, true)
    end
  end
end
if broken then
  return refuse()
end
local reply = pack('<d', now > 1 and now or 1)
for i = 1, n do
  local s = items[i].s
  if s.write then
    s.write = false
    save(s, s.at, s.ahead, s.u, s.f, s.reset)
  end
  reply = reply .. items[i].told
end
return reply
