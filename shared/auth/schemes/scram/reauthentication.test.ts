import { describe, expect, test } from '@jest/globals';
import { refuse } from '#shared/refusals/schemes.ts';
import type { Scheme } from '../../scheme.ts';
import { authenticate, clientOf, data, from, send, twoScramProcesses } from './scram.fixture.ts';
import { TTL } from './reauthentication.ts';

async function srOf(scheme: Scheme): Promise<string> {
  const [challenge] = await scheme.challenge(from('192.0.2.1'));
  return challenge?.params?.['sr'] ?? '';
}

/** A client that has authenticated in full and received an `sr`. */
async function known(
  hash: 'SHA-1' | 'SHA-256' = 'SHA-256',
  more?: Parameters<typeof twoScramProcesses>[0],
) {
  const place = await twoScramProcesses(more);
  const scheme = place.here.scheme(hash);
  const sr = await srOf(scheme);
  const client = clientOf(hash);
  const { serverFirst, sid } = await authenticate(scheme, client);
  /** client-final-message of a reauthentication. */
  const again = (
    count: number | string,
    { nonce = client.nonce, with: some = sr, by = client } = {},
  ) => by.final(serverFirst.replace(/^r=[^,]+/, `r=${nonce}${count}${some}`));
  return { ...place, scheme, sr, client, sid, again };
}

describe.each(['SHA-256', 'SHA-1'] as const)('RFC 7804 section 5.1, SCRAM-%s', (hash) => {
  test('one message reauthenticates, with counts from the iteration count upwards, on any process', async () => {
    const { here, there, again, sid } = await known(hash);
    for (const [process, count] of [[there, 100_000] as const, [here, 100_001] as const]) {
      const { message, signature } = again(count);
      expect(await send(process.scheme(hash), { realm: 'documents', data: data(message) })).toEqual(
        {
          kind: 'granted',
          principal: expect.objectContaining({ kind: 'person', name: 'alice' }),
          proof: { info: { sid, data: data(signature) } },
        },
      );
    }
  });
});

test('the server remembers 100 authentications of one account at once; further clients authenticate in full again', async () => {
  const { scheme, sr, clock, there } = await known();
  const again = async (process = scheme) => {
    const client = clientOf('SHA-256');
    const { serverFirst, verdict } = await authenticate(process, client);
    expect(verdict.kind).toBe('granted');
    const nonce = `${client.nonce}100000${sr}`;
    const { message } = client.final(serverFirst.replace(/^r=[^,]+/, `r=${nonce}`), nonce);
    return (await send(process, { data: data(message) })).kind;
  };
  const kinds: string[] = [];
  for (let count = 0; count < 110; count += 1) kinds.push(await again());
  expect(kinds.lastIndexOf('granted')).toBe(kinds.indexOf('refused') - 1);
  // `known` has authenticated once already.
  expect(kinds.indexOf('refused')).toBe(99);
  expect(await again(there.scheme('SHA-256'))).toBe('refused');
  clock.advance(10);
  expect(await again()).toBe('granted');
});

test('a client that repeats one authentication leaves room for other clients of its account', async () => {
  const { scheme, again, sr } = await known();
  for (let count = 100_000; count < 100_150; count += 1) {
    expect((await send(scheme, { data: data(again(count).message) })).kind).toBe('granted');
  }
  const other = clientOf('SHA-256');
  const { serverFirst } = await authenticate(scheme, other);
  const nonce = `${other.nonce}100000${sr}`;
  const { message } = other.final(serverFirst.replace(/^r=[^,]+/, `r=${nonce}`), nonce);
  expect((await send(scheme, { data: data(message) })).kind).toBe('granted');
});

describe('RFC 7804 section 5.1: a replay', () => {
  test('a replay is refused without stale, on any process', async () => {
    const { here, there, again } = await known();
    const params = { data: data(again(100_000).message) };
    expect((await send(here.scheme('SHA-256'), params)).kind).toBe('granted');
    for (const process of [here, there]) {
      expect(await send(process.scheme('SHA-256'), params)).toEqual({
        kind: 'refused',
        ...refuse('scram-used'),
      });
    }
  });

  test('one of ten equal messages at the same time is admitted', async () => {
    const { here, there, again } = await known();
    const params = { data: data(again(100_000).message) };
    const verdicts = await Promise.all(
      Array.from({ length: 10 }, (_, index) =>
        send((index % 2 === 0 ? here : there).scheme('SHA-256'), params),
      ),
    );
    expect(verdicts.filter(({ kind }) => kind === 'granted')).toHaveLength(1);
  });

  test('ten counts at the same time, in any order, are all accepted, each once', async () => {
    const { scheme, again } = await known();
    const counts = Array.from({ length: 10 }, (_, index) => 100_009 - index);
    const verdicts = await Promise.all(
      [...counts, ...counts].map((count) => send(scheme, { data: data(again(count).message) })),
    );
    expect(verdicts.filter(({ kind }) => kind === 'granted')).toHaveLength(10);
  });

  test('two clients may use the same count with the same sr', async () => {
    const { scheme, again, sr } = await known();
    expect((await send(scheme, { data: data(again(100_000).message) })).kind).toBe('granted');
    const other = clientOf('SHA-256');
    const { serverFirst } = await authenticate(scheme, other);
    const nonce = `${other.nonce}100000${sr}`;
    const { message } = other.final(serverFirst.replace(/^r=[^,]+/, `r=${nonce}`), nonce);
    expect((await send(scheme, { data: data(message) })).kind).toBe('granted');
  });

  test('a replay does not free its sender from the limit of attempts', async () => {
    const { scheme, again } = await known('SHA-256', { account: { burst: 3, per: 60 } });
    const params = { data: data(again(100_000).message) };
    await send(scheme, params);
    const kinds = [];
    for (let time = 0; time < 3; time += 1) {
      kinds.push((await send(scheme, params, from('198.51.100.1'))).kind);
    }
    expect(kinds).toEqual(['refused', 'refused', 'unavailable']);
  });

  test('a replay is refused while its sr is fresh, and afterwards', async () => {
    const { scheme, again, clock } = await known();
    const params = { data: data(again(100_000).message) };
    await send(scheme, params);
    for (let minute = 0; minute < 10; minute += 1) {
      expect((await send(scheme, params)).kind).toBe('refused');
      clock.advance(60);
    }
  });
});

describe('RFC 7804 section 5.1: sr', () => {
  test('an sr is valid for ttl, whenever it was issued', async () => {
    for (const second of [0, 1, 30, 59]) {
      const { clock, scheme, again } = await known();
      clock.advance(second);
      const sr = await srOf(scheme);
      clock.advance(TTL - 1);
      const verdict = await send(scheme, { data: data(again(100_000, { with: sr }).message) });
      expect(verdict.kind).toBe('granted');
    }
  });

  test('a stale sr gets stale=true and a new sr only if the client knows the password', async () => {
    const { clock, scheme, again, client } = await known();
    clock.advance(300);
    const { message, withoutProof } = again(100_000);
    const wrong = `${withoutProof},p=${data(Buffer.alloc(32))}`;
    expect(await send(scheme, { data: data(wrong) })).toEqual({
      kind: 'refused',
      ...refuse('scram-proof'),
    });
    const verdict = await send(scheme, { data: data(message) });
    expect(verdict).toMatchObject({
      kind: 'refused',
      challenges: [{ scheme: 'SCRAM-SHA-256', params: { realm: 'documents', stale: 'true' } }],
    });
    const [challenge] = (verdict.kind === 'refused' && verdict.challenges) || [];
    const sr = challenge?.params?.['sr'] ?? '';
    const next = again(100_000, { nonce: client.nonce, with: sr });
    expect((await send(scheme, { data: data(next.message) })).kind).toBe('granted');
  });

  test('an sr is refused if it is of another realm or hash, changed or invented', async () => {
    const { here, again, sr, scheme } = await known();
    const others = [
      await srOf(here.scheme('SHA-1')),
      await srOf(here.scheme('SHA-256', 'other')),
      `${sr}A`,
      sr.slice(0, -1),
      sr.replace('%', ''),
      `%${sr}`,
      '%',
    ];
    for (const other of others) {
      const { message } = again(100_000, { with: other });
      expect(await send(scheme, { data: data(message) })).toMatchObject({ kind: 'refused' });
    }
  });
});

describe('RFC 7804 section 5.1: refused reauthentications', () => {
  test.each([
    ['below the iteration count', '099999'],
    ['a leading zero', '0100000'],
    ['none', ''],
    ['not a number', 'abcdef'],
    ['more digits than the iteration count', '1000000'],
    ['negative', '-10000'],
  ])('a nonce-count is refused: %s', async (_, count) => {
    const { scheme, again } = await known();
    expect((await send(scheme, { data: data(again(count).message) })).kind).toBe('refused');
  });

  test('a c-nonce that ends in digits is separated from the count', async () => {
    const { here } = await twoScramProcesses();
    const scheme = here.scheme('SHA-256');
    const sr = await srOf(scheme);
    const client = clientOf('SHA-256', 'alice', undefined, 'nonce123456');
    const { serverFirst } = await authenticate(scheme, client);
    const full = `${client.nonce}100000${sr}`;
    const { message } = client.final(serverFirst.replace(/^r=[^,]+/, `r=${full}`), full);
    expect((await send(scheme, { data: data(message) })).kind).toBe('granted');
  });

  test('a client is refused if it has not authenticated in full, or sends another c-nonce, realm or hash', async () => {
    const { here, again } = await known();
    for (const [scheme, nonce] of [
      [here.scheme('SHA-256'), 'another'],
      [here.scheme('SHA-256', 'other'), undefined],
      [here.scheme('SHA-1'), undefined],
    ] as const) {
      const { message } = again(100_000, { with: await srOf(scheme), ...(nonce && { nonce }) });
      expect(await send(scheme, { data: data(message) })).toEqual({
        kind: 'refused',
        ...refuse('scram-unknown-nonce'),
      });
    }
  });

  test('the last message of a full exchange is refused without its sid', async () => {
    const { scheme } = await known();
    const { final } = await authenticate(scheme, clientOf('SHA-256'));
    expect((await send(scheme, { data: data(final.message) })).kind).toBe('refused');
  });

  test('a wrong password is refused, and uses up an attempt', async () => {
    const { scheme, again, client } = await known('SHA-256', { account: { burst: 2, per: 60 } });
    const by = clientOf('SHA-256', 'alice', 'wrong', client.nonce);
    const params = { data: data(again(100_000, { by }).message) };
    const thief = from('198.51.100.1');
    expect(await send(scheme, params, thief)).toEqual({
      kind: 'refused',
      ...refuse('scram-proof'),
    });
    expect(await send(scheme, params, thief)).toMatchObject({ kind: 'unavailable', status: 429 });
  });

  test('a client is refused after a change of its password, and if its person was removed', async () => {
    const { scheme, again, setPassword, kept } = await known();
    await setPassword('alice', 'the new password');
    const changed = await send(scheme, { data: data(again(100_000).message) });
    expect(changed).toMatchObject({ kind: 'refused' });
    kept.clear();
    const gone = await send(scheme, { data: data(again(100_001).message) });
    expect(gone).toEqual(changed);
  });

  test('another person who uses the same c-nonce cannot authenticate as its first user, who must authenticate in full again', async () => {
    const { scheme, again, client, setPassword } = await known();
    await setPassword('mallory', 'mallory knows this');
    const mallory = clientOf('SHA-256', 'mallory', 'mallory knows this', client.nonce);
    await authenticate(scheme, mallory);
    const { message } = again(100_000);
    expect((await send(scheme, { data: data(message) })).kind).toBe('refused');
    const { verdict } = await authenticate(scheme, clientOf('SHA-256'));
    expect(verdict).toMatchObject({ kind: 'granted', principal: { name: 'alice' } });
  });

  test("the server forgets a client 15 minutes after the client's last success", async () => {
    const { scheme, again, clock } = await known();
    const anew = async (count: number) =>
      send(scheme, { data: data(again(count, { with: await srOf(scheme) }).message) });
    clock.advance(890);
    expect((await anew(100_000)).kind).toBe('granted');
    clock.advance(890);
    expect((await anew(100_001)).kind).toBe('granted');
    clock.advance(900);
    expect(await anew(100_002)).toMatchObject({
      ...refuse('scram-unknown-nonce'),
    });
  });
});
