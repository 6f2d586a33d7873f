-- What a call is told: the instant, or -1 where the server's clock counts; 0 for a Take, 1
-- for one that was denied in another slot, 2 for an Adjust; and the kinds of its keys, a
-- bit each: 0 token bucket, 1 GCRA, 2 leaky bucket, 3 fixed window, 4 sliding log, 5
-- sliding counter, 6 penalty. Bit 7 says that there is a Spill. What follows is of the
-- keys, in turn. Modes and operations are numbered as in Go, 5 being a Strike that only
-- looks.
local now, call, kinds = read('<ddd', ARGV[1])
local slack = 60000 -- ms that keys live on where time is the caller's, and may stand still
if now < 0 then
  local time = redis.call('TIME')
  now, slack = time[1] * 1000000 + time[2], 0
end

-- The algorithms, by kind, are pure functions, and only made where the call needs them:
-- making them is a good part of what a call costs.
--
-- take[kind](s, at, quota, window, capacity, cost, ahead, maxDelay, force) decides about a
-- cost on top of what is remembered, s as of s.last, and of what the call itself put
-- ahead. It returns whether it fits, the instant of the charge, the units charged, and
-- after them what is used, the waits until the cost fits (-1: never), until nothing is
-- used, until one more is left, and that of the charge itself, the queue's end, and what
-- to remember: units and part or, of a log, how many of the oldest entries are gone.
--
-- give[kind](units, part, at, quota, window, cost, charge, fin) takes a refund from what is
-- remembered as of at, of a charge made at an instant, whose queue ended at fin. It
-- returns units and part, or nil where nothing changes, and the queue's new end.
local take, give = {}, call == 2 and {}
-- Keys under which something was read that no script wrote; broken is the last of them.
local broken, spoilt = nil, {}
local function spoil(key)
  broken, spoilt[#spoilt + 1] = key, key
end
