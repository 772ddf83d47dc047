import { describe, expect, jest, test } from '@jest/globals';
import * as fc from 'fast-check';
import { formatChallenge } from '#shared/http/auth/challenge.ts';
import type { Sessions } from '#shared/stores/authentication/sessions.ts';
import { StoreUnavailable } from '#shared/stores/outage/unavailable.ts';
import { refuse } from '#shared/refusals/schemes.ts';
import { requestOf } from '../../judge/auth.fixture.ts';
import { judge } from '../../judge/judge.ts';
import { spaceOf } from '../../judge/judge.fixture.ts';
import { PROXY } from '../../scheme.ts';
import { MUTUAL_ALGORITHM_NAMES, MUTUAL_ALGORITHMS } from './algorithms.ts';
import {
  begin,
  clientOf,
  from,
  ORIGIN,
  P_256,
  reasonOf,
  RIGHT,
  SCOPE,
  send,
  twoMutualProcesses,
} from './mutual.fixture.ts';
import { TIME } from './session-table.ts';
import { endPoint } from './validation.ts';

const GRANTED = {
  kind: 'granted',
  principal: { kind: 'person', realm: 'documents', name: 'alice', claims: { sub: 'id of alice' } },
};

describe.each(MUTUAL_ALGORITHM_NAMES)('%s (RFC 8120 section 2.2)', (algorithm) => {
  test('the exchange works on two processes, and each side proves that it knows the password', async () => {
    const { here, there, setPassword } = await twoMutualProcesses();
    await setPassword('alice', RIGHT, algorithm);
    const client = clientOf({ algorithm });
    const { params, sid, vfy, vks } = await begin(here.scheme({ algorithm }), client);
    expect(params).toMatchObject({ ...client.terms, sid: expect.stringMatching(/^[0-9a-f]{32}$/) });
    for (const [nc, process] of [there, here, there].entries()) {
      expect(await send(process.scheme({ algorithm }), vfy(nc))).toEqual({
        ...GRANTED,
        proof: { info: { version: '1', sid, vks: vks(nc) } },
      });
    }
  });

  test('a wrong password and an unknown name get the same messages until the last one', async () => {
    const { here } = await twoMutualProcesses();
    const scheme = here.scheme({ algorithm });
    const { octets, format } = MUTUAL_ALGORITHMS[algorithm];
    const seen = [];
    for (const user of ['alice', 'nobody']) {
      const client = clientOf({ algorithm, user, password: 'wrong' });
      const { params, vfy } = await begin(scheme, client);
      expect(Buffer.from(params['ks1'] ?? '', format)).toHaveLength(octets);
      const verdict = await send(scheme, vfy(0));
      seen.push([Object.keys(params), verdict]);
      expect(reasonOf(verdict)).toBe('auth-failed');
    }
    expect(seen[0]).toEqual(seen[1]);
  });
});

test('for an unknown name the server reads as much from the store as for a known one, in both messages', async () => {
  const { here, setPassword } = await twoMutualProcesses();
  await setPassword('alice', RIGHT, P_256);
  const decoding = jest.spyOn(Buffer, 'from');
  const decoded = async (user: string) => {
    decoding.mockClear();
    const { vfy } = await begin(here.scheme(), clientOf({ user, password: 'wrong' }));
    expect(reasonOf(await send(here.scheme(), vfy(0)))).toBe('auth-failed');
    const calls: readonly unknown[][] = decoding.mock.calls;
    return calls.filter(([, encoding]) => encoding === 'base64url').length;
  };
  const known = await decoded('alice');
  expect(known).toBeGreaterThan(0);
  expect(await decoded('nobody')).toBe(known);
  decoding.mockRestore();
});

describe('the messages', () => {
  test('RFC 8120 section 4.1: the first challenge is 401-INIT', async () => {
    const { here } = await twoMutualProcesses();
    const [challenge, ...more] = await here.scheme().challenge(from('192.0.2.1'));
    expect(more).toEqual([]);
    expect(challenge && formatChallenge(challenge)).toBe(
      `Mutual version=1, algorithm=${P_256}, validation=host, auth-scope="rs.example", realm="documents", reason=initial`,
    );
  });

  test('RFC 8120 section 4.3: the second challenge is 401-KEX-S1, with the paths of the space', async () => {
    const { here } = await twoMutualProcesses();
    const scheme = here.scheme({ domain: ['http://rs.example/a/'] });
    const client = clientOf();
    const verdict = await send(scheme, client.kex());
    const challenge = verdict.kind === 'continued' && verdict.challenge;
    expect(challenge && formatChallenge(challenge)).toMatch(
      /^Mutual version=1, algorithm=iso-kam3-ec-p256-sha256, validation=host, auth-scope="rs.example", realm="documents", sid=[0-9a-f]{32}, ks1=[0-9a-f]{66}, nc-max=1000000, nc-window=128, time=300, path="http:\/\/rs.example\/a\/"$/,
    );
  });

  test('S_s1 is random: the same K_c1 gets another K_s1 each time', async () => {
    const { here } = await twoMutualProcesses();
    const client = clientOf();
    const values = new Set<string | undefined>();
    for (let time = 0; time < 5; time += 1) {
      const { params, vfy } = await begin(here.scheme(), client);
      values.add(params['ks1']);
      expect((await send(here.scheme(), vfy(0))).kind).toBe('granted');
    }
    expect(values.size).toBe(5);
  });

  test('RFC 8120 section 14: at a proxy the scope is the host of the proxy', async () => {
    const { here, setPassword } = await twoMutualProcesses();
    await setPassword('alice', RIGHT);
    const space = spaceOf([here.scheme()], { at: PROXY });
    const client = clientOf({ vh: Buffer.from('http://rs.example:3128') });
    const ask = async (params: object) => {
      const list = Object.entries(params).map(([name, value]) => `${name}="${value}"`);
      const fields = [['Proxy-Authorization', `Mutual ${list.join(', ')}`]] as const;
      return judge(space, requestOf(fields, { at: PROXY, origin: 'http://rs.example:3128' }));
    };
    const first = await ask(client.kex());
    expect(first).toMatchObject({ kind: 'answer', status: 407 });
    const challenge = String(first.kind === 'answer' && first.fields['Proxy-Authenticate']);
    const [, sid = ''] = /sid=(\w+)/.exec(challenge) ?? [];
    const [, ks1 = ''] = /ks1=(\w+)/.exec(challenge) ?? [];
    const { vfy, vks } = client.session({ sid, ks1 });
    expect(await ask(vfy(0))).toMatchObject({
      kind: 'pass',
      fields: { 'Proxy-Authentication-Info': `version=1, sid=${sid}, vks=${vks(0)}` },
    });
  });

  test('both origins of a server share one verifier (RFC 8120 section 5), but no session (section 6)', async () => {
    const { here } = await twoMutualProcesses();
    const certificate = Buffer.from('certificate');
    const overTls = from('192.0.2.1', {
      origin: 'https://rs.example',
      certificate: () => certificate,
    });
    const vh = endPoint(certificate);
    const secure = clientOf({ validation: 'tls-server-end-point', vh });
    const [plain, tls] = [
      await begin(here.scheme(), clientOf()),
      await begin(here.scheme(), secure, overTls),
    ];
    expect((await send(here.scheme(), plain.vfy(0))).kind).toBe('granted');
    expect((await send(here.scheme(), tls.vfy(0), overTls)).kind).toBe('granted');
    const elsewhere = { ...plain.vfy(1, vh), validation: 'tls-server-end-point' };
    expect(reasonOf(await send(here.scheme(), elsewhere, overTls))).toBe('stale-session');
    const otherPort = from('192.0.2.1', { origin: `${ORIGIN}:8080` });
    const there = plain.vfy(1, Buffer.from(`${ORIGIN}:8080`));
    expect(reasonOf(await send(here.scheme(), there, otherPort))).toBe('stale-session');
    expect((await send(here.scheme(), plain.vfy(1))).kind).toBe('granted');
  });

  test('if the server does not know the certificate, the scheme is not offered, and no client is admitted', async () => {
    const { here } = await twoMutualProcesses();
    const request = from('192.0.2.1', { origin: 'https://rs.example' });
    expect(await here.scheme().challenge(request)).toEqual([]);
    expect(here.scheme().needs?.(request)).toContain('certificate');
    expect(await send(here.scheme(), clientOf().kex(), request)).toMatchObject({
      kind: 'refused',
      challenges: [],
    });
  });
});

describe('requests that the server answers with 401-INIT (RFC 8120 section 11)', () => {
  const spoilt = [
    ['no parameters', () => ({})],
    ['another version', (params: object) => ({ ...params, version: '2' })],
    [
      'another algorithm',
      (params: object) => ({ ...params, algorithm: 'iso-kam3-dl-2048-sha256' }),
    ],
    ['another validation', (params: object) => ({ ...params, validation: 'tls-server-end-point' })],
    ['tls-unique', (params: object) => ({ ...params, validation: 'tls-unique' })],
    ['another scope', (params: object) => ({ ...params, 'auth-scope': '*.example' })],
    ['another realm', (params: object) => ({ ...params, realm: 'other' })],
  ] as const;

  test.each(spoilt)(
    'a message with %s gets invalid-parameters, and nothing is stored',
    async (_, spoil) => {
      const { here } = await twoMutualProcesses();
      const { vfy } = await begin(here.scheme(), clientOf());
      for (const params of [clientOf().kex(), vfy(0)]) {
        expect(reasonOf(await send(here.scheme(), spoil(params)))).toBe('invalid-parameters');
      }
      expect((await send(here.scheme(), vfy(0))).kind).toBe('granted');
    },
  );

  test.each(MUTUAL_ALGORITHM_NAMES)(
    '%s: values that are not valid as K_c1 get invalid-parameters',
    async (algorithm) => {
      const { here } = await twoMutualProcesses({ exchanges: { burst: 1, per: 86_400 } });
      const { octets, format } = MUTUAL_ALGORITHMS[algorithm];
      const bytes = (last: number) => {
        const all = Buffer.alloc(octets);
        all[octets - 1] = last;
        return all;
      };
      // The values are no elements of either kind of group, and they use up no attempt.
      const wrong = [
        Buffer.alloc(octets, 0xff),
        ...(format === 'base64' ? [bytes(0), bytes(1)] : []),
      ];
      for (const kc1 of wrong.map((one) => one.toString(format))) {
        const params = { ...clientOf({ algorithm }).kex(), kc1 };
        const verdict = await send(here.scheme({ algorithm }), params);
        expect(reasonOf(verdict)).toBe('invalid-parameters');
      }
      await begin(here.scheme({ algorithm }), clientOf({ algorithm }));
    },
  );

  test('the right proof for another vh, as from a man in the middle, is refused', async () => {
    const { here } = await twoMutualProcesses();
    const { vfy } = await begin(here.scheme(), clientOf());
    const elsewhere = vfy(0, Buffer.from('http://evil.example:80'));
    expect(reasonOf(await send(here.scheme(), elsewhere))).toBe('auth-failed');
  });

  test('an invalid J, which an import may contain, is refused', async () => {
    const { here, kept } = await twoMutualProcesses();
    for (const [key, { person }] of kept) {
      kept.set(key, { person, value: Buffer.alloc(33, 0xff).toString('base64url') });
    }
    expect(reasonOf(await send(here.scheme(), clientOf().kex()))).toBe('invalid-parameters');
  });
});

describe('sessions (RFC 8120 section 11)', () => {
  test('an unknown sid is refused', async () => {
    const { here } = await twoMutualProcesses();
    const { vfy } = await begin(here.scheme(), clientOf());
    const unknown = { ...vfy(0), sid: '00'.repeat(16) };
    expect(reasonOf(await send(here.scheme(), unknown))).toBe('stale-session');
  });

  test('a wrong vkc ends a session that has not been proved, and no second vkc is checked', async () => {
    const { here } = await twoMutualProcesses();
    const { vfy } = await begin(here.scheme(), clientOf());
    const wrong = { ...vfy(0), vkc: '00'.repeat(32) };
    expect(reasonOf(await send(here.scheme(), wrong))).toBe('auth-failed');
    expect(reasonOf(await send(here.scheme(), vfy(0)))).toBe('stale-session');
  });

  test('only one of fifty proofs at the same time is checked, right or wrong', async () => {
    const { here, there } = await twoMutualProcesses();
    const { vfy } = await begin(here.scheme(), clientOf());
    const [a, b] = [here.scheme(), there.scheme()];
    const wrong = { ...vfy(0), vkc: '00'.repeat(32) };
    const verdicts = await Promise.all(
      Array.from({ length: 50 }, (_, n) => send(n % 2 ? a : b, wrong)),
    );
    const reasons = verdicts.map(reasonOf);
    expect(reasons.filter((reason) => reason === 'auth-failed')).toHaveLength(1);
    expect(reasons.filter((reason) => reason === 'stale-session')).toHaveLength(49);
  });

  test('a wrong vkc with any nc does not end a session that has been proved', async () => {
    const { here } = await twoMutualProcesses();
    const { vfy } = await begin(here.scheme(), clientOf());
    await send(here.scheme(), vfy(0));
    for (const nc of [0, 1, 500, 2_000_000]) {
      const wrong = { ...vfy(nc), vkc: '00'.repeat(32) };
      expect(reasonOf(await send(here.scheme(), wrong))).toBe('auth-failed');
    }
    expect((await send(here.scheme(), vfy(1))).kind).toBe('granted');
  });

  test('a used nc ends the session, on both processes', async () => {
    const { here, there } = await twoMutualProcesses();
    const { vfy } = await begin(here.scheme(), clientOf());
    await send(here.scheme(), vfy(0));
    await send(there.scheme(), vfy(1));
    expect(reasonOf(await send(here.scheme(), vfy(1)))).toBe('stale-session');
    for (const process of [here, there]) {
      expect(reasonOf(await send(process.scheme(), vfy(2)))).toBe('stale-session');
    }
  });

  test('only one of fifty requests at the same time with one nc, at two processes, is admitted', async () => {
    const { here, there } = await twoMutualProcesses();
    const { vfy } = await begin(here.scheme(), clientOf());
    await send(here.scheme(), vfy(0));
    const [a, b] = [here.scheme(), there.scheme()];
    const verdicts = await Promise.all(
      Array.from({ length: 50 }, (_, n) => send(n % 2 ? a : b, vfy(1))),
    );
    expect(verdicts.filter(({ kind }) => kind === 'granted')).toHaveLength(1);
    expect(reasonOf(await send(a, vfy(2)))).toBe('stale-session');
  });

  test('RFC 8120 section 6: the window of the example is kept', async () => {
    const { here } = await twoMutualProcesses();
    const scheme = here.scheme();
    const { vfy } = await begin(scheme, clientOf());
    for (const nc of [0, 372, 361, 245, 400]) {
      expect([nc, (await send(scheme, vfy(nc))).kind]).toEqual([nc, 'granted']);
    }
    expect(reasonOf(await send(scheme, vfy(272)))).toBe('stale-session');
  });

  test.each([1_000_001n, 2n ** 64n, 10n ** 38n])(
    'the nc %d is refused, since it exceeds nc-max',
    async (nc) => {
      const { here } = await twoMutualProcesses();
      const { vfy } = await begin(here.scheme(), clientOf());
      expect((await send(here.scheme(), vfy(1_000_000))).kind).toBe('granted');
      expect(reasonOf(await send(here.scheme(), vfy(nc)))).toBe('stale-session');
    },
  );

  test('a session expires, and its time begins again with the first proof', async () => {
    const { here, clock } = await twoMutualProcesses();
    const { vfy } = await begin(here.scheme(), clientOf());
    clock.advance(TIME - 1);
    expect((await send(here.scheme(), vfy(0))).kind).toBe('granted');
    clock.advance(TIME - 1);
    expect((await send(here.scheme(), vfy(1))).kind).toBe('granted');
    expect(reasonOf(await send(here.scheme(), vfy(1)))).toBe('stale-session');
    const { vfy: later } = await begin(here.scheme(), clientOf());
    clock.advance(TIME);
    expect(reasonOf(await send(here.scheme(), later(0)))).toBe('stale-session');
  });

  test('after a change or removal of the password the next request is refused', async () => {
    const { here, kept, setPassword } = await twoMutualProcesses();
    const { vfy } = await begin(here.scheme(), clientOf());
    await send(here.scheme(), vfy(0));
    const begun = await begin(here.scheme(), clientOf());
    await setPassword('alice', 'another password');
    expect(reasonOf(await send(here.scheme(), vfy(1)))).toBe('stale-session');
    expect(reasonOf(await send(here.scheme(), begun.vfy(0)))).toBe('auth-failed');
    const again = await begin(here.scheme(), clientOf({ password: 'another password' }));
    expect((await send(here.scheme(), again.vfy(0))).kind).toBe('granted');
    kept.clear();
    expect(reasonOf(await send(here.scheme(), again.vfy(1)))).toBe('stale-session');
  });

  test('a person who was added after the key exchange is not admitted by it', async () => {
    const { here, setPassword } = await twoMutualProcesses();
    const { vfy } = await begin(here.scheme(), clientOf({ user: 'carol' }));
    await setPassword('carol', RIGHT);
    expect(reasonOf(await send(here.scheme(), vfy(0)))).toBe('auth-failed');
  });

  test('a session of one realm is refused in another', async () => {
    const { here } = await twoMutualProcesses();
    const { vfy } = await begin(here.scheme(), clientOf());
    await send(here.scheme(), vfy(0));
    const other = here.scheme({ realm: 'other' });
    expect(reasonOf(await send(other, { ...vfy(1), realm: 'other' }))).toBe('stale-session');
    expect((await send(here.scheme(), vfy(1))).kind).toBe('granted');
  });
});

describe('throttling', () => {
  test('a key exchange uses up the limit of its address before anything is stored', async () => {
    const { here } = await twoMutualProcesses({ exchanges: { burst: 3, per: 60 } });
    const verdicts = await Promise.all(
      Array.from({ length: 10 }, () => send(here.scheme(), clientOf().kex())),
    );
    expect(verdicts.filter(({ kind }) => kind === 'continued')).toHaveLength(3);
    expect(verdicts.find(({ kind }) => kind === 'unavailable')).toMatchObject({
      status: 429,
      ...refuse('mutual-exchanges'),
    });
    await begin(here.scheme(), clientOf(), from('192.0.2.2'));
  });

  test('a key exchange uses up an attempt with the account, for known and unknown names', async () => {
    const { here } = await twoMutualProcesses({ account: { burst: 3, per: 60 } });
    for (const user of ['alice', 'nobody']) {
      const verdicts = await Promise.all(
        Array.from({ length: 10 }, () => send(here.scheme(), clientOf({ user }).kex())),
      );
      expect(verdicts.filter(({ kind }) => kind === 'continued')).toHaveLength(3);
      expect(verdicts.filter(({ kind }) => kind === 'unavailable')).toHaveLength(7);
    }
  });

  test('a client that signed in a short time ago is not limited; after a failure it is limited again', async () => {
    const { here } = await twoMutualProcesses({ account: { burst: 2, per: 60 } });
    const scheme = here.scheme();
    for (let time = 0; time < 4; time += 1) {
      const { vfy } = await begin(scheme, clientOf());
      expect((await send(scheme, vfy(0))).kind).toBe('granted');
    }
    for (let time = 0; time < 2; time += 1) {
      const { vfy } = await begin(scheme, clientOf({ password: 'wrong' }));
      expect(reasonOf(await send(scheme, vfy(0)))).toBe('auth-failed');
    }
    expect((await send(scheme, clientOf().kex())).kind).toBe('unavailable');
  });
});

test('sessions of unauthenticated clients expire and leave no rows', async () => {
  const { here, clock } = await twoMutualProcesses();
  await here.stores.sweep();
  for (let host = 1; host <= 5; host += 1) {
    const client = clientOf({ user: `stranger ${host}` });
    const { vfy } = await begin(here.scheme(), client, from(`192.0.2.${host}`));
    if (host > 3) await send(here.scheme(), vfy(0), from(`192.0.2.${host}`));
  }
  await here.stores.sweep();
  clock.advance(86_400);
  // The three sessions without a proof, and the limits of five addresses.
  expect(await here.stores.sweep()).toBeGreaterThanOrEqual(8);
  expect(await here.stores.sweep()).toBe(0);
});

test('a session of an unauthenticated client takes at most 4 KiB, with any name', async () => {
  const { here, there } = await twoMutualProcesses();
  const algorithm = 'iso-kam3-dl-4096-sha512';
  const { sessions } = there.stores;
  const sizes: number[] = [];
  const measured: Sessions = {
    ...sessions,
    async put(value, ...more) {
      sizes.push(Buffer.byteLength(JSON.stringify(value)));
      return sessions.put(value, ...more);
    },
  };
  const scope = `${'h.'.repeat(123)}example`;
  const realm = 'r'.repeat(64);
  const scheme = here.scheme({ algorithm, realm, sessions: measured });
  const { user: _, ...params } = clientOf({ algorithm, scope, realm }).kex();
  const farAway = from('192.0.2.1', { origin: `http://${scope}` });
  // The characters that take the most bytes in JSON among those that a name may have.
  for (const length of [64, 128, 256]) {
    const name = `${'%01'.repeat(length - 1)}%C3%A9`;
    await send(scheme, { ...params, 'user*': `UTF-8''${name}` }, farAway);
  }
  expect(Math.max(...sizes)).toBeGreaterThan(3000);
  expect(Math.max(...sizes)).toBeLessThanOrEqual(4096);
});

test('random parameters are refused, and cause no exception', async () => {
  const { here } = await twoMutualProcesses();
  const { vfy } = await begin(here.scheme(), clientOf());
  const good = { ...clientOf().kex(), ...vfy(0) };
  const member = fc.record(
    Object.fromEntries(
      Object.entries(good).map(([name, value]) => [
        name,
        fc.oneof(
          { weight: 6, arbitrary: fc.constant(value) },
          fc.string({ unit: 'binary-ascii' }),
          fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes).toString('hex')),
        ),
      ]),
    ),
    { requiredKeys: [] },
  );
  await fc.assert(
    fc.asyncProperty(member, async (params) => {
      const { kind } = await send(here.scheme(), params as Record<string, string>);
      expect(['refused', 'continued', 'granted', 'unavailable']).toContain(kind);
    }),
    { numRuns: 300 },
  );
});

test('if the store or directory does not answer, the scheme throws, and the caller answers 503', async () => {
  const { here } = await twoMutualProcesses();
  const { vfy } = await begin(here.scheme(), clientOf());
  await here.stores[Symbol.asyncDispose]();
  for (const params of [clientOf().kex(), vfy(0)]) {
    await expect(send(here.scheme(), params)).rejects.toThrow(StoreUnavailable);
  }
});

test('the scope is only the host, with an IPv6 address in brackets', async () => {
  const { here } = await twoMutualProcesses();
  for (const [origin, scope] of [
    ['http://RS.example:8080', SCOPE],
    ['http://[::1]:3001', '[::1]'],
  ] as const) {
    const [challenge] = await here.scheme().challenge(from('192.0.2.1', { origin }));
    expect(challenge?.params?.['auth-scope']).toBe(scope);
  }
});
