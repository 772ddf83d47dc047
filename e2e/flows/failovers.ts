/** Takes the master of Redis away while everything is used, and reads back all that was acknowledged. Throws AssertionError. */
import assert from 'node:assert/strict';
import { randomInt, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { createProver } from '#shared/cli/oauth/dpop.ts';
import { systemClock } from '#shared/clock.ts';
import { systemRandom } from '#shared/random.ts';
import type { TestBrowser } from '../../authz-server/pages/browser.fixture.ts';
import { startDividedCluster, startDividedSentinels } from '../parts/divided-redis.ts';
import type { DividedRedis, Site } from '../parts/divided-redis.ts';
import type { Person } from '../parts/pair.ts';
import { until } from '../parts/process.ts';
import { getAll, LIMITS, redisStore, startFlow } from './flow.ts';
import type { Client, Flow } from './flow.ts';
import { addDevice, alsoAt, App, newPerson, post, signedIn, tokensIn } from './person.ts';

const START = { sentinel: startDividedSentinels, cluster: startDividedCluster };
export type Topology = keyof typeof START;
export const TOPOLOGIES = Object.keys(START) as readonly Topology[];

/** What happens to the master, with its replicas well or not; and how it comes back. */
const HAPPENING = {
  killed: {
    begin: async (_, { redis }) => redis.kill(),
    end: async (_, { redis }) => redis.start(),
  },
  stopped: {
    begin: async (_, { redis }) => redis.hang(),
    end: async (_, { redis }) => redis.wake(),
  },
  divided: {
    begin: ({ sites }, { address }) => sites.divide(address),
    end: ({ sites }) => sites.unite(),
  },
  'killed after its replicas had stopped': {
    async begin({ candidates }, master) {
      const replicas = candidates.filter((one) => one !== master);
      for (const { redis } of replicas) redis.hang();
      await sleep(1500);
      await master.redis.kill();
      for (const { redis } of replicas) redis.wake();
    },
    end: async (_, { redis }) => redis.start(),
  },
} satisfies Record<
  string,
  Readonly<Record<'begin' | 'end', (set: DividedRedis, master: Site) => Promise<void>>>
>;
export type Fault = keyof typeof HAPPENING;
export const FAULTS = Object.keys(HAPPENING) as readonly Fault[];

/** What was acknowledged, by kind, and how often a server said 503 instead. */
export interface Failovers {
  runs: number;
  refused: number;
  revocations: number;
  documents: number;
  proofs: number;
  codes: number;
  rotations: number;
  devices: number;
}

export const noFailovers = (): Failovers => ({
  runs: 0,
  refused: 0,
  revocations: 0,
  documents: 0,
  proofs: 0,
  codes: 0,
  rotations: 0,
  devices: 0,
});

/** Milliseconds of load before the fault, and after the next master has taken over. */
const LOAD = { before: 1500, after: 2500 };
const DOCUMENTS = 4;
const CHAINS = 2;
/** Of each chain of refresh tokens. */
const ROTATIONS = 5;
const DEVICE_CODE = 'urn:ietf:params:oauth:grant-type:device_code';
const UNLIMITED = { burst: 1_000_000, per: 0.001 };
const PEOPLE = { userCode: UNLIMITED, signIn: UNLIMITED, account: UNLIMITED };

type Kind = Exclude<keyof Failovers, 'runs' | 'refused'>;

/** One kind of use. */
interface Part {
  /** Does it once; resolves to what was acknowledged. */
  work(): Promise<readonly Kind[]>;
  /** A request was refused halfway: a session that it was about to replace may have ended. */
  refused?(): void;
  /** Asserts that nothing is lost. */
  keeps(): Promise<void>;
  /** Asserts that nothing that was spent or ended is back; may end what `keeps` looks at. */
  refuses(): Promise<void>;
}

/** The state of a document: its content, or undefined for none. */
type State = string | undefined;

/** A server that said 503. */
class Refused extends Error {}

function unlessRefused(status: number, wanted: readonly number[], what: string): void {
  if (status === 503) throw new Refused(what);
  assert.ok(wanted.includes(status), `${what}: ${status}`);
}

/** Two of each server on that topology, for any number of failovers. */
export async function startFailovers(topology: Topology): Promise<FailoverServers> {
  await using parts = new AsyncDisposableStack();
  const set = parts.use(await START[topology]());
  const { mode, urls } = set.store;
  const flow = parts.use(
    await startFlow({
      store: redisStore([...urls], { mode, replicas: 1 }),
      authz: 2,
      resource: 2,
      settings: { limits: { ...LIMITS, ...PEOPLE }, tokens: { refreshGrace: 0 } },
    }),
  );
  const owned = parts.move();
  return { set, flow, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

export interface FailoverServers extends AsyncDisposable {
  readonly set: DividedRedis;
  readonly flow: Flow;
}

/** One failover amid writes of all kinds; adds what was acknowledged to the tally. */
export async function failOver(
  { set, flow }: FailoverServers,
  fault: Fault,
  tally: Failovers,
): Promise<void> {
  await set.whole();
  const load = await startLoad(flow, tally);
  await sleep(LOAD.before);
  const before = await set.master();
  await HAPPENING[fault].begin(set, before);
  await until(async () => (await set.master()) !== before, 60_000);
  await until(() => load.goesOn(), 60_000);
  await sleep(LOAD.after);
  await HAPPENING[fault].end(set, before);
  await set.whole();
  await load.stop();
  const [restarted] = flow.pair.resources;
  await restarted?.kill();
  await restarted?.start();
  await load.check();
  tally.runs += 1;
}

async function startLoad(flow: Flow, tally: Failovers) {
  const { pair } = flow;
  const run = randomUUID();
  const client = await pair.addClient();
  const writer = await pair.token(client);
  const anyAuthz = () => randomInt(pair.authz.length);
  const anyResource = () => randomInt(pair.resources.length);

  const revocations = await revoking(flow, client, anyAuthz);
  const documents = Array.from({ length: DOCUMENTS }, (_, n) =>
    writing(flow, `/documents/${run}-${n}`, writer, anyResource),
  );
  const proofs = await proving(flow, client, anyResource);
  const person = await newPerson(flow);
  const app = await App.add(flow);
  const chains: Part[] = [];
  while (chains.length < CHAINS) {
    chains.push(rotating(flow, app, person, anyAuthz));
  }
  const devices = approving(flow, await addDevice(flow), person, anyAuthz);

  const end = new AbortController();
  /** How often each did its work since somebody asked. */
  let done: number[] = [];
  const repeat = async ({ work, refused }: Part, index: number) => {
    while (!end.signal.aborted) {
      try {
        for (const kind of await work()) tally[kind] += 1;
        done[index] = (done[index] ?? 0) + 1;
      } catch (error) {
        // What pages say reads so as well.
        if (
          !(
            error instanceof Refused ||
            /^(no tokens: |signing in gave )?503/.test((error as Error).message)
          )
        ) {
          throw error;
        }
        tally.refused += 1;
        refused?.();
        await sleep(50);
      }
    }
  };
  const parts = [revocations, ...documents, proofs, ...chains, devices];
  const running = Promise.all(parts.map(repeat));
  // Told by `stop`.
  running.catch(() => end.abort());

  return {
    /** Whether each part has done its work twice, all of it under the next master. */
    async goesOn() {
      done = [];
      await until(() => end.signal.aborted || parts.every((_, index) => (done[index] ?? 0) >= 2));
      return true;
    },
    async stop() {
      end.abort();
      await running;
    },
    async check() {
      for (const part of parts) await part.keeps();
      for (const part of parts) await part.refuses();
    },
  };
}

/** Revoked tokens are refused, and the others are not. */
async function revoking({ pair }: Flow, client: Client, server: () => number): Promise<Part> {
  const revoked: string[] = [];
  const good = await pair.token(client);
  return {
    async work() {
      const answer = await pair.post(
        '/token',
        { grant_type: 'client_credentials' },
        client,
        server(),
      );
      unlessRefused(answer.status, [200], 'a token');
      const token = String(answer.body['access_token']);
      const { status } = await pair.post('/token/revocation', { token }, client, server());
      unlessRefused(status, [200], 'a revocation');
      revoked.push(token);
      return ['revocations'];
    },
    async keeps() {
      assert.deepEqual(await getAll(pair, good), [200, 200], 'a token was lost');
    },
    async refuses() {
      for (const token of revoked) {
        assert.deepEqual(await getAll(pair, token), [401, 401], 'a revoked token passes');
      }
    },
  };
}

/** A document is as it was left last; after an answer that told nothing, perhaps as that would have left it. */
function writing({ pair }: Flow, path: string, token: string, server: () => number): Part {
  let states: State[] = [undefined];
  const authorization = `Bearer ${token}`;
  const at = (index: number) => `${pair.resources[index]?.url}${path}`;
  return {
    async work() {
      const body = randomInt(4) === 0 ? undefined : randomUUID();
      const mayBeGone = states.includes(undefined);
      states.push(body);
      const response = await fetch(at(server()), {
        method: body === undefined ? 'DELETE' : 'PUT',
        headers: { authorization },
        ...(body !== undefined && { body }),
      });
      await response.arrayBuffer();
      unlessRefused(response.status, mayBeGone ? [200, 201, 204, 404] : [200, 201, 204], path);
      if (response.status === 404) return [];
      states = [body];
      return ['documents'];
    },
    async keeps() {
      const found = pair.resources.map(async (_, index) => {
        const response = await fetch(at(index), { headers: { authorization } });
        const text = await response.text();
        assert.ok([200, 404].includes(response.status), `${path}: ${response.status}`);
        return response.status === 404 ? undefined : text;
      });
      const [one, other] = await Promise.all(found);
      assert.equal(one, other, `${path}: two servers disagree`);
      assert.ok(states.includes(one), `${path} is ${one}, and was left as ${states.join(' or ')}`);
    },
    refuses: async () => {},
  };
}

/** RFC 9449 section 11.1: a proof that was accepted is good at no server any more. */
async function proving({ pair }: Flow, client: Client, server: () => number): Promise<Part> {
  const prover = await createProver(systemClock, systemRandom);
  const dpop = await prover.proof({ method: 'POST', url: `${pair.issuer}/token` });
  const response = await fetch(`${pair.authz[0]?.url}/token`, {
    method: 'POST',
    headers: { authorization: `Basic ${btoa(`${client.id}:${client.secret}`)}`, dpop },
    body: new URLSearchParams({ grant_type: 'client_credentials' }),
  });
  const { access_token } = (await response.json()) as { access_token: string };
  const newProof = () =>
    prover.proof({ method: 'GET', url: pair.documents, accessToken: access_token });
  const use = async (proof: string, index: number) => {
    const { status } = await fetch(`${pair.resources[index]?.url}/documents/`, {
      headers: { authorization: `DPoP ${access_token}`, dpop: proof },
    });
    return status;
  };
  const used: string[] = [];
  return {
    async work() {
      const proof = await newProof();
      unlessRefused(await use(proof, server()), [200], 'a proof');
      used.push(proof);
      return ['proofs'];
    },
    async keeps() {
      assert.equal(await use(await newProof(), server()), 200, 'a fresh proof does not pass');
    },
    async refuses() {
      for (const proof of used) {
        for (const index of pair.resources.keys()) {
          assert.equal(await use(proof, index), 401, 'a spent proof passes again');
        }
      }
    },
  };
}

/** RFC 9700 section 4.14.2: codes and refresh tokens that were used are refused, and the newest are not. */
function rotating(flow: Flow, app: App, person: Person, server: () => number): Part {
  let browser: TestBrowser | undefined;
  const codes: string[] = [];
  const spent: string[] = [];
  const newest: string[] = [];
  return {
    refused: () => (browser = undefined),
    async work() {
      browser ??= await signedIn(flow, person);
      const there = alsoAt(flow, browser, server());
      const sent = await app.allow(there);
      browser.plant(there);
      if (sent.get('error') === 'temporarily_unavailable') throw new Refused('a code');
      const code = sent.get('code') ?? '';
      assert.notEqual(code, '', `no code: ${sent.toString()}`);
      let { refresh } = tokensIn(await app.redeem(code, {}, {}, server()));
      codes.push(code);
      const done: Kind[] = ['codes'];
      for (let rotation = 0; rotation < ROTATIONS; rotation += 1) {
        const answer = await app.refresh(refresh, {}, {}, server());
        // What became of the token nobody knows.
        if (answer.status === 503) return done;
        spent.push(refresh);
        ({ refresh } = tokensIn(answer));
        done.push('rotations');
      }
      newest.push(refresh);
      return done;
    },
    async keeps() {
      for (const token of newest) {
        const { status, body } = await app.refresh(token, {}, {}, server());
        assert.equal(status, 200, `the newest refresh token is lost: ${JSON.stringify(body)}`);
      }
    },
    async refuses() {
      for (const token of [...spent, ...newest]) {
        const { status } = await app.refresh(token, {}, {}, server());
        assert.equal(status, 400, 'a rotation is undone');
      }
      for (const code of codes) {
        const { status } = await app.redeem(code, {}, {}, server());
        assert.equal(status, 400, 'a code is good again');
      }
    },
  };
}

/** RFC 8628 section 3.5: a device code that was redeemed is refused. */
function approving(flow: Flow, client: string, person: Person, server: () => number): Part {
  let browser: TestBrowser | undefined;
  const redeemed: string[] = [];
  const redeem = (device_code: string) => {
    const form = { grant_type: DEVICE_CODE, client_id: client, device_code };
    return post(flow, '/token', form, {}, server());
  };
  return {
    refused: () => (browser = undefined),
    async work() {
      browser ??= await signedIn(flow, person);
      const form = { client_id: client, scope: 'documents:read' };
      const asked = await post(flow, '/device/auth', form, {}, server());
      unlessRefused(asked.status, [200], 'a device');
      const { device_code, user_code } = asked.body;
      const there = alsoAt(flow, browser, server());
      const page = await there.open(`/device?user_code=${String(user_code)}`);
      unlessRefused(page.status, [200], page.text);
      const decided = await there.submit(page, { decision: 'allow' }, '/device');
      unlessRefused(decided.status, [200], decided.text);
      browser.plant(there);
      tokensIn(await redeem(String(device_code)));
      redeemed.push(String(device_code));
      return ['devices'];
    },
    keeps: async () => {},
    async refuses() {
      for (const code of redeemed) {
        assert.equal((await redeem(code)).status, 400, 'a device code is good again');
      }
    },
  };
}
