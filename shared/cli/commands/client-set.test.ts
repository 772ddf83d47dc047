import { generateKeyPairSync } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { describe, expect, test } from '@jest/globals';
import { registration } from '#shared/config/resource-server-client.ts';
import { signInClientId } from '#shared/config/sign-in-clients.ts';
import { inProcess, json, newData, TestShell } from '../cli.fixture.ts';
import { withStores } from '../stores/with-stores.ts';

const DOCUMENTS = 'http://localhost:3001/documents/';
const CALLBACK = 'https://app.example/callback';
const PLACE = ['--redirect-uri', CALLBACK, '--origin', 'https://app.example'];
const SCOPE = ['--scope', 'openid profile documents:read'];
const BROWSER = ['--name', 'Papertrail', '--grant', 'authorization_code', ...PLACE, ...SCOPE];

async function registered(...more: readonly string[]) {
  const shell = new TestShell(await newData());
  const added = await json(shell, 'client', 'add', ...BROWSER, ...more);
  const { client_id: id } = added as { client_id: string };
  const stored = () => withStores(shell, ({ clients }) => clients.get(id));
  const set = (...args: readonly string[]) => inProcess(shell, 'client', 'set', id, ...args);
  return { shell, id, stored, set };
}

describe('client set', () => {
  test('replaces the values of given options; other values and the secret stay', async () => {
    const { shell, id, stored } = await registered();
    const before = await stored();
    const places = ['https://app.example/a', 'https://app.example/b'];
    const named = ['--name', 'Papertrail 2', '--scope', 'openid email groups documents:read'];
    const redirects = places.flatMap((place) => ['--redirect-uri', place]);
    const changes = [...named, ...redirects, '--resource', DOCUMENTS, '--id-token-alg', 'ES256'];
    const after = {
      ...before,
      client_name: 'Papertrail 2',
      scope: 'openid email groups documents:read',
      redirect_uris: places,
      resources: [DOCUMENTS],
      id_token_signed_response_alg: 'ES256',
    };
    const { secret_hash: _, ...shown } = after;
    expect(await json(shell, 'client', 'set', id, ...changes)).toEqual(shown);
    // A consent to a scope that was withdrawn is not valid again when the client gets the scope back.
    const withdrawn_scopes = { profile: shell.clock.now() };
    expect(await stored()).toEqual({ ...after, withdrawn_scopes });
    expect(await json(shell, 'client', 'show', id)).toEqual(shown);
  });

  test('--without removes optional values', async () => {
    const { stored, set } = await registered('--pkce', 'nonce', '--resource', DOCUMENTS);
    const { pkce: _, resources: __, origins: ___, ...rest } = (await stored()) ?? {};
    const gone = ['pkce', 'resource', 'origin'].flatMap((option) => ['--without', option]);
    expect((await set(...gone)).code).toBe(0);
    expect(await stored()).toEqual(rest);
  });

  test('makes a client first-party, and undoes it', async () => {
    const { shell, id, stored, set } = await registered();
    const before = await stored();
    expect((await set('--first-party')).stdout).toContain('first party: people are not asked');
    expect(await stored()).toEqual({ ...before, first_party: true });
    expect((await inProcess(shell, 'client', 'list')).stdout).toContain('(first party)');
    expect((await set('--without', 'first-party')).code).toBe(0);
    expect([id, await stored()]).toEqual([before?.client_id, before]);
  });

  test('adds a logo to a client, and removes it', async () => {
    const { stored, set } = await registered();
    const before = await stored();
    const logo_uri = 'https://app.example/logo.png';
    expect((await set('--logo-uri', logo_uri)).stdout).toContain(`logo: ${logo_uri}`);
    expect(await stored()).toEqual({ ...before, logo_uri });
    expect((await set('--without', 'logo-uri')).code).toBe(0);
    expect(await stored()).toEqual(before);
  });

  test('sets the start URL of a client, and clears it', async () => {
    const { stored, set } = await registered();
    const before = await stored();
    const start_url = 'http://10.0.0.7:8080/#/notes';
    expect((await set('--start-url', start_url)).stdout).toContain(`start URL: ${start_url}`);
    expect(await stored()).toEqual({ ...before, start_url });
    expect((await set('--without', 'start-url')).code).toBe(0);
    expect(await stored()).toEqual(before);
  });

  test('sets rules for claims in their order, with texts between quotation marks, and removes them', async () => {
    const { stored, set } = await registered();
    const before = await stored();
    const rules = ['role=admin if group admins', 'role=user', 'preferred_username=email'];
    const { stdout } = await set(...rules.flatMap((rule) => ['--claim', rule]));
    expect(stdout).toContain('claim: role="admin" if group "admins"\nclaim: role="user"\n');
    expect(await stored()).toEqual({
      ...before,
      claim_rules: ['role="admin" if group "admins"', 'role="user"', 'preferred_username=email'],
    });
    expect((await set('--claim', 'tenant=acme')).code).toBe(0);
    expect(await stored()).toEqual({ ...before, claim_rules: ['tenant="acme"'] });
    expect((await set('--without', 'claim')).code).toBe(0);
    expect(await stored()).toEqual(before);
  });

  test('a note warns of a client without PKCE and nonce', async () => {
    const { stored, set } = await registered();
    const warned = await set('--pkce', 'off');
    expect([warned.code, warned.stderr]).toEqual([0, expect.stringContaining('--pkce nonce')]);
    expect(await stored()).toMatchObject({ pkce: 'off' });
    for (const mode of ['nonce', 'required']) {
      const { code, stderr } = await set('--pkce', mode, '--scope', 'openid documents:read');
      expect([code, stderr.includes('PKCE')]).toEqual([0, false]);
    }
  });

  test('a note has the names in rules that no person has; the rules are kept', async () => {
    const { shell, stored, set } = await registered();
    const given = ['--allow-person', 'ghost', '--allow-person', 'Erin'];
    const claims = ['--claim', 'role=a if person eve', '--claim', 'role=b if group ghosts'];
    const { code, stderr } = await set(...given, ...claims);
    expect([code, stderr]).toEqual([
      0,
      expect.stringMatching(
        /^Note: rules of the client name people who do not exist: ghost, erin, eve\./m,
      ),
    ]);
    expect(await stored()).toMatchObject({ allow_people: ['ghost', 'erin'] });
    for (const name of ['ghost', 'erin', 'eve']) await json(shell, 'user', 'add', name);
    expect((await set('--name', 'Ghosts')).stderr).not.toContain('Note');
    const added = await inProcess(shell, 'client', 'add', ...BROWSER, '--allow-person', 'nobody');
    expect([added.code, added.stderr]).toEqual([0, expect.stringContaining('exist: nobody.')]);
  });

  test('the claims of rules have at most 8,192 octets together', async () => {
    const { set } = await registered();
    const rules = (count: number) =>
      Array.from({ length: count }, (_, n) => ['--claim', `claim${n}=attribute a${n}`]).flat();
    expect((await set(...rules(30))).code).toBe(0);
    expect((await set('--claim', 'a=groups', ...rules(14))).code).toBe(0);
    for (const large of [rules(31), ['--claim', 'a=groups', ...rules(15)]]) {
      const { code, stderr } = await set(...large);
      expect(code).toBe(2);
      expect(stderr).toContain('--claim must be at most 8192 octets together\n');
    }
  });

  test.each([
    [
      ['--start-url', ' https://app.example/a\u202eb\t'],
      'start URL: https://app.example/a%E2%80%AEb',
    ],
    [['--logout-url', ' http:app.example?x '], 'logout URL: http://app.example/?x'],
    [['--allow-group', 'Cafe\u0301'], 'group that may use it: Caf\u00e9'],
  ])('%j: keeps the value in its usual form', async (args, line) => {
    const { set } = await registered();
    expect((await set(...args)).stdout).toContain(`${line}\n`);
  });

  test.each([
    ['nothing', []],
    ['a group that no person can have, since it is empty', ['--allow-group', '']],
    ['two groups in one value', ['--allow-group', 'staff,board']],
    ['a group with white space around it', ['--allow-group', ' staff']],
    ['a group with a name that is too long', ['--allow-group', 'x'.repeat(65)]],
    ['a start URL that is a script', ['--start-url', 'javascript:alert(1)']],
    ['a start URL that is data', ['--start-url', 'data:text/html,a']],
    ['a start URL with a password', ['--start-url', 'https://a:b@app.example/']],
    ['a start URL without a scheme', ['--start-url', '//app.example/']],
    ['an endless start URL', ['--start-url', `https://app.example/${'x'.repeat(2048)}`]],
    ['a rule for a reserved claim', ['--claim', 'role=a', '--claim', 'SUB=x']],
    ['a rule for a prototype', ['--claim', '__proto__=x']],
    ['a rule without a value', ['--claim', 'role=']],
    ['a rule with a control sequence', ['--claim', 'role=\u202ex']],
    ['a rule that never counts', ['--claim', 'role=a', '--claim', 'role=b if group c']],
    ['the same rule twice', ['--claim', 'role=a', '--claim', 'role=a']],
    ['65 rules', Array.from({ length: 65 }, (_, n) => ['--claim', `c${n}=x`]).flat()],
    ['a logo in clear text', ['--logo-uri', 'http://app.example/logo.png']],
    ['a logo that is a script', ['--logo-uri', 'javascript:alert(1)']],
    ['a logo with a password', ['--logo-uri', 'https://a:b@app.example/logo.png']],
    ['a logo that would add to the policy', ['--logo-uri', 'https://app;x.example/logo.png']],
    ['a logo of an endless address', ['--logo-uri', `https://app.example/${'x'.repeat(1024)}`]],
    ['no scope at all', ['--scope', '']],
    ['an invalid scope', ['--scope', 'a"b']],
    ['a default beyond the scope', ['--default-scope', 'admin']],
    ['a scope without the default', ['--scope', 'openid profile']],
    ['an invalid redirect URI', ['--redirect-uri', 'javascript:alert(1)']],
    ['a redirect URI with a fragment', ['--redirect-uri', 'https://app.example/#x']],
    ['an unknown space', ['--resource', 'https://evil.example/']],
    ['a name with right-to-left text', ['--name', '\u202eN']],
    ['leaving PKCE out without a nonce', ['--pkce', 'nonce', '--scope', 'documents:read']],
    ['removing what it has to have', ['--without', 'redirect-uri']],
    ['removing what is no option', ['--without', '__proto__']],
    ['both', ['--origin', 'https://b.example', '--without', 'origin']],
  ])('%s: exit code 2, and nothing changes', async (_, args) => {
    const { stored, set } = await registered('--default-scope', 'documents:read');
    const before = await stored();
    const { code, stderr } = await set(...args);
    expect(code).toBe(2);
    expect(stderr).not.toContain('\u202e');
    expect(await stored()).toEqual(before);
  });

  test('replaces keys of private_key_jwt, and refuses a key by which a person signs in', async () => {
    const shell = new TestShell(await newData());
    const made = async (name: string) => {
      const { publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
      const jwk = { ...publicKey.export({ format: 'jwk' }), kid: name };
      const file = `${shell.env['COUNTERSIGN_DATA']}.${name}`;
      await writeFile(file, JSON.stringify({ keys: [jwk] }));
      return { jwk, file };
    };
    const [first, second] = [await made('first'), await made('second')];
    const proof = ['--auth', 'private_key_jwt', '--jwks', first.file];
    const { client_id: id } = (await json(shell, 'client', 'add', ...BROWSER, ...proof)) as {
      client_id: string;
    };
    const app = ['--application', 'App', '--concealed', '--public-key', `${second.file}.key`];
    await writeFile(`${second.file}.key`, JSON.stringify({ ...second.jwk, kid: undefined }));
    const key = (await json(shell, 'key', 'add', ...app)) as { id: string };
    const { client_id: other } = (await json(shell, 'client', 'add', ...BROWSER)) as {
      client_id: string;
    };
    const misplaced = await inProcess(shell, 'client', 'set', other, '--jwks', second.file);
    expect(misplaced).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('leave --jwks out'),
    });
    const refused = await inProcess(shell, 'client', 'set', id, '--jwks', second.file);
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('make another')]);
    await json(shell, 'key', 'remove', key.id);
    const set = await json(shell, 'client', 'set', id, '--jwks', second.file);
    expect(set).toMatchObject({ jwks: { keys: [second.jwk] } });
  });

  test('ten changes of different members at once, and a new secret, all take effect', async () => {
    const { shell, id, stored } = await registered();
    const changes = [
      ['--name', 'New'],
      ['--scope', 'openid email documents:read'],
      ['--redirect-uri', 'https://app.example/new'],
      ['--post-logout-redirect-uri', 'https://app.example/out'],
      ['--id-token-alg', 'ES256'],
      ['--origin', 'https://new.example'],
      ['--resource', DOCUMENTS],
      ['--introspects', DOCUMENTS],
      ['--pkce', 'nonce'],
      ['--default-scope', 'openid'],
    ];
    const ended = await Promise.all(
      changes.map((args) => inProcess(new TestShell(shell.env), 'client', 'set', id, ...args)),
    );
    expect(ended.map(({ code }) => code)).toEqual(changes.map(() => 0));
    expect(await stored()).toMatchObject({
      client_name: 'New',
      scope: 'openid email documents:read',
      redirect_uris: ['https://app.example/new'],
      post_logout_redirect_uris: ['https://app.example/out'],
      id_token_signed_response_alg: 'ES256',
      origins: ['https://new.example'],
      resources: [DOCUMENTS],
      introspects: [DOCUMENTS],
      pkce: 'nonce',
      default_scope: 'openid',
    });
  });

  test('the built-in clients of the resource server and of sign-ins, and an unknown client: exit code 1', async () => {
    const { shell } = await registered();
    const client = registration('http://localhost:3001/', Buffer.alloc(32, 7), shell.clock);
    const ofSignIns = { ...client, client_id: signInClientId({ url: 'https://app.example/' }) };
    for (const known of [client, ofSignIns]) {
      await withStores(shell, ({ clients }) => clients.add(known));
      const { client_id: id } = known;
      for (const args of [
        ['set', id, '--name', 'N'],
        ['secret', id],
      ]) {
        expect(await inProcess(shell, 'client', ...args)).toMatchObject({
          code: 1,
          stderr: expect.stringContaining(`client ${id} is built in`),
        });
      }
      expect(await withStores(shell, ({ clients }) => clients.get(id))).toEqual(known);
    }
    expect((await inProcess(shell, 'client', 'set', 'nobody', '--name', 'N')).code).toBe(1);
    expect((await inProcess(shell, 'client', 'show', 'nobody')).code).toBe(1);
  });
});

test('client show prints a line for each value', async () => {
  const { shell, id } = await registered('--auth', 'client_secret_post');
  const { stdout } = await inProcess(shell, 'client', 'show', id);
  expect(stdout.trimEnd().split('\n')).toEqual([
    `client_id: ${id}`,
    'name: Papertrail',
    'grants: authorization_code',
    'authentication: client_secret_post',
    'scope: openid profile documents:read',
    `redirect URI: ${CALLBACK}`,
    'origin: https://app.example',
    'ID tokens: RS256',
    expect.stringMatching(/^added: \d{4}-/),
  ]);
});
