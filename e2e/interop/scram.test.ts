/** @needs gsasl */
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { getHTTPSCRAMAuth } from 'gel/dist/httpScram.js';
import { cryptoUtils } from 'gel/dist/nodeCrypto.js';
import { request } from 'undici';
import { parseChallenges, parseParams, valueOf } from '../clients/digest/challenges.ts';
import { run } from '../clients/digest/exchange.ts';
import type { ScramHash } from '../clients/scram/keys.ts';
import { scramClient } from '../clients/scram/scram-client.ts';
import type { Leg } from '../clients/scram/scram-client.ts';
import { ONE_STORE } from '../flows/flow.ts';
import { ALICE, identity, JASON, startSite } from './site.ts';
import type { Site } from './site.ts';

/** SCRAM (RFC 7804) with GNU SASL, with Gel's client, and with a client written only from the RFCs. */
const HASHES: readonly ScramHash[] = ['SHA-256', 'SHA-1'];
const WRONG = { ...ALICE, password: 'wrong' };
const NOBODY = { ...ALICE, name: 'nobody' };

interface Gsasl extends Disposable {
  /** Returns the client's next message in base64; undefined if the client gives up. */
  say(message?: string): Promise<string | undefined>;
  /** Whether the server has proved itself by its last message. */
  believes(message: string): Promise<boolean>;
}

/** Starts GNU SASL as the client of one exchange. */
function startGsasl(hash: ScramHash, { name, password }: typeof ALICE): Gsasl {
  const who = ['--authentication-id', name, '--password', password];
  const mechanism = ['--mechanism', `SCRAM-${hash}`, '--no-cb'];
  const child = spawn('gsasl', ['--client', '--quiet', ...mechanism, ...who], {
    env: { PATH: process.env['PATH'], LC_ALL: 'C.UTF-8' },
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  const exit = new Promise<number | null>((resolve) => child.on('close', resolve));
  child.stdin.on('error', () => undefined); // the process may have ended
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
  return {
    async say(message) {
      if (message !== undefined) child.stdin.write(`${message}\n`);
      for (;;) {
        const line = await lines.next();
        if (line.done === true) return undefined;
        if (/^[A-Za-z0-9+/]{20,}=*$/.test(line.value)) return line.value;
      }
    },
    async believes(message) {
      // The server's last message is empty here, and the client's only answer is an empty one.
      child.stdin.end(`${message}\n\n`);
      return (await exit) === 0;
    },
    [Symbol.dispose]: () => void child.kill(),
  };
}

/** Carries the mechanism's messages in the fields of RFC 7804; resolves to the last answer. */
async function gsasl(url: string, hash: ScramHash, person: typeof ALICE) {
  using client = startGsasl(hash, person);
  const send = async (params: string) => {
    const authorization = `SCRAM-${hash} ${params}`;
    const { statusCode, headers, body } = await request(url, { headers: { authorization } });
    return { status: statusCode, headers, body: await body.text() };
  };
  const first = await send(`data="${await client.say()}"`);
  const [challenge] = parseChallenges([String(first.headers['www-authenticate'])]);
  const [sid, data] = [
    valueOf(challenge?.params ?? [], 'sid'),
    valueOf(challenge?.params ?? [], 'data'),
  ];
  const final = await send(`sid=${sid}, data="${await client.say(data)}"`);
  const info = parseParams([String(final.headers['authentication-info'] ?? '')]);
  const proof = valueOf(info, 'data');
  const proved = proof !== undefined && (await client.believes(proof));
  return { first: first.status, status: final.status, body: final.body, proved };
}

describe.each(ONE_STORE)('on %s', (kind) => {
  let site: Site;
  beforeAll(async () => {
    site = await startSite(kind, { resource: 2 });
  });
  afterAll(async () => site[Symbol.asyncDispose]());

  describe.each(HASHES)('SCRAM-%s', (hash) => {
    const space = `scram-${hash.toLowerCase()}`;
    const scheme = `SCRAM-${hash}`;

    describe('GNU SASL', () => {
      test.each([ALICE, JASON])(
        '$name and the server prove themselves to each other',
        async (person) => {
          const answer = await gsasl(site.url(space), hash, person);
          const body = identity(scheme, space, person);
          expect(answer).toEqual({ first: 401, status: 200, body, proved: true });
        },
      );

      test.each([WRONG, NOBODY])('$name with $password is refused', async (person) => {
        const answer = await gsasl(site.url(space), hash, person);
        expect(answer).toMatchObject({ first: 401, status: 401, proved: false });
      });
    });

    describe('a client written only from the RFCs', () => {
      /** A client that sends its requests alternately to both servers, and the number of its messages. */
      const clientOf = ({ name, password }: typeof ALICE, unprompted = false) => {
        const legs: Leg[] = [];
        const client = scramClient({
          hash,
          username: name,
          password,
          unprompted,
          prepare: (leg, message) => (legs.push(leg), message),
        });
        const send = site.inTurn();
        const ask = async (method = 'GET', content = '') => {
          const target = site.path(space);
          const asked = { method, target, fields: [], content: Buffer.from(content) };
          const { status, content: body } = await run(client.exchange(asked), send);
          return { status, body: body.toString() };
        };
        return { ask, legs };
      };

      test.each([ALICE, JASON])(
        '$name is admitted with each message at another server',
        async (person) => {
          for (const unprompted of [false, true]) {
            const { ask, legs } = clientOf(person, unprompted);
            const body = identity(scheme, space, person);
            expect(await ask()).toEqual({ status: 200, body });
            expect(legs).toEqual(['first', 'final']);
          }
        },
      );

      test('section 5.1: reauthenticates in one round trip, with another count each time', async () => {
        const { ask, legs } = clientOf(ALICE);
        const body = identity(scheme, space);
        for (const [method, content] of [
          ['GET', ''],
          ['POST', 'content'],
          ['GET', ''],
          ['POST', ''],
        ]) {
          expect(await ask(method, content)).toEqual({ status: 200, body });
        }
        expect(legs).toEqual(['first', 'final', 'again', 'again', 'again']);
      });

      test.each([WRONG, NOBODY])(
        '$name with $password is refused after the last message',
        async (person) => {
          const { ask, legs } = clientOf(person);
          expect(await ask()).toMatchObject({ status: 401 });
          expect(legs).toEqual(['first', 'final']);
        },
      );
    });
  });

  describe('Gel, which knows SCRAM-SHA-256 only', () => {
    const gel = getHTTPSCRAMAuth(cryptoUtils);
    /** Gel adds its own endpoint's path, which is a query here. */
    const ask = ({ name, password }: typeof ALICE, space = 'scram-sha-256') =>
      gel(`${site.url(space)}?`, name, password);

    test('a person and the server prove themselves to each other', async () => {
      expect(await ask(JASON)).toBe(identity('SCRAM-SHA-256', 'scram-sha-256', JASON));
    });

    test('a wrong password is refused', async () => {
      await expect(ask(WRONG)).rejects.toThrow('authentication failed');
    });

    test('if only SCRAM-SHA-1 is offered, Gel stops and reports another scheme', async () => {
      await expect(ask(ALICE, 'scram-sha-1')).rejects.toThrow('unsupported authentication scheme');
    });
  });
});
