import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { withProof, exportField } from '../clients/concealed/concealed-client.ts';
import type { ConcealedKey } from '../clients/concealed/keys.ts';
import { newKey } from '../clients/concealed/keys.ts';
import { LIES } from '../clients/concealed/lies.ts';
import type { BoundConnection } from '../clients/concealed/over-tls.ts';
import type { Field, HttpResponse } from '../clients/digest/exchange.ts';
import { type Pair, startPair } from '../pair/pair.ts';
import { connectTo, fingerprint, keyOf, PROTOCOLS, requestFor } from './concealed.fixture.ts';

let pair: Pair;
let key: ConcealedKey;

beforeAll(async () => {
  pair = await startPair({
    settings: ({ resource }) => ({
      spaces: [
        { url: `${resource}/open/`, realm: 'open', schemes: ['Basic'] },
        {
          url: `${resource}/free/`,
          realm: 'free',
          schemes: ['PrivateToken'],
          trace: {},
          cors: { origins: ['https://pages.example'] },
        },
        hidden(`${resource}/vault/`, 'vault', { trace: {}, scopes: {} }),
        hidden(`${resource}/open/vault/`, 'inner', { serves: 'identity' }),
      ],
    }),
  });
  await pair.addPerson('alice');
  key = await keyOf(pair, 'alice');
});

afterAll(() => pair[Symbol.asyncDispose]());

const hidden = (url: string, realm: string, more: object) => ({
  url,
  realm,
  schemes: ['Concealed'],
  hide: 'everything',
  cors: { origins: ['https://pages.example'], credentials: true },
  ...more,
});

/** Hidden addresses, each beside an address that does not exist. */
const PLACES = [
  ['/vault/', '/v4ult/'],
  ['/vault', '/v4ult'],
  ['/vault/a', '/v4ult/a'],
  ['/open/vault/', '/open/v4ult/'],
  ['/open/vault/a%20b?c', '/open/v4ult/a%20b?c'],
] as const;

const METHODS =
  'GET HEAD OPTIONS POST PUT PATCH DELETE TRACE QUERY PROPFIND PROPPATCH MKCOL COPY MOVE LOCK UNLOCK REPORT SEARCH BAN PURGE'.split(
    ' ',
  );

/** An answer without the values that differ between any two answers; its address is replaced by `where`. */
function told({ status, fields, content, trailers }: HttpResponse, path: string) {
  const name = path.split('/').find((segment) => segment.includes('ult')) ?? '';
  const neutral = (text: unknown) => String(text).replaceAll(name, 'where');
  const own = new Set(['date', 'x-request-id']);
  return {
    status,
    fields: fields.map(([field, value]) =>
      own.has(field.toLowerCase()) ? [field] : [field, neutral(value)],
    ),
    content: neutral(content.toString('latin1')).replaceAll(/"[\w-]{22}"/g, '"id"'),
    trailers,
  };
}

/** Makes credentials that are bound to a connection. */
type Show = (connection: BoundConnection, origin: string) => readonly Field[];

const honest = (by: () => ConcealedKey, realm?: string): Show => {
  return ({ exporter }, origin) =>
    withProof(requestFor('HTTP/1.1', origin, 'GET', '/'), {
      key: by(),
      exporter,
      origin,
      ...(realm !== undefined && { realm }),
    }).fields;
};

const stranger = newKey('ed25519', '');
const some = (what: readonly string[]) => LIES.filter(([name]) => what.includes(name));

/** Credentials that no hidden space accepts; some are of a registered key. */
const BAD: readonly (readonly [string, Show])[] = [
  ['no credentials', () => []],
  ['the scheme alone', () => [['Authorization', 'Concealed']]],
  ['no parameters of ours', () => [['Authorization', 'concealed a=b, c=d']]],
  ['malformed', () => [['Authorization', 'Concealed k=,,==']]],
  ['another scheme', () => [['Authorization', 'Bearer abc']]],
  ['Basic', () => [['Authorization', 'Basic YWxpY2U6eA==']]],
  ['an unknown key', honest(() => ({ ...stranger, keyId: fingerprint(stranger) }))],
  ['an unknown key of P-384', honest(unknown('ecdsa_secp384r1_sha384'))],
  ['an unknown key of RSA', honest(unknown('rsa_pss_rsae_sha512'))],
  ['a realm that is not there', honest(() => key, 'nowhere')],
  [
    'two credentials in one field line',
    (connection, origin) =>
      honest(() => key)(connection, origin).map(([name, value]) => [name, `${value}, ${value}`]),
  ],
  [
    'a forged export',
    (connection, origin) => [
      ...honest(() => ({ ...stranger, keyId: fingerprint(stranger) }))(connection, origin),
      exportField(Buffer.alloc(48)),
    ],
  ],
  ...some([
    'v: a bit flipped',
    'p: a bit flipped',
    'p: cut',
    'a: longer',
    'k: empty',
    's: 0',
    's: another',
    's: twice',
    'another port',
    'another key by its ID, in `a` too',
    'another key by its ID, with the right `a`',
  ]).map(([what, lie]): readonly [string, Show] => [
    what,
    ({ exporter }, origin) =>
      withProof(requestFor('HTTP/1.1', origin, 'GET', '/'), lie({ key, exporter, origin })).fields,
  ]),
];

function unknown(algorithm: Parameters<typeof newKey>[0]) {
  const made = newKey(algorithm, '');
  return () => ({ ...made, keyId: fingerprint(made) });
}

/** The answers to the same request for a hidden address and for an address that does not exist. */
async function both(
  protocol: (typeof PROTOCOLS)[number],
  method: string,
  [there, absent]: readonly [string, string],
  show: Show,
  more: readonly Field[] = [],
) {
  const origin = pair.resourceTls;
  const content = ['PUT', 'POST', 'QUERY'].includes(method) ? 'hello' : '';
  const answers = [];
  for (const path of [there, absent]) {
    await using connection = await connectTo(protocol, origin);
    const request = requestFor(protocol, origin, method, path, content);
    const fields = [...show(connection, origin), ...more];
    answers.push(told(await connection.send({ ...request, fields }), path));
  }
  return answers;
}

describe.each(PROTOCOLS)('RFC 9729 section 6.4: a hidden space over %s', (protocol) => {
  test.each(BAD)(
    'every method with %s gets the answer of an address that does not exist',
    async (_, show) => {
      for (const place of PLACES) {
        for (const method of place === PLACES[0] ? METHODS : ['GET', 'PUT']) {
          const [there, absent] = await both(protocol, method, place, show);
          expect({ method, place, ...there }).toEqual({ method, place, ...absent });
        }
      }
    },
  );

  test('a preflight, a condition, a range or a Destination does not reveal it', async () => {
    const origin = 'https://pages.example';
    const asking: readonly (readonly [string, readonly Field[]])[] = [
      [
        'OPTIONS',
        [
          ['Origin', origin],
          ['Access-Control-Request-Method', 'PUT'],
        ],
      ],
      ['GET', [['Origin', origin]]],
      [
        'GET',
        [
          ['If-None-Match', '*'],
          ['Range', 'bytes=0-1'],
        ],
      ],
      [
        'PUT',
        [
          ['If-Match', '*'],
          ['Origin', origin],
        ],
      ],
      ['PROPFIND', [['Depth', '1']]],
    ];
    for (const place of PLACES) {
      for (const [method, fields] of asking) {
        const [there, absent] = await both(protocol, method, place, () => [], fields);
        expect({ method, place, ...there }).toEqual({ method, place, ...absent });
      }
    }
  });

  test('a client with the key is admitted, and its visit changes no other address', async () => {
    const origin = pair.resourceTls;
    await using connection = await connectTo(protocol, origin);
    const ask = async (method: string, path: string, content = '', realm?: string) => {
      const request = requestFor(protocol, origin, method, path, content);
      const fields = honest(() => key, realm)(connection, origin);
      return connection.send({ ...request, fields });
    };
    expect((await ask('PUT', '/vault/a', 'secret')).status).toBe(201);
    expect((await ask('GET', '/vault/a')).content.toString()).toBe('secret');
    expect((await ask('GET', '/vault/a', '', 'vault')).status).toBe(200);
    expect((await ask('GET', '/vault/a', '', 'inner')).status).toBe(404);
    const known = await ask('GET', '/open/vault/');
    expect(JSON.parse(known.content.toString())).toMatchObject({ scheme: 'Concealed' });
    // An address with two readings stays refused.
    expect((await ask('GET', '/open//vault/')).status).toBe(401);
    expect((await ask('OPTIONS', '/vault/a')).status).toBe(204);
    expect((await ask('GET', '/vault/b')).status).toBe(404);
    expect((await ask('TRACE', '/vault/a')).content.toString()).not.toContain('Concealed');
    for (const path of ['/', '/.well-known/oauth-protected-resource/vault/']) {
      const request = requestFor(protocol, origin, 'GET', path);
      const found = (await connection.send(request)).content.toString();
      expect(found).not.toMatch(/vault|Concealed/);
    }
    expect((await ask('DELETE', '/vault/a')).status).toBe(204);
  });
});

test('RFC 9729 section 6.4: a listing, a document of the same name and a MOVE of the parent do not reveal a hidden space', async () => {
  await pair.addPerson('bob', 'correct horse battery');
  const origin = pair.resourceTls;
  await using connection = await connectTo('HTTP/1.1', origin);
  const basic: Field = [
    'Authorization',
    `Basic ${Buffer.from('bob:correct horse battery').toString('base64')}`,
  ];
  const ask = (method: string, path: string, content = '', more: readonly Field[] = []) => {
    const request = requestFor('HTTP/1.1', origin, method, path, content);
    return connection.send({ ...request, fields: [basic, ...more] });
  };
  expect((await ask('PUT', '/open/vault/mine', 'x')).status).toBe(
    (await ask('PUT', '/open/v4ult/mine', 'x')).status,
  );
  for (const method of ['MKCOL', 'PROPFIND', 'DELETE', 'MKCOL', 'PUT', 'PROPFIND']) {
    const path = (name: string) => `/open/${name}/${method === 'PUT' ? 'mine' : ''}`;
    const [there, absent] = [await ask(method, path('vault')), await ask(method, path('v4ult'))];
    expect(there.status).toBe(absent.status);
  }
  const listing = (await ask('GET', '/open/')).content.toString();
  expect(listing).toContain('v4ult');
  expect(listing).toContain('vault');
  const move = await ask('MOVE', '/open/v4ult/', '', [['Destination', `${origin}/open/vault2/`]]);
  expect(move.status).toBe(201);
});
