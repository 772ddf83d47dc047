import { describe, expect, test } from '@jest/globals';
import { ManualClock } from '#shared/base/clock.ts';
import { systemRandom } from '#shared/base/random.ts';
import { parseCredentials } from '#shared/http/auth/credentials.ts';
import { StoreUnavailable } from '#shared/stores/outage/unavailable.ts';
import { redisMemory } from '#shared/stores/redis/authentication/memory.ts';
import { besideParts, type BesideParts } from '#shared/stores/redis/open.ts';
import { LOSSES } from '#shared/stores/redis/losses.fixture.ts';
import { connectPatiently, redisConfig } from '#shared/stores/redis/under-test.ts';
import { startRedis } from '../../../e2e/parts/redis.ts';
import { issuerAndVerifier, prover, requestOf, SPACE } from '../judge/auth.fixture.ts';
import type { Verdict } from '../scheme.ts';
import * as digest from './digest/digest.fixture.ts';
import * as hoba from './hoba/hoba.fixture.ts';
import * as mutual from './mutual/mutual.fixture.ts';
import { oauthSchemes } from './oauth-schemes.ts';
import * as scram from './scram/scram.fixture.ts';

const SKEW = 5;

type Kept = Pick<BesideParts, 'proofs' | 'sessions' | 'useCounts'>;

/** A client with credentials that it can send twice. */
interface Client {
  /** Sends the same credentials each time. */
  use(): Promise<Verdict>;
  /** Returns the verdicts until the client is admitted, as it reacts to them by itself. */
  anew(): Promise<readonly Verdict[]>;
}

type Start = (clock: ManualClock, beside: Kept) => Promise<Client>;

const refused = (why: object) => expect.objectContaining({ kind: 'refused', ...why });
const challenged = (params: object) =>
  refused({ challenges: [expect.objectContaining({ params: expect.objectContaining(params) })] });
const granted = expect.objectContaining({ kind: 'granted' });

/** Starts a client of DPoP whose clock is `ahead` by so many seconds. */
const ofDpop =
  (ahead: number): Start =>
  async (clock, { proofs }) => {
    const parties = issuerAndVerifier(clock);
    const { tokens, now } = parties;
    const { dpop } = oauthSchemes({ tokens, proofs, master: Buffer.alloc(32), clock });
    const scheme = dpop({ ...SPACE, nonce: false });
    const client = prover(() => now() + ahead);
    const token = parties.token({ cnf: { jkt: client.jkt } });
    const send = async (proof: string) =>
      scheme.authenticate(
        { scheme: 'dpop', rest: token, token68: token },
        requestOf([['DPoP', proof]]),
      );
    const used = client.proof(token);
    return {
      use: () => send(used),
      async anew() {
        const first = await send(client.proof(token));
        const nonce = first.kind === 'refused' && first.fields?.['DPoP-Nonce'];
        return [first, await send(client.proof(token, { nonce }))];
      },
    };
  };

const ofHoba: Start = async (clock, beside) => {
  const { here } = await hoba.twoHobaProcesses({ clock, beside });
  const scheme = here.scheme();
  const send = async (result: string) => {
    const credentials = parseCredentials(`HOBA result="${result}"`);
    if (credentials === undefined) throw new Error('no credentials');
    return scheme.authenticate(credentials, hoba.requestTo(hoba.ORIGIN));
  };
  const result = () => hoba.resultOf(hoba.clientKey(), here.challenges.issue(hoba.ORIGIN));
  const used = result();
  return { use: () => send(used), anew: async () => [await send(result())] };
};

const ofDigest: Start = async (clock, { useCounts }) => {
  const { stores } = await digest.twoDigestProcesses();
  const { scheme } = digest.digestOn({ ...stores, useCounts }, clock);
  const request = digest.requestWith();
  const challenge = await digest.challengeOf(scheme, request);
  const send = (of: typeof challenge, nc: number) =>
    digest.submit(scheme, request, digest.answer(of, request, { nc }));
  return {
    use: () => send(challenge, 1),
    async anew() {
      const first = await send(challenge, 2);
      const [next] = first.kind === 'refused' ? (first.challenges ?? []) : [];
      return [first, await send(next?.params ?? {}, 1)];
    },
  };
};

/** A client of SCRAM, and how it authenticates again. */
async function newScram(...[clock, beside]: Parameters<Start>) {
  const { here } = await scram.twoScramProcesses({ clock, beside });
  const scheme = here.scheme('SHA-256');
  const inFull = (client: ReturnType<typeof scram.clientOf>) => scram.authenticate(scheme, client);
  return {
    scheme,
    client: scram.clientOf('SHA-256'),
    inFull,
    anew: async () => [(await inFull(scram.clientOf('SHA-256'))).verdict],
  };
}

const ofScram: Start = async (...args) => {
  const { scheme, client, anew } = await newScram(...args);
  const { sid, serverFirst } = await scram.begin(scheme, client.first());
  const data = scram.data(client.final(serverFirst).message);
  return { use: () => scram.send(scheme, { sid, data }), anew };
};

const ofReauthentication: Start = async (...args) => {
  const { scheme, client, inFull, anew } = await newScram(...args);
  const { serverFirst } = await inFull(client);
  const [challenge] = await scheme.challenge(scram.from('192.0.2.1'));
  const nonce = `r=${client.nonce}100000${challenge?.params?.['sr'] ?? ''}`;
  const data = scram.data(client.final(serverFirst.replace(/^r=[^,]+/, nonce)).message);
  return { use: () => scram.send(scheme, { data }), anew };
};

const ofMutual: Start = async (clock, beside) => {
  const { here } = await mutual.twoMutualProcesses({ clock, beside });
  const scheme = here.scheme();
  const begin = () => mutual.begin(scheme, mutual.clientOf());
  const { vfy } = await begin();
  return {
    use: () => mutual.send(scheme, vfy(0)),
    async anew() {
      const first = await mutual.send(scheme, vfy(1));
      return [first, await mutual.send(scheme, (await begin()).vfy(0))];
    },
  };
};

/** Clients, each with the verdicts that it gets until it is admitted. */
const CALLERS: readonly (readonly [name: string, start: Start, heard: readonly object[]])[] = [
  ['DPoP', ofDpop(0), [challenged({ error: 'use_dpop_nonce' }), granted]],
  // A proof dated ahead is accepted at once: it is later than the loss, so it cannot have been used before.
  ['DPoP, a clock ahead', ofDpop(59), [granted, granted]],
  ['HOBA', ofHoba, [granted]],
  ['Digest', ofDigest, [challenged({ stale: 'true' }), granted]],
  ['SCRAM', ofScram, [granted]],
  ['SCRAM, once more in one message', ofReauthentication, [granted]],
  ['Mutual', ofMutual, [challenged({ reason: 'stale-session' }), granted]],
];

/** In a Redis Cluster one master may lose its data alone, here the master with the used credentials. */
const OF_USES: (typeof LOSSES)[number] = [
  'emptied of all uses, and of nothing else',
  async () => {
    const redis = await startRedis();
    const remove = `
      for _, key in ipairs(redis.call('KEYS', '{test:once}*')) do redis.call('DEL', key) end`;
    return {
      url: redis.url,
      remember: async () => {},
      async lose() {
        await redis.cli('EVAL', remove, '0');
        return redis.url;
      },
      [Symbol.asyncDispose]: () => redis[Symbol.asyncDispose](),
    };
  },
];

/** Opens the parts on a Redis; `move` switches to another Redis. */
async function partsOn(url: string, clock: ManualClock) {
  const parts = new DisposableStack();
  const open = async (at: string) => {
    const redis = parts.use(await connectPatiently(redisConfig({ urls: [at] })));
    const options = { prefix: 'test', clock, random: systemRandom, skew: SKEW, restored: 0 };
    return { ...besideParts(redis, options), memory: redisMemory(redis, options) };
  };
  let current = await open(url);
  await current.memory.look(true);
  const kept: Kept = {
    proofs: { spend: (...args) => current.proofs.spend(...args) },
    sessions: {
      put: (...args) => current.sessions.put(...args),
      get: (...args) => current.sessions.get(...args),
      take: (...args) => current.sessions.take(...args),
    },
    useCounts: { use: (...args) => current.useCounts.use(...args) },
  };
  return {
    kept,
    async move(other: string) {
      current = await open(other);
      await current.memory.look();
    },
    [Symbol.dispose]: () => parts.dispose(),
  };
}

describe.each([...LOSSES, OF_USES])('Redis was %s', (_, lose) => {
  test.each(CALLERS)(
    '%s: credentials used before the loss are refused, even ten times at once, and the client can authenticate again',
    async (_name, start, heard) => {
      await using place = await lose();
      const clock = new ManualClock();
      using parts = await partsOn(place.url, clock);
      const client = await start(clock, parts.kept);
      await place.remember();
      expect(await client.use()).toEqual(granted);
      await parts.move(await place.lose());
      const early = await client.use().catch((error: unknown) => {
        expect(error).toBeInstanceOf(StoreUnavailable);
        return undefined;
      });
      expect(early?.kind).not.toBe('granted');
      clock.advance(SKEW + 1);
      const replays = await Promise.all(Array.from({ length: 10 }, client.use));
      expect(replays.map(({ kind }) => kind)).toEqual(Array.from(replays, () => 'refused'));
      expect(await client.anew()).toEqual(heard);
      expect((await client.use()).kind).toBe('refused');
    },
  );
});
