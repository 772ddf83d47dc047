import { chmod, mkdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { generateVoprfKey } from '#shared/private-token/voprf-key.ts';
import { cli } from '../cli.fixture.ts';
import type { Received, Reply } from '../listen.fixture.ts';
import { sent } from '../oauth/authorization-server.fixture.ts';
import type { Behaviour } from './parties.fixture.ts';
import { walletUser } from './wallet-user.fixture.ts';

const user = walletUser();
const { get, redeem, requested, redeemed } = user;

describe('a cheating issuer gets no sign-in, and the site gets no token', () => {
  const big = 'x'.repeat(70_000);

  test.each<[string, Partial<Behaviour>, string]>([
    [
      'RFC 9576 section 6.2: a site with a key of its own for this visitor',
      { siteKey: generateVoprfKey().publicKey },
      'could be there to recognise you',
    ],
    [
      'RFC 9577 section 2.1.3: a challenge of another site, passed on',
      { members: { origins: ['other.example'] } },
      'for other.example, not for',
    ],
    [
      'an issuer that is not there',
      { members: { issuer: 'localhost:1' } },
      'no answer from https://localhost:1',
    ],
    ['a field of 64 KiB', { challenge: () => big }, 'no answer from'],
    ['no challenge', { challenge: () => 'Basic realm="members"' }, 'none asks for a PrivateToken'],
    [
      'a directory without end',
      { directory: (right) => ({ ...right, body: big }) },
      'no answer from',
    ],
    [
      'a directory that is elsewhere',
      { directory: () => ({ status: 302, fields: { location: 'https://evil.example/' } }) },
      'answers 302',
    ],
    [
      'a directory of another type',
      { directory: ({ body = '' }) => ({ body, fields: { 'content-type': 'text/html' } }) },
      'answers with text/html',
    ],
    [
      'a directory that names a request URL elsewhere',
      {
        directory: ({ fields = {} }) => ({
          fields,
          body: { 'issuer-request-uri': 'https://evil.example/', 'token-keys': [] },
        }),
      },
      'not at the https origin of the directory',
    ],
  ])('%s', async (_, behaviour, message) => {
    Object.assign(user.parties.behaviour, behaviour);
    for (const command of [get, redeem]) {
      const { code, stderr } = await command();
      expect([code, stderr]).toEqual([1, expect.stringContaining(message)]);
    }
    expect(sent(user.parties.as, '/device/auth')).toEqual([]);
    expect(redeemed()).toEqual([]);
  });

  test.each<[string, (right: Reply) => Reply]>([
    ['wrong', (right) => ({ ...right, body: Buffer.alloc(256, 1) })],
    ['without end', (right) => ({ ...right, body: big })],
    ['a redirect', () => ({ status: 307, fields: { location: 'https://evil.example/' } })],
  ])(
    "RFC 9578 section 6.3: if the issuer's answer is %s, the login is revoked",
    async (_, response) => {
      user.parties.behaviour.response = response;
      for (const command of [get, redeem]) expect((await command()).code).toBe(1);
      expect(sent(user.parties.as, '/token/revocation')).toHaveLength(2);
      expect(redeemed()).toEqual([]);
      await expect(stat(user.file)).rejects.toThrow('ENOENT');
    },
  );

  test('if other users can read the wallet, no party gets a request', async () => {
    await get();
    await chmod(user.file, 0o644);
    const before = user.parties.site.received.length;
    for (const command of [get, redeem]) {
      const { code, stderr } = await command();
      expect([code, stderr]).toEqual([
        1,
        `others may read ${user.file}, which holds secrets: chmod 600 ${user.file}\n`,
      ]);
    }
    expect(user.parties.site.received).toHaveLength(before);
  });

  test('if the wallet cannot be written, no party gets a request', async () => {
    const folder = join(user.file, '..');
    await mkdir(join(folder, '..'), { recursive: true });
    await writeFile(folder, 'a file where the folder should be');
    for (const command of [get, redeem]) {
      const { code, stderr } = await command();
      expect([code, stderr]).toEqual([1, expect.stringContaining(`cannot use the folder`)]);
    }
    expect(user.parties.site.received).toEqual([]);
  });

  test('control characters of the parties are not printed', async () => {
    user.parties.behaviour.content = 'a\u001b[2Jb\u202e';
    user.parties.shell.terminal = true;
    expect((await redeem()).stdout).toContain(String.raw`a\u001b[2Jb\u202e`);

    const fields = { 'content-type': 'text/\u009b2J' };
    user.parties.behaviour.directory = () => ({ fields, body: '{}' });
    const { stderr } = await cli(
      ['private-token', 'get', user.parties.url],
      user.parties.shell.env,
    );
    expect(stderr).toContain(String.raw`answers with text/\u009b2J`);
  });
});

describe('RFC 9576 section 3.3: site and issuer learn nothing from each other', () => {
  const fieldsOf = ({ headers }: Received) => Object.keys(headers).toSorted();

  test('the issuer and the authorization server get no data of the site', async () => {
    await get('--count', '2');
    await redeem();
    const { host, port } = new URL(user.parties.site.origin);
    for (const { line, body, headers } of [
      ...user.parties.issuer.received,
      ...user.parties.as.received,
    ]) {
      const all = `${line} ${JSON.stringify(headers)} ${body}`;
      expect(all).not.toContain('members');
      expect(all).not.toContain(host);
      expect(all).not.toContain(`:${port}`);
    }
  });

  test('the site gets only the token', async () => {
    await get();
    await redeem();
    const plain = ['connection', 'host', 'user-agent'];
    expect(user.parties.site.received.map(fieldsOf)).toEqual([
      plain,
      plain,
      ['authorization', ...plain],
    ]);
    for (const { headers, body } of user.parties.site.received) {
      expect(headers['user-agent']).toBe('countersign');
      expect(body).toBe('');
    }
  });

  test('section 6.2: the directory is fetched anonymously, over another connection', async () => {
    await get();
    const directory = user.parties.issuer.received.find(({ line }) =>
      line.startsWith('GET /.well-known/private'),
    );
    expect(directory && fieldsOf(directory)).toEqual([
      'accept',
      'connection',
      'host',
      'user-agent',
    ]);
    expect(requested().map(({ port }) => port)).not.toContain(directory?.port);
  });
});
