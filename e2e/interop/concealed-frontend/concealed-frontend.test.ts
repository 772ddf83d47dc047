/** RFC 9729 section 6.2: one server terminates TLS, and another server checks the proof. */
import { once } from 'node:events';
import { request as httpRequest } from 'node:http';
import { connect } from 'node:tls';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { fingerprint, keyOf } from '../../attacks/concealed.fixture.ts';
import { exportField, withProof } from '../../clients/concealed/concealed-client.ts';
import type { ConcealedOptions } from '../../clients/concealed/concealed-client.ts';
import { ALGORITHMS, newKey } from '../../clients/concealed/keys.ts';
import type { AlgorithmName, ConcealedKey } from '../../clients/concealed/keys.ts';
import { EXPORTED, LABEL, overTls1, overTls2 } from '../../clients/concealed/over-tls.ts';
import type { BoundConnection } from '../../clients/concealed/over-tls.ts';
import type { Field } from '../../clients/digest/exchange.ts';
import { freePort } from '../../parts/free-port.ts';
import { type Pair, startPair } from '../../pair/pair.ts';
import { makeCertificate } from '../proxy-site.ts';
import { startGateway, startHaproxy } from './fronts.ts';

const ACCEPTED = { rejectUnauthorized: false } as const;

describe.each([
  { name: 'HAProxy', start: startHaproxy, otherHost: 200 },
  { name: 'our gateway', start: startGateway, otherHost: 421 },
])('$name', ({ start, otherHost }) => {
  const parts = new AsyncDisposableStack();
  const keys = new Map<AlgorithmName, ConcealedKey>();
  let key: ConcealedKey;
  let origin: string;
  let pair: Pair;

  beforeAll(async () => {
    origin = `https://localhost:${await freePort()}`;
    const believing = { schemes: ['Concealed'], hide: 'nothing', concealed: { frontend: true } };
    pair = parts.use(
      await startPair({
        settings: {
          resource: origin,
          trustedProxies: ['127.0.0.1/32'],
          spaces: [
            { ...believing, url: `${origin}/told/`, realm: 'told', serves: 'identity' },
            { ...believing, url: `${origin}/vault/`, realm: 'vault', hide: 'everything' },
            {
              url: `${origin}/itself/`,
              realm: 'itself',
              schemes: ['Concealed'],
              hide: 'nothing',
              serves: 'identity',
            },
          ],
        },
      }),
    );
    await pair.addPerson('alice');
    for (const name of Object.keys(ALGORITHMS) as AlgorithmName[]) {
      keys.set(name, await keyOf(pair, 'alice', name));
    }
    key = keys.get('ed25519') ?? newKey('ed25519', '');
    const certificate = parts.use(await makeCertificate());
    const { data: folder, resource: upstream } = pair;
    parts.use(await start({ folder, origin, upstream, certificate }));
  });
  afterAll(() => parts.disposeAsync());

  const open = (options: object = {}) =>
    overTls1('localhost', Number(new URL(origin).port), { ...ACCEPTED, ...options });

  /** A request with a proof for this connection; `more` changes the request. */
  const proving = (
    { exporter }: Pick<BoundConnection, 'exporter'>,
    target = '/told/',
    more: Partial<ConcealedOptions> = {},
    method = 'GET',
  ) =>
    withProof(
      { method, target, fields: [], content: Buffer.alloc(0) },
      { key, exporter, origin, ...more },
    );

  async function statusOf(
    connection: BoundConnection,
    request = proving(connection),
    before: readonly Field[] = [],
  ): Promise<number> {
    const fields = [...before, ...request.fields];
    return (await connection.send({ ...request, fields })).status;
  }

  /** Returns the field with the exporter value of `other`, which would make its proof valid. */
  function exportOf(other: BoundConnection): Field {
    let exported: Buffer = Buffer.alloc(0);
    proving(other, '/told/', {
      exporter: (context) => (exported = other.exporter(context)),
    });
    return exportField(exported);
  }

  describe('a client that proves its key is admitted', () => {
    test.each(['TLS_AES_128_GCM_SHA256', 'TLS_AES_256_GCM_SHA384'])(
      'with %s, by every algorithm, twice on one connection',
      async (ciphers) => {
        await using connection = await open({ ciphers });
        for (const one of [...keys.values(), ...keys.values()]) {
          const request = proving(connection, '/told/', { key: one });
          const { status, content } = await connection.send(request);
          expect(status).toBe(200);
          expect(JSON.parse(content.toString())).toMatchObject({ principal: { name: 'alice' } });
        }
      },
    );

    test('with the realm of the space only', async () => {
      await using connection = await open();
      const by = (realm: string) => statusOf(connection, proving(connection, '/told/', { realm }));
      expect([await by('told'), await by('vault'), await by('')]).toEqual([200, 403, 403]);
    });

    test('with any Host or none; a proof for the name in Host is refused', async () => {
      await using connection = await open();
      const host: Field = ['Host', 'other.example'];
      expect(await statusOf(connection, proving(connection), [host])).toBe(otherHost);
      const there = proving(connection, '/told/', { origin: 'https://other.example' });
      expect(await statusOf(connection, there, [host])).toBe(otherHost === 421 ? 421 : 403);
    });
  });

  describe('the server refuses', () => {
    test("the proof of another connection, even with that connection's field in any spelling, or twice", async () => {
      await using other = await open();
      await using mine = await open();
      const stolen = proving(other);
      const [name, value] = exportOf(other);
      const spelled = [name, name.toLowerCase(), name.toUpperCase(), name.replaceAll('-', '_')];
      for (const forged of [[], ...spelled.map((one): Field[] => [[one, value]])]) {
        for (const fields of [forged, [...forged, ...forged]]) {
          expect(await statusOf(mine, stolen, fields)).toBe(403);
          expect(await statusOf(mine, { ...stolen, fields: [...stolen.fields, ...fields] })).toBe(
            403,
          );
          expect(await statusOf(other, stolen, fields)).toBe(200);
        }
      }
    });

    test('RFC 9729 section 7: a proof over TLS 1.2, with and without its exporter value', async () => {
      const port = Number(new URL(origin).port);
      for (const forged of [false, true]) {
        const socket = connect({ host: 'localhost', port, ...ACCEPTED, maxVersion: 'TLSv1.2' });
        await once(socket, 'secureConnect');
        let exported: Buffer = Buffer.alloc(0);
        const { fields } = proving({
          exporter: (context) => (exported = socket.exportKeyingMaterial(EXPORTED, LABEL, context)),
        });
        const lines = [...fields, ...(forged ? [exportField(exported)] : [])]
          .map(([name, value]) => `${name}: ${value}\r\n`)
          .join('');
        socket.write(
          `GET /told/ HTTP/1.1\r\nHost: localhost:${port}\r\nConnection: close\r\n${lines}\r\n`,
        );
        let answer = '';
        for await (const piece of socket) answer += String(piece);
        expect(answer).toMatch(/^HTTP\/1\.1 403 /);
      }
    });

    test('a proof in a space that does not trust its front', async () => {
      await using connection = await open();
      expect(await statusOf(connection, proving(connection, '/itself/'))).toBe(403);
      await using itself = await overTls2(pair.resourceTls);
      const target = `${pair.resourceTls}/itself/`;
      expect(await statusOf(itself, proving(itself, target))).toBe(200);
    });

    test('a proof past the front, from an address that is not trusted', async () => {
      await using connection = await open();
      const { fields } = proving(connection);
      const headers = Object.fromEntries([
        ...fields,
        exportOf(connection),
        ['X-Forwarded-Proto', 'https'],
        ['X-Forwarded-Host', new URL(origin).host],
        ['X-Forwarded-For', '127.0.0.1'],
      ]);
      const from = async (localAddress: string) => {
        const sent = httpRequest(`${pair.resource}/told/`, { headers, localAddress, agent: false });
        const [answer] = await once(sent.end(), 'response');
        answer.resume();
        return Number(answer.statusCode);
      };
      expect(await from('127.0.0.1')).toBe(200);
      expect(await from('127.0.0.2')).toBe(403);
    });

    test("a proof past the front, over the server's own TLS", async () => {
      await using connection = await open();
      const options = { ...ACCEPTED, localAddress: '127.0.0.2' };
      const port = Number(new URL(pair.resourceTls).port);
      await using itself = await overTls1('127.0.0.1', port, options);
      const stolen = proving(connection);
      expect(await statusOf(itself, stolen, [exportOf(connection)])).toBe(403);
      const own = { origin: pair.resourceTls };
      expect(await statusOf(itself, proving(itself, '/told/', own))).toBe(200);
      const forged = [exportField(Buffer.alloc(EXPORTED))];
      expect(await statusOf(itself, proving(itself, '/told/', own), forged)).toBe(200);
    });
  });

  test('RFC 9729 section 6.4: a hidden space answers only a client with the key', async () => {
    await using connection = await open();
    await using other = await open();
    const put = proving(connection, '/vault/a', {}, 'PUT');
    const written = await connection.send({ ...put, content: Buffer.from('secret') });
    expect(written.status).toBe(201);
    const read = await connection.send(proving(connection, '/vault/a'));
    expect(read.content.toString()).toBe('secret');

    const stranger = newKey('ed25519', '');
    const unknown = { key: { ...stranger, keyId: fingerprint(stranger) } };
    const shows: readonly ((target: string) => readonly Field[])[] = [
      () => [],
      () => [exportOf(other)],
      (target) => proving(connection, target, unknown).fields,
      (target) => proving(other, target).fields,
      (target) => [...proving(other, target).fields, exportOf(other)],
      (target) => proving(connection, target, { origin: 'https://other.example' }).fields,
      () => [['Authorization', 'Concealed']],
    ];
    for (const show of shows) {
      for (const method of ['GET', 'PUT', 'DELETE', 'OPTIONS', 'PROPFIND']) {
        const answers = [];
        for (const target of ['/vault/a', '/v4ult/a']) {
          const asked = { method, target, fields: show(target), content: Buffer.alloc(0) };
          const { status, fields, content } = await connection.send(asked);
          const kept = fields.filter(([name]) => !/^(?:date|x-request-id)$/i.test(name));
          answers.push({ method, status, fields: kept, content: content.toString() });
        }
        expect(answers[0]).toEqual(answers[1]);
      }
    }
  });
});
