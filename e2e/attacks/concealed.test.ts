import { connect } from 'node:tls';
import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { covered, exportField, withProof } from '../clients/concealed/concealed-client.ts';
import { ALGORITHMS, type AlgorithmName, type ConcealedKey } from '../clients/concealed/keys.ts';
import { LIES, type Lie } from '../clients/concealed/lies.ts';
import { LIES_OF_ECDSA, LIES_OF_RSA } from '../clients/concealed/lies-of-keys.ts';
import { type BoundConnection, EXPORTED, LABEL, overTls1 } from '../clients/concealed/over-tls.ts';
import type { Field } from '../clients/digest/exchange.ts';
import { type Pair, startPair } from '../pair/pair.ts';
import { connectTo, keyOf, PROTOCOLS, requestFor, tlsPort } from './concealed.fixture.ts';

/** A key registered as RSA works with each hash of RSA-PSS (RFC 8446 section 4.2.3). */
const ANY_HASH = 's: a hash that is not the one of the key, with all that follows';
const PATH = '/schemes/concealed/';
let pair: Pair;
const keys = new Map<AlgorithmName, ConcealedKey>();

beforeAll(async () => {
  pair = await startPair({ resource: 2 });
  await pair.addPerson('alice');
  for (const name of Object.keys(ALGORITHMS) as AlgorithmName[]) {
    keys.set(name, await keyOf(pair, 'alice', name));
  }
});

afterAll(() => pair[Symbol.asyncDispose]());

function known(name: AlgorithmName = 'ed25519'): ConcealedKey {
  const key = keys.get(name);
  if (key === undefined) throw new Error(`no key of ${name}`);
  return key;
}

/** The status of a request with an honest client's proof, or with the proof as `lie` changes it. */
async function statusOf(
  connection: BoundConnection,
  key: ConcealedKey,
  lie: Lie = (honest) => honest,
  more: readonly Field[] = [],
): Promise<number> {
  const origin = pair.resourceTls;
  const options = lie({ key, exporter: connection.exporter, origin });
  const request = withProof(requestFor('HTTP/1.1', origin, 'GET', PATH), options);
  const { status } = await connection.send({ ...request, fields: [...request.fields, ...more] });
  return status;
}

/** Connects over HTTP/1.1 to one of the processes. */
const toProcess = async (index: number) =>
  overTls1('localhost', await tlsPort(pair, index), { rejectUnauthorized: false });

describe('RFC 9729: a client that proves its key is admitted', () => {
  test.each(PROTOCOLS)('over %s, twice on one connection, by every algorithm', async (protocol) => {
    const origin = pair.resourceTls;
    await using connection = await connectTo(protocol, origin);
    for (const key of keys.values()) {
      const options = { key, exporter: connection.exporter, origin };
      const request = withProof(requestFor(protocol, origin, 'GET', PATH), options);
      for (const time of [1, 2]) {
        const { status, content } = await connection.send(request);
        expect({ time, status }).toEqual({ time, status: 200 });
        expect(JSON.parse(content.toString())).toMatchObject({
          scheme: 'Concealed',
          principal: { name: 'alice' },
        });
      }
    }
  });
});

describe('RFC 9729 section 6.3: the server refuses a false proof', () => {
  const cases: readonly (readonly [AlgorithmName, string, Lie])[] = [
    ...LIES.map(([what, lie]) => ['ed25519', what, lie] as const),
    ...LIES_OF_ECDSA.map(([what, lie]) => ['ecdsa_secp256r1_sha256', what, lie] as const),
    ...LIES_OF_RSA.filter(([what]) => what !== ANY_HASH).map(
      ([what, lie]) => ['rsa_pss_rsae_sha256', what, lie] as const,
    ),
  ];
  let connection: BoundConnection;
  beforeAll(async () => {
    connection = await connectTo('HTTP/1.1', pair.resourceTls);
  });
  afterAll(async () => connection[Symbol.asyncDispose]());

  test.each(cases)('a proof by a key of %s is refused: %s', async (algorithm, _, lie) => {
    const status = await statusOf(connection, known(algorithm), lie).catch(async () => {
      await connection[Symbol.asyncDispose]();
      connection = await connectTo('HTTP/1.1', pair.resourceTls);
      return statusOf(connection, known(algorithm), lie);
    });
    expect([400, 404]).toContain(status);
    await using fresh = await connectTo('HTTP/1.1', pair.resourceTls);
    expect(await statusOf(fresh, known(algorithm))).toBe(200);
  });

  test("the server refuses a proof of another connection, and a proof with that connection's exporter value", async () => {
    await using mine = await connectTo('HTTP/1.1', pair.resourceTls);
    await using other = await connectTo('HTTP/1.1', pair.resourceTls);
    expect(
      await statusOf(mine, known(), (honest) => ({ ...honest, exporter: other.exporter })),
    ).toBe(404);
    const exported = mine.exporter(Buffer.alloc(0));
    const forged = exportField(exported);
    const lie: Lie = (honest) => ({
      ...honest,
      exporter: () => exported,
      cover: () => covered(exported.subarray(0, 32)),
    });
    expect(await statusOf(other, known(), lie, [forged])).toBe(404);
  });

  test('section 7: the server refuses a proof over TLS 1.2, with any exporter value', async () => {
    const { port } = new URL(pair.resourceTls);
    const options = { rejectUnauthorized: false, maxVersion: 'TLSv1.2' } as const;
    const socket = connect({ host: 'localhost', port: Number(port), ...options });
    await once(socket, 'secureConnect');
    expect(socket.getProtocol()).toBe('TLSv1.2');
    const request = withProof(requestFor('HTTP/1.1', pair.resourceTls, 'GET', PATH), {
      key: known(),
      origin: pair.resourceTls,
      exporter: (context) => socket.exportKeyingMaterial(EXPORTED, LABEL, context),
    });
    const fields = request.fields.map(([name, value]) => `${name}: ${value}\r\n`).join('');
    socket.write(
      `GET ${PATH} HTTP/1.1\r\nHost: localhost:${port}\r\nConnection: close\r\n${fields}\r\n`,
    );
    let answer = '';
    for await (const piece of socket) answer += String(piece);
    expect(answer).toMatch(/^HTTP\/1.1 404 /);
  });

  test('the server refuses a proof in clear text', async () => {
    const made = withProof(requestFor('HTTP/1.1', pair.resource, 'GET', PATH), {
      key: known(),
      origin: pair.resource,
      exporter: () => Buffer.alloc(EXPORTED),
    });
    const headers = Object.fromEntries(made.fields);
    expect((await fetch(pair.resource + PATH, { headers })).status).toBe(404);
  });
});

test('fifty requests at once are admitted at two processes, and all are refused once the key is removed', async () => {
  await pair.addPerson('bob', 'correct horse battery');
  const key = await keyOf(pair, 'bob');
  const connections = await Promise.all([toProcess(0), toProcess(1)]);
  try {
    const asked = Array.from({ length: 50 }, (_, index) => connections[index % 2]);
    const ask = () =>
      Promise.all(asked.map((one) => (one ? statusOf(one, key) : Promise.reject(new Error()))));
    expect(new Set(await ask())).toEqual(new Set([200]));
    await pair.cli('user', 'key', 'remove', 'bob', key.keyId.toString('base64url'));
    expect(new Set(await ask())).toEqual(new Set([404]));
  } finally {
    for (const one of connections) await one[Symbol.asyncDispose]();
  }
});

test('a disabled person is refused', async () => {
  await pair.addPerson('carol', 'correct horse battery');
  const key = await keyOf(pair, 'carol');
  await using connection = await toProcess(1);
  expect(await statusOf(connection, key)).toBe(200);
  await pair.cli('user', 'disable', 'carol');
  expect(await statusOf(connection, key)).toBe(404);
});
