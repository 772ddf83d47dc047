import { expect, test } from '@jest/globals';
import { startApplication } from '../parts/application.ts';
import type { Echo } from '../parts/applications/echo.ts';
import { examples } from '../pair/examples.ts';
import { startPair } from '../pair/pair.ts';
import { basic } from './gateway/gateway-site.ts';
import { statementsOf } from './gateway-identity/verify-statement.mjs';
import { ALICE } from './site.ts';

/**
 * The configuration of docs/how-to/gateway.md with other ports, and its example that verifies a statement.
 */
test('the gateway of docs/how-to/gateway.md forwards requests with a statement of the caller', async () => {
  const [json = ''] = await examples('docs/how-to/gateway.md', 'json gateway');
  await using parts = new AsyncDisposableStack();
  const { url } = await startApplication(parts, 'express');
  const pair = parts.use(
    await startPair({
      settings: ({ resource }) =>
        JSON.parse(
          json.replace('http://localhost:3001', resource).replace('http://127.0.0.1:8080/', url),
        ) as Record<string, unknown>,
    }),
  );
  await pair.addPerson(ALICE.name, ALICE.password);
  const ask = (method: string) =>
    fetch(`${pair.resource}/inventory/echo?a=b`, {
      method,
      headers: { ...Object.fromEntries([basic()]), 'X-Auth-Subject': 'admin' },
    });
  const answer = await ask('GET');
  expect(answer.status).toBe(200);
  const { url: asked, fields } = (await answer.json()) as Echo;
  expect(asked).toBe('/base/echo?a=b');
  const told = new Map(fields.map(([name, value]) => [name.toLowerCase(), value]));
  expect([told.has('authorization'), told.has('x-auth-subject')]).toEqual([false, false]);
  const whoAsks = statementsOf(pair.resource, 'inventory');
  expect(await whoAsks(told.get('x-auth-statement'))).toMatchObject({
    kind: 'person',
    name: ALICE.name,
    scheme: 'Basic',
    scope: 'inventory:read inventory:write',
  });
  expect((await ask('PUT')).status).toBe(200);
});
