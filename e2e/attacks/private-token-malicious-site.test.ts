import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { listen } from '#shared/cli/listen.fixture.ts';
import { systemClock } from '#shared/base/clock.ts';
import { encodePadded } from '#shared/private-token/base64url.ts';
import { systemRandom } from '#shared/base/random.ts';
import { selfSigned } from '#shared/server/listen/self-signed.ts';
import { encodeChallenge, type TokenChallenge } from '../clients/private-token/token-challenge.ts';
import { runCommand } from '../pair/command-line.ts';
import { type TemporaryFolder, temporaryFolder } from '../parts/temporary-folder.ts';
import {
  offerOf,
  type RogueKey,
  rogueKey,
  startTokenServers,
  type TokenServers,
} from './private-token.fixture.ts';

/** The challenge of a malicious site whose name is `site`. */
interface Lure {
  readonly challenge: Partial<TokenChallenge>;
  readonly key: Buffer;
}

/**
 * Malicious sites, and attackers on the network, change challenges. The command line refuses these challenges before
 * its user signs in, before the issuer hears of it, and before it sends a token.
 */
describe('the command line refuses', () => {
  let servers: TokenServers;
  let home: TemporaryFolder;
  let rogue: RogueKey;
  let good: Buffer;
  beforeAll(async () => {
    servers = await startTokenServers('sqlite');
    home = await temporaryFolder();
    rogue = await rogueKey();
    good = (await offerOf(servers, 'tokens', 2)).key;
  });
  afterAll(async () => {
    await servers[Symbol.asyncDispose]();
    await home[Symbol.asyncDispose]();
  });

  const run = (...args: readonly string[]) =>
    runCommand(['private-token', ...args], { ...servers.flow.pair.env, HOME: home.path });

  /**
   * Expects both commands to fail with that reason. The site receives the question only, and the issuer no
   * request.
   */
  async function expectRefused(
    reason: RegExp,
    ask: (site: string) => readonly string[],
  ): Promise<void> {
    const site = await listen((_, origin) => ({
      status: 401,
      fields: { 'www-authenticate': ask(new URL(origin).host).join(', ') },
    }));
    for (const command of ['get', 'redeem']) {
      const { code, stderr } = await run(command, `${site.origin}/`);
      expect([code === 0, stderr]).toEqual([false, expect.stringMatching(reason)]);
      expect(stderr).not.toContain('Waiting for');
    }
    expect(site.received.map(({ line, authorization }) => [line, authorization])).toEqual([
      ['GET /', undefined],
      ['GET /', undefined],
    ]);
    for (const { log } of servers.flow.pair.authz) {
      expect(log).not.toContain('"path":"/private-token/request"');
      // Lines of the resource server, which gets an access token of its own.
      const others = log.split('\n').filter((line) => !line.includes('"client":"resource-server"'));
      expect(others.join('\n')).not.toMatch(/"path":"\/(?:device|auth|token)/);
    }
  }

  const lure = ({ challenge, key }: Lure) => {
    const plain = { type: 2, issuer: servers.issuerName, context: Buffer.alloc(0), origins: [] };
    const bytes = encodeChallenge({ ...plain, ...challenge });
    return `PrivateToken challenge="${encodePadded(bytes)}", token-key="${encodePadded(key)}"`;
  };

  test("RFC 9576 section 6.2: a key of the site's own, by which the site could recognize a visitor", () =>
    expectRefused(/key/, (site) => [
      lure({ challenge: { origins: [site] }, key: rogue.publicKey }),
    ]));

  test('a key of the other token type', async () => {
    const { key } = await offerOf(servers, 'tokens', 1);
    await expectRefused(/key/, (site) => [lure({ challenge: { origins: [site] }, key })]);
  });

  test('RFC 9577 section 2.1.3: the challenge of another site, from a site that wants its tokens', async () => {
    const { octets, key } = await offerOf(servers, 'tokens', 2);
    const challenge = `PrivateToken challenge="${encodePadded(octets)}", token-key="${encodePadded(key)}"`;
    await expectRefused(/is for .* not for/, () => [challenge]);
  });

  test.each([
    ['any site', []],
    ['a site whose name begins alike', ['127.0.0.1']],
  ])('a challenge whose tokens are valid at %s', (_, origins) =>
    expectRefused(/is for .* not for/, () => [lure({ challenge: { origins }, key: good })]),
  );

  test("an issuer of the site's own, whose certificate is not trusted", async () => {
    const issuer = await listen(
      () => ({ body: 'directory' }),
      selfSigned(['localhost'], systemClock, systemRandom),
    );
    await expectRefused(/certificate/, (site) => [
      lure({
        challenge: { issuer: new URL(issuer.origin).host, origins: [site] },
        key: rogue.publicKey,
      }),
    ]);
    expect(issuer.received).toEqual([]);
  });

  test('a replaced challenge that asks for a password instead', () =>
    expectRefused(/none asks for a PrivateToken/, () => ['Basic realm="tokens"']));

  test('an unknown token type', () =>
    expectRefused(/unknown/, (site) => [
      lure({ challenge: { type: 0xda7a, origins: [site] }, key: good }),
    ]));

  test('a truncated challenge', () =>
    expectRefused(/malformed/, (site) => [
      lure({ challenge: { origins: [site] }, key: good }).replace(/="..../, '="'),
    ]));
});
