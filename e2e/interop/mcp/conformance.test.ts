/** The conformance suite of the Model Context Protocol, which has two scenarios for an authorization server. */
import { globSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { ROOT } from '../../bundle.ts';
import { CODE_GRANTS } from '../../pair/people-client.ts';
import { freePort } from '../../parts/free-port.ts';
import { NODE, startProcess, until } from '../../parts/process.ts';
import { PersonAtPages } from '../oauth/person-at-pages.ts';
import { type McpSite, startMcpSite } from './mcp-site.ts';

const SUITE = join(ROOT, 'node_modules/@modelcontextprotocol/conformance/dist/index.js');
/** The URL at which the suite starts a browser. */
const BEGIN = /^http\S+\?\S*code_challenge=\S+$/m;

interface Check {
  readonly id: string;
  readonly status: string;
  readonly errorMessage?: string;
}

const parts = new AsyncDisposableStack();
let site: McpSite;
let person: PersonAtPages;
beforeAll(async () => {
  site = parts.use(await startMcpSite());
  person = new PersonAtPages(site.pair, await site.pair.addPerson());
});
afterAll(() => parts.disposeAsync());

/** Runs both scenarios for a client; resolves to the result of each check. */
async function run(clientId: string, port: number): Promise<readonly Check[]> {
  const { pair } = site;
  const results = join(pair.data, `results-${port}`);
  const target = ['--url', pair.issuer, '--resource', pair.documents, '--client-id', clientId];
  const here = ['--port', `${port}`, '--output-dir', results];
  await using suite = await startProcess(
    process.execPath,
    [SUITE, 'authorization', ...target, ...here],
    { cwd: pair.data, env: NODE, ready: (output) => BEGIN.test(output) },
  );
  const [begin = ''] = BEGIN.exec(suite.output) ?? [];
  await fetch(await person.answer(begin));
  await until(() => !suite.running);
  const files = globSync('**/checks.json', { cwd: results });
  const found = await Promise.all(files.map((file) => readFile(join(results, file), 'utf8')));
  return found.flatMap((text) => JSON.parse(text) as Check[]);
}

// With a client secret the suite fails: it sends no secret if the metadata also lists the method `none`.
test.each([
  [
    'that an operator registered',
    async (port: number) => {
      const uri = `http://127.0.0.1:${port}/callback`;
      const options = [...CODE_GRANTS, '--redirect-uri', uri, '--scope', 'documents:read'];
      const added = await site.pair.cli('client', 'add', '--name', 'Suite', '--public', ...options);
      return String(added['client_id']);
    },
  ],
  ['that nobody registered', () => site.describeClient('suite', { client_name: 'Suite' })],
])('a client %s passes all checks, without a warning', async (_, clientId) => {
  const port = await freePort();
  const checks = await run(await clientId(port), port);
  expect(checks.filter(({ status }) => status !== 'SUCCESS')).toEqual([]);
  expect(checks.map(({ id }) => id).toSorted()).toEqual([
    'authorization-code-grant',
    'authorization-server-metadata',
    'authorization-server-metadata-cimd',
  ]);
});
