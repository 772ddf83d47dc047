import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { valueOf } from './digest/challenges.ts';
import type { Param } from './digest/challenges.ts';
import { digestClient } from './digest/digest-client.ts';
import type { DigestOptions } from './digest/digest-client.ts';
import { run, valuesOf } from './digest/exchange.ts';
import type { HttpRequest, HttpResponse } from './digest/exchange.ts';
import { ONE_STORE } from '../flows/flow.ts';
import { ALICE, identity, JASON, startSite } from '../interop/site.ts';
import type { Site } from '../interop/site.ts';

/**
 * Parts of Digest (RFC 7616) that few clients support, with a client written from the RFC alone. The client
 * refuses a success without the right rspauth, and sends alternately to two servers.
 */
const ALGORITHMS = [
  'SHA-512-256',
  'SHA-512-256-sess',
  'SHA-256',
  'SHA-256-sess',
  'MD5',
  'MD5-sess',
] as const;
const QOP = ['auth', 'auth-int'] as const;

const SPACES = {
  every: { schemes: ['Digest'], digest: { algorithms: ALGORITHMS, qop: QOP } },
  userhash: { schemes: ['Digest'], digest: { algorithms: ALGORITHMS, qop: QOP, userhash: true } },
  'auth-int': { schemes: ['Digest'], digest: { qop: ['auth-int'] } },
  documents: {
    schemes: ['Digest'],
    digest: { algorithms: ['SHA-256', 'SHA-512-256-sess'], qop: ['auth-int'] },
    serves: 'documents',
  },
};

const WRONG = { ...ALICE, password: 'wrong' };

/** Longer than the content that either side keeps in memory. */
const LONG = randomBytes(3 * 1024 * 1024);

interface Options extends Omit<DigestOptions, 'username' | 'password'> {
  /** Changes a request between client and server. */
  readonly onTheWay?: (request: HttpRequest) => HttpRequest;
}

type Asking = Partial<Omit<HttpRequest, 'target'>> & { readonly path?: string };

describe.each(ONE_STORE)('on %s', (kind) => {
  let site: Site;
  beforeAll(async () => {
    site = await startSite(kind, { spaces: SPACES, resource: 2 });
  });
  afterAll(async () => site[Symbol.asyncDispose]());

  /** A client of one space, its sent parameters, and the received statuses. */
  function clientOf(space: string, { name, password }: typeof ALICE, options: Options = {}) {
    const { onTheWay = (request) => request, ...how } = options;
    const sent: (readonly Param[])[] = [];
    const statuses: number[] = [];
    const tamper = (params: readonly Param[]) => (sent.push(params), params);
    const client = digestClient({ username: name, password, ...how, tamper });
    const send = site.inTurn();
    async function ask({ path = '', ...asking }: Asking = {}): Promise<HttpResponse> {
      const target = site.path(space) + path;
      const request = { method: 'GET', fields: [], content: Buffer.alloc(0), ...asking };
      return run(client.exchange({ ...request, target }), async (one) => {
        const response = await send(onTheWay(one));
        statuses.push(response.status);
        return response;
      });
    }
    /** Returns a parameter of the client's last credentials. */
    const said = (param: string) => valueOf(sent.at(-1) ?? [], param);
    return { ask, said, statuses };
  }

  describe.each(ALGORITHMS)('section 3.7: %s', (algorithm) => {
    test.each(QOP)('%s: one challenge is enough for GET, POST and HEAD', async (qop) => {
      const { ask, said, statuses } = clientOf('every', ALICE, { algorithm, qop });
      const body = identity('Digest', 'every');
      expect(String((await ask()).content)).toBe(body);
      const post = await ask({ method: 'POST', content: Buffer.from('some content') });
      expect(String(post.content)).toBe(body);
      await ask({ method: 'HEAD', path: '?a=b%20c' });
      expect(statuses).toEqual([401, 200, 200, 200]);
      expect([said('nc'), said('qop'), said('algorithm')]).toEqual(['00000003', qop, algorithm]);
    });

    test('section 3.4.4: a hashed name is admitted', async () => {
      const { ask, said } = clientOf('userhash', JASON, { algorithm });
      expect(String((await ask()).content)).toBe(identity('Digest', 'userhash', JASON));
      expect(said('userhash')).toBe('true');
      expect(said('username')).toMatch(/^[0-9a-f]+$/);
    });

    test('a wrong password, an unknown name and an unknown hash get 401', async () => {
      for (const [space, person] of [
        ['every', WRONG],
        ['every', { ...ALICE, name: 'nobody' }],
        ['userhash', { ...ALICE, name: 'nobody' }],
      ] as const) {
        const { ask, statuses } = clientOf(space, person, { algorithm });
        await ask();
        expect(statuses).toEqual([401, 401]);
      }
    });
  });

  test('section 3.4: a name outside ASCII is admitted as username*', async () => {
    for (const space of ['every', 'userhash']) {
      const { ask, said } = clientOf(space, JASON, { userhash: false });
      expect(String((await ask()).content)).toBe(identity('Digest', space, JASON));
      expect(said('username*')).toBe("UTF-8''j%C3%A4s%C3%B8n");
    }
  });

  test('section 3.4: requests with one nonce at once at two servers are admitted', async () => {
    const { ask, statuses } = clientOf('every', ALICE);
    await ask();
    const answers = await Promise.all(Array.from({ length: 20 }, () => ask()));
    expect(answers.every(({ status }) => status === 200)).toBe(true);
    expect(statuses.filter((status) => status === 401)).toHaveLength(1);
  });

  describe('section 3.4.3: auth-int protects what is sent', () => {
    test.each([
      ['content that was hashed as none', ''],
      ['other content than was hashed', 'other content'],
    ])('%s gets 401', async (_what, hashed) => {
      const content = Buffer.from('some content');
      const onTheWay = (request: HttpRequest) => ({ ...request, content });
      const { ask, statuses } = clientOf('auth-int', ALICE, { onTheWay });
      await ask({ method: 'POST', content: Buffer.from(hashed) });
      expect(statuses).toEqual([401, 401]);
    });

    test.each(['auth', undefined])('qop %s gets 401 if only auth-int was offered', async (qop) => {
      const { ask, statuses } = clientOf('auth-int', ALICE, {
        prepare: (claims) => ({ ...claims, qop }),
      });
      await ask();
      expect(statuses).toEqual([401, 401]);
    });
  });

  describe('section 3.5: rspauth over documents', () => {
    const put = (path: string, content: Buffer): Asking => ({
      method: 'PUT',
      path,
      content,
      fields: [['Content-Type', 'application/octet-stream']],
    });
    const infoIn = (fields: HttpResponse['fields']) => valuesOf(fields, 'Authentication-Info');

    test.each(['SHA-256', 'SHA-512-256-sess'] as const)(
      '%s has a right rspauth',
      async (algorithm) => {
        const { ask, statuses } = clientOf('documents', ALICE, { algorithm });
        const [short, long] = [`short-${algorithm}`, `long-${algorithm}`];
        await ask(put(short, Buffer.from('some words')));
        await ask(put(long, LONG));
        expect(statuses).toEqual([401, 201, 201]);

        const inField = await ask({ path: short });
        expect(String(inField.content)).toBe('some words');
        expect(infoIn(inField.fields)).toHaveLength(1);
        expect(infoIn(inField.trailers)).toHaveLength(0);

        const inTrailer = await ask({ path: long, fields: [['TE', 'trailers']] });
        expect(inTrailer.content.equals(LONG)).toBe(true);
        expect(infoIn(inTrailer.fields)).toHaveLength(0);
        expect(infoIn(inTrailer.trailers)).toHaveLength(1);

        const head = await ask({ method: 'HEAD', path: long });
        expect(head).toMatchObject({ status: 200, content: Buffer.alloc(0) });
        expect(await ask({ path: 'missing' })).toMatchObject({ status: 404 });
        expect(await ask({ method: 'DELETE', path: long })).toMatchObject({ status: 204 });
        expect(statuses.filter((status) => status === 401)).toHaveLength(1);
      },
    );

    test('content that was changed in transit is not stored, and its refusal has no proof', async () => {
      const changed = Buffer.from(LONG);
      changed[changed.length - 1] = (changed.at(-1) ?? 0) ^ 1;
      const changing = clientOf('documents', ALICE, {
        onTheWay: (request) => ({ ...request, content: changed }),
      });
      const answer = await changing.ask(put('changed', LONG));
      expect(changing.statuses).toEqual([401, 401]);
      expect(infoIn(answer.fields)).toHaveLength(0);
      const { status } = await clientOf('documents', ALICE).ask({ path: 'changed' });
      expect(status).toBe(404);
    });
  });
});
