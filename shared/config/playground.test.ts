import { expect, test } from '@jest/globals';
import { hasPlayground, PLAYGROUND_RULE } from './playground.ts';
import { configSchema } from './schema.ts';

const AT = 'http://localhost:3001';
const spaceAt = (path: string) => ({ url: AT + path, realm: 'x', schemes: ['Bearer'] });
const production = { issuer: 'https://auth.example', resource: 'https://api.example' };

test('the playground is on in development, and in production only if it is configured', () => {
  expect(hasPlayground(configSchema.parse({}))).toBe(true);
  expect(hasPlayground(configSchema.parse({ playground: false }))).toBe(false);
  expect(hasPlayground(configSchema.parse(production))).toBe(false);
  expect(hasPlayground(configSchema.parse({ ...production, playground: true }))).toBe(true);
});

test.each(['/', '/schemes', '/schemes/', '/playground', '/playground/x/'])(
  'a space at %s turns the playground off, and conflicts with "playground": true',
  (path) => {
    const spaces = [spaceAt(path)];
    expect(hasPlayground(configSchema.parse({ spaces }))).toBe(false);
    const config = configSchema.parse({ spaces, playground: true });
    expect(PLAYGROUND_RULE.check(config, {})).toEqual([
      { path: 'playground', message: expect.stringContaining(AT + path) },
    ]);
  },
);

test.each(['/schemes/basic/', '/documents/', '/playgrounds/'])(
  'the playground stays on with a space at %s',
  (path) => {
    const config = configSchema.parse({ spaces: [spaceAt(path)], playground: true });
    expect(PLAYGROUND_RULE.check(config, {})).toEqual([]);
    expect(hasPlayground({ ...config, playground: undefined })).toBe(true);
  },
);
