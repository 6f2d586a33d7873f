-- The second half is for miniredis, which stands in for a server in tests: every server has
-- the library. pack and read turn numbers into eight bytes each and back, little-endian
-- doubles.
local pack, read
if rawget(_G, 'struct') then
  pack, read = struct.pack, struct.unpack
else
  pack = function(format, ...)
    local out = {}
    for i = 1, #format - 1 do
      local x, bytes = select(i, ...), {0, 0, 0, 0, 0, 0, 0, 0}
      if x ~= 0 then
        local fraction, exponent = math.frexp(math.abs(x))
        local rest = fraction * 2 ^ 53
        for b = 1, 6 do
          bytes[b] = rest % 256
          rest = (rest - bytes[b]) / 256
        end
        exponent = exponent + 1022
        bytes[7] = rest % 16 + exponent % 16 * 16
        bytes[8] = math.floor(exponent / 16) + (x < 0 and 128 or 0)
      end
      out[i] = string.char(unpack(bytes))
    end
    return table.concat(out)
  end
  read = function(format, text, from)
    local out = {}
    for i = 1, #format - 1 do
      local at = (from or 1) + 8 * (i - 1)
      local fraction, seven, eight = 0, string.byte(text, at + 6, at + 7)
      for b = 5, 0, -1 do
        fraction = fraction * 256 + string.byte(text, at + b)
      end
      fraction = fraction + seven % 16 * 2 ^ 48
      local exponent = eight % 128 * 16 + math.floor(seven / 16)
      if exponent == 2047 then
        out[i] = 0 / 0
      elseif exponent == 0 then
        out[i] = math.ldexp(fraction, -1074)
      else
        out[i] = math.ldexp(fraction + 2 ^ 52, exponent - 1075)
      end
      if eight >= 128 then
        out[i] = -out[i]
      end
    end
    return unpack(out)
  end
end
