import { expect, test } from '@jest/globals';
import { configSchema } from '#shared/config/schema.ts';
import { examples, runCommands } from '../../pair/examples.ts';
import { startPair } from '../../pair/pair.ts';
import { send } from './send.ts';

test('the configuration of docs/how-to/sign-in-in-front.md sends a browser to the sign-in page', async () => {
  const [json = ''] = await examples('docs/how-to/sign-in-in-front.md', 'json sign-in');
  const { spaces } = configSchema.parse(JSON.parse(json));
  expect(spaces).toHaveLength(1);
  await using pair = await startPair({
    settings: ({ resource }) =>
      JSON.parse(json.replaceAll('http://localhost:3001', resource)) as object as {},
  });
  const [command = ''] = await examples('docs/how-to/sign-in-in-front.md', 'sh sign-in');
  await runCommands(pair, command);
  expect(await pair.cli('user', 'show', 'demo')).toMatchObject({ groups: ['staff'] });
  const headers = { accept: 'text/html', 'sec-fetch-mode': 'navigate' };
  const asked = await send(`${pair.resource}/a?b`, { headers });
  expect(asked.status).toBe(303);
  const answer = await send(asked.headers.location ?? '');
  expect([answer.status, answer.headers.location]).toEqual([
    303,
    expect.stringContaining('/interaction/'),
  ]);
});

test('a proxy that does not pass /.countersign/ on gets a refusal that says so', async () => {
  const url = 'https://app.example/';
  await using pair = await startPair({
    settings: () => ({
      trustedProxies: ['127.0.0.1'],
      spaces: [{ url, realm: 'app', schemes: ['Bearer'], serves: 'verify', signIn: true }],
    }),
  });
  const ask = (uri: string) =>
    send(`${pair.resource}/verify/browser`, {
      headers: {
        accept: 'text/html',
        'sec-fetch-mode': 'navigate',
        'x-forwarded-method': 'GET',
        'x-forwarded-proto': 'https',
        'x-forwarded-host': 'app.example',
        'x-forwarded-uri': uri,
      },
    });
  expect((await ask('/a')).status).toBe(303);
  const answer = await ask('/.countersign/signed-in?code=c&state=s');
  expect([answer.status, answer.text]).toEqual([
    403,
    expect.stringContaining('let it pass /.countersign/ on to the resource server'),
  ]);
});
