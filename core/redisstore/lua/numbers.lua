-- All numbers are whole and below 2^53, where doubles are exact; a wait beyond is only
-- ever told as 2^53.

-- muldiv returns the quotient and remainder of (a·b + c) / d, where d is below 2^45 and
-- c below 2^53. A quotient of 2^53 and more is told as some number from there on.
local function muldiv(a, b, c, d)
  local n = a * b + c
  if n < 2 ^ 53 then
    local r = n % d
    return (n - r) / d, r
  end
  local ra, rb, rc = a % d, b % d, c % d
  local q = (a - ra) / d * b + (b - rb) / d * ra + (c - rc) / d
  if q >= 2 ^ 53 then
    return q, 0
  end
  -- What is left, ra·rb + rc, is divided limb by limb of rb, the highest first: d times
  -- two limbs stays below 2^53.
  local limb = d <= 2 ^ 32 and 2 ^ 20 or 2 ^ 7
  local place = 1
  while place * limb <= rb do
    place = place * limb
  end
  local r, sum = 0, 0
  while place >= 1 do
    local low = rb % place
    local x = r * limb + ra * ((rb - low) / place)
    r = x % d
    sum = sum * limb + (x - r) / d
    rb, place = low, place / limb
  end
  r = r + rc
  if r >= d then
    r, sum = r - d, sum + 1
  end
  return q + sum, r
end

-- drainTime returns the µs, rounded up, in which u + f/window units drain at quota a
-- window; 0 for what is not above zero.
local function drainTime(u, f, window, quota)
  if u < 0 or u + f == 0 then
    return 0
  end
  local q, r = muldiv(u, window, f, quota)
  return r > 0 and q + 1 or q
end

-- charged returns how many units are charged on top of a level, which with debt stays
-- below 2^32, and whether the cost fits.
local function charged(level, fits, cost, force)
  local room = 2 ^ 32 - 1 - level
  if cost == 0 then
    return 0, true
  elseif cost <= room then
    return (fits or force) and cost or 0, fits
  elseif force then
    return room > 0 and room or 0, false
  end
  return 0, false
end
