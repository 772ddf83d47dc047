import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { TokenType } from '#shared/private-token/token-types.ts';
import { valuesOf } from '../clients/digest/exchange.ts';
import type { HttpResponse } from '../clients/digest/exchange.ts';
import { redeem } from '../clients/private-token/private-token-client.ts';
import { STORE_KINDS } from '../flows/flow.ts';
import {
  type Minted,
  type SpaceName,
  startTokenServers,
  type TokenServers,
  TYPES,
  unsound,
} from './private-token.fixture.ts';
import {
  arrive,
  fill,
  getToken,
  type Redemption,
  requestFor,
  targetOf,
  visit,
  type Visitor,
} from './private-token-people.fixture.ts';
import { placesOf, rowsOf, sha256, tracesOf } from './private-token-traces.fixture.ts';
import type { Traces } from './private-token-traces.fixture.ts';

const FILE_OF_STORE = /\.(?:db|db-wal|aof)$|\/(?:base|pg_wal)\//;

const SPACES = ['tokens', 'window', 'documents'] as const;
/** The visitor of each turn: each person follows the other and also follows themselves. */
const TURNS = [0, 1, 1, 0];

/**
 * Two people get and spend tokens (RFC 9576 section 3.3). The test then searches everything that both
 * servers store, log and answer: nothing may link a token to its request, or two tokens to one person.
 */
describe.each(STORE_KINDS)('on %s', (kind) => {
  let servers: TokenServers;
  let visitors: readonly Visitor[];
  let redemptions: readonly Redemption[];
  /** Tokens that were issued and never sent. */
  let unspent: readonly Minted[];
  /** A token that another client has spent. */
  let filler: Minted;
  let traces: Traces;
  beforeAll(async () => {
    const limits = {
      privateTokens: { burst: 100, per: 864 },
      redemptions: { burst: 200, per: 0.5 },
      verifications: { burst: 1000, per: 0.005 },
    };
    servers = await startTokenServers(kind, { limits });
    visitors = await arrive(servers);
    filler = await fill(servers);
    const all: Redemption[] = [];
    // One visit after another, so that neighbouring rows and log lines could be linked.
    for (const { type } of TYPES) {
      for (const space of SPACES) {
        for (const turn of TURNS) {
          const visitor = visitors[turn];
          if (visitor !== undefined) all.push(await visit(servers, visitor, type, space));
        }
      }
    }
    redemptions = all;
    unspent = await Promise.all(
      visitors.flatMap((visitor) =>
        TYPES.map(async ({ type }) => getToken(servers, visitor, type, 'tokens')),
      ),
    );
    traces = await tracesOf(servers);
  });
  afterAll(async () => {
    expect(await unsound(servers)).toEqual([]);
    await servers[Symbol.asyncDispose]();
  });

  const of = (type: TokenType, space: SpaceName) =>
    redemptions.filter((one) => one.type === type && one.space === space);

  test('precondition: each token is admitted once, and its replay and a forgery are refused', () => {
    expect(redemptions).toHaveLength(TYPES.length * SPACES.length * TURNS.length);
    for (const { answer, replay, forgery } of redemptions) {
      expect([answer.status, replay.status, forgery.status]).toEqual([200, 401, 401]);
    }
  });

  test('precondition: the search finds a secret in every spelling, and covers rows, files and logs', () => {
    const secret = randomBytes(48);
    const places = (content: Buffer) => placesOf(new Map([['here', content]]), { secret });
    for (const bytes of [secret, sha256(secret)]) {
      for (const content of [
        bytes,
        bytes.subarray(0, 20),
        ...[bytes.toString('hex'), bytes.toString('hex').toUpperCase()].map((text) =>
          Buffer.from(text),
        ),
        ...[bytes.toString('base64'), bytes.toString('base64url')].map((text) => Buffer.from(text)),
        Buffer.from(JSON.stringify([...bytes])),
        Buffer.from(bytes.toString('hex').slice(0, 16)),
      ]) {
        expect(places(Buffer.concat([randomBytes(1000), content, randomBytes(7)]))).toEqual([
          'secret in here',
        ]);
      }
    }
    expect(places(randomBytes(10_000))).toEqual([]);
    // The traces include the store's rows, the store's files and the logs.
    for (const { person } of visitors) {
      const found = [...traces].filter(([, content]) => content.includes(person.id));
      expect(found.some(([place]) => place.startsWith('row '))).toBe(true);
      expect(found.some(([place]) => FILE_OF_STORE.test(place))).toBe(true);
    }
    for (const name of ['log authz 0', 'log authz 1', 'log resource 0', 'log resource 1']) {
      expect(String(traces.get(name))).toContain('"event":"request"');
    }
  });

  test('RFC 9578 sections 5 and 6: issuance and redemption leave no trace of each other, in any form', () => {
    const all = [filler, ...redemptions.map(({ minted }) => minted), ...unspent];
    const secrets = all.flatMap(({ token, issuance: { request }, response, drawn }, index) =>
      Object.entries({
        ...Object.fromEntries(drawn.entries()),
        // The type, the nonce and the digest. The public key id behind these is no secret.
        named: token.subarray(0, 66),
        digest: token.subarray(34, 66),
        authenticator: token.subarray(98),
        request,
        blinded: request.subarray(3),
        response,
        // Type 1 has the element, followed by the proof.
        element: response.subarray(0, 49),
        proof: response.subarray(49),
      }).map(([name, bytes]) => [`${name} of ${index}`, bytes]),
    );
    expect(secrets.length).toBeGreaterThan(10 * all.length - 1);
    expect(placesOf(traces, Object.fromEntries(secrets))).toEqual([]);
  });

  test('the id of a key appears only beside the keys', () => {
    const ids = redemptions.map(({ minted }) => minted.token.subarray(66, 98));
    const places = placesOf(traces, Object.fromEntries(ids.entries()));
    const ofKeys = / in row \S*token[-_]key/;
    expect(places.some((place) => place.includes(' in row '))).toBe(true);
    const outside = places.filter((place) => !ofKeys.test(place) && !FILE_OF_STORE.test(place));
    expect(outside).toEqual([]);
  });

  test('a spent token is stored as hash and expiry only, in no order of time', async () => {
    const rows = (await rowsOf(servers)).filter(({ place }) => place.includes('spent'));
    const hashes = [filler, ...redemptions.map(({ minted }) => minted)].map(hashOf);
    const kept = rows.map(({ values }) => values.map(([column]) => column));
    expect(kept).toEqual(hashes.map(() => ['digest', 'until']));
    // The expiry depends on the key or window, not on the time of use.
    const untilOf = (hash: Buffer) =>
      rows.find(({ values }) => values[0]?.[1].equals(hash))?.values[1]?.[1].toString();
    for (const { type } of TYPES) {
      for (const space of SPACES) {
        const expiries = of(type, space).map(({ minted }) => untilOf(hashOf(minted)));
        expect(new Set(expiries).size).toBe(1);
        expect(expiries).not.toContain(undefined);
      }
    }
    if (kind === 'sqlite') {
      // The rows are sorted by hash, which reveals no order.
      const sorted = hashes.toSorted((a, b) => a.compare(b));
      expect(rows.map(({ values }) => values[0]?.[1])).toEqual(sorted);
      using database = new DatabaseSync(join(servers.flow.pair.data, 'state.db'));
      expect(() => database.prepare('SELECT rowid FROM spent_token')).toThrow('no such column');
    }
    const named = Object.fromEntries(hashes.entries());
    const outside = placesOf(traces, named).filter(
      (place) => !/ in row \S*spent/.test(place) && !FILE_OF_STORE.test(place),
    );
    expect(outside).toEqual([]);
  });

  test('log lines of redemptions differ only in time and in a random id', () => {
    const lines = linesOf(servers.flow.pair.resources.map(({ log }) => log));
    for (const space of SPACES) {
      const ofSpace = lines.filter(({ path }) => path === targetOf(space));
      const granted = ofSpace.filter(({ status }) => status === 200);
      const mine = redemptions.filter((one) => one.space === space);
      expect(granted.length).toBeGreaterThanOrEqual(mine.length);
      for (const line of granted) {
        expect(line).toEqual({
          ...ANYBODYS,
          path: targetOf(space),
          status: 200,
          server: 'resource',
          space,
          scheme: 'PrivateToken',
          verdict: 'granted',
        });
      }
      const refused = ofSpace.filter(
        ({ status, scheme }) => status === 401 && scheme !== undefined,
      );
      expect(refused).toHaveLength(2 * mine.length);
      for (const line of refused) {
        expect(line).toEqual({
          ...ANYBODYS,
          path: targetOf(space),
          status: 401,
          server: 'resource',
          space,
          scheme: 'PrivateToken',
          verdict: 'refused',
          refusal: expect.stringMatching(/^private-token-(?:used|authenticator)$/),
          reason: expect.stringMatching(/^(?:used before|wrong authenticator)$/),
        });
      }
    }
    const ids = lines.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
  });

  test('log lines of issuance and verification name the client, but no person and no token', () => {
    const lines = linesOf(servers.flow.pair.authz.map(({ log }) => log)).filter(({ path }) =>
      String(path).startsWith('/private-token/'),
    );
    const clients = new Set(lines.map(({ client }) => client));
    expect(clients).toEqual(new Set([visitors[0]?.client, 'resource-server', 'filler']));
    for (const line of lines) {
      expect(line).toEqual({
        ...ANYBODYS,
        method: 'POST',
        path: expect.stringMatching(/^\/private-token\/(?:request|verify)$/),
        status: 200,
        server: 'authz',
        space: expect.stringMatching(/^private-token(?::verify)?$/),
        scheme: 'Bearer',
        verdict: 'granted',
        client: expect.any(String),
      });
    }
  });

  test("no log names a visitor's address, user agent or identity", () => {
    for (const { person, client, addresses, agent } of visitors) {
      for (const word of [...addresses, agent, `${agent}-request`, `${agent}-cookie`]) {
        for (const [place, content] of traces) {
          const within = place.startsWith('log ') || place.startsWith('row ');
          if (within) expect([place, word, content.includes(word)]).toEqual([place, word, false]);
        }
      }
      for (const name of ['log resource 0', 'log resource 1']) {
        for (const word of [person.id, person.name, client]) {
          expect(String(traces.get(name))).not.toContain(word);
        }
      }
    }
  });

  test('each person gets the same answer in all octets except the date', () => {
    for (const { type } of TYPES) {
      for (const space of SPACES) {
        const [first, ...others] = of(type, space).map(({ answer }) => seenOf(answer));
        for (const other of others) expect(other).toEqual(first);
        expect(String(first)).not.toMatch(/cookie|nonce|request-id|session/i);
      }
    }
    // Tokens of both types get the same answer: only the client knows the type.
    for (const space of SPACES) {
      const [one, other] = TYPES.map(({ type }) => of(type, space)[0]?.answer);
      expect(one && seenOf(one)).toEqual(other && seenOf(other));
    }
  });

  test('a used token gets the same refusal as a token that was never valid', () => {
    for (const space of SPACES) {
      const refusals = redemptions
        .filter((one) => one.space === space)
        .flatMap(({ replay, forgery }) => [seenOf(replay), seenOf(forgery)]);
      const [first, ...others] = refusals;
      for (const other of others) expect(other).toEqual(first);
    }
  });

  test('a document has one entity tag for all clients, and each client can use it in a condition (RFC 9110 section 13.1)', async () => {
    const tags = redemptions
      .filter(({ space }) => space === 'documents')
      .map(({ answer }) => valuesOf(answer.fields, 'ETag').join());
    expect(new Set(tags).size).toBe(1);
    const [tag = ''] = tags;
    expect(tag).not.toBe('');
    for (const visitor of visitors) {
      const { token } = await getToken(servers, visitor, 2, 'documents');
      const asked = requestFor(visitor, 'documents', [['If-None-Match', tag]]);
      const send = servers.origin(visitor.server, visitor.addresses[1]);
      expect((await send(redeem(asked, token))).status).toBe(304);
    }
  });
});

/** Returns the hash by which the store remembers a spent token. */
const hashOf = ({ token }: Minted) =>
  sha256(token.subarray(0, 2), token.subarray(66, 98), token.subarray(2, 34));

/** Members of each log line that are equal in all lines or random. */
const ANYBODYS = {
  time: expect.any(String),
  level: 'info',
  event: 'request',
  id: expect.stringMatching(/^[A-Za-z0-9_-]{22}$/),
  method: 'GET',
  milliseconds: expect.any(Number),
};

type Line = Readonly<Record<string, unknown>>;

function linesOf(logs: readonly string[]): readonly Line[] {
  return logs
    .flatMap((log) => log.split('\n'))
    .filter((line) => line.includes('"event":"request"'))
    .map((line) => JSON.parse(line) as Line);
}

/** Everything that a client sees, without the date and the remaining seconds of a challenge. */
function seenOf({ status, fields, content, trailers }: HttpResponse) {
  const shown = fields
    .filter(([name]) => name !== 'Date')
    .map(([name, value]) => [name, value.replaceAll(/(?<=max-age=")[0-9]+/g, '*')]);
  return [status, shown, content.toString('latin1'), trailers];
}
