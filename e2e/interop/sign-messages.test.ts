/** The examples of docs/how-to/sign-messages.md. */
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { expect, test } from '@jest/globals';
import { examples } from '../pair/examples.ts';
import { temporaryFolder } from '../parts/temporary-folder.ts';

const PAGE = 'docs/how-to/sign-messages.md';
const ROOT = new URL('../../', import.meta.url).pathname;

/** Runs a command in the folder of the repository; throws if it fails. */
const bash = async (command: string) =>
  (await promisify(execFile)('bash', ['-ec', command], { cwd: ROOT })).stdout;

test('the request of RFC 9421 appendix B.2.6 is explained as the page says', async () => {
  await using folder = await temporaryFolder();
  const [http = ''] = await examples(PAGE, 'http sign-messages');
  const [json = ''] = await examples(PAGE, 'jwk sign-messages');
  const [, , command = ''] = await examples(PAGE, 'sh sign-messages');
  const [expected = ''] = await examples(PAGE, 'text sign-messages');
  const at = (name: string) => join(folder.path, name);
  await writeFile(at('request.txt'), http.trimEnd());
  await writeFile(at('public.jwk'), json);
  const there = command
    .replace('request.txt', at('request.txt'))
    .replace('public.jwk', at('public.jwk'));
  expect((await bash(there)).replace(/ \(\d+ s ago\)/, '')).toBe(expected);
});

test('the key that the page makes signs a request, as the page says', async () => {
  await using folder = await temporaryFolder();
  const [make = '', request = ''] = await examples(PAGE, 'sh sign-messages');
  const key = join(folder.path, 'key.jwk');
  await bash(make.replace('key.jwk', key));
  const server = createServer((received, response) => {
    void signedParts(received).then((parts) => response.end(JSON.stringify(parts)));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const there = request
    .replace('https://api.example', `http://127.0.0.1:${port}`)
    .replace('key.jwk', key);
  const answer: unknown = JSON.parse(await bash(there));
  server.close();
  expect(answer).toEqual({
    content: '{"text":"Hello"}',
    input: expect.stringMatching(
      /^sig1=\("@method" "@target-uri" "content-type" "content-digest"\);created=\d+;keyid="my-key"$/,
    ),
    signature: expect.stringMatching(/^sig1=:[\w+/]{86}==:$/),
  });
});

async function signedParts(request: IncomingMessage) {
  const { headers } = request;
  return {
    content: await text(request),
    input: headers['signature-input'],
    signature: headers['signature'],
  };
}
