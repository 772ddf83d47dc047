/** Runs a command on one master. */
export type Ask = <T>(...command: readonly string[]) => Promise<T>;

/** The commands that the store needs on its keys. */
export const ON_KEYS =
  `DEL EXISTS GET GETDEL HGET HMGET HSET LPUSH LRANGE MGET PEXPIRE PTTL RPUSH SET XADD XRANGE XTRIM ZADD ZRANGE ZREMRANGEBYSCORE`.split(
    /\s+/,
  );

/** Other commands, with the words before the key. Redis 7.0 crashes if EVALSHA is named without its number of keys. */
export const BESIDE = ['ASKING', 'EVALSHA|sha|1', 'INFO', 'TIME', 'WAIT'];

const NEEDED = [...ON_KEYS, ...BESIDE];

/** ARGV: a key without a bar, commands. Redis before 7.0 cannot be asked. */
const ASK = `
local lacking = {}
if not redis.acl_check_cmd then return lacking end
for n = 2, #ARGV do
  local words = {}
  for word in string.gmatch(ARGV[n] .. '|' .. ARGV[1], '[^|]+') do words[#words + 1] = word end
  if not redis.acl_check_cmd(unpack(words)) then lacking[#lacking + 1] = ARGV[n] end
end
return lacking
`;

/** Returns which permissions our user lacks on a server; undefined: none, as far as Redis tells. */
export async function lackingOn(ask: Ask, key: string): Promise<string | undefined> {
  const lacking = await ask<string[]>('EVAL', ASK, '0', key, ...NEEDED);
  if (lacking.length === 0) return undefined;
  const names = lacking.map((command) => command.split('|')[0]);
  return toldOf(names.length < ON_KEYS.length ? names.join(', ') : `keys such as ${key}`);
}

/** Returns the same for an error of Redis; undefined: another error. */
export function forbiddenBy(error: unknown): string | undefined {
  const [, reason] = /\bNOPERM (.*)/.exec(String(error)) ?? [];
  if (reason === undefined) return undefined;
  const [, command] = /'([\w|-]+)' command/.exec(reason) ?? [];
  return toldOf(command?.toUpperCase() ?? reason);
}

const toldOf = (what: string) =>
  `Redis does not let its user work (ACL), who lacks: ${what.replaceAll('|', ' ')}. Give the user +@all, ~* and &*; only CONFIG may be missing`;
