/** The examples of docs/how-to/push.md. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { eventually } from '#shared/stores/contract/eventually.ts';
import { CliUser } from '../flows/cli-user.ts';
import { newPerson } from '../flows/person.ts';
import { startPush } from '../flows/push-place.ts';
import { atPair, examples, runCommands } from '../pair/examples.ts';
import { entryFile } from '../parts/entry.ts';
import { startProcess } from '../parts/process.ts';

const PAGE = 'docs/how-to/push.md';

/** Returns the arguments after `npm run -s cli --` in a command. */
const argumentsOf = (command = '') => command.replaceAll(/^.*? cli -- | \|.*$/g, '').split(' ');

test('docs/how-to/push.md: the command line subscribes, and shows what curl and web-push send', async () => {
  await using parts = new AsyncDisposableStack();
  const { pair, ...flow } = parts.use(await startPush('sqlite')).flow;
  const [receive = ''] = await examples(PAGE, 'sh push-receive');
  const [login, push] = atPair(pair, receive).trim().split('\n');
  const user = parts.use(
    await CliUser.start({ pair, ...flow }, await newPerson({ pair, ...flow })),
  );
  await user.approve(argumentsOf(login));
  // The login is for the push service over TLS, and the authorization server accepts its token all the
  // same.
  expect(await user.run('whoami')).toMatchObject({ code: 0 });
  const running = parts.use(
    await startProcess(process.execPath, [entryFile('shared/cli/main.ts'), ...argumentsOf(push)], {
      env: {
        ...pair.env,
        HOME: join(user.file(''), '../..'),
        NODE_EXTRA_CA_CERTS: join(pair.data, 'tls/certificate.pem'),
      },
      ready: (output) => output.includes('Waiting for messages'),
    }),
  );
  const [shape = ''] = await examples(PAGE, 'text push-receive');
  const subscription = running.output.split('\n').find((line) => line.startsWith('{')) ?? '';
  const named = subscription
    .replace(/(?<=\/push\/push\/)[\w-]+/, 'ID')
    .replace(/(?<="p256dh":")[\w-]+/, 'KEY')
    .replace(/(?<="auth":")[\w-]+/, 'SECRET');
  expect(named).toBe(atPair(pair, shape.trim()));

  const [send = ''] = await examples(PAGE, 'sh push-send');
  await writeFile(join(pair.data, 'push.txt'), subscription);
  const [, , sent] = await runCommands(pair, send);
  expect(sent).toMatch(/^HTTP/);
  await eventually(() => expect(running.output).toMatch(/^Hello\n[^]*^Hello, encrypted$/m));
});
