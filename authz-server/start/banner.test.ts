import { readFile } from 'node:fs/promises';
import { expect, test } from '@jest/globals';
import { loadConfig } from '#shared/config/load.ts';
import { banner } from './banner.ts';

test("the banner of the first start prints the first start's lines unchanged", async () => {
  const lines = banner(await loadConfig({}), {
    lines: ['client_secret  abc'],
    firstStart: '/data/first-start.txt',
  });
  expect(lines.join('\n')).toMatch(/http:\/\/localhost:3000\n.*http:\/\/localhost:3001/);
  expect(lines).toContain('client_secret  abc');
  expect(lines.join('\n')).not.toContain('first-start.txt');
});

test('the banner says where the documentation begins', async () => {
  const line = banner(await loadConfig({}), {}).find((one) => one.startsWith('Documentation: '));
  const path = line?.slice('Documentation: '.length) ?? '';
  expect(await readFile(new URL(`../../${path}`, import.meta.url), 'utf8')).toMatch(/^# /);
});

test('the banner of a later start names the file and repeats no secret', async () => {
  const lines = banner(await loadConfig({}), { firstStart: '/d/first-start.txt' });
  expect(lines.join('\n')).toContain('/d/first-start.txt');
  expect(lines.join('\n')).not.toContain('secret  ');
});

test('without a first start the banner says how to register a client and a person', async () => {
  const lines = banner(await loadConfig({}), {});
  // The command has the scopes of a first client, and no right of the servers themselves.
  expect(lines.join('\n')).toMatch(/client add .*--scope "documents:read documents:write"$/m);
  expect(lines).toContain('  npm run -s cli -- user add NAME');
});

test('without a space that accepts tokens the banner lets the operator choose the scopes', async () => {
  const { privateTokens: _issuer, ...tour } = await loadConfig({});
  const lines = banner({ ...tour, spaces: [] }, {});
  expect(lines.join('\n')).toMatch(/client add .*--scope "SCOPES"$/m);
});

test('the banner names the origin over TLS and the token issuer if they exist', async () => {
  const tour = await loadConfig({});
  const lines = banner(tour, {});
  expect(lines).toContain('  over TLS              https://localhost:3443');
  expect(lines).toContain('  token issuer          https://localhost:3444');
  const { tls: _tls, privateTokens: _issuer, ...without } = tour;
  const text = banner(without, {}).join('\n');
  expect(text).not.toMatch(/^ {2}(?:over TLS|token issuer)/m);
});

test('the banner and the first tutorial name the same addresses', async () => {
  const page = new URL('../../docs/tutorials/first-ten-minutes.md', import.meta.url);
  const rows = (await readFile(page, 'utf8')).match(/^\| .* \| <.*\|$/gm) ?? [];
  const named = [...rows.join('').matchAll(/<(.*?)>/g)].map(([, url = '']) => url);
  const lines = banner(await loadConfig({}), {});
  const printed = lines.flatMap((line) => /^ {2}[a-zA-Z ]+ {2}(https?:\S+)$/.exec(line)?.[1] ?? []);
  expect(printed).toHaveLength(5);
  expect(named).toEqual(printed);
});

test('the banner does not print passwords of PostgreSQL and Redis', async () => {
  const config = await loadConfig({
    COUNTERSIGN_POSTGRES_URL: 'postgres://u:hunter2@localhost/db',
    COUNTERSIGN_REDIS_URL: 'redis://u:hunter2@localhost:6379',
  });
  const text = banner(config, {}).join('\n');
  expect(text).toContain('PostgreSQL (schema countersign): postgres://u:***@localhost/db');
  expect(text).toContain('Redis (single): redis://u:***@localhost:6379');
  expect(text).not.toContain('hunter2');
});

test('the banner names each space, and reports nothing missing for the default configuration', async () => {
  const text = banner(await loadConfig({}), {}).join('\n');
  expect(text).toMatch(/^ {2}\/documents\/ +documents +Bearer, DPoP$/m);
  expect(text).toMatch(/^ {2}\/hidden\/ +documents, hidden +Bearer, DPoP$/m);
  expect(text).toMatch(/^ {2}\/schemes\/digest\/ +identity +Digest$/m);
  expect(text).not.toContain('not there');
});

test('the banner says which parts of the default a configuration lacks', async () => {
  const { tls: _tls, proxy: _proxy, ...tour } = await loadConfig({});
  const [first] = tour.spaces;
  const text = banner({ ...tour, spaces: first ? [first] : [] }, {}).join('\n');
  expect(text).toMatch(/^ {2}\/documents\/ /m);
  expect(text).toMatch(
    /leaves out these of the default: \/hidden\/, .*\/dav\/.*, the origin over TLS, the forward proxy\.$/m,
  );
  expect(text).toContain('config init');
});

test('the banner of a production pair does not mention missing parts', async () => {
  const config = await loadConfig({});
  const production = { ...config, issuer: 'https://auth.example', spaces: [] };
  expect(banner(production, {}).join('\n')).not.toContain('not there');
});

test('the banner only counts the spaces after the thirtieth', async () => {
  const config = await loadConfig({});
  const [space] = config.spaces;
  if (space === undefined) throw new Error('no space');
  const spaces = Array.from({ length: 33 }, (_, index) => ({
    ...space,
    url: `http://localhost:3001/s${index}/`,
  }));
  expect(banner({ ...config, spaces }, {}).join('\n')).toContain('  and 3 more: ');
});
