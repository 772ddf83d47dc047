import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { clientOf } from '../spaces.fixture.ts';
import { type Application, startApplication, startGateway } from './gateway.fixture.ts';

let application: Application;
let gateway: Awaited<ReturnType<typeof startGateway>>;
let as: ReturnType<typeof clientOf>;
beforeAll(async () => {
  application = await startApplication();
  gateway = await startGateway({ inventory: { upstream: { url: `${application.url}base/` } } });
  as = clientOf(gateway);
});
afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  await application[Symbol.asyncDispose]();
});

const asked = async (...call: Parameters<typeof as>) => {
  const { status, text } = await as(...call);
  expect(status).toBe(200);
  return JSON.parse(text) as Application['asked'][number];
};

test('a request goes on to the path that stands for its own', async () => {
  const one = await asked('GET', '/inventory/a%20b?c=d%2F');
  expect(one).toMatchObject({ method: 'GET', url: '/base/a%20b?c=d%2F' });
});
test('content', async () => {
  const one = await asked('PUT', '/inventory/x', { body: 'hello' });
  expect(one).toMatchObject({ method: 'PUT', url: '/base/x', body: 'hello' });
});
