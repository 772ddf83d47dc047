/** The configuration and the program of docs/tutorials/express-api.md, with other ports. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { examples, runCommands } from '../../pair/examples.ts';
import { startPair } from '../../pair/pair.ts';
import { freePort } from '../../parts/free-port.ts';
import { NODE, startProcess } from '../../parts/process.ts';
import { temporaryFolder } from '../../parts/temporary-folder.ts';
import { installResource } from './install.ts';

const PAGE = 'docs/tutorials/express-api.md';

test("the tutorial's API, which README.md and the package also show, refuses a revoked token", async () => {
  await using parts = new AsyncDisposableStack();
  const folder = parts.use(await temporaryFolder()).path;
  await installResource(folder, ['express']);
  const [json = ''] = await examples(PAGE, 'json express');
  const [program = ''] = await examples(PAGE, 'js express');
  const [commands = ''] = await examples(PAGE, 'sh express');
  expect(await examples('README.md', 'js express')).toEqual([program]);
  const ofPackage = await readFile(
    join(folder, 'node_modules/@countersign/resource/README.md'),
    'utf8',
  );
  const there = {
    'https://auth.example': 'http://localhost:3000',
    'https://api.example': 'http://localhost:8080',
  };
  const [, same = ''] = /```js\n([^]*?)```/.exec(ofPackage) ?? [];
  expect(
    Object.entries(there).reduce((text, [public_, local]) => text.replace(public_, local), same),
  ).toBe(program);

  const port = await freePort();
  const api = `http://localhost:${port}`;
  const atPort = (text: string) => text.replaceAll('http://localhost:8080', api);
  const settings = JSON.parse(atPort(json)) as Record<string, unknown>;
  // On a busy machine a follower may be slow.
  const revocations = { lease: 10 };
  const pair = parts.use(await startPair({ settings: { ...settings, revocations } }));
  await runCommands(pair, commands);
  const client = async (name: string) => {
    const text = await readFile(join(pair.data, name), 'utf8');
    const { client_id: id, client_secret: secret } = JSON.parse(text) as Record<string, string>;
    return { id: String(id), secret: String(secret) };
  };
  const follower = await client('notes.json');
  const machine = await client('reader.json');
  const file = join(folder, 'notes.mjs');
  await writeFile(
    file,
    atPort(program)
      .replace('http://localhost:3000', pair.issuer)
      .replace('listen(8080', `listen(${port}`),
  );
  parts.use(
    await startProcess(process.execPath, [file], {
      env: { ...NODE, CLIENT: follower.id, SECRET: follower.secret },
      ready: async () => (await fetch(api)).status === 401,
    }),
  );

  const [use = ''] = await examples(PAGE, 'sh express-use');
  const [, , , letIn, , refused] = await runCommands(pair, atPort(use));
  expect(letIn).toMatch(/^HTTP\/1.1 200 /);
  expect(letIn).toContain(JSON.stringify({ readBy: machine.id }));
  expect(refused).toMatch(/^HTTP\/1.1 401 /);

  const authorization = `Bearer ${await pair.token(machine)}`;
  const unsafe = await fetch(`${api}/notes`, { method: 'POST', headers: { authorization } });
  expect(unsafe.status).toBe(404);
});
