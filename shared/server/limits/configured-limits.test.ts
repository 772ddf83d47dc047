import { expect, test } from '@jest/globals';
import { configSchema } from '#shared/config/schema.ts';
import { configuredLimits } from './configured-limits.ts';
import { LIMITS, TICKETS } from '#shared/config/server-limits.ts';

test('without limits in the configuration the documented defaults apply', () => {
  expect({ ...LIMITS, ...configuredLimits(configSchema.parse({})) }).toEqual(LIMITS);
});

test('seconds become milliseconds, and configured limits replace those of a listener', () => {
  const server = {
    requestTimeout: 7,
    headersTimeout: 7,
    pace: { bytes: 5, seconds: 2 },
    streams: 9,
  };
  const config = configSchema.parse({ server });
  expect(configuredLimits(config, TICKETS)).toMatchObject({
    requestTimeout: 7000,
    pace: { bytes: 5, milliseconds: 2000 },
    streams: 9,
    headerBytes: 81_920,
  });
  const wide = configSchema.parse({ server: { headerBytes: 10_000 } });
  expect(configuredLimits(wide, TICKETS)).toMatchObject({ headerBytes: 10_000 });
});

test.each([
  { headersTimeout: 0 },
  { headersTimeout: 20, requestTimeout: 19 },
  { pace: { bytes: -1 } },
  { fields: 1 },
  { streams: 0 },
  { resets: { burst: 0, per: 1 } },
  { idleTimeOut: 5 },
])('%j is refused', (server) => {
  expect(configSchema.safeParse({ server }).success).toBe(false);
});
