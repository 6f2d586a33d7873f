local openStrikes, strike
if kinds % 2 ^ 7 >= 2 ^ 6 then
  local HEADER, MAX_BANS = 56, 1023

  -- openStrikes returns what is remembered of a key's denials: a log whose header also
  -- holds the instant of the last one, the last ban's start and length, and how many bans
  -- there were in a row.
  openStrikes = function(key)
    local s = openLog(key, HEADER)
    s.start, s.length, s.count = 0, 0, 0
    if s.text ~= '' and broken ~= key then
      local last, start, length, count = read('<dddd', s.text, 25)
      if last >= 0 and start >= 0 and length >= 0 and count >= 0 and last < 2 ^ 53 and start < 2 ^ 53 and length < 2 ^ 53
        and count <= MAX_BANS and last % 1 + start % 1 + length % 1 + count % 1 == 0 then
        s.last, s.start, s.length, s.count = last, start, length, count
      else
        spoil(key)
      end
    end
    return s
  end

  -- strike looks whether a key is banned and, where it is told to count and the key is
  -- not, counts a denial: as a strike or, where it makes denials within a span, as a ban.
  -- It returns whether the key is free, whether it counted, the numbers as others do, how
  -- many of the oldest strikes are gone, and the ban to remember. All times are µs.
  strike = function(s, at, denials, within, ban, most, factor, counts)
    local function length(earlier)
      local long = ban
      if factor > 1 then
        for _ = 1, earlier do
          long = long * factor
          if long >= most then
            return most
          end
        end
      end
      return math.floor(long)
    end
    -- remembered returns the µs until a ban does not make the next one longer any more.
    local function remembered(start, long, count)
      return count > 0 and long + math.max(within, length(count - 1)) - (at - start) or 0
    end

    local start, long, count = s.start, s.length, s.count
    if remembered(start, long, count) <= 0 then
      start, long, count = 0, 0, 0
    end
    local gone = find(s, 1, at - within) - 1
    local first, total = gone + 1, before(s, gone + 1)
    local held = (s.total - total) % 2 ^ 47
    local used, newest = held, s.newest
    local banned = at - start < long
    local counted = counts and not banned
    if counted then
      used, newest = used + 1, at
      if used >= denials then
        start, long, count = at, length(count), math.min(count + 1, MAX_BANS)
        gone, used, banned = s.n, 0, true
      end
    end
    local retry, reset, nxt, remaining = 0, 0, 0, math.max(0, denials - used)
    if used > 0 then
      local need, oldest = used - math.min(used, denials) + 1, at
      if need <= held then
        oldest = entry(s, find(s, first, 0, need, total))
      end
      nxt, reset = within - (at - oldest), within - (at - newest)
    end
    reset = math.max(reset, remembered(start, long, count))
    if banned then
      retry, remaining = long - (at - start), 0
      nxt = retry
    end
    return not banned, counted, used, remaining, retry, reset, nxt, gone, start, long, count
  end
end
