/** Issuers that do not belong to the pair, and resource servers that are configured to use them. */
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import type { RequestListener } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect } from '@jest/globals';
import { systemClock } from '#shared/base/clock.ts';
import {
  DIRECTORY_TYPE,
  type DirectoryKey,
  formatDirectory,
} from '#shared/private-token/issuer-directory.ts';
import { systemRandom } from '#shared/base/random.ts';
import { selfSigned } from '#shared/server/listen/self-signed.ts';
import { get } from '../clients/digest/answers.fixture.ts';
import { valuesOf } from '../clients/digest/exchange.ts';
import type { Send } from '../clients/digest/exchange.ts';
import { overHttp } from '../clients/digest/over-http.ts';
import { freePort } from '../parts/free-port.ts';
import { ServerProcess } from '../pair/pair.ts';
import {
  type RogueKey,
  rogueKey,
  spend,
  startTokenServers,
  type TokenServers,
} from './private-token.fixture.ts';

/** Starts servers that refresh issuer directories often, and makes a key that no directory has. */
export async function startWithRogue(): Promise<{
  readonly servers: TokenServers;
  readonly rogue: RogueKey;
}> {
  const settings = { jwks: { cooldown: 1 } };
  const servers = await startTokenServers('sqlite', { times: { maxAge: 1 }, settings });
  return { servers, rogue: await rogueKey() };
}

/** Seconds since the epoch. */
export const now = () => Math.floor(Date.now() / 1000);

export const certificate = selfSigned(['localhost'], systemClock, systemRandom);

export interface Stranger extends AsyncDisposable {
  /** The issuer's server name. */
  readonly name: string;
  /** The paths of received requests. */
  readonly asked: string[];
}

/** Starts an https server at localhost, on the given port or on a free one. */
export async function startStranger(answer: RequestListener, port = 0): Promise<Stranger> {
  const asked: string[] = [];
  const server = createServer(certificate, (request, response) => {
    asked.push(request.url ?? '');
    answer(request, response);
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return {
    name: `localhost:${(server.address() as AddressInfo).port}`,
    asked,
    async [Symbol.asyncDispose]() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

export const documentOf = (keys: readonly DirectoryKey[], requestUrl = '/request') =>
  formatDirectory({ requestUrl, keys });
export const directory =
  (document: string | Buffer, fields: Readonly<Record<string, string>> = {}): RequestListener =>
  (_, response) =>
    void response
      .writeHead(200, { 'Content-Type': DIRECTORY_TYPE, 'Cache-Control': 'max-age=1', ...fields })
      .end(document);

/** Starts another resource server of the same origin, with additional settings and environment. */
export async function startOrigin(
  { flow: { pair } }: TokenServers,
  owner: AsyncDisposableStack,
  settings: Readonly<Record<string, unknown>> = {},
  env: NodeJS.ProcessEnv = {},
): Promise<{ readonly send: Send; readonly server: ServerProcess }> {
  const [port, tls, proxy] = [await freePort(), await freePort(), await freePort()];
  const file = join(pair.data, `origin-${port}.json`);
  const config = JSON.parse(await readFile(join(pair.data, 'config-0.json'), 'utf8')) as {
    listen: Record<string, { host: string; port: number }>;
  };
  const at = (number: number) => ({ host: '127.0.0.1', port: number });
  const listen = { resource: at(port), resourceTls: at(tls), proxy: at(proxy) };
  const merged = { ...config, ...settings, listen: { ...config.listen, ...listen } };
  await writeFile(file, JSON.stringify(merged));
  const all = { ...pair.env, ...env, COUNTERSIGN_CONFIG: file };
  const server = new ServerProcess(['resource-server/main.ts'], port, all);
  await server.start();
  owner.defer(() => server.kill());
  return { send: overHttp(at(port)), server };
}

export const statusOf = async (send: Send, token: Uint8Array) =>
  (await spend(send, 'tokens', token)).status;

/** Expects a 503 without a challenge, but with Retry-After. */
export async function expectUnavailable(send: Send, path = '/tokens/'): Promise<void> {
  const { status, fields } = await send(get(path));
  expect([path, status]).toEqual([path, 503]);
  expect(Number(valuesOf(fields, 'Retry-After').join())).toBeGreaterThan(0);
}
