-- Tells the server behind HAProxy what the client's own connection exports for a proof by Concealed, in the field
-- Concealed-Auth-Export (RFC 9729 section 6.2). With TLS 1.3 only. haproxy.cfg beside this file shows how it is
-- called: the public origin is written there, and never taken from the client's Host.

local LABEL = 'EXPORTER-HTTP-Concealed-Authentication'
local LENGTH = 48

local BLOCK = { sha256 = 64, sha384 = 128 }

local function mask(with)
  local masked = {}
  for byte = 0, 255 do masked[string.char(byte)] = string.char(byte ~ with) end
  return masked
end
local INNER, OUTER = mask(0x36), mask(0x5c)

-- HMAC (RFC 2104) of a key that is shorter than a block. HAProxy 2.6 has its own, of which each call from Lua leaves
-- some bytes in memory for ever.
local function hmac(convert, hash, key, text)
  local block = key .. ('\0'):rep(BLOCK[hash] - #key)
  local inner = convert:digest(block:gsub('.', INNER) .. text, hash)
  return convert:digest(block:gsub('.', OUTER) .. inner, hash)
end

-- HKDF-Expand-Label (RFC 8446 section 7.1, RFC 5869 section 2.3).
local function expand_label(convert, hash, secret, label, context, length)
  local info = string.pack('>I2s1s1', length, 'tls13 ' .. label, context)
  local output, block, count = '', '', 0
  repeat
    count = count + 1
    block = hmac(convert, hash, secret, block .. info .. string.char(count))
    output = output .. block
  until #output >= length
  return output:sub(1, length)
end

-- TLS-Exporter (RFC 8446 section 7.5). The secret is as long as the hash of the cipher suite.
local function export(convert, secret, context)
  local hash = #secret == 48 and 'sha384' or 'sha256'
  local derived = expand_label(convert, hash, secret, LABEL, convert:digest('', hash), #secret)
  return expand_label(convert, hash, derived, 'exporter', convert:digest(context, hash), LENGTH)
end

-- The parameters by their names in lower case. What is written wrong the server behind refuses by itself.
local function parameters(text)
  local quoted, found = {}, {}
  local count = 0
  local marked = text:gsub('"([^"\\]*)"', function(value)
    count = count + 1
    quoted['"' .. count] = value
    return '"' .. count
  end)
  for name, value in marked:gmatch('([^%s,=]+)%s*=%s*("?[^%s,"]+)') do
    found[name:lower()] = quoted[value] or value
  end
  return found
end

-- Bytes behind their number (RFC 9000 section 16): a field of HAProxy's never has more than two bytes can say.
local function prefixed(bytes)
  if #bytes < 64 then return string.pack('s1', bytes) end
  return string.pack('>I2', #bytes + 0x4000) .. bytes
end

-- What the proof is for (RFC 9729 section 3.1); nil when the credentials do not say.
local function context_of(convert, given, origin)
  local scheme = tonumber((given.s or ''):match('^%d+$'))
  local key_id = given.k and convert:ub64dec(given.k)
  local public_key = given.a and convert:ub64dec(given.a)
  if not scheme or scheme > 0xffff or not key_id or not public_key then return nil end
  local host, port = origin:match('^https://(.-):?(%d*)$')
  return string.pack('>I2', scheme) .. prefixed(key_id) .. prefixed(public_key)
    .. prefixed('https') .. prefixed(host) .. string.pack('>I2', tonumber(port) or 443)
    .. prefixed(given.realm or '')
end

core.register_action('concealed-auth-export', { 'http-req' }, function(txn, origin)
  local lines = txn.http:req_get_headers()['authorization'] or {}
  local secret = txn.f:ssl_fc_exporter_secret() -- in hexadecimal; nil before TLS 1.3
  local scheme, rest = (lines[0] or ''):match('^(%a+) +(.*)$')
  if not secret or not scheme or scheme:lower() ~= 'concealed' then return end
  local context = context_of(txn.c, parameters(rest), origin)
  if not context then return end
  local bytes = secret:gsub('%x%x', function(pair) return string.char(tonumber(pair, 16)) end)
  local exported = export(txn.c, bytes, context)
  txn.http:req_set_header('concealed-auth-export', ':' .. txn.c:base64(exported) .. ':')
end, 1)
