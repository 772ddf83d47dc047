import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { ManualClock } from '#shared/base/clock.ts';
import { redisArtefacts } from '#shared/stores/redis/oauth/artefacts.ts';
import { interruptedRedis } from '#shared/stores/redis/connection/interrupted.fixture.ts';
import { LAYOUTS } from '#shared/stores/redis/layout.ts';
import { migrate } from '#shared/stores/redis/migrations/migrate.ts';
import { formerKeys, loadFormerKeys, WRITTEN_AT } from './fixture.ts';

const FORMER =
  /^cs:artefact:(AuthorizationCode|DeviceCode|PushedAuthorizationRequest|RefreshToken):(.*)/;

/** The moved artefacts, with their former fields. */
const moved = formerKeys('8fcad38').flatMap(({ key, milliseconds = 0, commands }) => {
  const [, kind = '', id = ''] = FORMER.exec(key) ?? [];
  const [, , ...fields] = commands[0] ?? [];
  return kind === '' ? [] : [{ key, kind, id, milliseconds, fields }];
});
const unused = moved.find(({ kind, fields }) => kind === 'RefreshToken' && fields.length === 2)!;

/** Names and values of a hash, which Redis lists in no order. */
const membersOf = (fields: readonly string[]) =>
  Object.fromEntries(
    fields.flatMap((name, index) => (index % 2 === 0 ? [[name, fields[index + 1]]] : [])),
  );

describe('an artefact for one use moves to the slot of the revocations', () => {
  let place: Awaited<ReturnType<typeof interruptedRedis>>;
  beforeAll(async () => {
    place = await interruptedRedis();
  });
  afterAll(() => place[Symbol.asyncDispose]());
  beforeEach(async () => {
    await place.redis.cli('FLUSHALL');
    await loadFormerKeys('8fcad38', async () => place.redis);
  });

  const artefacts = () =>
    redisArtefacts(place.undisturbed, 'cs', LAYOUTS.one('cs'), new ManualClock(WRITTEN_AT));
  const keysOf = async (pattern: string) =>
    (await place.redis.cli('KEYS', pattern)).split('\n').filter((key) => FORMER.test(key));

  async function expectAllMoved(): Promise<void> {
    expect(moved.length).toBeGreaterThan(10);
    for (const { key, kind, id, milliseconds, fields } of moved) {
      const name = `{cs}:artefact:${kind}:${id}`;
      const kept = (await place.redis.cli('HGETALL', name)).split('\n');
      expect(membersOf(kept)).toEqual(membersOf(fields));
      const left = Number(await place.redis.cli('PTTL', name));
      expect(left).toBeGreaterThan(0);
      expect(left).toBeLessThanOrEqual(milliseconds);
      expect(await place.redis.cli('EXISTS', key)).toBe('0');
    }
    expect(await place.redis.cli('KEYS', 'cs:artefact:moving:*')).toBe('');
    expect(await place.redis.cli('EXISTS', '{cs}:schema:from')).toBe('0');
  }

  test('with its fields and the life that it has left', async () => {
    await migrate(place.undisturbed, 'cs');
    await expectAllMoved();
  });

  test.each([
    ['it is taken', /^SCRIPT cs:artefact:/],
    ['it is written', /^SCRIPT {cs}:artefact:/],
    ['its grant is looked at', /^ZSCORE cs:grant:/],
    ['the rest is removed', /^DEL cs:artefact:moving:/],
    ['all is said to be moved', /^SCRIPT {cs}:schema/],
  ])('a server that is stopped before %s: two that start at once finish', async (_step, before) => {
    const work = () => Promise.reject(new Error('stopped'));
    // The first script of the schema begins.
    if (before.test('SCRIPT {cs}:schema')) {
      place.connection.interruptions.push({ before, work: async () => {} });
    }
    place.connection.interruptions.push({ before, work });
    await expect(migrate(place.connection, 'cs')).rejects.toThrow('stopped');
    await Promise.all([migrate(place.connection, 'cs'), migrate(place.undisturbed, 'cs')]);
    await expectAllMoved();
  });

  test('a server of the older version finds nothing of what is under way, so that nothing is used twice', async () => {
    const { key, kind, id } = unused;
    const work = async () => expect(await place.redis.cli('EXISTS', key)).toBe('0');
    const before = new RegExp(`^SCRIPT {cs}:artefact:${kind}:${id}`);
    place.connection.interruptions.push({ before, work });
    await migrate(place.connection, 'cs');
    expect(place.connection.interruptions).toEqual([]);
    await expectAllMoved();
  });

  test('an artefact that ended meanwhile with its grant stays ended', async () => {
    const { kind, id, fields } = unused;
    const { grantId } = JSON.parse(fields[1] ?? '{}') as { grantId: string };
    const work = () => artefacts().removeByGrant(grantId);
    place.connection.interruptions.push({
      before: new RegExp(`^SCRIPT {cs}:artefact:${kind}:${id}`),
      work,
    });
    await migrate(place.connection, 'cs');
    expect(place.connection.interruptions).toEqual([]);
    expect(await artefacts().get(kind, id)).toBeUndefined();
    expect(await keysOf('cs:artefact:*')).toEqual([]);
  });

  test('an artefact that was used since is not unused again', async () => {
    const { key, kind, id } = unused;
    await migrate(place.undisturbed, 'cs');
    expect(await artefacts().consume(kind, id)).toBe('first');
    // As if a server had been stopped before it removed what it had copied.
    await loadFormerKeys('8fcad38', async () => place.redis);
    await place.redis.cli('RENAME', key, `cs:artefact:moving:{${key}}`);
    await migrate(place.undisturbed, 'cs');
    expect(await artefacts().consume(kind, id)).toBe('again');
  });
});
