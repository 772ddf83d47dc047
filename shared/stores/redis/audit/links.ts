import type { Audit, AuditLink } from '#shared/stores/audit/audit.ts';
import { type Commands, script } from '../connection/connection.ts';
import type { Entry } from './open-entries.ts';

/**
 * KEYS: links. ARGV: time. Numbers are searched by halves: the times of links never go back, and many may have the same.
 */
const linkAt = script(`
local function at(from, to, command)
  return redis.call(command or 'XRANGE', KEYS[1], from, to, 'COUNT', 1)[1]
end
local first, last = at('-', '+'), at('+', '-', 'XREVRANGE')
if not first then return {} end
local low, high = tonumber(string.match(first[1], '%d+')), tonumber(string.match(last[1], '%d+'))
local found
while low <= high do
  local middle = math.floor((low + high) / 2)
  local link = at(middle .. '-0', middle .. '-0')
  if link and cjson.decode(link[2][2]).at < tonumber(ARGV[1]) then low = middle + 1
  else
    found = link or found
    high = middle - 1
  end
end
return { found }
`);

const linkOf = ([, [, link]]: Entry): AuditLink => JSON.parse(link);

/** Where the log has what there is once for each link, in the slot `{prefix:audit}`. */
export const logKeys = (prefix: string) => {
  const keyOf = (name: string) => `{${prefix}:audit}:${name}`;
  return {
    /** The last link, and how far each stream of open entries is closed. */
    head: keyOf('head'),
    /** A stream, whose ids are the numbers. */
    links: keyOf('links'),
    /** Is there while somebody closes. */
    turn: keyOf('turn'),
    keyOf,
  };
};

/** The links that are in such a stream. */
export const redisLinks = (redis: Commands, links: string): Pick<Audit, 'links' | 'linkAt'> => ({
  async links(from, count) {
    const [name, ...range] =
      from === undefined
        ? (['XREVRANGE', '+', '-', 'COUNT', '1'] as const)
        : (['XRANGE', String(from), '+', 'COUNT', String(count)] as const);
    return (await redis.command<Entry[]>(name, links, ...range)).map(linkOf);
  },

  async linkAt(at) {
    const [found] = await redis.script<Entry[]>(linkAt, [links], String(at));
    return found && linkOf(found);
  },
});
