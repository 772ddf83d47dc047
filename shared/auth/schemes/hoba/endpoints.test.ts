import { createPublicKey, generateKeyPairSync } from 'node:crypto';
import { beforeEach, describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { BY_PASSWORD, BY_SECOND_FACTOR } from '#shared/people/access/assurance.ts';
import { HttpError } from '#shared/http/answer.ts';
import { BadRequest } from '#shared/http/fields.ts';
import {
  ALICE,
  authorized,
  BOB,
  type ClientKey,
  clientKey,
  ORIGIN,
  OTHER,
  requestTo,
  resultOf,
  twoHobaProcesses,
} from './hoba.fixture.ts';
import { signedIn } from './signed-in.fixture.ts';

let all: Awaited<ReturnType<typeof twoHobaProcesses>>;
beforeEach(async () => {
  all = await twoHobaProcesses();
});

const FORM: readonly [string, string] = ['Content-Type', 'application/x-www-form-urlencoded'];
const request = requestTo(ORIGIN);

/** Returns the secret of a new link. */
async function invited(person = BOB.id, origin = ORIGIN, assurance = BY_PASSWORD) {
  const who = await signedIn(all.here.access, person, assurance);
  return new URL(await all.here.invitations.invite(who, origin)).hash.slice(1);
}

const fresh = async (at = request) => String((await all.here.post('getchal', at))?.body);

type Form = Readonly<Record<string, string>>;

interface Registering {
  readonly key?: ClientKey;
  readonly origin?: string;
  /** Replaces the right credentials; undefined: the request has the right credentials. */
  readonly fields?: readonly (readonly [string, string])[];
}

/** Sends a right registration, changed as `form` and the options say; resolves to the answer's status and fields. */
async function register(
  form: Form,
  { key = clientKey(1), origin = ORIGIN, fields }: Registering = {},
) {
  const at = requestTo(origin);
  const result = resultOf(key, await fresh(at), {
    origin: `${origin}${new URL(origin).port ? '' : ':443'}`,
  });
  const sent = requestTo(origin, fields ?? [FORM, authorized(result)]);
  return posted('register', sent, new URLSearchParams(form).toString());
}

async function posted(name: string, sent = request, content = '', server = all.here) {
  try {
    return (await server.post(name, sent, content)) ?? { status: 0, fields: {} };
  } catch (error) {
    if (error instanceof BadRequest) return { status: 400, fields: {} };
    if (error instanceof HttpError) return { status: error.status, fields: error.fields };
    throw error;
  }
}

const complete = async (key = clientKey(1)) => ({
  pub: key.pem,
  kidtype: '0',
  kid: key.kid,
  didtype: '0',
  did: 'Phöne',
  secret: await invited(),
});

const kept = (key = clientKey(1)) => all.there.stores.publicKeys.get(key.kid);

describe('register (RFC 7486 section 6.1)', () => {
  test('a link of a person and a signature of the key register the key for the person, at that origin', async () => {
    const answer = await register(await complete());
    expect(answer).toMatchObject({ status: 200, fields: { Hobareg: 'regok' }, body: 'bob' });
    const { kid, spki } = clientKey(1);
    expect(await kept()).toEqual({
      id: kid,
      scheme: 'HOBA',
      owner: { kind: 'person', id: BOB.id },
      spki: spki.toString('base64url'),
      name: 'Phöne',
      origin: ORIGIN,
      acr: BY_PASSWORD.acr,
      created_at: all.clock.now(),
    });
  });

  test('the stored key shows how the person had signed in when they asked for the link', async () => {
    const secret = await invited(BOB.id, ORIGIN, BY_SECOND_FACTOR);
    expect(await register({ pub: clientKey(1).pem, secret })).toMatchObject({ status: 200 });
    expect(await kept()).toMatchObject({ acr: BY_SECOND_FACTOR.acr });
  });

  test('only `pub` is required, and a missing kind of kid means the hash of the key', async () => {
    const { pub, secret } = await complete();
    expect(await register({ pub, secret })).toMatchObject({ status: 200 });
    expect(await kept()).toMatchObject({ name: 'A device' });
  });

  test.each([
    ['no secret', async () => undefined],
    ['an empty secret', async () => ''],
    ['a secret that was never issued', async () => 'A'.repeat(22)],
    ['a secret of another origin', async () => invited(BOB.id, OTHER)],
    ['a secret of a removed person', async () => invited('nobody')],
    [
      'a used secret',
      async () => {
        const secret = await invited();
        await register({ pub: clientKey(2).pem, secret }, { key: clientKey(2) });
        return secret;
      },
    ],
    [
      'a secret that is ten minutes old',
      async () => {
        const secret = await invited();
        all.clock.advance(600);
        return secret;
      },
    ],
  ])('%s: 403, and no key is registered', async (_, secretOf) => {
    const { secret: _own, ...form } = await complete();
    const secret = await secretOf();
    const answer = await register(secret === undefined ? form : { ...form, secret });
    expect(answer).toMatchObject({ status: 403 });
    expect(answer.fields).not.toHaveProperty('Hobareg');
    expect(await kept()).toBeUndefined();
  });

  test('without a signature of the key the answer is 401 with a challenge, and the link stays valid', async () => {
    const form = await complete();
    const other = resultOf(clientKey(2), await fresh());
    const posing = resultOf(clientKey(2), await fresh(), { kid: clientKey(1).kid });
    for (const fields of [
      [],
      [authorized(other)],
      [authorized(posing)],
      [['Authorization', 'Basic YTpi'] as const],
    ]) {
      expect(await register(form, { fields: [FORM, ...fields] })).toMatchObject({
        status: 401,
        fields: {
          'WWW-Authenticate': expect.stringMatching(/^HOBA challenge="[\w-]{51}", max-age="0"$/),
        },
      });
    }
    expect(await kept()).toBeUndefined();
    expect(await register(form)).toMatchObject({ status: 200 });
  });

  test('a used signature and malformed credentials are refused', async () => {
    const result = resultOf(clientKey(1), await fresh());
    const fields = [FORM, authorized(result)];
    expect(await register(await complete(), { fields })).toMatchObject({ status: 200 });
    await all.here.stores.publicKeys.remove(clientKey(1).kid);
    expect(await register(await complete(), { fields })).toMatchObject({ status: 401 });
    for (const value of ['HOBA result="', 'HOBA result=a, result=b', ',']) {
      const malformed = await register(await complete(), {
        fields: [FORM, ['Authorization', value]],
      });
      expect(malformed).toMatchObject({ status: 401 });
    }
  });

  test('one of ten requests at the same time with one link, at two processes, registers a key', async () => {
    const secret = await invited();
    const keys = Array.from({ length: 10 }, (_, n) => clientKey(n + 1));
    const answers = await Promise.all(
      keys.map(async (key, n) => {
        const sent = requestTo(ORIGIN, [FORM, authorized(resultOf(key, await fresh()))]);
        const form = new URLSearchParams({ pub: key.pem, secret }).toString();
        return posted('register', sent, form, n % 2 ? all.here : all.there);
      }),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    const owned = await all.here.stores.publicKeys.of({ kind: 'person', id: BOB.id });
    expect(owned).toHaveLength(1);
  });

  test('a key that is already registered for any person gets 409, and keeps its owner', async () => {
    const key = clientKey();
    expect(await register({ pub: key.pem, secret: await invited() }, { key })).toMatchObject({
      status: 409,
    });
    expect(await kept(key)).toMatchObject({ owner: { id: ALICE.id } });
  });

  test('a key of a client of the authorization server gets 409', async () => {
    const jwk = createPublicKey(clientKey(1).pem).export({ format: 'jwk' });
    const client = { client_id: 'c', client_name: 'C', created_at: 0, jwks: { keys: [jwk] } };
    await all.here.stores.clients.add(client as never);
    expect(await register(await complete())).toMatchObject({ status: 409 });
    expect(await kept()).toBeUndefined();
  });

  test('a person may have twenty keys at most', async () => {
    const owner = { kind: 'person', id: BOB.id } as const;
    for (let n = 0; n < 20; n += 1) {
      await all.here.stores.publicKeys.add(
        { id: `k${n}`, scheme: 'Concealed', owner, spki: '', name: 'x', created_at: n },
        20,
      );
    }
    expect(await register(await complete())).toMatchObject({ status: 409 });
    await all.here.stores.publicKeys.remove('k0');
    expect(await register(await complete())).toMatchObject({ status: 200 });
  });

  const publicPem = (type: 'rsa' | 'rsa-pss', modulusLength: number) =>
    generateKeyPairSync(type as 'rsa', { modulusLength }).publicKey.export({
      type: 'spki',
      format: 'pem',
    });
  const privatePem = () => clientKey(1).privateKey.export({ type: 'pkcs8', format: 'pem' });
  const ecPem = () =>
    generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey.export({
      type: 'spki',
      format: 'pem',
    });

  /** Sends this form with right credentials. */
  async function registerForm(form: URLSearchParams) {
    const sent = requestTo(ORIGIN, [FORM, authorized(resultOf(clientKey(1), await fresh()))]);
    return posted('register', sent, form.toString());
  }

  test.each<[string, () => Readonly<Record<string, string>>]>([
    ['no key', () => ({ pub: '' })],
    ['text', () => ({ pub: 'key' })],
    ['a frame', () => ({ pub: '-----BEGIN PUBLIC KEY-----\n-----END PUBLIC KEY-----' })],
    ['a private key', () => ({ pub: privatePem() })],
    ['two keys', () => ({ pub: clientKey(1).pem + clientKey(2).pem })],
    ['a key that is cut off', () => ({ pub: clientKey(1).pem.replace(/.{40}\n/, '\n') })],
    ['RSA of 1024 bits', () => ({ pub: publicPem('rsa', 1024) })],
    ['RSA for PSS', () => ({ pub: publicPem('rsa-pss', 2008) })],
    ['a curve', () => ({ pub: ecPem() })],
    ['another kind of kid', () => ({ kidtype: '2' })],
    ['an empty kind of kid', () => ({ kidtype: '' })],
    ['a key in too many characters', () => ({ pub: clientKey(1).pem + ' '.repeat(4096) })],
    ['another kind of did', () => ({ didtype: '1' })],
    ['the kid of another key', () => ({ kid: clientKey(2).kid })],
    ['an empty kid', () => ({ kid: '' })],
    ['no name', () => ({ did: '' })],
    ['an invisible name', () => ({ did: 'a\u202eb' })],
    ['a long name', () => ({ did: 'a'.repeat(101) })],
  ])('%s: the answer is 422, and the link stays valid', async (_, more) => {
    const form = await complete();
    const changed = new URLSearchParams({ ...form, ...more() });
    expect(await registerForm(changed)).toMatchObject({ status: 422 });
    expect(await register(form)).toMatchObject({ status: 200 });
  });

  test.each(['pub', 'kid', 'did', 'secret', 'other'])(
    'a form with two fields %s gets 400',
    async (name) => {
      const form = new URLSearchParams(await complete());
      form.append(name, 'a');
      form.append(name, 'a');
      expect(await registerForm(form)).toMatchObject({ status: 400 });
      expect(await kept()).toBeUndefined();
    },
  );

  test('a form of more than 16 KiB gets 413, before its fields are parsed', async () => {
    const names = (length: number) => Array.from({ length }, (_, n) => n.toString(36)).join('&');
    const sent = (length: number) => posted('register', requestTo(ORIGIN, [FORM]), names(length));
    expect(await sent(4000)).toMatchObject({ status: 403 });
    expect(await sent(300_000)).toMatchObject({ status: 413 });
  });

  test.each([
    ['none', undefined],
    ['another', 'application/json'],
    ['another charset', 'application/x-www-form-urlencoded; charset=latin1'],
    ['several parts', 'multipart/form-data; boundary=a'],
  ])('the media type %s is 415', async (_, type) => {
    const fields = type === undefined ? [] : [['Content-Type', type] as const];
    expect(await register(await complete(), { fields })).toMatchObject({ status: 415 });
  });

  test('any invalid content is refused', async () => {
    const names = ['pub', 'kid', 'kidtype', 'did', 'didtype', 'secret', 'constructor'];
    const form = fc
      .array(fc.tuple(fc.constantFrom(...names), fc.string({ unit: 'grapheme' })))
      .map((entries) => Buffer.from(new URLSearchParams(entries).toString()));
    const content = fc.oneof(
      form,
      fc.uint8Array().map((bytes) => Buffer.from(bytes)),
    );
    await fc.assert(
      fc.asyncProperty(content, async (bytes) => {
        const { status } = await posted(
          'register',
          requestTo(ORIGIN, [FORM]),
          bytes.toString('latin1'),
        );
        expect([400, 401, 403, 422]).toContain(status);
      }),
    );
  });
});

describe('getchal (RFC 7486 section 6.4)', () => {
  test('the content of the response is a new challenge for this origin', async () => {
    const answer = await all.here.post('getchal', request);
    const challenge = String(answer?.body);
    expect(answer).toMatchObject({
      status: 200,
      fields: {
        'Content-Type': 'text/plain',
        'Cache-Control': 'no-store',
        'WWW-Authenticate': `HOBA challenge="${challenge}", max-age="0"`,
      },
    });
    expect(all.there.challenges.madeAt(challenge, ORIGIN)).toBe(all.clock.now());
    expect(await fresh()).not.toBe(challenge);
  });
});

describe('logout (RFC 7486 section 6.3)', () => {
  const signedOut = async () => {
    const result = resultOf(clientKey(), await fresh());
    return posted('logout', requestTo(ORIGIN, [authorized(result)]), '', all.there);
  };
  const visit = async (challenge: string, key = clientKey()) => {
    const params = { result: resultOf(key, challenge) };
    const verdict = await all.here
      .scheme()
      .authenticate({ scheme: 'hoba', rest: '', params }, request);
    return verdict.kind === 'refused' ? verdict.reason : verdict.kind;
  };

  test("after a logout every process refuses that key's earlier challenges, but accepts other keys", async () => {
    await all.add(clientKey(1), { owner: { kind: 'person', id: BOB.id } });
    const before = await fresh();
    expect(await visit(before)).toBe('granted');
    all.clock.advance(0.001);
    expect(await signedOut()).toMatchObject({ status: 204 });
    expect(await visit(before)).toBe('a challenge from before signing out');
    expect(await visit(before, clientKey(1))).toBe('granted');
    all.clock.advance(0.001);
    expect(await visit(await fresh())).toBe('granted');
  });

  test('logout needs a signature of the key, which is accepted once', async () => {
    expect(await posted('logout')).toMatchObject({ status: 401 });
    const stranger = resultOf(clientKey(1), await fresh(), { kid: clientKey().kid });
    const refused = await posted('logout', requestTo(ORIGIN, [authorized(stranger)]));
    expect(refused).toMatchObject({
      status: 401,
      fields: { 'WWW-Authenticate': expect.any(String) },
    });
    expect((await kept(clientKey()))?.signed_out_at).toBeUndefined();

    const sent = requestTo(ORIGIN, [authorized(resultOf(clientKey(), await fresh()))]);
    expect(await posted('logout', sent)).toMatchObject({ status: 204 });
    all.clock.advance(1);
    expect(await posted('logout', sent)).toMatchObject({ status: 401 });
    expect((await kept(clientKey()))?.signed_out_at).toBe(all.clock.now() - 1000);
  });
});

test('a client over the limit gets 429 with the time to wait', async () => {
  all = await twoHobaProcesses({ account: { burst: 1, per: 60 } });
  const wrong = async () => {
    const result = resultOf(clientKey(1), await fresh(), { kid: clientKey().kid });
    return posted('logout', requestTo(ORIGIN, [authorized(result)]));
  };
  expect(await wrong()).toMatchObject({ status: 401 });
  expect(await wrong()).toMatchObject({
    status: 429,
    fields: { 'Retry-After': expect.stringMatching(/^\d+$/) },
  });
});

test('each attempt with a key and without a link uses up the limit of the address, and leaves no row', async () => {
  all = await twoHobaProcesses({ account: { burst: 2, per: 60 } });
  const { replay } = all.here.stores;
  const written: string[] = [];
  const unique = replay.unique.bind(replay);
  Object.assign(replay, {
    unique: async (...sent: Parameters<typeof unique>) => {
      written.push(sent[1]);
      return unique(...sent);
    },
  });
  const form = { ...(await complete()), secret: 'A'.repeat(22) };
  const statuses: number[] = [];
  for (let n = 0; n < 4; n += 1) statuses.push((await register(form)).status);
  expect({ statuses, written }).toEqual({ statuses: [403, 403, 429, 429], written: [] });
});

test.each(['register', 'getchal', 'logout'])(
  'the endpoint %s answers 403 in clear text',
  async (name) => {
    const clear = requestTo(ORIGIN, [FORM], { confidential: false });
    expect(await posted(name, clear)).toMatchObject({ status: 403 });
  },
);
