local openLog, saveLog, takeOut, entry, before, find
if kinds % 2 ^ 7 >= 2 ^ 6 or kinds % 2 ^ 5 >= 2 ^ 4 then -- also of strikes
  -- A log is one string: a header of doubles, then 16 bytes an entry, oldest first: its
  -- instant, and the running total with it, modulo 2^47. What a window holds is below
  -- 2^32, so differences of totals are exact, and every question is a binary search. The
  -- header begins with how many of the oldest entries do not count any more, how many
  -- do, and the total before them. A log that was read in one piece is written in one; of a
  -- longer one only what changes.
  local TOTALS, MAX_ENTRIES, PIECE = 2 ^ 47, 10000, 1024

  -- part returns the bytes of a log from one position to before another.
  local function part(s, from, to)
    if to <= #s.text then
      return s.text:sub(from + 1, to)
    end
    return redis.call('GETRANGE', s.key, from, to - 1)
  end

  -- entry returns the instant and the total of a log's i-th entry.
  entry = function(s, i)
    local text = s.read[i]
    if not text then
      local from = s.header + 16 * (s.gone + i - 1)
      text = part(s, from, from + 16)
      s.read[i] = text
    end
    local at, total = -1, 0
    if #text == 16 then
      at, total = read('<dd', text)
    end
    if not (at >= 0 and at < 2 ^ 53 and total >= 0 and total < TOTALS and at % 1 + total % 1 == 0) then
      spoil(s.key)
      return 0, 0
    end
    return at, total
  end

  -- before returns the total before a log's i-th entry.
  before = function(s, i)
    if i == 1 then
      return s.base
    end
    local _, total = entry(s, i - 1)
    return total
  end

  -- find returns the first entry from i on that was made after an instant or, where units
  -- are given, with which the log holds so many more than a total.
  find = function(s, i, after, units, total)
    local j, middle = s.n + 1, i -- usually it is the first
    while i < j do
      local at, sum = entry(s, middle)
      if units and (sum - total) % TOTALS >= units or not units and at > after then
        j = middle
      else
        i = middle + 1
      end
      middle = math.floor((i + j) / 2)
    end
    return i
  end

  -- openLog returns the log of a key.
  openLog = function(key, header)
    local s = {
      last = 0, key = key, header = header, text = '', whole = true, read = {}, gone = 0, n = 0, base = 0, newest = 0, total = 0,
      ahead = 0, write = false, at = 0, units = 0, reset = 0,
    }
    local text = redis.pcall('GETRANGE', key, 0, PIECE - 1)
    if text == '' then
      return s
    end
    local gone, n, base = -1, 0, 0
    if type(text) == 'table' then
      if not text.err:find('WRONGTYPE', 1, true) then
        error(text) -- says nothing about the key
      end
      text = ''
    elseif #text >= header then
      gone, n, base = read('<ddd', text)
    end
    local most = #text == PIECE and 4 * MAX_ENTRIES or (#text - header) / 16
    if not (gone >= 0 and n >= 0 and gone + n <= most and base >= 0 and base < TOTALS and gone % 1 + n % 1 + base % 1 == 0) then
      spoil(key)
      return s
    end
    s.text, s.whole, s.gone, s.n, s.base, s.total = text, header + 16 * (gone + n) <= #text, gone, n, base, base
    if n > 0 then
      s.newest, s.total = entry(s, n)
      s.last = s.newest
    end
    return s
  end

  -- saveLog drops the oldest entries of a log, adds units at an instant, and lets it live
  -- for so many ms. What the header holds besides is given.
  saveLog = function(s, gone, at, units, ms, rest)
    local n, base, added = s.n - gone, before(s, gone + 1), ''
    local to = s.header + 16 * (s.gone + s.n)
    gone = s.gone + gone
    if units > 0 then
      if n > 0 and (s.newest == at or n >= MAX_ENTRIES) then
        at, n, to = s.newest, n - 1, to - 16 -- joins the newest
      end
      added = pack('<dd', at, (s.total + units) % TOTALS)
    end
    if s.whole or gone > n then -- else more than half would count
      local live = part(s, s.header + 16 * gone, to)
      redis.call('SET', s.key, pack('<ddd', 0, n + #added / 16, base) .. rest .. live .. added, 'PX', ms)
      return
    end
    if added ~= '' then
      redis.call('SETRANGE', s.key, to, added)
    end
    redis.call('SETRANGE', s.key, 0, pack('<ddd', gone, n + #added / 16, base) .. rest)
    redis.call('PEXPIRE', s.key, ms)
  end

  take[4] = function(s, at, quota, window, _, cost, ahead, _, force)
    local gone = s.last <= at - window and s.n or find(s, 1, at - window) - 1
    local start = before(s, gone + 1)
    local total = (s.total - start) % TOTALS
    if total >= 2 ^ 32 then
      total = 0
      spoil(s.key)
    end
    local used = total + ahead
    local units, allowed = charged(used, cost <= quota - used, cost, force)
    local own = at
    if units > 0 and s.n - gone >= MAX_ENTRIES then
      own = s.last -- no room for one more entry: joins the newest
    end
    -- wait returns the µs until so many of the oldest units are gone.
    local function wait(need)
      local last = s.last
      if need > total then
        last = own
      elseif need < total then
        last = entry(s, find(s, gone + 1, 0, need, start))
      end
      return window - (at - last)
    end
    local retry, nxt, reset = 0, 0, 0
    if not allowed then
      retry = cost > quota - ahead and -1 or wait(used + cost - quota)
    end
    used = used + units
    if used > 0 then
      nxt = wait(used < quota and 1 or used - quota + 1)
      reset = wait(used)
    end
    return allowed, own, units, used, retry, reset, nxt, 0, 0, gone, 0
  end

  if give then
    -- shifted returns entries with other totals. It turns as many at once as a call can
    -- have arguments, which is several times as fast as one by one.
    local function shifted(entries, by)
      local out = {}
      for from = 1, #entries, 1600 do
        local format = '<' .. ('d'):rep(math.min(1600, #entries - from + 1) / 8)
        local numbers = {read(format, entries, from)}
        for i = 2, #format - 1, 2 do
          numbers[i] = (numbers[i] + by) % TOTALS
        end
        out[#out + 1] = pack(format, unpack(numbers, 1, #format - 1))
      end
      return table.concat(out)
    end

    -- overwrite changes the bytes of a log from a position on: in the text that will be
    -- written, or in place.
    local function overwrite(s, from, bytes)
      s.read = {}
      if s.whole then
        s.text = s.text:sub(1, from) .. bytes .. s.text:sub(from + #bytes + 1)
        return
      end
      s.text = ''
      if bytes ~= '' then
        redis.call('SETRANGE', s.key, from, bytes)
      end
    end

    -- takeOut removes up to units from the entry made at an instant, and reports whether
    -- there were any. Only differences of totals count, so it is the shorter side of the
    -- log that is rewritten, and that fills the place of an entry that is empty now.
    takeOut = function(s, at, units)
      local i = find(s, 1, at) - 1
      if i < 1 then
        return false
      end
      local made, total = entry(s, i)
      local held = (total - before(s, i)) % TOTALS
      units = math.min(units, held)
      if made ~= at or units <= 0 or broken then
        return false
      end
      local first = s.header + 16 * s.gone
      local own = first + 16 * (i - 1)
      local empty = units == held and 1 or 0
      if i - 1 < s.n - i then
        s.base = (s.base + units) % TOTALS
        overwrite(s, first + 16 * empty, shifted(part(s, first, own), units))
        s.gone = s.gone + empty
      else
        overwrite(s, own, shifted(part(s, own + 16 * empty, first + 16 * s.n), -units))
      end
      s.n = s.n - empty
      s.newest, s.total = 0, s.base
      if s.n > 0 then
        s.newest, s.total = entry(s, s.n)
      end
      s.last = s.newest
      return true
    end
  end
end
