import type { PersonRecord } from '#shared/stores/people/people.ts';
import { redisClaims } from '../claims/claims.ts';
import { peopleOfSlot } from '../people/people-of-slot.ts';
import { redisPeople } from '../people/people.ts';
import { passkeysOfSlot } from '../credentials/passkeys-of-slot.ts';
import { redisPasskeys } from '../credentials/passkeys.ts';
import { scanSet } from '../connection/scan.ts';
import type { Move, Mover } from './move.ts';

/** The keys of people in an older store, behind its one slot; each person has one more, of verifiers. First the list of all. */
const FORMER_KEYS = [
  'names:order',
  'people',
  'names',
  'names:former',
  'aliases',
  'handles',
  'people:search',
  'people:lists',
];

/** People with their verifiers, and what is remembered of those who were removed. */
export const movePeople: Mover = async (run) => {
  const { redis, mine, prefix, slots, random, count } = run;
  const slot = `{${prefix}}`;
  const claims = redisClaims(mine, slots, random);
  const [before, after] = [peopleOfSlot(redis, slot), redisPeople(mine, slots, claims)];

  async function move({ id, name }: PersonRecord): Promise<void> {
    const found = await before.getWhole(id);
    if (found === undefined) return;
    const { person, verifiers } = found;
    // A run that was stopped has moved them: the verifiers may be gone here.
    if ((await after.get(id))?.version === person.version) await mine.settled(claims.slotOf(id));
    else if (!(await after.add(person, verifiers, 'reused'))) {
      throw new Error(`${name} cannot be moved: somebody else has the name, or what belongs to it`);
    }
    await redis.durableCommand('DEL', `${slot}:verifiers:${id}`);
  }

  for await (const slice of before.list()) {
    await Promise.all(slice.map(move));
    count(slice.length);
  }
  for await (const digests of scanSet(redis, `${slot}:names:former`)) {
    await Promise.all(digests.map((digest) => claims.addFormer(digest)));
  }
  await remove(run, FORMER_KEYS);
};

export const movePasskeys: Mover = async (run) => {
  const { redis, mine, prefix, slots, random, count } = run;
  const claims = redisClaims(mine, slots, random);
  const before = passkeysOfSlot(redis, `{${prefix}}`);
  const after = redisPasskeys(mine, slots, claims);
  for await (const slice of before.list()) {
    await Promise.all(slice.map((passkey) => after.add(passkey, Number.MAX_SAFE_INTEGER)));
    count(slice.length);
  }
  await remove(run, ['passkeys', 'passkeys:order']);
};

async function remove({ redis, prefix }: Move, names: readonly string[]): Promise<void> {
  for (const name of names) await redis.durableCommand('DEL', `{${prefix}}:${name}`);
}
