import { beforeEach, describe, expect, jest, test } from '@jest/globals';
import { decodeJwt } from 'jose';
import { signedBy, type TestKey, testKey } from '#shared/gnap/client.fixture.ts';
import { keptJwk } from '#shared/jose/key-fingerprint.ts';
import { StoreUnavailable } from '#shared/stores/outage/unavailable.ts';
import {
  ask,
  BOTH,
  change,
  decide,
  deliver,
  errorOf,
  given,
  gnap,
  INACTIVE,
  isActive,
  MAILS,
  manage,
  nonce,
  open,
  pathOf,
  refOf,
  refusedWith,
  reopen,
  send,
  tenTimes,
  tokenOf,
} from './attacks.fixture.ts';
import { READ, REDIRECT, type Told } from './gnap.fixture.ts';

describe('RFC 9635 section 5.4: the end of a grant', () => {
  test('the end of a waiting request removes it and its page permanently', async () => {
    const asked = await ask({ ...READ, interact: REDIRECT });
    const browser = await gnap.flow.signedIn('alice');
    const page = await open(asked, browser);
    expect((await gnap.proceed(asked, undefined, 'DELETE')).status).toBe(204);
    expect((await decide(browser, page)).status).toBe(400);
    expect(await gnap.flow.grants('alice')).toBe(0);
    for (const method of ['DELETE', 'POST', 'PATCH']) {
      const json = method === 'PATCH' ? { ...READ, interact: REDIRECT } : undefined;
      expect(await gnap.proceed(asked, json, method)).toMatchObject(
        refusedWith('invalid_continuation'),
      );
    }
  });

  test('the end between the decision and the continuation removes the access that the person gave', async () => {
    const asked = await ask({ ...READ, interact: REDIRECT });
    const browser = await gnap.flow.signedIn('alice');
    const ref = refOf(await decide(browser, await open(asked, browser)));
    expect((await gnap.proceed(asked, undefined, 'DELETE')).status).toBe(204);
    expect(await gnap.flow.grants('alice')).toBe(0);
    expect(await gnap.proceed(asked, ref)).toMatchObject(refusedWith('invalid_continuation'));
  });

  test('the end of a grant removes its waiting change', async () => {
    const { told, browser } = await given();
    const asked = await gnap.proceed(told, { ...BOTH, interact: REDIRECT }, 'PATCH');
    const page = await open(asked, browser);
    expect((await gnap.proceed(asked, undefined, 'DELETE')).status).toBe(204);
    expect((await decide(browser, page)).status).toBe(400);
    expect(await isActive(tokenOf(told))).toEqual(INACTIVE);
    expect(await gnap.flow.grants('alice')).toBe(0);
    expect(await gnap.proceed(told)).toMatchObject(refusedWith('invalid_continuation'));
  });

  test('a client can end a token or a grant once, even if its limit cannot be read', async () => {
    const [{ told }, other] = [await given(), await given()];
    const silent = jest
      .spyOn(gnap.flow.authz.stores.limits, 'spend')
      .mockRejectedValue(new StoreUnavailable('Redis takes no writes'));
    expect((await manage(told)).status).toBe(503);
    expect((await manage(told, { method: 'DELETE' })).status).toBe(204);
    // The proof would only leave a row.
    expect((await manage(told, { method: 'DELETE' })).status).toBe(503);
    expect((await gnap.proceed(other.told, undefined, 'DELETE')).status).toBe(204);
    silent.mockRestore();
    for (const ended of [told, other.told]) {
      expect(await isActive(tokenOf(ended))).toEqual(INACTIVE);
    }
  });

  test('after the end of a grant no part of it can be managed', async () => {
    const { told } = await given();
    await gnap.proceed(told, undefined, 'DELETE');
    expect((await manage(told)).status).toBe(400);
    expect(await isActive(tokenOf(told))).toEqual(INACTIVE);
  });
});

describe('RFC 9635 section 6: management of tokens', () => {
  const machine = testKey('machine');
  beforeEach(async () => {
    const { byValue: key } = machine;
    await gnap.register(machine, { gnap: { key, bearer: true } });
  });
  const own = (body: object = BOTH) => ask(body, machine);
  const next = testKey('next', 'ES256');

  /** Returns several signatures of one request for a rotation, by key and tag. */
  function signed(
    told: Told,
    json: object,
    ...by: readonly (readonly [TestKey, string, (readonly string[])?])[]
  ) {
    const url = told.body.access_token.manage.uri;
    const token = told.body.access_token.manage.access_token.value;
    const all = by.map(([key, tag, covered]) =>
      signedBy(
        key,
        {
          method: 'POST',
          url,
          token,
          json,
          params: { tag, nonce: nonce() },
          ...(covered && { covered }),
        },
        gnap.now(),
      ),
    );
    const of = (name: string) =>
      all.map(({ fields }, at) => fields[name]?.replace('sig1', `sig${at + 1}`)).join(', ');
    const { fields = {}, content } = all[0] ?? {};
    return {
      fields: { ...fields, signature: of('signature'), 'signature-input': of('signature-input') },
      content,
    };
  }

  test('the management token of one token has no effect on another token', async () => {
    const [mine, other] = [await own(), await own()];
    const token = mine.body.access_token.manage.access_token.value;
    for (const method of ['POST', 'DELETE']) {
      expect(await send(pathOf(other), { method, token }, machine)).toMatchObject(
        refusedWith('invalid_rotation'),
      );
    }
    for (const one of [mine, other]) {
      expect(await isActive(tokenOf(one))).toMatchObject({ active: true });
    }
  });

  test.each(['POST', 'DELETE'])(
    'a %s request with any other token, key or scheme is refused',
    async (method) => {
      const told = await own();
      const {
        value,
        manage: {
          access_token: { value: right },
        },
      } = told.body.access_token;
      const [payload = '', mac = ''] = right.split('.');
      const evil = Buffer.from(
        JSON.stringify({
          ...JSON.parse(Buffer.from(payload, 'base64url').toString()),
          scopes: ['mails:read'],
          key: next.byValue,
        }),
      ).toString('base64url');
      for (const token of [
        value,
        payload,
        `${payload}.`,
        `.${mac}`,
        `${evil}.${mac}`,
        `${right}.${mac}`,
        `${right}=`,
        'x',
      ]) {
        expect((await send(pathOf(told), { method, token }, machine)).status).toBe(400);
      }
      const thief = testKey('machine');
      expect(await manage(told, { method }, thief)).toMatchObject(refusedWith('invalid_client'));
      for (const scheme of ['Bearer', 'DPoP']) {
        expect((await manage(told, { method, scheme }, machine)).status).toBe(400);
      }
      const covered = ['@method', '@target-uri'];
      expect(await manage(told, { method, covered }, machine)).toMatchObject(
        refusedWith('invalid_client'),
      );
      expect(await isActive(value)).toMatchObject({ active: true });
    },
  );

  test('ten rotations at the same time give one new token, and end the former one', async () => {
    const told = await own();
    const all = await tenTimes(() => manage(told, {}, machine));
    const good = all.filter(({ status }) => status === 200);
    expect(good).toHaveLength(1);
    expect(all.filter((one) => errorOf(one) === 'invalid_rotation')).toHaveLength(9);
    expect(await isActive(tokenOf(told))).toEqual(INACTIVE);
    expect(await isActive(tokenOf(good[0] as Told))).toMatchObject({ active: true });
  });

  test('a token that was rotated or revoked is never rotated again', async () => {
    const [rotated, revoked] = [await own(), await own()];
    expect((await manage(rotated, {}, machine)).status).toBe(200);
    expect((await manage(revoked, { method: 'DELETE' }, machine)).status).toBe(204);
    for (const seconds of [0, 61, 600, 3600]) {
      gnap.flow.clock.advance(seconds);
      for (const one of [rotated, revoked]) {
        expect(await manage(one, {}, machine)).toMatchObject(refusedWith('invalid_rotation'));
      }
    }
  });

  test('a rotation and a revocation at the same time leave no valid token that was revoked', async () => {
    const told = await own();
    const [rotated, revoked] = await Promise.all([
      manage(told, {}, machine),
      manage(told, { method: 'DELETE' }, machine),
    ]);
    expect(revoked.status).toBe(204);
    expect([200, 400]).toContain(rotated.status);
    expect(await isActive(tokenOf(told))).toEqual(INACTIVE);
  });

  test('section 6.1.1: a rotation of the key needs the signatures of both keys', async () => {
    const told = await own();
    const after = await manage(told, { json: { key: next.byValue }, next }, machine);
    expect(decodeJwt(tokenOf(after))).toMatchObject({ cnf: { jwk: { kid: 'next' } } });
    expect(await manage(after, {}, machine)).toMatchObject(refusedWith('invalid_client'));
  });

  const ALL = ['@method', '@target-uri', 'content-digest', 'authorization'];
  const third = testKey('next', 'ES256');
  test.each<
    [string, Parameters<typeof signed> extends [unknown, unknown, ...infer By] ? By : never]
  >([
    ['without the new key', [[machine, 'gnap']]],
    ['without the old key', [[next, 'gnap']]],
    [
      'by the new key twice',
      [
        [next, 'gnap'],
        [next, 'gnap-rotate'],
      ],
    ],
    [
      'by the old key twice',
      [
        [machine, 'gnap'],
        [machine, 'gnap-rotate'],
      ],
    ],
    [
      'by another key than the new one',
      [
        [machine, 'gnap'],
        [third, 'gnap-rotate'],
      ],
    ],
    [
      'if the new key does not sign the old signature',
      [
        [machine, 'gnap'],
        [next, 'gnap-rotate', ALL],
      ],
    ],
    [
      'with two signatures for gnap',
      [
        [machine, 'gnap'],
        [next, 'gnap'],
      ],
    ],
    [
      'if the old key does not sign the content',
      [
        [machine, 'gnap', ['@method', '@target-uri', 'authorization']],
        [next, 'gnap-rotate', ALL],
      ],
    ],
  ])('section 6.1.1: a rotation of the key that is signed %s is refused', async (_, by) => {
    const told = await own();
    const request = signed(told, { key: next.byValue }, ...by);
    expect(await deliver(pathOf(told), request)).toMatchObject({ status: 400 });
    expect(await isActive(tokenOf(told))).toMatchObject({ active: true });
  });

  test('section 6.1.1: a rotation whose key is replaced after both keys have signed is refused', async () => {
    const told = await own();
    const url = told.body.access_token.manage.uri;
    const token = told.body.access_token.manage.access_token.value;
    const { fields } = signedBy(
      machine,
      { method: 'POST', url, token, json: { key: next.byValue }, next },
      gnap.now(),
    );
    const content = JSON.stringify({ key: third.byValue });
    expect(await deliver(pathOf(told), { fields, content })).toMatchObject({ status: 400 });
  });

  test.each<[string, unknown]>([
    ['a private key', { proof: 'httpsig', jwk: { ...next.byValue.jwk, d: 'AAAA' } }],
    ['a key without kid', { proof: 'httpsig', jwk: { ...next.byValue.jwk, kid: undefined } }],
    [
      'the proof as an object',
      {
        proof: { method: 'httpsig', alg: 'ecdsa-p256-sha256', 'content-digest-alg': 'sha-256' },
        jwk: next.byValue.jwk,
      },
    ],
    ['the proof mtls', { proof: 'mtls', 'cert#S256': 'a'.repeat(43) }],
    ['the proof jwsd', { proof: 'jwsd', jwk: next.byValue.jwk }],
    ['a reference', 'https://keys.example/1'],
    ['null', null],
    ['a list', [next.byValue]],
  ])('section 6.1.1: a rotation to %s is refused', async (_, key) => {
    const told = await own();
    const answer = await manage(told, { json: { key }, next }, machine);
    expect(answer).toMatchObject(refusedWith('invalid_rotation'));
    expect(await isActive(tokenOf(told))).toMatchObject({ active: true });
  });

  test('RFC 9729 section 8: a rotation to a key that is registered for sign-in is refused', async () => {
    const kept = keptJwk(next.byValue.jwk);
    const { alice } = gnap.flow.people;
    const owner = { kind: 'person', id: alice.id } as const;
    if (kept === undefined) throw new Error('no key');
    await gnap.flow.authz.stores.publicKeys.add(
      { ...kept, scheme: 'Concealed', owner, name: 'a', created_at: 0 },
      9,
    );
    expect(await ask({ ...READ, interact: REDIRECT }, next)).toMatchObject(
      refusedWith('invalid_client'),
    );
    const told = await own();
    const answer = await manage(told, { json: { key: next.byValue }, next }, machine);
    expect(answer).toMatchObject({ status: 400 });
  });

  test('section 6.1.1: a bearer token has no key to rotate, and only its client can rotate and revoke it', async () => {
    const told = await own({ access_token: { access: ['photos:read'], flags: ['bearer'] } });
    const keyed = await manage(told, { json: { key: next.byValue }, next }, machine);
    expect(keyed).toMatchObject(refusedWith('invalid_rotation'));
    expect(await manage(told, {}, testKey('machine'))).toMatchObject(refusedWith('invalid_client'));
    const rotated = await manage(told, {}, machine);
    expect(rotated.body.access_token).toMatchObject({ flags: ['bearer'] });
  });

  test('a scope that an operator takes from a client is missing from the next rotation on', async () => {
    const told = await own();
    await change(machine, { scope: 'photos:read' });
    const rotated = await manage(told, {}, machine);
    if (rotated.status === 200) expect(decodeJwt(tokenOf(rotated))['scope']).toBe('photos:read');
    else expect(rotated).toMatchObject(refusedWith('invalid_rotation'));
  });

  test('tokens for a space that an operator takes from a client are not rotated', async () => {
    const told = await own();
    await change(machine, { resources: [MAILS] });
    expect(await manage(told, {}, machine)).toMatchObject(refusedWith('invalid_rotation'));
  });

  test('bearer tokens that an operator takes from a client are not rotated', async () => {
    const told = await own({ access_token: { access: ['photos:read'], flags: ['bearer'] } });
    await change(machine, { gnap: { key: machine.byValue } });
    const rotated = await manage(told, {}, machine);
    if (rotated.status === 200) expect(decodeJwt(tokenOf(rotated))).toHaveProperty('cnf');
    else expect(rotated).toMatchObject(refusedWith('invalid_rotation'));
  });

  test('a scope about the person that the client loses is missing from the next rotation on', async () => {
    const person = testKey('person');
    await gnap.register(person);
    const { told } = await given(BOTH, { key: person });
    await change(person, { scope: 'photos:read' });
    const rotated = await manage(told, {}, person);
    if (rotated.status === 200) expect(decodeJwt(tokenOf(rotated))['scope']).toBe('photos:read');
    else expect(rotated.status).toBe(400);
  });

  test('an hour after its end a token is not rotated any more', async () => {
    const told = await own();
    gnap.flow.clock.advance(gnap.flow.authz.config.tokens.lifetime + 3600);
    expect(await manage(told, {}, machine)).toMatchObject(refusedWith('invalid_rotation'));
  });

  test('a change that the limit of revocations breaks off leaves no second token', async () => {
    await reopen({ limits: { visits: { burst: 8, per: 60 } }, gnap: { clients: 'anybody' } });
    const { told } = await given(BOTH);
    const tokens = [tokenOf(told)];
    for (let count = 0; count < 10; count += 1) {
      const { body } = await gnap.proceed(told, count % 2 === 0 ? READ : BOTH, 'PATCH');
      if ('access_token' in body) tokens.push(body.access_token.value);
    }
    gnap.flow.clock.advance(120);
    const last = await gnap.proceed(told, READ, 'PATCH');
    tokens.push(tokenOf(last));
    const states = await Promise.all(tokens.map(isActive));
    expect(states.map(({ active }) => active)).toEqual(tokens.map((one) => one === tokens.at(-1)));
  });

  test('a continuation that the limit of revocations breaks off can be repeated', async () => {
    await reopen({ limits: { visits: { burst: 8, per: 200 } }, gnap: { clients: 'anybody' } });
    const { told, browser } = await given();
    let last = told;
    for (let count = 0; count < 12; count += 1) last = await gnap.proceed(told, READ, 'PATCH');
    expect(last.status).toBe(429);
    const asked = await gnap.proceed(told, { ...BOTH, interact: REDIRECT }, 'PATCH');
    const ref = refOf(await decide(browser, await open(asked, browser)));
    const first = await gnap.proceed(asked, ref);
    expect(first.status).toBe(429);
    gnap.flow.clock.advance(210);
    const again = await gnap.proceed(asked, ref);
    expect(again.body.access_token?.access).toEqual(['photos:read photos:write']);
  });

  test("revoking a token again does not use up the person's limit, so other clients can revoke their tokens", async () => {
    await reopen({ limits: { visits: { burst: 20, per: 1000 } }, gnap: { clients: 'anybody' } });
    const [evil, good] = [testKey('evil'), testKey('good')];
    const { told } = await given(READ, { key: evil });
    const { told: theirs } = await given(READ, { key: good });
    for (let count = 0; count < 30; count += 1) await manage(told, { method: 'DELETE' }, evil);
    expect((await manage(theirs, { method: 'DELETE' }, good)).status).toBe(204);
  });
});
