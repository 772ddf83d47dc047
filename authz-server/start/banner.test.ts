import { readFile } from 'node:fs/promises';
import { expect, test } from '@jest/globals';
import { loadConfig } from '#shared/config/load.ts';
import { banner } from './banner.ts';

test('the first start prints its lines as they are', async () => {
  const lines = banner(await loadConfig({}), {
    lines: ['client_secret  abc'],
    firstStart: '/data/first-start.txt',
  });
  expect(lines.join('\n')).toMatch(/http:\/\/localhost:3000\n.*http:\/\/localhost:3001/);
  expect(lines).toContain('client_secret  abc');
  expect(lines.join('\n')).not.toContain('first-start.txt');
});

test('a later start names the file and repeats no secret', async () => {
  const lines = banner(await loadConfig({}), { firstStart: '/d/first-start.txt' });
  expect(lines.join('\n')).toContain('/d/first-start.txt');
  expect(lines.join('\n')).not.toContain('secret  ');
});

test('without a first start it says how to register a client and a person', async () => {
  const lines = banner(await loadConfig({}), {});
  // What a first client may well have, and no right of the servers themselves.
  expect(lines.join('\n')).toMatch(/client add .*--scope "documents:read documents:write"$/m);
  expect(lines).toContain('  npm run -s cli -- user add NAME');
});

test('where no space takes tokens the scopes are left to the operator', async () => {
  const { privateTokens: _issuer, ...tour } = await loadConfig({});
  const lines = banner({ ...tour, spaces: [] }, {});
  expect(lines.join('\n')).toMatch(/client add .*--scope "SCOPES"$/m);
});

test('the origin over TLS and the token issuer are named where there are some', async () => {
  const tour = await loadConfig({});
  const lines = banner(tour, {});
  expect(lines).toContain('  over TLS              https://localhost:3443');
  expect(lines).toContain('  token issuer          https://localhost:3444');
  const { tls: _tls, privateTokens: _issuer, ...without } = tour;
  const text = banner(without, {}).join('\n');
  expect(text).not.toMatch(/^ {2}(?:over TLS|token issuer)/m);
});

test('the banner and README.md name the same addresses', async () => {
  const readme = await readFile(new URL('../../README.md', import.meta.url), 'utf8');
  const [, paragraph = ''] = /^(The authorization server is at .*)$/m.exec(readme) ?? [];
  const named = [...paragraph.matchAll(/<(.*?)>/g)].map(([, url = '']) => url);
  const lines = banner(await loadConfig({}), {});
  const printed = lines.flatMap((line) => /^ {2}[a-zA-Z ]+ {2}(https?:\S+)$/.exec(line)?.[1] ?? []);
  expect(printed).toHaveLength(5);
  expect(named).toEqual(printed);
});

test('a Redis password is not printed', async () => {
  const config = await loadConfig({ COUNTERSIGN_REDIS_URL: 'redis://u:hunter2@localhost:6379' });
  const text = banner(config, {}).join('\n');
  expect(text).toContain('redis://u:***@localhost:6379');
  expect(text).not.toContain('hunter2');
});

test('the banner names each space, and nothing is left out where the default is whole', async () => {
  const text = banner(await loadConfig({}), {}).join('\n');
  expect(text).toMatch(/^ {2}\/documents\/ +documents +Bearer, DPoP$/m);
  expect(text).toMatch(/^ {2}\/hidden\/ +documents, hidden +Bearer, DPoP$/m);
  expect(text).toMatch(/^ {2}\/schemes\/digest\/ +identity +Digest$/m);
  expect(text).not.toContain('not there');
});

test('the banner says what spaces of one’s own leave out of the default', async () => {
  const { tls: _tls, proxy: _proxy, ...tour } = await loadConfig({});
  const [first] = tour.spaces;
  const text = banner({ ...tour, spaces: first ? [first] : [] }, {}).join('\n');
  expect(text).toMatch(/^ {2}\/documents\/ /m);
  expect(text).toMatch(
    /are not there: \/hidden\/, .*\/dav\/.*, the origin over TLS, the forward proxy\.$/m,
  );
  expect(text).toContain('config init');
});

test('the banner of a production pair misses no tour', async () => {
  const config = await loadConfig({});
  const production = { ...config, issuer: 'https://auth.example', spaces: [] };
  expect(banner(production, {}).join('\n')).not.toContain('not there');
});

test('the banner counts spaces beyond thirty', async () => {
  const config = await loadConfig({});
  const [space] = config.spaces;
  if (space === undefined) throw new Error('no space');
  const spaces = Array.from({ length: 33 }, (_, index) => ({
    ...space,
    url: `http://localhost:3001/s${index}/`,
  }));
  expect(banner({ ...config, spaces }, {}).join('\n')).toContain('  and 3 more: ');
});
