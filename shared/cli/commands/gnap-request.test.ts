import { generateKeyPairSync } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { describe, expect, test } from '@jest/globals';
import { interactionHash } from '#shared/gnap/interaction-hash.ts';
import { inProcess, newData, TestShell } from '../cli.fixture.ts';
import { listen } from '../listen.fixture.ts';

async function keyFile(data: string): Promise<string> {
  const { privateKey } = generateKeyPairSync('ed25519');
  const file = join(data, 'key.json');
  const jwk = { ...privateKey.export({ format: 'jwk' }), kid: 'k1', alg: 'Ed25519' };
  await writeFile(file, JSON.stringify(jwk));
  return file;
}

/** A person's browser opens each link that the command shows. */
class ShellWithBrowser extends TestShell {
  readonly open: (link: string) => void;

  constructor(env: NodeJS.ProcessEnv, open: (link: string) => void) {
    super(env);
    this.open = open;
  }

  override wait = async (milliseconds: number): Promise<void> => {
    this.clock.advance(milliseconds / 1000);
    await setTimeout(10);
  };

  override note = (line: string): void => {
    this.stderr += `${line}\n`;
    const [, link] = /^Open (\S+)$/.exec(line) ?? [];
    if (link !== undefined) this.open(link);
  };
}

type Asked = Record<string, { finish?: { uri: string; nonce: string } } | undefined>;

/**
 * A resource and its GNAP server at one origin, with these answers in order. ORIGIN in an answer is
 * replaced. `challenge`: the resource's challenge without credentials.
 */
async function parties(
  answers: readonly object[],
  challenge = 'GNAP as_uri="ORIGIN/gnap", access="photos:read", referrer="ORIGIN/photos/"',
) {
  const env = await newData();
  const key = await keyFile(env.COUNTERSIGN_DATA);
  const left = [...answers];
  const server = await listen(({ line, authorization }, origin) => {
    const own = (text: string) => text.replaceAll('ORIGIN', origin);
    if (!line.endsWith('/photos/a')) {
      return { body: own(JSON.stringify(left.shift() ?? { error: 'request_denied' })) };
    }
    if (authorization !== undefined) return { body: authorization };
    return { status: 401, fields: { 'WWW-Authenticate': own(challenge) } };
  });
  const { origin, received } = server;
  const asked = () =>
    JSON.parse(received.find(({ url }) => url === '/gnap')?.body ?? '{}') as Asked;
  const back = async (hashOf: (nonce: string) => string) => {
    const { uri = '', nonce = '' } = asked()['interact']?.finish ?? {};
    const query = new URLSearchParams({ hash: hashOf(nonce), interact_ref: 'ref' });
    return (await fetch(`${uri}?${query.toString()}`)).status;
  };
  const rightHash = (clientNonce: string) =>
    interactionHash({
      clientNonce,
      serverNonce: 'theirs',
      interactRef: 'ref',
      grantEndpoint: `${origin}/gnap`,
    });
  const run = (args: readonly string[], open: (link: string) => void = () => {}) => {
    const shell = new ShellWithBrowser(env, open);
    return inProcess(shell, 'gnap', 'request', 'GET', `${origin}/photos/a`, '--key', key, ...args);
  };
  return { origin, received, asked, back, rightHash, run };
}

const CONTINUE = { continue: { uri: 'ORIGIN/continue', access_token: { value: 'c' } } };
const TOKEN = { access_token: { value: 't' } };

describe('gnap request', () => {
  test("RFC 9635 section 9.1: asks the server in the challenge, and signs the request with the token's key", async () => {
    const { received, run } = await parties([TOKEN]);
    const { code, stdout, stderr } = await run(['--by', 'alone']);
    expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: 'GNAP t', stderr: 'HTTP 200\n' });
    const [challenged, asking, protectedOne] = received;
    expect(challenged?.headers).not.toHaveProperty('signature');
    expect(JSON.parse(asking?.body ?? '')).toEqual({
      access_token: { access: ['photos:read'] },
      client: {
        key: { proof: 'httpsig', jwk: expect.not.objectContaining({ d: expect.anything() }) },
        display: { name: 'Countersign command line' },
      },
    });
    for (const one of [asking, protectedOne]) {
      expect(one?.headers['signature-input']).toMatch(/;tag="gnap"$/);
    }
    expect(protectedOne?.headers['signature-input']).toContain('"authorization"');
  });

  test("section 5.2: polls at the server's pace, and revokes the grant afterwards", async () => {
    const interact = {
      redirect: 'ORIGIN/interact/1',
      user_code_uri: { code: 'BCDF-GHJK', uri: 'ORIGIN/device' },
    };
    const early = { error: { code: 'too_fast' }, ...CONTINUE };
    const { origin, received, run } = await parties([
      { interact, ...CONTINUE },
      CONTINUE,
      early,
      { ...TOKEN, ...CONTINUE },
    ]);
    const { code, stderr } = await run([]);
    expect(code).toBe(0);
    expect(stderr).toContain(`Open ${origin}/interact/1`);
    expect(stderr).toContain(`BCDF-GHJK at ${origin}/device`);
    const continued = received.filter(({ url }) => url === '/continue');
    expect(continued.map(({ method }) => method)).toEqual(['POST', 'POST', 'POST', 'DELETE']);
    expect(continued.every(({ authorization }) => authorization === 'GNAP c')).toBe(true);
  });

  test('section 4.2.3: accepts the reference only with the right hash', async () => {
    const interact = { redirect: 'ORIGIN/interact/1', finish: 'theirs' };
    const { received, run, back, rightHash } = await parties([
      { interact, ...CONTINUE },
      { ...TOKEN, ...CONTINUE },
    ]);
    const statuses: number[] = [];
    const { code } = await run(['--by', 'redirect'], () => {
      void (async () => {
        statuses.push(await back(() => 'wrong'), await back(rightHash));
      })();
    });
    expect(code).toBe(0);
    expect(statuses).toEqual([400, 200]);
    const first = received.find(({ url }) => url === '/continue');
    expect(JSON.parse(first?.body ?? '')).toEqual({ interact_ref: 'ref' });
  });

  test.each([
    ['no challenge of GNAP', 'Bearer realm="x"', 'without a challenge of GNAP'],
    [
      'another resource',
      'GNAP as_uri="ORIGIN/gnap", access="a", referrer="ORIGIN/mails/"',
      'another resource',
    ],
    [
      'a server without TLS elsewhere',
      'GNAP as_uri="http://evil.example/gnap", access="a", referrer="ORIGIN/"',
      'does not say where',
    ],
  ])(
    'the challenge of %s is a failure, and no server is asked',
    async (_what, challenge, reason) => {
      const { received, run } = await parties([TOKEN], challenge);
      const { code, stderr } = await run([]);
      expect(code).toBe(1);
      expect(stderr).toContain(reason);
      expect(received).toHaveLength(1);
    },
  );

  test.each([
    ['a refusal', [{ error: { code: 'user_denied', description: 'no' } }], 'user_denied: no'],
    ['an error as text', [{ error: 'request_denied' }], 'request_denied'],
    [
      'a way back to another origin',
      [{ continue: { uri: 'https://evil.example/c', access_token: { value: 'c' } } }],
      'names no way back',
    ],
    ['a link that is a script', [{ interact: { redirect: 'javascript:alert(1)' } }], 'no access'],
  ])('%s is a failure', async (_what, answers, reason) => {
    const { code, stderr } = await (await parties(answers)).run([]);
    expect(code).toBe(1);
    expect(stderr).toContain(reason);
  });

  test('an unknown interaction is a mistake of the user', async () => {
    const { run } = await parties([]);
    expect((await run(['--by', 'magic'])).stderr).toContain(
      '--by must be one of code, redirect, alone',
    );
  });
});
