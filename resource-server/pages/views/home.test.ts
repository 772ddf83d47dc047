import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from '@jest/globals';
import { temporaryFolder } from '#shared/base/temporary.fixture.ts';
import { configSchema } from '#shared/config/schema.ts';
import { homePage } from './home.ts';
import type { Space } from '../../space/spaces.ts';

const URL = "http://localhost:3001/it's/";
const space = {
  url: URL,
  origin: 'http://localhost:3001',
  realm: 'documents',
  serves: 'documents',
  schemes: [{ name: 'Bearer' }],
  scopes: () => ['documents:read'],
  allScopes: ['documents:read', 'documents:write'],
};
// The page reads only this part of a space.
const spaces = [space] as unknown as readonly Space[];

const home = (brand: object) => {
  const config = configSchema.parse({ brand });
  const { logo: _, ...look } = config.brand;
  return homePage({ brand: look, language: 'en' }, config, spaces).body ?? '';
};

test('the home page shows the name of the brand', () => {
  expect(home({ name: 'A & B' })).toContain('<h1>A &amp; B resource server</h1>');
});

test('the proposed commands can be pasted into a shell, and use the token of the answer', async () => {
  const [, shown = ''] = /<pre>(.*?)<\/pre>/s.exec(home({})) ?? [];
  const lines = shown
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&amp;', '&');
  const curl = `curl() { case "$*" in
    *grant_type*) echo '{"access_token":"the.token-1","token_type":"Bearer"}';;
    *) printf '%s\\n' "$*";;
  esac; }`;
  const folder = await temporaryFolder();
  await mkdir(join(folder, 'data'));
  await writeFile(join(folder, 'data', 'first-start.env'), "SECRET='s-1'\n");
  const run = promisify(execFile);
  const { stdout, stderr } = await run('sh', ['-euc', `${curl}\n${lines}`], { cwd: folder });
  expect(stderr).toBe('');
  const sent = stdout.trim().split('\n');
  expect(sent).toHaveLength(3);
  for (const line of sent) {
    expect(line).toContain('Authorization: Bearer the.token-1');
    expect(line).toContain(URL);
  }
});

test("in production the commands have a placeholder for the reader's own client", () => {
  const config = configSchema.parse({
    issuer: 'https://as.example',
    resource: 'https://rs.example',
  });
  const { body = '' } = homePage(
    { brand: { name: 'A', color: '#000000' }, language: 'en' },
    config,
    spaces,
  );
  expect(body).toContain('-u CLIENT_ID:CLIENT_SECRET ');
  expect(body).not.toContain('first-start');
});
