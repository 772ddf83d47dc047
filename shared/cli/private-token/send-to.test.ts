import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { systemClock } from '#shared/base/clock.ts';
import { loadConfig } from '#shared/config/load.ts';
import type { Config } from '#shared/config/schema.ts';
import { temporaryFolder } from '#shared/base/temporary.fixture.ts';
import { systemRandom } from '#shared/base/random.ts';
import { selfSigned } from '#shared/server/listen/self-signed.ts';
import { listen } from '../listen.fixture.ts';
import { openSendTo } from './send-to.ts';
import { type Parties, startParties } from './parties.fixture.ts';

let parties: Parties;
let config: Config;
beforeEach(async () => {
  parties = await startParties();
  config = await loadConfig(parties.shell.env);
});

/** Gets the root of the origin. */
async function visited(origin: string, settings: Config, most?: number) {
  await using send = await openSendTo(origin, settings, most);
  return await send({ method: 'GET', url: `${origin}/` });
}

describe('the client of PrivateToken commands trusts the development certificate', () => {
  test('for the origins of this configuration', async () => {
    expect(await visited(parties.issuer.origin, config)).toMatchObject({ status: 404 });
    expect(await visited(parties.site.origin, config)).toMatchObject({ status: 401 });
  });

  const refused = async (origin: string, settings: Config) =>
    expect(visited(origin, settings)).rejects.toThrow(/self-signed.*NODE_EXTRA_CA_CERTS/);

  test('not for another origin that uses the same certificate', async () => {
    const { privateTokens } = config;
    if (privateTokens === undefined) throw new Error('there is an issuer');
    const issuer = 'https://localhost:1';
    await refused(parties.issuer.origin, {
      ...config,
      privateTokens: { ...privateTokens, issuer },
    });
  });

  test('but not if the operator names another certificate', async () => {
    const { tls } = config;
    if (tls === undefined) throw new Error('there is TLS');
    await refused(parties.site.origin, { ...config, tls: { ...tls, certificate: '/cert.pem' } });
  });

  test('but not in production', async () => {
    await refused(parties.site.origin, { ...config, resource: 'https://api.example' });
  });

  test('but not before it exists', async () => {
    await rm(join(parties.data, 'tls', 'certificate.pem'));
    await refused(parties.site.origin, config);
  });

  test('but no other certificate of the same name', async () => {
    const other = selfSigned(['localhost'], systemClock, systemRandom);
    const elsewhere = await listen(() => ({ body: 'evil' }), other);
    const { tls } = config;
    if (tls === undefined) throw new Error('there is TLS');
    await refused(elsewhere.origin, { ...config, tls: { ...tls, resource: elsewhere.origin } });
  });

  test('but not if its file has no certificate', async () => {
    await writeFile(join(parties.data, 'tls', 'certificate.pem'), 'nothing');
    await expect(visited(parties.site.origin, config)).rejects.toThrow('no answer from');
  });
});

describe('the length of received content is limited:', () => {
  test('content beyond the limit is refused', async () => {
    const { origin } = await listen(() => ({ body: 'x'.repeat(2000) }));
    expect((await visited(origin, config, 2000)).body).toHaveLength(2000);
    await expect(visited(origin, config, 1999)).rejects.toThrow('no answer from');
  });

  test('a field of 64 KiB is refused', async () => {
    const { origin } = await listen(() => ({
      status: 401,
      fields: { 'www-authenticate': `PrivateToken challenge="${'A'.repeat(65_536)}"` },
    }));
    await expect(visited(origin, config)).rejects.toThrow('no answer from');
  });
});

test('two parties never share a connection', async () => {
  const { origin, received } = await listen(() => ({}));
  await using first = await openSendTo(origin, config);
  await using second = await openSendTo(origin, config);
  for (const send of [first, second, first, second]) {
    await send({ method: 'GET', url: `${origin}/` });
  }
  expect(received[0]?.port).not.toBe(received[1]?.port);
  expect(received.map(({ port }) => port).slice(2)).toEqual([received[0]?.port, received[1]?.port]);
});

test('data in a missing folder is a failure', async () => {
  const data = join(await temporaryFolder(), 'nowhere');
  await expect(visited(parties.site.origin, { ...config, data })).rejects.toThrow('self-signed');
});
