import { type Connection, script } from '../connection/connection.ts';
import { giveGrantsToClients } from './client-artefacts.ts';
import { giveKeysToClients } from './client-keys.ts';
import { giveSlotToArtefacts } from './artefact-slots.ts';
import { giveAddressesToOne } from './verified-addresses.ts';
import { giveMailboxesToOne } from './mailboxes.ts';
import { giveListsToPeople } from './people-lists.ts';
import { giveRowsToDigest } from './digest-rows.ts';
import { giveSearchKeysToPeople } from './search-keys.ts';
import { giveRowsToAllSchemes } from './verifier-rows.ts';

/**
 * The migrations from each schema to the next. Other processes may do the same at once, be further, or have been
 * stopped halfway. Each migration has all the code that it writes with in its own file: later changes do not change it.
 */
const MIGRATIONS = [
  giveRowsToDigest,
  giveRowsToAllSchemes,
  giveVersionsToTrees,
  giveSlotToArtefacts,
  giveSearchKeysToPeople,
  giveAddressesToOne,
  giveListsToPeople,
  keepShortContent,
  giveMailboxesToOne,
  giveGrantsToClients,
  giveKeysToClients,
  letStoresHaveSlots,
  letPeopleHaveSlots,
];

/**
 * Schema 4: each commit to a tree gives it another `version`. A tree has none before its next one, so that nothing
 * is moved; but whoever knows of none may not start beside those who remember what they found under one.
 */
async function giveVersionsToTrees(): Promise<void> {}

/**
 * Schema 9: short content of documents is in `{prefix:tree}:content`. What was in files before stays there until it is
 * replaced. Older code would look for a file, and would not remove content that nothing names any more.
 */
async function keepShortContent(): Promise<void> {}

/** Schema 13: a store may have many slots (layout.ts). One that has not is as before, so that nothing is moved. */
async function letStoresHaveSlots(): Promise<void> {}

/** Schema 14: the same for people (layout.ts). */
async function letPeopleHaveSlots(): Promise<void> {}

/** Layout of the keys; a change that older code would misread makes it one higher. */
export const SCHEMA = 1 + MIGRATIONS.length;

/**
 * The oldest schema whose code may work on keys of today's: the last migration that changed what was there, and did not
 * only add to it. Changes are of that kind for one release at least before an older one stops. Schemas 8 and 9 only add, and
 * yet are such: the scripts that write people keep their lists, where SQLite has triggers, so what an older version wrote
 * would be missing in the lists for good; and an older version would find no content in `content`. One older than 10 would give
 * a mailbox to two people. Schema 11 only adds: a grant that an older version makes meanwhile is missing in the list of its
 * client until it is written again, and ends with the client all the same, by its generation. Schema 12 only adds, too: the
 * keys of a client that an older version writes meanwhile are missing in the index until the client is written again.
 */
export const OLDEST = 10;

/**
 * Where the schema is, the one that is being moved from, the oldest one that is compatible, the layout, and how often a move to
 * another layout has begun; in one slot.
 */
export const schemaKeys = (prefix: string) => ({
  schema: `{${prefix}}:schema`,
  from: `{${prefix}}:schema:from`,
  oldest: `{${prefix}}:schema:oldest`,
  slots: `{${prefix}}:schema:slots`,
  run: `{${prefix}}:schema:run`,
});

/** KEYS: schema, from, oldest. ARGV: the schema to move to, the oldest compatible one. Replies whence to move. */
const begin = script(`
local found = redis.call('GET', KEYS[1])
if tonumber(found) < tonumber(ARGV[1]) then
  redis.call('SET', KEYS[2], found, 'NX')
  redis.call('SET', KEYS[1], ARGV[1])
  local oldest = math.max(tonumber(ARGV[2]), tonumber(redis.call('GET', KEYS[3]) or 0))
  redis.call('SET', KEYS[3], oldest)
end
return redis.call('GET', KEYS[2]) or redis.call('GET', KEYS[1])
`);

/** The same KEYS. ARGV: the schema that all has been moved to, unless somebody moves further by now. */
const end = script(`
if redis.call('GET', KEYS[1]) == ARGV[1] then redis.call('DEL', KEYS[2]) end
`);

/**
 * Brings up to date what an older version has written. `{prefix}:schema` is the new one before anything is moved:
 * what an older version that starts meanwhile wrote for somebody would be neither moved nor read. Until all is moved
 * `{prefix}:schema:from` says whence, for whoever goes on after a crash.
 */
export async function migrate(redis: Connection, prefix: string): Promise<void> {
  const { schema, from: whence, oldest } = schemaKeys(prefix);
  const keys = [schema, whence, oldest] as const;
  const found = Number(await redis.command<string>('GET', schema));
  if (found >= SCHEMA && (await redis.command('GET', whence)) === null) return;
  const from = Number(await redis.durable<string>(begin, keys, String(SCHEMA), String(OLDEST)));
  for (const migration of MIGRATIONS.slice(from - 1)) await migration(redis, prefix);
  await redis.durable(end, keys, String(SCHEMA));
}
