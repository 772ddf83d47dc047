import { expect, test } from '@jest/globals';
import { signOfSeveral } from './several.ts';

test.each([
  [{}, undefined],
  [{ WEB_CONCURRENCY: '1' }, undefined],
  [{ WEB_CONCURRENCY: 'auto' }, undefined],
  [{ WEB_CONCURRENCY: '2' }, 'WEB_CONCURRENCY'],
  [{ NODE_APP_INSTANCE: '0' }, 'NODE_APP_INSTANCE'],
  [{ KUBERNETES_SERVICE_HOST: '10.0.0.1' }, 'KUBERNETES_SERVICE_HOST'],
])('%j: other processes are likely: %s', (env, sign) => {
  expect(signOfSeveral(env)).toBe(sign);
});
