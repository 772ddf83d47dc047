import { execFile } from 'node:child_process';
import { readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { decodeJwt } from 'jose';
import { isKind } from '#shared/audit/event-kinds.ts';
import { relyingPartyId } from '#shared/config/relying-party.ts';
import { configSchema } from '#shared/config/schema.ts';
import { atPair, examples, runCommands } from '../pair/examples.ts';
import { startPair } from '../pair/pair.ts';
import { freePort } from '../parts/free-port.ts';
import { NODE, startProcess, until } from '../parts/process.ts';
import type { Pair } from '../pair/pair.ts';

/** The commands of pages in docs/how-to, run as the pages show them. */
let pair: Pair;
beforeAll(async () => {
  pair = await startPair();
});
afterAll(() => pair[Symbol.asyncDispose]());

async function printed(page: string, info: string): Promise<readonly string[]> {
  const blocks = await examples(`docs/how-to/${page}`, info);
  return runCommands(pair, blocks.join('').replaceAll('/var/backups', pair.data));
}

test('applications: an application is registered with its logout URL', async () => {
  const [added] = await printed('applications.md', 'sh logout-url');
  expect(added).toContain('client_secret');
});

test('applications: an application is registered with a rule about its people', async () => {
  const [added] = await printed('applications.md', 'sh allow-group');
  const [, id] = /client_id: +(\S+)/.exec(added ?? '') ?? [];
  expect(await pair.cli('client', 'show', id ?? '')).toMatchObject({
    allow_groups: ['staff'],
    allow_people: ['erin'],
    minimum_acr: 'second-factor',
  });
});

test('`npm run -s cli --`, as the pages show it, runs the command line', async () => {
  const env = { ...pair.env, PATH: process.env['PATH'] };
  const args = ['run', '-s', 'cli', '--', 'user', 'add', 'by-npm'];
  const { stdout } = await promisify(execFile)('npm', args, { env });
  expect(stdout).toContain('by-npm');
});

test.each([
  ['nginx', 'nginx', 'conf'],
  ['caddy', 'caddyfile', 'caddyfile'],
])(
  'production-%s: the page shows the complete file of the package',
  async (proxy, lang, ending) => {
    const [shown] = await examples(`docs/how-to/production-${proxy}.md`, `${lang} production`);
    const file = new URL(`../../docs/how-to/${proxy}/production.${ending}`, import.meta.url);
    expect(await readFile(file, 'utf8')).toBe(shown);
  },
);

test('people: the commands add, show, revoke, disable and remove a person', async () => {
  const [added, , shown, access, passkeys, ended, , , , removed] = await printed(
    'people.md',
    'sh people',
  );
  expect(added).toContain('alice');
  expect(shown).toContain('alice@example.com');
  expect(access).toContain('alice');
  expect(passkeys).toBe('There is no passkey yet.\n');
  expect(ended).toContain('alice');
  expect(removed).toContain('alice');
});

test('recover: the commands invite a person, and make two password links, of which the last works', async () => {
  const links = (await printed('recover.md', 'sh recover')).map(
    (lines) => /^link: (.*)$/m.exec(lines)?.[1] ?? '',
  );
  expect(links).toHaveLength(3);
  const statuses = await Promise.all(links.map(async (link) => (await fetch(link)).status));
  expect(statuses).toEqual([404, 404, 200]);
  const [mail = ''] = await examples('docs/how-to/recover.md', 'json mail');
  expect(configSchema.parse(JSON.parse(mail)).mail).toMatchObject({ port: 465, tls: 'implicit' });
});

test('registration: the settings are valid, and an invited person chooses a name', async () => {
  const [json = ''] = await examples('docs/how-to/registration.md', 'json registration');
  const { people, mail } = configSchema.parse(JSON.parse(json));
  expect([people.registration, mail?.host]).toEqual(['open', 'mail.example']);
  const file = join(pair.data, 'registration.json');
  await writeFile(file, JSON.stringify({ data: pair.data, people: { registration: 'invited' } }));
  const [commands = ''] = await examples('docs/how-to/registration.md', 'sh registration');
  const [, link, listed] = await runCommands(
    pair,
    `export COUNTERSIGN_CONFIG=${file}\n${commands}`,
  );
  expect(link).toMatch(/^link: .*\/register\/[\w-]{22}$/m);
  expect(listed).toContain('There is nobody with the address dora@example.com.');
});

test('other-providers: the setting is valid, and another Countersign registers this server', async () => {
  const [json = ''] = await examples('docs/how-to/other-providers.md', 'json other-providers');
  const [source] = configSchema.parse(JSON.parse(json)).sources;
  expect([source?.name, source?.newcomers]).toEqual(['corp', 'created']);
  const [added] = await printed('other-providers.md', 'sh other-providers');
  expect(added).toMatch(/^client_secret: \S+$/m);
});

test('account-data: the setting is valid, and the commands print what is kept about a person', async () => {
  const [json = ''] = await examples('docs/how-to/account-data.md', 'json account-data');
  expect(configSchema.parse(JSON.parse(json)).people.removeThemselves).toBe(true);
  const [, shown, access, , events] = await printed('account-data.md', 'sh account-data');
  expect(shown).toContain('demo');
  expect(access).toContain('demo');
  expect(events).toContain('"kind":"person.added"');
});

test('administer: a machine lists people over HTTP, and disables one', async () => {
  const blocks = await examples('docs/how-to/administer.md', 'sh administer');
  const script = blocks.join('').replaceAll('data/automation.json', join(pair.data, 'a.json'));
  const [first, , set, , , , , listed, disabled] = await runCommands(pair, script);
  expect(first).toMatch(/^link: \S+\/register\/[\w-]{22}$/m);
  expect(set).toContain('administrator');
  expect(JSON.parse(listed ?? '')).toMatchObject({ items: [{ name: 'dina', admin: true }] });
  expect(JSON.parse(disabled ?? '')).toMatchObject({ name: 'dina', disabled: true });
});

test('declare: the commands show the differences, apply them, and then find no difference', async () => {
  const [json = ''] = await examples('docs/how-to/declare.md', 'json declare');
  const [commands = ''] = await examples('docs/how-to/declare.md', 'sh declare');
  const file = join(pair.data, 'declared.json');
  await writeFile(file, json);
  const script = commands
    .replaceAll('declared.json', file)
    .replaceAll('reports.secret', join(pair.data, 'reports.secret'));
  const [, planned, made, again, link] = await runCommands(pair, script);
  expect(planned).toMatch(/^\+ person erin: would be added$[^]*^5 changes, none made\.$/m);
  expect(made).toMatch(/^\+ person erin: added$[^]*^5 changes\.$/m);
  expect(again).toBe('Nothing to change.\n');
  expect(link).toContain('link: ');
});

test('audit: the commands list and verify the log', async () => {
  const [since, refused, ofPerson, after, verified] = await printed('audit.md', 'sh audit');
  expect(since).not.toBe('');
  expect(refused).not.toBe('');
  expect(ofPerson).toContain('"kind":"person.added"');
  expect(after).toBeDefined();
  expect(verified).toMatch(/^\d+ events?, unchanged and in order/);
  const [line = ''] = await examples('docs/how-to/audit.md', 'text event');
  expect(isKind((JSON.parse(line) as { kind: string }).kind)).toBe(true);
});

test('move people: people are in a store that the import has created', async () => {
  await pair.addPerson('mover');
  const exported = await printed('move-people.md', 'sh move-export');
  expect(exported.join('')).toContain('people');
  const folder = join(pair.data, 'moved');
  const [importing = ''] = await examples('docs/how-to/move-people.md', 'sh move-import');
  const [, counts, listed] = await runCommands(
    pair,
    `export COUNTERSIGN_DATA=${folder}
    ${importing.trim().replace('/var/backups', pair.data)}
    npm run -s cli -- user list`,
  );
  expect(counts).toMatch(/^people: \d+ added, 0 replaced$/m);
  expect(listed).toContain('mover');
});

test("passkeys: the example's domain is the domain of its passkeys", async () => {
  expect(await printed('passkeys.md', 'sh passkeys')).toEqual(['There is no passkey yet.\n']);
  const [example = ''] = await examples('docs/how-to/passkeys.md', 'json passkeys');
  expect(relyingPartyId(configSchema.parse(JSON.parse(example)))).toBe('example.com');
});

test('second factor: the example requires it of a group, and the command shows who lacks it', async () => {
  const [example = ''] = await examples('docs/how-to/second-factor.md', 'json second-factor');
  const { people } = configSchema.parse(JSON.parse(example));
  expect(people.secondFactor).toEqual({ required: ['staff'] });
  const [told, asJson = ''] = await printed('second-factor.md', 'sh second-factor');
  expect(told).toBe('demo has no second factor.\n');
  expect(JSON.parse(asJson)).toEqual({ person: 'demo', set_up: false });
});

test('clients: a machine gets a token, an application is registered, and secrets overlap', async () => {
  const [machine = '', application, , bank, , shown, set, secret = ''] = await printed(
    'clients.md',
    'sh clients',
  );
  const { client_id: id, client_secret: made } = JSON.parse(machine) as Record<string, string>;
  const { status } = await pair.post(
    '/token',
    { grant_type: 'client_credentials' },
    { id: String(id), secret: String(made) },
  );
  expect(status).toBe(200);
  for (const added of [application, bank]) expect(added).toMatch(/^client_id: \w+\n$/);
  expect(shown).toContain('demo-machine');
  expect(set).toContain('demo-machine');
  expect(JSON.parse(secret)).toHaveProperty('client_secret');
});

test('claims: the machine gets the claim of its rule, and the attributes are shown', async () => {
  const { machine, shown } = await ruledClients();
  expect(shown).toContain(
    [
      'claim: role="admin" if group "admins"',
      'claim: role="user"',
      'claim: preferred_username=email',
      'claim: unit=attribute department',
    ].join('\n'),
  );
  const { client_id: id, client_secret: secret } = machine;
  const { body } = await pair.post(
    '/token',
    { grant_type: 'client_credentials' },
    { id: String(id), secret: String(secret) },
  );
  expect(decodeJwt(String(body['access_token']))).toMatchObject({ tenant: 'acme', sub: id });
  const [, person] = await printed('claims.md', 'sh attributes');
  expect(person).toContain('attribute: department=sales\nattribute: level=3\n');
});

/** Runs the example of claims.md, and returns the machine that it makes and what it shows of the application. */
async function ruledClients() {
  const [commands = ''] = await examples('docs/how-to/claims.md', 'sh claims');
  const output = await runCommands(pair, `${commands}\necho "$MACHINE"\n`);
  const machine = JSON.parse(output.at(-1) ?? '') as Record<string, string>;
  return { machine, shown: output.find((text) => text.includes('claim: ')) };
}

test.each(['keycloak', 'hydra'])('the commands of coming-from-%s.md succeed', async (name) => {
  const output = await printed(`coming-from-${name}.md`, 'sh coming-from');
  expect(output.join('')).toContain('client_id');
});

test('follow revocations: a service learns of a revocation by introspection and by the feed', async () => {
  const page = 'docs/how-to/follow-revocations.md';
  const [notes = '', follower = ''] = await examples(page, 'sh follow');
  const [introspect = ''] = await examples(page, 'sh introspect');
  const [feed = ''] = await examples(page, 'sh feed');
  const revoke =
    'curl -s http://localhost:3000/token/revocation -u demo-machine:$SECRET -d token=$TOKEN\n';
  const again = introspect.slice(introspect.lastIndexOf('curl'));
  const script = notes + introspect + revoke + again + follower + feed;
  const answers = (await runCommands(pair, script)).filter((output) => output !== '');
  expect(answers.map((answer) => JSON.parse(answer) as unknown)).toEqual([
    expect.objectContaining({ active: true }),
    {},
    { active: false },
    expect.objectContaining({
      epoch: expect.any(String),
      lease: expect.any(Number),
      entries: expect.arrayContaining([expect.objectContaining({ kind: 'token' })]),
    }),
  ]);
});

test('keys: a token is refused once its key is dropped', async () => {
  const machine = await pair.addClient();
  const token = await pair.token(machine);
  const ask = () => fetch(pair.documents, { headers: { authorization: `Bearer ${token}` } });
  expect((await ask()).status).toBe(200);
  const [listed, rotated] = await printed('keys.md', 'sh keys');
  expect(listed).toContain('ES256');
  expect(rotated).toMatch(/\w/);
  expect((await ask()).status).toBe(401);
});

test("step-up: the page's space asks a machine's client for a person's sign-in", async () => {
  const [json = ''] = await examples('docs/how-to/step-up.md', 'json step-up');
  await using own = await startPair({
    settings: ({ resource }) =>
      JSON.parse(json.replaceAll('http://localhost:3001', resource)) as object as {},
  });
  const blocks = await examples('docs/how-to/step-up.md', 'sh step-up');
  const [, , challenged = ''] = await runCommands(own, blocks.join(''));
  expect(challenged).toMatch(/^HTTP\/1.1 401 /);
  const field = /^www-authenticate: Bearer .*$/im.exec(challenged)?.[0] ?? '';
  expect(field).toContain('error="insufficient_user_authentication"');
  expect(field).toContain('acr_values="urn:countersign:acr:passkey"');
  expect(field).toContain('max_age="300"');
});

test("mcp: the pair's metadata say that it accepts client documents", async () => {
  const [json = ''] = await examples('docs/how-to/mcp.md', 'json mcp');
  await using own = await startPair({
    settings: ({ resource }) =>
      JSON.parse(json.replaceAll('http://localhost:3001', resource)) as object as {},
  });
  const blocks = await examples('docs/how-to/mcp.md', 'sh mcp');
  const [told = ''] = await runCommands(own, blocks.join(''));
  expect(told.trim()).toBe('"client_id_metadata_document_supported":true');
});

test('mcp: a document on this machine is served, registered and shown', async () => {
  const page = 'docs/how-to/mcp.md';
  const port = `${await freePort()}`;
  const here = (commands = '') =>
    atPair(pair, commands.trim())
      .replaceAll('8443', port)
      .replaceAll('data/client', join(pair.data, 'client'))
      .replaceAll('countersign.json', pair.env['COUNTERSIGN_CONFIG'] ?? '');
  await runCommands(pair, here((await examples(page, 'sh mcp-certificate'))[0]));
  const [, ...served] = here((await examples(page, 'sh mcp-serve'))[0]).split(' ');
  await using _ = await startProcess(process.execPath, served, {
    env: NODE,
    ready: (output) => output.includes('/client.json'),
  });
  const clientId = `https://localhost:${port}/client.json`;
  const [, declared = ''] = await examples('docs/how-to/declare.md', 'json declare');
  const file = join(pair.data, 'document.json');
  await writeFile(file, declared.replace('https://app.example/client.json', clientId));
  const [commands = ''] = await examples(page, 'sh mcp-document');
  const apply = `\nnpm run -s cli -- apply ${file} --dry-run\n`;
  const [, planned, added, shown] = await runCommands(pair, here(commands.replace('\n', apply)));
  expect(planned).toContain(`+ client ${clientId}: would be added`);
  expect(added).toContain(clientId);
  expect(shown).toContain('My first client');
  expect(shown).toContain('http://127.0.0.1/callback');
});

test("mcp-server: challenge and metadata name the resource's URL, and where to get more scopes", async () => {
  const page = 'docs/how-to/mcp-server.md';
  const [json = ''] = await examples(page, 'json mcp-server');
  const [commands = ''] = await examples(page, 'sh mcp-server');
  const [more = ''] = await examples(page, 'text mcp-server');
  await using own = await startPair({
    settings: ({ resource }) =>
      JSON.parse(json.replaceAll('http://localhost:3001', resource)) as object as {},
  });
  const [challenge = '', metadata = ''] = await runCommands(own, commands);
  expect(challenge).toContain('scope="notes:read"');
  const url = `${own.resource}/mcp`;
  const reader = await own.token(await own.addClient('notes:read'));
  const refused = await fetch(url, {
    method: 'POST',
    headers: { authorization: `Bearer ${reader}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name: 'add_note' },
    }),
  });
  expect(refused.status).toBe(403);
  expect(refused.headers.get('www-authenticate')).toBe(
    more.trim().replace('http://localhost:3001', own.resource),
  );
  // The server of the SDK's tests follows the page.
  const [guarded = ''] = await examples(page, 'js mcp-server');
  const server = await readFile('e2e/interop/mcp/server-1.mjs', 'utf8');
  const [made = '', ...routed] = guarded.trim().split('\n');
  expect(server).toContain(made);
  expect(server).toContain(routed.join('\n'));
  expect(JSON.parse(metadata)).toMatchObject({
    resource: url,
    scopes_supported: ['notes:read', 'notes:write'],
  });
});

test('watch: the commands show that both servers are alive and ready', async () => {
  for (const answer of await printed('watch.md', 'sh watch'))
    expect(answer).toMatch(/^HTTP\/1.1 200 /);
});

test('backup: the folder contains the store', async () => {
  const folder = join(pair.data, 'countersign');
  const [, checked] = await printed('backup-restore-upgrade.md', 'sh backup');
  expect((await stat(join(folder, 'state.db'))).size).toBeGreaterThan(0);
  expect(checked).toMatch(/^\d+ files? read back, unchanged and whole\.$/m);
  const { backup_at } = (await pair.cli('server', 'status')) as { readonly backup_at: number };
  expect(Math.abs(Date.now() - backup_at)).toBeLessThan(3_600_000);
  await rm(folder, { recursive: true });
});

test("backup by a schedule: a server with the guide's setting makes a backup, which can be read", async () => {
  const [example = ''] = await examples('docs/how-to/backup-restore-upgrade.md', 'json backup');
  const { backup } = configSchema.parse(JSON.parse(example));
  expect(backup).toMatchObject({ every: 86_400, keep: 7 });
  const folder = join(pair.data, 'daily');
  await using other = await startPair({ settings: { backup: { ...backup, folder } } });
  const made = () => /"event":"backup\.made","folder":"([^"]*)"/.exec(other.authz[0]?.log ?? '');
  await until(async () => made() !== null);
  const [, path = ''] = made() ?? [];
  expect(await other.cli('backup', 'check', path)).toMatchObject({ folder: path });
});
