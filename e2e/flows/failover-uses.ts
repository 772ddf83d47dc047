/**
 * Uses of the servers during an outage of Redis's master, and checks of their promises. Throws
 * AssertionError.
 */
import assert from 'node:assert/strict';
import { randomInt, randomUUID } from 'node:crypto';
import { dpopProver } from '../setup/dpop-prover.ts';
import type { TestBrowser } from '../../authz-server/integration/browser.fixture.ts';
import type { Person } from '../pair/pair.ts';
import { getAll } from './flow.ts';
import type { Client, Flow } from './flow.ts';
import { alsoAt, newPerson, post, signedIn, tokensIn } from './person.ts';
import type { App } from './person.ts';

/** The length of each chain of refresh tokens. */
const ROTATIONS = 5;
/** Grants per person, fewer than the limit. */
const GRANTS = 40;
const DEVICE_CODE = 'urn:ietf:params:oauth:grant-type:device_code';

/** The kinds of writes that can be acknowledged. */
export type Kind =
  | 'changes'
  | 'revocations'
  | 'documents'
  | 'proofs'
  | 'codes'
  | 'rotations'
  | 'devices';

/** One kind of use. */
export interface Part {
  /** Runs the use once; resolves to the acknowledged writes. */
  work(): Promise<readonly Kind[]>;
  /** Called after a refusal halfway: the session that the request was to replace may have ended. */
  refused?(): void;
  /** Asserts that no acknowledged write is lost. */
  keeps(): Promise<void>;
  /** Asserts that nothing that was used or revoked is valid again. May revoke what `keeps` checks. */
  refuses(): Promise<void>;
}

/** The state of a document: its content; undefined if there is none. */
type State = string | undefined;

/** The error for an answer 503. */
export class Refused extends Error {}

/** Throws `Refused` for 503, and AssertionError for any other status that is not in `wanted`. */
export function unlessRefused(status: number, wanted: readonly number[], what: string): void {
  if (status === 503) throw new Refused(what);
  assert.ok(wanted.includes(status), `${what}: ${status}`);
}

/** Revoked tokens are refused, and other tokens are accepted. */
export async function revoking(
  { pair }: Flow,
  client: Client,
  server: () => number,
): Promise<Part> {
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
      await getAll(pair, token);
      const { status } = await pair.post('/token/revocation', { token }, client, server());
      unlessRefused(status, [200], 'a revocation');
      revoked.push(token);
      const answers = await getAll(pair, token);
      assert.ok(!answers.includes(200), 'a token passes right after its revocation');
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

/** A document has its last acknowledged state, or the state of a later write without an answer. */
export function writing({ pair }: Flow, path: string, token: string, server: () => number): Part {
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

/** RFC 9449 section 11.1: an accepted proof is refused at every server afterwards. */
export async function proving({ pair }: Flow, client: Client, server: () => number): Promise<Part> {
  const prover = await dpopProver();
  const dpop = await prover.proof({ method: 'POST', url: `${pair.issuer}/token` });
  const response = await fetch(`${pair.authz[0]?.url}/token`, {
    method: 'POST',
    headers: { authorization: `Basic ${btoa(`${client.id}:${client.secret}`)}`, dpop },
    body: new URLSearchParams({ grant_type: 'client_credentials' }),
  });
  const { access_token } = (await response.json()) as { access_token: string };
  let nonce: string | undefined;
  const newProof = () =>
    prover.proof({ method: 'GET', url: pair.documents, accessToken: access_token, nonce });
  const use = async (proof: string, index: number) => {
    const { status, headers } = await fetch(`${pair.resources[index]?.url}/documents/`, {
      headers: { authorization: `DPoP ${access_token}`, dpop: proof },
    });
    const given = headers.get('dpop-nonce');
    if (given !== null) nonce = given;
    return { proof, status, wantsNonce: given !== null };
  };
  /**
   * RFC 9449 section 9: sends a nonce, because without it the next master, which is empty, could not
   * recognize a used proof.
   */
  const useNew = async () => {
    const used = await use(await newProof(), server());
    return used.wantsNonce ? use(await newProof(), server()) : used;
  };
  const used: string[] = [];
  return {
    async work() {
      const { proof, status } = await useNew();
      unlessRefused(status, [200], 'a proof');
      used.push(proof);
      return ['proofs'];
    },
    async keeps() {
      assert.equal((await useNew()).status, 200, 'a fresh proof does not pass');
    },
    async refuses() {
      for (const proof of used) {
        for (const index of pair.resources.keys()) {
          const { status } = await use(proof, index);
          assert.equal(status, 401, 'a spent proof passes again');
        }
      }
    },
  };
}

/** RFC 9700 section 4.14.2: used codes and refresh tokens are refused, and the newest are accepted. */
export function rotating(flow: Flow, app: App, server: () => number): Part {
  let person: Person | undefined;
  let browser: TestBrowser | undefined;
  let began = 0;
  const codes: string[] = [];
  const spent: string[] = [];
  const newest: string[] = [];
  return {
    refused: () => (browser = undefined),
    async work() {
      // A person keeps a limited number of grants; beyond it, the grants that expire soonest are dropped.
      if (person === undefined || began % GRANTS === 0) {
        person = await newPerson(flow).catch((cause: unknown) => {
          throw new Refused(`a person: ${String(cause)}`);
        });
        browser = undefined;
      }
      began += 1;
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
        // It is unknown whether the token was used.
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

/** RFC 8628 section 3.5: a redeemed device code is refused. */
export function approving(flow: Flow, client: string, person: Person, server: () => number): Part {
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
