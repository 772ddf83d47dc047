import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { DIRECTORY_PATH } from '#shared/private-token/issuer-directory.ts';
import { eventually } from '#shared/stores/contract/eventually.ts';
import { get } from '../clients/digest/answers.fixture.ts';
import { valuesOf } from '../clients/digest/exchange.ts';
import { until } from '../parts/process.ts';
import { mint, offerOf, type RogueKey, type TokenServers } from './private-token.fixture.ts';
import {
  directory,
  documentOf,
  expectUnavailable,
  now,
  startOrigin,
  startStranger,
  startWithRogue,
  statusOf,
} from './private-token-strangers.fixture.ts';

/** The pair's own issuer while it is down, or while an impostor uses its port. */

let servers: TokenServers;
let rogue: RogueKey;
beforeAll(async () => {
  ({ servers, rogue } = await startWithRogue());
});
afterAll(async () => servers[Symbol.asyncDispose]());

describe("the pair's own issuer", () => {
  test('RFC 9576 section 6.2: an impostor with its port and name, but another certificate, is not trusted', async () => {
    const { pair } = servers.flow;
    const issued = {
      rsa: await offerOf(servers, 'tokens', 2),
      voprf: await offerOf(servers, 'tokens', 1),
    };
    const [good, later, voprf] = [
      (await mint(servers, issued.rsa.octets)).token,
      (await mint(servers, issued.rsa.octets)).token,
      (await mint(servers, issued.voprf.octets)).token,
    ];
    const forgedVoprf = Buffer.from(voprf);
    forgedVoprf.fill(7, 2, 34);
    const forged = [
      rogue.token(issued.rsa.octets),
      rogue.token(issued.rsa.octets, good.subarray(66, 98)),
    ];
    for (const server of [0, 1]) await offerOf(servers, 'tokens', 1, servers.origin(server));
    await using scope = new AsyncDisposableStack();
    await pair.authz[0]?.kill();
    {
      await using impostor = await startStranger(
        (request, response) => {
          if (request.url === DIRECTORY_PATH) {
            const keys = [{ ...rogue, notBefore: now() - 60 }];
            return directory(documentOf(keys))(request, response);
          }
          return void response
            .writeHead(200, { 'Content-Type': 'application/json' })
            .end('{"valid":true}');
        },
        Number(new URL(pair.tokenIssuer).port),
      );
      expect(impostor.name).toBe(servers.issuerName);
      const { send: newcomer } = await startOrigin(servers, scope);

      const failing = () =>
        pair.resources.every(({ log }) => log.includes('private-token.directory'));
      // The directory is fresh for one second: then both servers ask again, and find the impostor.
      await until(async () => {
        for (const server of [0, 1]) await servers.origin(server)(get('/tokens/'));
        return failing();
      });
      for (const server of [0, 1]) {
        const send = servers.origin(server);
        for (const token of forged) expect([401, 503]).toContain(await statusOf(send, token));
        for (const token of [voprf, forgedVoprf]) expect(await statusOf(send, token)).toBe(503);
        // The earlier answer of the real issuer stays in use (stale-if-error).
        expect((await offerOf(servers, 'tokens', 2, send)).key.equals(issued.rsa.key)).toBe(true);
      }
      expect(await statusOf(servers.origin(0), good)).toBe(200);
      expect(await statusOf(servers.origin(1), good)).toBe(401);

      await expectUnavailable(newcomer);
      for (const token of [later, voprf, ...forged]) {
        expect(await statusOf(newcomer, token)).toBe(503);
      }
      // The space's other schemes do not need the issuer.
      const { status, fields } = await newcomer(get('/all/'));
      expect([status, valuesOf(fields, 'WWW-Authenticate').join()]).toEqual([
        401,
        expect.not.stringContaining('PrivateToken'),
      ]);
      // The impostor received no token and no secret.
      expect(impostor.asked).toEqual([]);
      await pair.authz[1]?.kill();
    }
    for (const server of pair.authz) await server.start();
    const { send: latest } = await startOrigin(servers, scope);
    for (const send of [servers.origin(0), servers.origin(1), latest]) {
      await until(async () => (await send(get('/tokens/'))).status === 401);
    }
    // A token shown during the attack was not spent.
    await until(async () => (await statusOf(servers.origin(1), voprf)) === 200);
    expect(await statusOf(latest, voprf)).toBe(401);
    expect(await statusOf(latest, later)).toBe(200);
    for (const token of [...forged, forgedVoprf]) expect(await statusOf(latest, token)).toBe(401);
  });

  test('if it is down at the start, the space answers 503, and later sends challenges', async () => {
    const { pair } = servers.flow;
    await Promise.all(pair.authz.map((server) => server.kill()));
    await using scope = new AsyncDisposableStack();
    const { send } = await startOrigin(servers, scope);
    for (let time = 0; time < 3; time += 1) await expectUnavailable(send);
    for (const server of pair.authz) await server.start();
    await until(async () => (await send(get('/tokens/'))).status === 401);
    // The keys of one type may be known before the keys of the other type.
    const { octets } = await eventually(() => offerOf(servers, 'tokens', 1, send));
    expect(await statusOf(send, (await mint(servers, octets)).token)).toBe(200);
  });
});
