import { script } from '../connection/connection.ts';
import type { Connection } from '../connection/connection.ts';
import { scan } from '../connection/scan.ts';

/** KEYS: people, lists. ARGV: ids. Whoever is there is in the lists of their groups and states. */
const list = script(`
for _, id in ipairs(ARGV) do
  local record = redis.call('HGET', KEYS[1], id)
  if record then
    local person = cjson.decode(record)
    local lists = { person.disabled == true and 'state:disabled' or 'state:active' }
    if person.admin == true then lists[#lists + 1] = 'state:admin' end
    for _, group in ipairs(person.profile and person.profile.groups or {}) do lists[#lists + 1] = 'group:' .. group end
    for _, one in ipairs(lists) do redis.call('ZADD', KEYS[2], 0, one .. '\\0' .. person.name) end
  end
end
`);

/** Schema 8: people are listed by groups and states through `{prefix}:people:lists`. */
export async function giveListsToPeople(redis: Connection, prefix: string): Promise<void> {
  const [people, lists] = [`{${prefix}}:people`, `{${prefix}}:people:lists`] as const;
  for await (const slice of scan(redis, people)) {
    if (slice.length > 0) await redis.durable(list, [people, lists], ...slice.map(([id]) => id));
  }
}
