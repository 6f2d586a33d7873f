-- load returns what is remembered of a key.
local function load(key, kind, window)
  if kind == 4 then
    return openLog(key, 24)
  elseif kind == 6 then
    return openStrikes(key)
  end
  local last, units, part = 0, 0, 0
  local text = redis.pcall('GET', key)
  if text then
    if type(text) == 'string' and #text == 24 then
      last, units, part = read('<ddd', text)
    else
      last = -1
      if text.err and not text.err:find('WRONGTYPE', 1, true) then
        error(text) -- says nothing about the key
      end
    end
    local sound = units < 2 ^ 32 and part < (kind == 3 and 1 or kind == 5 and 2 ^ 32 or window)
    if kind == 1 then
      sound = units < 2 ^ 53 and part >= 1000 and part < 2 ^ 31 * 1000 + 1000
    end
    if not (sound and last >= 0 and units >= 0 and part >= 0 and last < 2 ^ 53 and last % 1 + units % 1 + part % 1 == 0) then
      spoil(key)
    end
  end
  return {last = last, units = units, part = part, key = key, ahead = 0, write = false, at = 0, u = 0, f = 0, reset = 0}
end

-- effective returns the instant that counts for a caller, and the state as of it. For one
-- behind the last write it is the instant of that write or, where that is too far ahead,
-- as if nothing was remembered.
local function effective(s, window, now)
  if s.last <= now then
    return now, s
  elseif s.last - now <= math.max(window, 60000000) then
    return s.last, s
  end
  return now, {last = 0, units = 0, part = 0, n = 0, base = 0, read = {}, newest = 0, total = 0, start = 0, length = 0, count = 0}
end

-- told returns a wait as the caller sees it, so much before the instant that counts.
local function told(wait, late)
  if wait > 0 then
    wait = wait + late
    return wait < 2 ^ 53 and wait or 2 ^ 53
  end
  return wait
end

-- ask puts a question about a key to its algorithm.
local function ask(c, s, now, cost, ahead, maxDelay, force)
  local at, state = effective(s, c.window, now)
  local allowed, own, units, used, retry, reset, nxt, delay, fin, u, f = take[c.kind](state, at, c.quota, c.window, c.capacity, cost, ahead, maxDelay, force)
  if state ~= s and s.n then
    u = s.n -- all entries are gone
  end
  return allowed, own, units, used, told(retry, at - now), told(reset, at - now), told(nxt, at - now), told(delay, 0), fin, u, f
end

-- save writes what is remembered of a key as of an instant, of a log what is added, for as
-- long as there is something to remember, and then a millisecond.
local function save(s, at, added, u, f, reset)
  local ms = (reset - reset % 1000) / 1000 + 1 + slack
  if s.n then
    saveLog(s, u, at, added, ms, s.rest or '')
  else
    redis.call('SET', s.key, pack('<ddd', at, u, f), 'PX', ms)
  end
end

-- refuse deletes the keys that are broken, so that the next call finds them well.
local function refuse()
  redis.call('DEL', unpack(spoilt))
  broken, spoilt = nil, {}
  return redis.error_reply('RATELIMIT a key did not hold what this version wrote, and was deleted')
end
