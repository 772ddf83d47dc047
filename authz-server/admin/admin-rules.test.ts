import { expect, test } from '@jest/globals';
import { ManualClock } from '#shared/base/clock.ts';
import { epochSeconds } from '#shared/base/clock.ts';
import { configSchema } from '#shared/config/schema.ts';
import type { AuthenticationEvent, Principal } from '#shared/auth/scheme.ts';
import { adminRules } from './admin-rules.ts';

const clock = new ManualClock();
const config = configSchema.parse({ tokens: { skew: 5 } });
const ago = (seconds: number) => epochSeconds(clock) - seconds;
const [PASSWORD, SECOND_FACTOR, PASSKEY] = ['password', 'second-factor', 'passkey'].map(
  (level) => `urn:countersign:acr:${level}`,
);

const asked = (principal: Principal, development = false) =>
  adminRules({ config, clock, development }).stepUp?.('POST', principal);
const person = (authentication: AuthenticationEvent): Principal => ({
  kind: 'person',
  realm: 'any',
  name: 'alice-id',
  authentication,
});

test.each([
  [SECOND_FACTOR, 0, 'enough'],
  [PASSKEY, 600, 'enough'],
  [PASSKEY, 605, 'enough'],
  [PASSKEY, 606, 'too little'],
  [PASSWORD, 0, 'too little'],
  [undefined, 0, 'too little'],
])('in production a sign-in by %s, %d seconds ago, is %s', (acr, seconds, expected) => {
  const principal = person({ ...(acr && { acr }), authTime: ago(seconds) });
  expect(asked(principal) === undefined).toBe(expected === 'enough');
});

test('in development a password will do, and it is recent, too', () => {
  const acr = PASSWORD ?? '';
  expect(asked(person({ acr, authTime: ago(600) }), true)).toBeUndefined();
  expect(asked(person({ acr, authTime: ago(606) }), true)).toEqual({ maxAge: 600 });
  expect(asked(person({ acr }), true)).toEqual({ maxAge: 600 });
});

test('a machine has no sign-in', () => {
  expect(asked({ kind: 'application', id: 'machine' })).toBeUndefined();
});
