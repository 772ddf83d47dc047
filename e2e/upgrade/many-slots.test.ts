import { afterAll, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { ManualClock } from '#shared/base/clock.ts';
import { systemRandom } from '#shared/base/random.ts';
import { interruptedRedis } from '#shared/stores/redis/connection/interrupted.fixture.ts';
import { Connection } from '#shared/stores/redis/connection/connection.ts';
import { topologyOf } from '#shared/stores/redis/connection/topology.ts';
import { redisConfig } from '#shared/stores/redis/under-test.ts';
import { silentLog } from '#shared/base/log.ts';
import { digestOf } from '#shared/stores/redis/connection/digest.ts';
import { keepingLayout, layoutOf, LAYOUTS, NEWEST } from '#shared/stores/redis/layout.ts';
import { migrate } from '#shared/stores/redis/migrations/migrate.ts';
import { type Moving, moveToManySlots } from '#shared/stores/redis/to-many-slots.ts';
import { redisArtefacts } from '#shared/stores/redis/oauth/artefacts.ts';
import { redisClaims } from '#shared/stores/redis/claims/claims.ts';
import type { Slots } from '#shared/stores/redis/connection/slots.ts';
import { redisPasskeys } from '#shared/stores/redis/credentials/passkeys.ts';
import { redisPeople } from '#shared/stores/redis/people/people.ts';
import { redisClients } from '#shared/stores/redis/oauth/clients.ts';
import { redisSpentTokens } from '#shared/stores/redis/authentication/spent-tokens.ts';
import {
  everybodyIn,
  someClient,
  somePasskey,
  somePerson,
  someVerifier,
} from '#shared/stores/contract/samples.ts';
import { loadFormerKeys, WRITTEN_AT } from './fixture.ts';

const SPENT = Buffer.from('a private token');
/** Ids that clients and people cannot have chosen, and yet a store may have. */
const ODD = ['', ':', 'a:b', '}x', '{y', '%00', 'é', '\n', '\u{1F600}'];
const ANN = {
  ...somePerson('ann'),
  aliases: ['kerberos:ann@A'],
  search_keys: ['email:ann@a', 'looks:ann'],
};
const VERIFIERS = [someVerifier('one', { handle: 'h' }), someVerifier('two', { handle: 'h' })];
const GONE = { ...somePerson('gone'), search_keys: ['looks:gone'] };
const PASSKEYS = [
  { ...somePasskey('laptop'), accountId: ANN.id, created_at: 1 },
  { ...somePasskey('phone'), accountId: ANN.id, created_at: 2 },
];
const CLIENTS = ['a', 'https://app.example/client.json', 'é'];

describe('a store of one slot moves to many', () => {
  let place: Awaited<ReturnType<typeof interruptedRedis>>;
  beforeAll(async () => {
    place = await interruptedRedis();
  });
  afterAll(() => place[Symbol.asyncDispose]());

  const clock = new ManualClock(WRITTEN_AT);
  const of = ({ slots, peopleSlots, clientKeys }: ReturnType<typeof LAYOUTS.one>) => ({
    ...peopleIn(peopleSlots),
    artefacts: redisArtefacts(place.undisturbed, 'cs', { slots, peopleSlots }, clock),
    clients: redisClients(place.undisturbed, slots, clientKeys),
    spentTokens: redisSpentTokens(place.undisturbed, slots, clock),
  });
  function peopleIn(slots: Slots) {
    const claims = redisClaims(place.undisturbed, slots, systemRandom);
    return {
      people: redisPeople(place.undisturbed, slots, claims),
      passkeys: redisPasskeys(place.undisturbed, slots, claims),
    };
  }
  const former = () => of(LAYOUTS.one('cs'));
  const now = () => of(LAYOUTS.all('cs'));
  const move = (redis = place.undisturbed, around: Partial<Moving> = {}) =>
    moveToManySlots(redis, 'cs', {
      random: systemRandom,
      sure: async () => {},
      tell() {},
      ...around,
    });
  const inOneSlot = async () =>
    (await place.redis.cli('KEYS', '*'))
      .split('\n')
      .filter((key) =>
        /^\{cs\}:(artefact:|spent:|verifiers:|people|names|aliases|handles|passkeys)|^\{?cs:clients/.test(
          key,
        ),
      );

  beforeEach(async () => {
    await place.redis.cli('FLUSHALL');
    await loadFormerKeys('f9bf1a6', async () => place.redis);
    await migrate(place.undisturbed, 'cs');
    await fill(former());
    expect((await inOneSlot()).length).toBeGreaterThan(30);
  });

  async function fill({
    artefacts,
    clients,
    spentTokens,
    people,
    passkeys,
  }: ReturnType<typeof of>) {
    await people.add(ANN, VERIFIERS);
    await people.add(GONE);
    await people.remove(GONE);
    for (const passkey of PASSKEYS) await passkeys.add(passkey, 20);
    for (const id of ODD) {
      await artefacts.put({ kind: 'Access', id, payload: { accountId: 'odd', id }, seconds: 60 });
    }
    await artefacts.put({ kind: 'RefreshToken', id: 'used', payload: { n: 1 }, seconds: 60 });
    await artefacts.consume('RefreshToken', 'used', { attempt: 'unsettled' });
    await artefacts.put({ kind: 'Consent', id: 'always', payload: { accountId: 'odd' } });
    for (const id of CLIENTS) await clients.add(someClient(id));
    await spentTokens.spend(SPENT, WRITTEN_AT + 60_000);
  }

  async function expectAllMoved(): Promise<void> {
    expect(await inOneSlot()).toEqual([]);
    const { artefacts, clients, spentTokens, people, passkeys } = now();
    expect(await people.getWhole(ANN.id)).toEqual({
      person: ANN,
      verifiers: expect.arrayContaining([...VERIFIERS]),
    });
    expect(await people.getByName(ANN.name)).toEqual(ANN);
    expect(await people.getByAlias('kerberos:ann@A')).toEqual(ANN);
    expect(await people.search('looks:ann')).toEqual([ANN]);
    for (const { kind, realm, value, handle = '' } of VERIFIERS) {
      expect(await people.getVerifier(kind, realm, { handle })).toEqual({ person: ANN, value });
    }
    expect(await people.isFormerName('gone')).toBe(true);
    expect(await people.isFormerName('looks:gone')).toBe(true);
    expect(await people.add({ ...GONE, id: 'another' })).toBe(false);
    expect(await passkeys.of(ANN.id)).toEqual(PASSKEYS);
    expect(await passkeys.get('laptop')).toEqual(PASSKEYS[0]);
    expect(await passkeys.add(somePasskey('phone'), 20)).toBe('taken');
    const { slots } = LAYOUTS.all('cs');
    for (const id of ODD) {
      expect(await artefacts.get('Access', id)).toEqual({ accountId: 'odd', id });
      const left = Number(await place.redis.cli('PTTL', `${slots.of(id)}:artefact:Access:${id}`));
      expect(left).toBeGreaterThan(0);
      expect(left).toBeLessThanOrEqual(60_000);
    }
    expect(await place.redis.cli('PTTL', '{cs:a}:artefact:Consent:always')).toBe('-1');
    const used = { n: 1, consumed: expect.any(Number), attempt: 'unsettled' };
    expect(await artefacts.get('RefreshToken', 'used')).toEqual(used);
    expect(await artefacts.consume('RefreshToken', 'used')).toBe('again');
    for (const id of CLIENTS) expect(await clients.get(id)).toEqual(someClient(id));
    const listed = (await clients.page({ limit: 100 })).map(({ client_id }) => client_id);
    expect(listed).toEqual(expect.arrayContaining(CLIENTS));
    expect(await clients.add(someClient('a'))).toBe(false);
    expect(await spentTokens.spend(SPENT, WRITTEN_AT + 60_000)).toBe(false);
    const name = `${slots.of(digestOf(SPENT))}:spent:${digestOf(SPENT)}`;
    expect(Number(await place.redis.cli('PTTL', name))).toBeGreaterThan(0);
    expect((await layoutOf(place.undisturbed, 'cs')).name).toBe('all');
  }

  test('with all its fields and the life that each key has left', async () => {
    const told: number[] = [];
    const count = (pattern: string) =>
      place.redis.cli('EVAL', `return #redis.call('KEYS', '${pattern}')`, '0');
    const artefacts = Number(await count('{cs}:artefact:*')) + Number(await count('{cs}:spent:*'));
    const clients = (await former().clients.list()).length;
    const people = (await everybodyIn(former())).length;
    const moved = await move(place.undisturbed, { tell: (keys) => void told.push(keys) });
    expect(moved).toBeGreaterThanOrEqual(artefacts + clients + people + PASSKEYS.length);
    expect(told.at(-1)).toBe(moved);
    await expectAllMoved();
    expect(await move()).toBeUndefined();
    await expectAllMoved();
  });

  test('an older version does not start on it any more, from the first step on', async () => {
    place.connection.interruptions.push({
      before: /^SCRIPT \{cs:.\}:schema:run/,
      work: async () => {
        const oldest = await place.redis.cli('GET', '{cs}:schema:oldest');
        expect(oldest).toBe(String(NEWEST.oldest));
      },
    });
    await move(place.connection);
    expect(place.connection.interruptions).toEqual([]);
  });

  test.each([
    ['the first key is read', /^SCRIPT \{cs\}:artefact:/],
    ['a key is written', /^SCRIPT \{cs:.\}:artefact:/],
    ['its former place is emptied', /^DEL \{cs\}:artefact:/],
    ['a spent token is written', /^SCRIPT \{cs:.\}:spent:/],
    ['a client is written', /^SCRIPT \{cs:.\}:clients/],
    ['the former clients are removed', /^DEL cs:clients/],
    ['a name is claimed', /^SCRIPT \{cs:.\}:claims:/],
    ['a person is written', /^SCRIPT \{cs:.\}:people$/],
    ['their former verifiers are removed', /^DEL \{cs\}:verifiers:/],
    ['the former people are removed', /^DEL \{cs\}:people/],
    ['the former names are removed', /^DEL \{cs\}:names$/],
    ['a passkey is written', /^SCRIPT \{cs:.\}:passkeys/],
    ['the former passkeys are removed', /^DEL \{cs\}:passkeys/],
    ['it says that all is moved', /^SET \{cs\}:schema:slots/],
  ])(
    'stopped before %s: no server starts, and one of two further runs at once finishes it',
    async (_, step) => {
      const work = () => Promise.reject(new Error('stopped'));
      place.connection.interruptions.push({ before: step, work });
      await expect(move(place.connection)).rejects.toThrow('stopped');
      expect(place.connection.interruptions).toEqual([]);
      await expect(layoutOf(place.undisturbed, 'cs')).rejects.toThrow('countersign redis spread');
      const [first, second] = await Promise.allSettled([move(), move(place.connection)]);
      for (const run of [first, second]) {
        if (run.status === 'rejected') expect(String(run.reason)).toContain('another run');
      }
      expect([first.status, second.status]).toContain('fulfilled');
      await expectAllMoved();
      expect(await place.redis.cli('KEYS', '{cs:*}:schema:run')).toBe('');
    },
  );

  test('a further run writes nobody again whom the one before has moved', async () => {
    const { interruptions } = place.connection;
    const work = () => Promise.reject(new Error('stopped'));
    interruptions.push({ before: /^DEL \{cs\}:people/, work });
    await expect(move(place.connection)).rejects.toThrow('stopped');
    interruptions.push({ before: /^SCRIPT \{cs:.\}:people$/, work });
    await move(place.connection);
    expect(interruptions.splice(0)).toHaveLength(1);
    await expectAllMoved();
  });

  test.each([
    ['a key', /^SCRIPT \{cs:.\}:artefact:/],
    ['a spent token', /^SCRIPT \{cs:.\}:spent:/],
    ['a client', /^SCRIPT \{cs:.\}:clients/],
    ['a claim', /^SCRIPT \{cs:.\}:claims/],
    ['a person', /^SCRIPT \{cs:.\}:people$/],
    ['a passkey', /^SCRIPT \{cs:.\}:passkeys/],
  ])(
    'a run that stands still before it writes %s brings back nothing that was ended after another run',
    async (_, step) => {
      const meanwhile = Promise.withResolvers<void>();
      place.connection.interruptions.push({
        before: step,
        async work() {
          await move();
          await place.redis.cli(
            'EVAL',
            `for _, key in ipairs(redis.call('KEYS', '{cs:?}:*')) do redis.call('DEL', key) end`,
            '0',
          );
          meanwhile.resolve();
        },
      });
      await expect(move(place.connection)).rejects.toThrow('another run of the command');
      expect(place.connection.interruptions).toEqual([]);
      await meanwhile.promise;
      // Answered after all that the former run has sent.
      await place.connection.command('GET', 'x');
      const keys = (await place.redis.cli('KEYS', '{cs:?}:*')).split('\n').filter(Boolean);
      expect(keys.filter((key) => !key.includes(':attempts:'))).toEqual([]);
    },
  );

  test('a server that was starting all the same: nothing was moved, and all is as before', async () => {
    const before = await place.redis.cli('GET', '{cs}:schema:oldest');
    const sure = async () => {
      await expect(layoutOf(place.undisturbed, 'cs')).rejects.toThrow('being moved');
      throw new Error('one has started');
    };
    await expect(move(place.undisturbed, { sure })).rejects.toThrow('one has started');
    expect((await layoutOf(place.undisturbed, 'cs')).name).toBeNull();
    expect(await place.redis.cli('GET', '{cs}:schema:oldest')).toBe(before);
    expect((await inOneSlot()).length).toBeGreaterThan(30);
  });

  test('a store of schema 13, where only people have one slot, is as it was until it is moved, and then has slots for all', async () => {
    await place.redis.cli('FLUSHALL');
    const rows = { schema: '13', 'schema:oldest': '13', 'schema:slots': 'many' };
    const texts = Object.entries(rows).flatMap(([name, value]) => [`{cs}:${name}`, value]);
    await place.redis.cli('MSET', ...texts);
    await migrate(place.undisturbed, 'cs');
    await fill(of(LAYOUTS.many('cs')));
    const sure = () => Promise.reject(new Error('one has started'));
    await expect(move(place.undisturbed, { sure })).rejects.toThrow('one has started');
    expect((await layoutOf(place.undisturbed, 'cs')).name).toBe('many');
    expect(await place.redis.cli('GET', '{cs}:schema:oldest')).toBe('13');
    expect(await of(LAYOUTS.many('cs')).people.getByName(ANN.name)).toEqual(ANN);
    await move();
    await expectAllMoved();
  });

  test('keys that the first look overlooks, since their slot goes to another master, are found by the next one', async () => {
    const { connection } = place;
    let looks = 0;
    const keys = jest.spyOn(connection, 'keys').mockImplementation((pattern) => {
      looks += 1;
      return place.undisturbed.keys(looks === 2 ? 'nothing' : pattern);
    });
    await move(connection);
    keys.mockRestore();
    await expectAllMoved();
  });

  test('a shard that refuses a write says so before servers are kept from starting', async () => {
    await place.redis.cli('ACL', 'SETUSER', 'default', 'resetkeys', '~{cs}*', '~cs:*');
    try {
      await expect(move()).rejects.toThrow('NOPERM');
    } finally {
      await place.redis.cli('ACL', 'SETUSER', 'default', '~*');
    }
    expect((await layoutOf(place.undisturbed, 'cs')).name).toBeNull();
  });

  /** A connection of a process that expects a layout, and the seconds of its clock. */
  function keeping(name: keyof typeof LAYOUTS) {
    const time = { seconds: 0 };
    const monotonic = () => 1000 * time.seconds;
    const servers = topologyOf(redisConfig({ urls: [place.redis.url] }), {
      deadline: 10_000,
      monotonic,
    });
    const expected = () => LAYOUTS[name]('cs');
    const topology = keepingLayout(servers, 'cs', { expected, monotonic });
    return { time, topology, redis: new Connection(topology, 0, silentLog, 10_000) };
  }

  test('a process that ran on meanwhile hears within five seconds that it has to be restarted', async () => {
    const { time, redis } = keeping('one');
    using _ = redis;
    await redis.touch('x');
    await move();
    time.seconds = 4.9;
    await redis.touch('x');
    time.seconds = 5;
    await expect(redis.touch('x')).rejects.toThrow('restart this server');
    await expect(redis.command('GET', 'x')).rejects.toThrow('restart this server');
  });

  test('a process that doubts hears it at once', async () => {
    const { topology, redis } = keeping('one');
    using _ = redis;
    await redis.touch('x');
    await move();
    topology.doubt();
    await expect(redis.touch('x')).rejects.toThrow('restart this server');
  });

  test.each(['one', 'many', 'all'] as const)(
    'a server that runs on %s states it anew where Redis has lost its memory',
    async (name) => {
      await place.redis.cli('FLUSHALL');
      const { redis } = keeping(name);
      using _ = redis;
      await redis.touch('x');
      const { name: stated, oldest } = LAYOUTS[name]('cs');
      expect((await layoutOf(place.undisturbed, 'cs')).name).toBe(stated);
      expect(await place.redis.cli('GET', '{cs}:schema:oldest')).toBe(String(oldest));
    },
  );
});
