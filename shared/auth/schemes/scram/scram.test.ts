import { describe, expect, jest, test } from '@jest/globals';
import * as fc from 'fast-check';
import { StoreUnavailable } from '#shared/stores/outage/unavailable.ts';
import { refuse } from '#shared/refusals/schemes.ts';
import { refuse as refuseSpace } from '#shared/refusals/spaces.ts';
import { judge } from '../../judge/judge.ts';
import { spaceOf } from '../../judge/judge.fixture.ts';
import { requestOf } from '../../judge/auth.fixture.ts';
import { PROXY } from '../../scheme.ts';
import {
  authenticate,
  begin,
  clientOf,
  data,
  from,
  newNonce,
  send,
  twoScramProcesses,
} from './scram.fixture.ts';

const HASHES = ['SHA-256', 'SHA-1'] as const;
const GRANTED = {
  kind: 'granted',
  principal: { kind: 'person', realm: 'documents', name: 'alice', claims: { sub: 'id of alice' } },
};

describe.each(HASHES)('SCRAM-%s: the exchange (RFC 7804 section 5)', (hash) => {
  test('the challenge names the realm and offers reauthentication', async () => {
    const { here } = await twoScramProcesses();
    const scheme = here.scheme(hash);
    expect(await scheme.challenge(from('192.0.2.1'))).toEqual([
      {
        scheme: `SCRAM-${hash}`,
        params: { realm: 'documents', sr: expect.stringMatching(/^%[\w.-]+$/), ttl: '120' },
      },
    ]);
  });

  test('three messages authenticate the client on two processes, and the server proves that it knows the person', async () => {
    const { here, there } = await twoScramProcesses();
    const client = clientOf(hash);
    const { sid, serverFirst } = await begin(here.scheme(hash), client.first());
    const final = client.final(serverFirst);
    const verdict = await send(there.scheme(hash), { sid, data: data(final.message) });
    expect(verdict).toEqual({
      ...GRANTED,
      proof: { info: { sid, data: data(final.signature) } },
    });
  });

  test("RFC 7804 section 5: server-first-message extends the client's nonce, in canonical base64", async () => {
    const { here } = await twoScramProcesses();
    const client = clientOf(hash);
    const { serverFirst, sid, challenge } = await begin(here.scheme(hash), client.first());
    const [, nonce = '', salt = '', count] =
      /^r=([^,]+),s=([^,]+),i=(\d+)$/.exec(serverFirst) ?? [];
    expect(nonce.slice(0, client.nonce.length)).toBe(client.nonce);
    expect(nonce.slice(client.nonce.length)).toMatch(/^[A-Za-z0-9+/]{24}$/);
    expect(Buffer.from(salt, 'base64').toString('base64')).toBe(salt);
    expect(count).toBe('100000');
    expect(sid).toMatch(/^[\w-]{22}$/);
    expect(Object.keys(challenge.params ?? {})).toEqual(['sid', 'data']);
  });

  test('base64 without padding, as Apache HttpClient sends it, is accepted in all places', async () => {
    const { here } = await twoScramProcesses();
    const bare = (encoded: string) => encoded.replace(/=+$/, '');
    const client = clientOf(hash, 'alice', undefined, 'abcdef0123456789abcdef0123456789');
    const { sid, serverFirst } = await begin(here.scheme(hash), {
      data: bare(client.first().data),
    });
    const message = bare(client.final(serverFirst).message);
    expect(message).not.toMatch(/=$/);
    const verdict = await send(here.scheme(hash), { sid, data: bare(data(message)) });
    expect(verdict.kind).toBe('granted');
  });

  test('another form of the name identifies the same person', async () => {
    const { here } = await twoScramProcesses();
    const { verdict } = await authenticate(here.scheme(hash), clientOf(hash, 'ALICE'));
    expect(verdict).toMatchObject(GRANTED);
  });

  test('RFC 9110 section 11.7: a proxy authenticates the client with its own fields', async () => {
    const { here } = await twoScramProcesses();
    const space = spaceOf([here.scheme(hash)], { at: PROXY });
    const client = clientOf(hash);
    const ask = async (params: string) => {
      const fields = [['Proxy-Authorization', `SCRAM-${hash} ${params}`]] as const;
      return judge(space, { ...requestOf(fields), at: PROXY });
    };
    const first = await ask(`realm="documents", data="${client.first().data}"`);
    expect(first).toMatchObject({ kind: 'answer', status: 407 });
    const challenge = String(first.kind === 'answer' && first.fields['Proxy-Authenticate']);
    const [, sid = ''] = /sid=([^,]+)/.exec(challenge) ?? [];
    const [, encoded = ''] = /data=([^,]+)/.exec(challenge) ?? [];
    const final = client.final(Buffer.from(encoded, 'base64').toString());
    expect(await ask(`sid="${sid}", data="${data(final.message)}"`)).toMatchObject({
      kind: 'pass',
      fields: {
        'Proxy-Authentication-Info': `sid=${sid}, data=${data(final.signature)}`,
      },
    });
  });
});

describe('messages that the server refuses with a fresh challenge', () => {
  test("a wrong password is refused, and the server's signature is not sent", async () => {
    const { here } = await twoScramProcesses();
    const scheme = here.scheme('SHA-256');
    const { verdict } = await authenticate(scheme, clientOf('SHA-256', 'alice', 'wrong'));
    expect(verdict).toEqual({ kind: 'refused', ...refuse('scram-proof') });
  });

  test("RFC 5802 section 5.1: a nonce that only begins like the server's is refused", async () => {
    const { here } = await twoScramProcesses();
    const scheme = here.scheme('SHA-256');
    for (const spoil of [
      (nonce: string) => nonce.slice(0, -1),
      (nonce: string) => `${nonce}A`,
      (nonce: string) => nonce.slice(0, 24),
    ]) {
      const client = clientOf('SHA-256');
      const { sid, serverFirst } = await begin(scheme, client.first());
      const [, nonce = ''] = /^r=([^,]+)/.exec(serverFirst) ?? [];
      const { message } = client.final(serverFirst, spoil(nonce));
      expect(await send(scheme, { sid, data: data(message) })).toMatchObject({
        ...refuse('scram-nonce'),
      });
    }
  });

  test("RFC 5802 section 3: a message is refused with another person's sid", async () => {
    const { here, setPassword } = await twoScramProcesses();
    await setPassword('mallory', 'mallory knows this');
    const scheme = here.scheme('SHA-256');
    const mallory = clientOf('SHA-256', 'mallory', 'mallory knows this');
    const alice = await begin(scheme, clientOf('SHA-256').first());
    const own = await begin(scheme, mallory.first());
    const { message } = mallory.final(own.serverFirst);
    const verdict = await send(scheme, { sid: alice.sid, data: data(message) });
    expect(verdict).toMatchObject({ kind: 'refused' });
  });

  test('a sid is valid once, so a replay of the last message is refused', async () => {
    const { here, there } = await twoScramProcesses();
    const { sid, final, verdict } = await authenticate(here.scheme('SHA-256'), clientOf('SHA-256'));
    expect(verdict.kind).toBe('granted');
    const again = { sid, data: data(final.message) };
    expect(await send(here.scheme('SHA-256'), again)).toMatchObject({ ...refuse('scram-sid') });
    expect(await send(there.scheme('SHA-256'), again)).toMatchObject({ ...refuse('scram-sid') });
  });

  test('a wrong proof uses up the sid', async () => {
    const { here } = await twoScramProcesses();
    const scheme = here.scheme('SHA-256');
    const client = clientOf('SHA-256');
    const { sid, serverFirst } = await begin(scheme, client.first());
    const { message, withoutProof } = client.final(serverFirst);
    await send(scheme, { sid, data: data(`${withoutProof},p=${data(Buffer.alloc(32))}`) });
    expect(await send(scheme, { sid, data: data(message) })).toMatchObject({
      ...refuse('scram-sid'),
    });
  });

  test('one of ten equal right messages at the same time, on two processes, is admitted', async () => {
    const { here, there } = await twoScramProcesses();
    const client = clientOf('SHA-256');
    const { sid, serverFirst } = await begin(here.scheme('SHA-256'), client.first());
    const { message } = client.final(serverFirst);
    const verdicts = await Promise.all(
      Array.from({ length: 10 }, (_, index) =>
        send((index % 2 === 0 ? here : there).scheme('SHA-256'), { sid, data: data(message) }),
      ),
    );
    expect(verdicts.filter(({ kind }) => kind === 'granted')).toHaveLength(1);
  });

  test('the last message is refused a minute after the first one', async () => {
    const { here, clock } = await twoScramProcesses();
    const scheme = here.scheme('SHA-256');
    const client = clientOf('SHA-256');
    const { sid, serverFirst } = await begin(scheme, client.first());
    const { message } = client.final(serverFirst);
    clock.advance(60);
    expect(await send(scheme, { sid, data: data(message) })).toMatchObject({
      ...refuse('scram-sid'),
    });
  });

  test('an exchange that began with one hash or realm cannot end with another', async () => {
    const { here } = await twoScramProcesses();
    const begun = here.scheme('SHA-256');
    for (const other of [here.scheme('SHA-1'), here.scheme('SHA-256', 'other')]) {
      const client = clientOf('SHA-256');
      const { sid, serverFirst } = await begin(begun, client.first());
      const { message } = client.final(serverFirst);
      expect(await send(other, { sid, data: data(message) })).toMatchObject({
        ...refuse('scram-sid'),
      });
    }
  });

  test('RFC 7804 section 5: a message with another realm is refused', async () => {
    const { here } = await twoScramProcesses();
    const scheme = here.scheme('SHA-256');
    const client = clientOf('SHA-256');
    expect(await send(scheme, { ...client.first(), realm: 'Documents' })).toMatchObject({
      reason: expect.stringMatching(/^another realm than /),
    });
    const { sid, serverFirst } = await begin(scheme, { ...client.first(), realm: 'documents' });
    const { message } = client.final(serverFirst);
    expect(await send(scheme, { sid, data: data(message), realm: '' })).toMatchObject({
      reason: expect.stringMatching(/^another realm than /),
    });
  });

  test('state of another scheme under a known sid is refused', async () => {
    const { here } = await twoScramProcesses();
    const client = clientOf('SHA-256');
    const { message } = client.final('r=x,s=AAAA,i=1');
    for (const value of [null, 1, 'SCRAM-SHA-256', [], {}, { scheme: 'SCRAM-SHA-256' }]) {
      const sid = await here.stores.sessions.put(value, 60);
      expect(await send(here.scheme('SHA-256'), { sid, data: data(message) })).toMatchObject({
        ...refuse('scram-sid'),
      });
    }
  });

  test('if the password changes between the messages, the old password is refused', async () => {
    const { here, setPassword } = await twoScramProcesses();
    const scheme = here.scheme('SHA-256');
    const client = clientOf('SHA-256');
    const { sid, serverFirst } = await begin(scheme, client.first());
    await setPassword('alice', 'the new password');
    const { message } = client.final(serverFirst);
    expect(await send(scheme, { sid, data: data(message) })).toMatchObject({ kind: 'refused' });
  });

  test.each([
    ['nothing', {}],
    ['no data', { sid: 'x' }],
    ['empty data', { data: '' }],
    ['data that is not base64', { data: 'biws-' }],
    ['data that is not UTF-8', { data: '/w==' }],
    ['64 KiB of data', { data: 'biws'.repeat(16_384) }],
    ['y: the client thinks we lack channel binding', { data: data('y,,n=alice,r=x') }],
    ['p=: channel binding', { data: data('p=tls-exporter,,n=alice,r=x') }],
    ['an authzid', { data: data('n,a=bob,n=alice,r=x') }],
    ['a first message with a sid', { sid: 'x', data: data('n,,n=alice,r=x') }],
    ['a sid of 64 KiB', { sid: 'x'.repeat(65_536), data: data('c=biws,r=x,p=AAAA') }],
    ['a sid with a quote and CR LF', { sid: '"\r\nX: y', data: data('c=biws,r=x,p=AAAA') }],
  ])('the server refuses %s', async (_, params) => {
    const { here } = await twoScramProcesses();
    expect((await send(here.scheme('SHA-256'), params)).kind).toBe('refused');
  });

  test('any parameters are refused, without an exception', async () => {
    const { here } = await twoScramProcesses();
    const scheme = here.scheme('SHA-256');
    const piece = fc.constantFrom(
      'n',
      'c=biws',
      'n=alice',
      'r=x',
      'p=AAAA',
      'sr=%',
      '%',
      '',
      'm=1',
    );
    const message = fc.array(piece, { maxLength: 6 }).map((pieces) => pieces.join(','));
    const encoded = fc.oneof(message.map(data), fc.string());
    const params = fc.record({ data: encoded, sid: fc.string() }, { requiredKeys: [] });
    await fc.assert(
      fc.asyncProperty(params, async (some) => {
        expect((await send(scheme, some)).kind).not.toBe('granted');
      }),
    );
  });

  test('a token68 instead of parameters is refused', async () => {
    const { here } = await twoScramProcesses();
    const scheme = here.scheme('SHA-256');
    const credentials = { scheme: 'scram-sha-256', rest: 'AAAA', token68: 'AAAA' };
    expect((await scheme.authenticate(credentials, from('192.0.2.1'))).kind).toBe('refused');
  });
});

describe('answers do not show which people exist (RFC 5802 section 9)', () => {
  const shape = (serverFirst: string, nonce: string) =>
    serverFirst
      .replace(nonce, '')
      .replace(/^r=[A-Za-z0-9+/]{24},/, 'r=,')
      .replace(/s=[A-Za-z0-9+/]{22}==/, 's=');

  test('unknown names and wrong passwords get the same messages, after the same questions to the store', async () => {
    const { here, asked } = await twoScramProcesses();
    const scheme = here.scheme('SHA-256');
    const seen = [];
    for (const [name, password] of [
      ['alice', 'wrong'],
      ['nobody', 'wrong'],
    ] as const) {
      asked.length = 0;
      const client = clientOf('SHA-256', name, password);
      const { serverFirst, verdict } = await authenticate(scheme, client);
      seen.push({ first: shape(serverFirst, client.nonce), verdict, questions: asked.length });
    }
    expect(seen[1]).toEqual(seen[0]);
    expect(seen[0]).toMatchObject({ first: 'r=,s=,i=100000', questions: 2 });
  });

  test('an unknown name causes as many reads as a known one', async () => {
    const { here } = await twoScramProcesses();
    const scheme = here.scheme('SHA-256');
    const decoding = jest.spyOn(Buffer, 'from');
    const decoded = async (name: string) => {
      decoding.mockClear();
      await begin(scheme, clientOf('SHA-256', name).first());
      const calls: readonly unknown[][] = decoding.mock.calls;
      return calls.filter(([, encoding]) => encoding === 'base64').length;
    };
    const known = await decoded('alice');
    expect(known).toBeGreaterThan(2);
    expect(await decoded('nobody')).toBe(known);
    decoding.mockRestore();
  });

  test('the salt of an unknown name is the same in all processes and realms, for all forms of the name', async () => {
    const { here, there } = await twoScramProcesses();
    const saltOf = async (scheme: ReturnType<typeof here.scheme>, name: string) => {
      const { serverFirst } = await begin(scheme, clientOf('SHA-256', name).first());
      return /s=([^,]+)/.exec(serverFirst)?.[1];
    };
    const salt = await saltOf(here.scheme('SHA-256'), 'nobody');
    expect(await saltOf(here.scheme('SHA-256'), 'nobody')).toBe(salt);
    expect(await saltOf(there.scheme('SHA-256'), 'nobody')).toBe(salt);
    expect(await saltOf(here.scheme('SHA-256'), 'NoBody')).toBe(salt);
    expect(await saltOf(here.scheme('SHA-256'), 'nobody2')).not.toBe(salt);
    expect(await saltOf(here.scheme('SHA-1'), 'nobody')).not.toBe(salt);
    // The salt of a known name is the same in both realms, too: otherwise two realms would show which names exist.
    expect(await saltOf(here.scheme('SHA-256', 'other'), 'nobody')).toBe(salt);
  });

  test('a person without keys for this hash gets the same answers as an unknown name', async () => {
    const { here, kept } = await twoScramProcesses();
    kept.delete('scram SHA-256 alice');
    const { verdict } = await authenticate(here.scheme('SHA-256'), clientOf('SHA-256'));
    expect(verdict).toEqual({ kind: 'refused', ...refuse('scram-proof') });
  });

  test('a person whose row has no keys of this hash gets the same answers as an unknown name', async () => {
    const { here, kept } = await twoScramProcesses();
    for (const value of ['', 'x', kept.get('scram SHA-1 alice')?.value ?? '']) {
      kept.set('scram SHA-256 alice', { person: { id: 'a', name: 'alice' }, value });
      const { verdict } = await authenticate(here.scheme('SHA-256'), clientOf('SHA-256'));
      expect(verdict).toEqual({ kind: 'refused', ...refuse('scram-proof') });
    }
  });

  test('the keys for unknown names cannot be derived from a password', async () => {
    const { here } = await twoScramProcesses();
    for (const password of ['', 'nobody', 'password']) {
      const client = clientOf('SHA-256', 'nobody', password);
      const { verdict } = await authenticate(here.scheme('SHA-256'), client);
      expect(verdict.kind).toBe('refused');
    }
  });
});

describe('throttling', () => {
  test('the first message uses up an attempt: of ten at the same time, three begin', async () => {
    const { here } = await twoScramProcesses({ account: { burst: 3, per: 60 } });
    const scheme = here.scheme('SHA-256');
    for (const name of ['alice', 'nobody']) {
      const verdicts = await Promise.all(
        Array.from({ length: 10 }, () => send(scheme, clientOf('SHA-256', name).first())),
      );
      expect(verdicts.filter(({ kind }) => kind === 'continued')).toHaveLength(3);
      expect(verdicts.filter(({ kind }) => kind === 'unavailable')).toHaveLength(7);
    }
  });

  test('429 names the time to wait, and a client that signed in a short time ago is not limited', async () => {
    const { here } = await twoScramProcesses({ account: { burst: 1, per: 60 } });
    const scheme = here.scheme('SHA-256');
    await authenticate(scheme, clientOf('SHA-256'), from('192.0.2.7'));
    expect(await send(scheme, clientOf('SHA-256').first(), from('192.0.2.8'))).toEqual({
      kind: 'unavailable',
      status: 429,
      ...refuseSpace('too-many-attempts'),
      retryAfter: 60,
    });
    const { verdict } = await authenticate(scheme, clientOf('SHA-256'), from('192.0.2.7'));
    expect(verdict.kind).toBe('granted');
  });

  test('a client that signed in a short time ago is limited again after a wrong password', async () => {
    const { here } = await twoScramProcesses({ account: { burst: 2, per: 60 } });
    const scheme = here.scheme('SHA-256');
    await authenticate(scheme, clientOf('SHA-256'));
    for (let time = 0; time < 2; time += 1) {
      const { verdict } = await authenticate(scheme, clientOf('SHA-256', 'alice', 'wrong'));
      expect(verdict.kind).toBe('refused');
    }
    expect((await send(scheme, clientOf('SHA-256').first())).kind).toBe('unavailable');
  });

  test('all forms of a name share one limit', async () => {
    const { here } = await twoScramProcesses({ account: { burst: 2, per: 60 } });
    const scheme = here.scheme('SHA-256');
    const kinds = [];
    for (const name of ['alice', 'ALICE', '\uff41lice']) {
      kinds.push((await send(scheme, clientOf('SHA-256', name, '', newNonce()).first())).kind);
    }
    expect(kinds).toEqual(['continued', 'continued', 'unavailable']);
  });
});

test('if the store or directory does not answer, the scheme throws, and the caller answers 503', async () => {
  const { here } = await twoScramProcesses();
  const scheme = here.scheme('SHA-256');
  await here.stores[Symbol.asyncDispose]();
  await expect(send(scheme, clientOf('SHA-256').first())).rejects.toThrow(StoreUnavailable);
});
