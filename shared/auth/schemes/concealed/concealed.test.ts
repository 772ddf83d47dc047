import { describe, expect, test } from '@jest/globals';
import { parseCredentials } from '#shared/http/auth/credentials.ts';
import { eventually } from '#shared/stores/contract/eventually.ts';
import { StoreUnavailable } from '#shared/stores/outage/unavailable.ts';
import { requestOf } from '../../judge/auth.fixture.ts';
import { judge } from '../../judge/judge.ts';
import { schemeOf, spaceOf } from '../../judge/judge.fixture.ts';
import { type AuthRequest, PROXY, type Scheme } from '../../scheme.ts';
import { formatAuthExport } from './auth-export.ts';
import {
  asking,
  exporterFrom,
  fieldOf,
  newKey,
  ORIGIN_URL,
  paramsOf,
  REALM,
  type SchemeNumber,
  setup,
  SIGNERS,
} from './concealed.fixture.ts';
import { exporterContext } from './signed.ts';

/** Returns the name or id of the principal that the scheme admits, or the reason of its refusal. */
async function verdictOf(scheme: Scheme, request: AuthRequest): Promise<string> {
  const line = request.lines(request.at.answer)[0] ?? '';
  const credentials = parseCredentials(line);
  if (credentials === undefined) return 'no credentials';
  const verdict = await scheme.authenticate(credentials, request);
  if (verdict.kind === 'refused') return verdict.reason;
  if (verdict.kind !== 'granted') return verdict.kind;
  const { principal } = verdict;
  if (principal.kind === 'person') return principal.name;
  return principal.kind === 'application' ? principal.id : principal.kind;
}

const OTHER_CONNECTION = 'p is no signature of this connection';
const UNKNOWN = 'the key is not registered';
const NO_KEY = 'a is no key for s';
const OWNER = 'the owner of the key may not come in here';

describe('RFC 9729 section 6.3: Concealed admits a client', () => {
  test.each(Object.keys(SIGNERS).map(Number) as SchemeNumber[])(
    'a client is admitted with the signature scheme %i',
    async (s) => {
      await using known = await setup();
      const key = newKey(s);
      await known.know(key);
      expect(await verdictOf(known.scheme, asking(fieldOf(paramsOf({ key }))))).toBe('alice');
    },
  );

  test('an application is admitted under its name, and the use of its key is stored', async () => {
    await using known = await setup();
    const key = newKey();
    await known.know(key, { kind: 'application', id: 'collector' });
    known.clock.advance(5000);
    expect(await verdictOf(known.scheme, asking(fieldOf(paramsOf({ key }))))).toBe('collector');
    await eventually(async () => {
      expect((await known.stores.publicKeys.get(key.id))?.used_at).toBe(known.clock.now());
    });
  });

  test('a client is admitted also if the use of its key cannot be stored', async () => {
    await using known = await setup();
    const key = newKey();
    await known.know(key);
    const touch = () => Promise.reject(new StoreUnavailable('full'));
    const { publicKeys, people } = known.stores;
    const get = (id: string) => publicKeys.get(id);
    await using full = await setup({ publicKeys: { get, touch }, people });
    expect(await verdictOf(full.scheme, asking(fieldOf(paramsOf({ key }))))).toBe('alice');
  });

  test('a client is admitted again on the same connection, as long as the connection lasts (section 8)', async () => {
    await using known = await setup();
    const key = newKey();
    await known.know(key);
    const request = asking(fieldOf(paramsOf({ key })));
    for (let time = 0; time < 3; time += 1) {
      expect(await verdictOf(known.scheme, request)).toBe('alice');
    }
  });

  test('a client may name the realm of the space, and no other realm', async () => {
    await using known = await setup();
    const key = newKey();
    await known.know(key);
    const verdict = (realm: string) =>
      verdictOf(known.scheme, asking(fieldOf(paramsOf({ key, realm }))));
    expect(await verdict(REALM)).toBe('alice');
    for (const other of ['', 'Vault', 'other'])
      expect(await verdict(other)).toBe('realm is another');
  });
});

describe('RFC 9729 section 6.3: Concealed refuses a client', () => {
  test('the proof of another connection, origin, port or scheme is refused', async () => {
    await using known = await setup();
    const key = newKey();
    await known.know(key);
    const elsewhere = ['https://rs.example', 'https://rs.example:8444', 'http://rs.example:8443'];
    for (const url of [...elsewhere, 'https://other.example:8443']) {
      const request = asking(fieldOf(paramsOf({ key, url })));
      expect(await verdictOf(known.scheme, request)).toBe(OTHER_CONNECTION);
    }
    const stolen = fieldOf(paramsOf({ key, connection: 'two' }));
    expect(await verdictOf(known.scheme, asking(stolen))).toBe(OTHER_CONNECTION);
  });

  test('an unknown key, a key of another protocol, or a key of a removed or disabled person is refused', async () => {
    await using known = await setup();
    const keys = { unknown: newKey(), hoba: newKey(0x0804), orphan: newKey(), disabled: newKey() };
    await known.know(keys.hoba, undefined, 'HOBA');
    await known.know(keys.orphan, { kind: 'person', id: 'p-nobody' });
    const bob = { id: 'p-bob', name: 'bob', password_hash: 'none', created_at: 0, version: 0 };
    await known.stores.people.add({ ...bob, disabled: true });
    await known.know(keys.disabled, { kind: 'person', id: bob.id });
    const reasons = { unknown: UNKNOWN, hoba: UNKNOWN, orphan: OWNER, disabled: OWNER };
    for (const [name, key] of Object.entries(keys)) {
      const verdict = await verdictOf(known.scheme, asking(fieldOf(paramsOf({ key }))));
      expect([name, verdict]).toEqual([name, reasons[name as keyof typeof keys]]);
    }
  });

  test('a removed key is refused from the next request on', async () => {
    await using known = await setup();
    const key = newKey();
    await known.know(key);
    const request = asking(fieldOf(paramsOf({ key })));
    expect(await verdictOf(known.scheme, request)).toBe('alice');
    await known.stores.publicKeys.remove(key.id);
    expect(await verdictOf(known.scheme, request)).toBe(UNKNOWN);
  });

  test('section 4.2: an `a` that differs from the key of `k` is refused with any signature', async () => {
    await using known = await setup();
    const [mine, theirs] = [newKey(), newKey()];
    await known.know(theirs);
    const swapped = { ...mine, id: theirs.id };
    expect(await verdictOf(known.scheme, asking(fieldOf(paramsOf({ key: swapped }))))).toBe(
      'k is not the id of a',
    );
    const claimed = { ...mine, id: theirs.id, encoded: theirs.encoded };
    expect(await verdictOf(known.scheme, asking(fieldOf(paramsOf({ key: claimed }))))).toBe(
      OTHER_CONNECTION,
    );
  });

  test('a signature scheme that does not fit the key is refused', async () => {
    await using known = await setup();
    const key = newKey(0x0403);
    await known.know(key);
    const reasons = { 0x0503: NO_KEY, 0x0804: NO_KEY, 0x0807: OTHER_CONNECTION } as const;
    for (const [number, reason] of Object.entries(reasons)) {
      const s = Number(number) as keyof typeof reasons;
      const params = paramsOf({ key: { ...key, s, privateKey: SIGNERS[s].make() } });
      expect([s, await verdictOf(known.scheme, asking(fieldOf(params)))]).toEqual([s, reason]);
    }
    const none = { ...paramsOf({ key }), s: '513' };
    expect(await verdictOf(known.scheme, asking(fieldOf(none)))).toBe('unknown signature scheme');
  });

  test('section 7: a connection without an exporter is refused', async () => {
    await using known = await setup();
    const key = newKey();
    await known.know(key);
    const request = asking(fieldOf(paramsOf({ key })), { exporter: undefined });
    expect(await verdictOf(known.scheme, request)).toBe('not over TLS 1.3');
  });

  test('no client is admitted while the store does not answer', async () => {
    await using known = await setup();
    const down = () => Promise.reject(new StoreUnavailable('down'));
    await using broken = await setup({ publicKeys: { get: down, touch: down } });
    const request = asking(fieldOf(paramsOf({ key: newKey() })));
    expect(await judge(spaceOf([broken.scheme]), request)).toMatchObject({ status: 503 });
    expect(await judge(spaceOf([known.scheme]), request)).toMatchObject({ status: 403 });
  });
});

describe('section 6.2: Concealed-Auth-Export', () => {
  const trusted = { address: '10.0.0.1', connection: {}, http2: false, trusted: true };

  /** A proof over the connection `front`, and the field with that connection's exporter output. */
  function throughFront() {
    const key = newKey();
    const params = paramsOf({ key, connection: 'front' });
    const context = exporterContext({
      signatureScheme: key.s,
      keyId: Buffer.from(key.id, 'base64url'),
      publicKey: key.encoded,
      url: ORIGIN_URL,
    });
    const output = exporterFrom('front')('EXPORTER-HTTP-Concealed-Authentication', context, 48);
    const field = ['Concealed-Auth-Export', formatAuthExport(output)] as const;
    return { key, line: fieldOf(params), field };
  }

  test('the field is read only from a trusted proxy, and only if the space allows it', async () => {
    await using front = await setup({ frontend: true });
    await using plain = await setup();
    const { key, line, field } = throughFront();
    for (const known of [front, plain]) await known.know(key);
    const told = asking(line, { peer: trusted, exporter: undefined }, [field]);
    expect(await verdictOf(front.scheme, told)).toBe('alice');
    expect(await verdictOf(plain.scheme, told)).toBe('not over TLS 1.3');
    const stranger = asking(line, { exporter: undefined }, [field]);
    expect(await verdictOf(front.scheme, stranger)).toBe('not over TLS 1.3');
    const own = asking(line, {}, [field]);
    expect(await verdictOf(front.scheme, own)).toBe(OTHER_CONNECTION);
  });

  test('a repeated, malformed or missing field admits no client', async () => {
    await using front = await setup({ frontend: true });
    const { key, line, field } = throughFront();
    await front.know(key);
    const judged = async (fields: readonly (readonly [string, string])[]) =>
      judge(spaceOf([front.scheme]), asking(line, { peer: trusted }, fields));
    expect(await judged([field])).toMatchObject({ kind: 'pass' });
    expect(await judged([field, field])).toMatchObject({ status: 400 });
    const [name, value] = field;
    const others = [
      value.slice(1),
      `${value};a=1`,
      value.replace(/.:$/, ':'),
      `${value},${value}`,
      '',
    ];
    for (const other of others) {
      expect(await judged([[name, other]])).toMatchObject({ kind: 'answer', status: 403 });
    }
    expect(await judged([])).toMatchObject({ kind: 'answer', status: 403 });
  });
});

describe('Concealed at a proxy', () => {
  const proving = (target: string, url: string, method = 'GET') => {
    const key = newKey();
    const at = { at: PROXY, method, target, origin: 'https://proxy.example:3128' };
    const line = ['Proxy-Authorization', fieldOf(paramsOf({ key, url }))] as const;
    return { key, request: asking('Basic x', at, [line]) };
  };

  test.each([
    ['GET', 'http://a.example/x?y', 'http://a.example'],
    ['GET', 'http://A.Example:8080/', 'http://a.example:8080'],
    ['CONNECT', 'a.example:443', 'https://a.example'],
    ['CONNECT', '[::1]:8443', 'https://[::1]:8443'],
  ])('%s %s is signed for the target URI', async (method, target, url) => {
    await using known = await setup({ applications: false });
    const { key, request } = proving(target, url, method);
    await known.know(key);
    expect(await verdictOf(known.scheme, request)).toBe('alice');
  });

  test('a signature for another URI or for the proxy, or of an application, is refused', async () => {
    await using known = await setup({ applications: false });
    for (const url of ['http://b.example', 'https://proxy.example:3128', 'https://a.example']) {
      const { key, request } = proving('http://a.example/', url);
      await known.know(key);
      expect(await verdictOf(known.scheme, request)).toBe(OTHER_CONNECTION);
    }
    const { key, request } = proving('http://a.example/', 'http://a.example');
    await known.know(key, { kind: 'application', id: 'collector' });
    expect(await verdictOf(known.scheme, request)).toBe(OWNER);
  });
});

test('the scheme never sends a challenge', async () => {
  await using known = await setup();
  expect(await known.scheme.challenge(asking(''))).toEqual([]);
});

describe('RFC 9729 section 6.1: a malformed field is ignored whole', () => {
  test('the request is judged without the field, also in a space with other schemes', async () => {
    await using known = await setup();
    const key = newKey();
    await known.know(key);
    const session = schemeOf('Session', {
      yields: true,
      locate: () => ({ scheme: 'session', rest: 'good', token68: 'good' }),
    });
    const space = spaceOf([known.scheme, schemeOf('One')]);
    const right = fieldOf(paramsOf({ key }));
    expect(await judge(space, asking(right))).toMatchObject({ kind: 'pass' });
    const without = await judge(space, requestOf([]));
    expect(without).toMatchObject({
      status: 401,
      fields: { 'WWW-Authenticate': ['One realm="documents"'] },
    });
    const malformed = [
      'Concealed',
      'CONCEALED k="',
      'Concealed ,,,',
      'Concealed AAAA',
      `${right}, k=A`,
    ];
    for (const line of [
      ...malformed,
      right.replace(/s=\d+/, 's=x'),
      right.replace(/p=[^,]+/, 'p=A'),
    ]) {
      const ignored = { ...without, untold: true };
      expect([line, await judge(space, asking(line))]).toEqual([line, ignored]);
      const signedIn = await judge(spaceOf([known.scheme, session]), asking(line));
      expect([line, signedIn]).toMatchObject([line, { kind: 'pass', scheme: 'Session' }]);
    }
    expect(await judge(space, asking('Concealedx k="'))).toMatchObject({ status: 401 });
  });
});

test('no answer of a space shows that it has Concealed, with or without TLS', async () => {
  await using known = await setup();
  const other = schemeOf('One', {
    challenge: () => [],
    needs: () => 'One is not taken in clear text.',
  });
  for (const exporter of [exporterFrom('one'), undefined]) {
    for (const schemes of [[], [other]]) {
      const [plain, beside] = await Promise.all(
        [schemes, [known.scheme, ...schemes]].map(async (all) =>
          judge(spaceOf(all), requestOf([], exporter && { exporter })),
        ),
      );
      expect(beside).toEqual(plain);
    }
  }
});
