import { describe, expect, test } from '@jest/globals';
import { systemClock } from '#shared/base/clock.ts';
import type { Scheme } from '#shared/auth/scheme.ts';
import { configSchema } from '#shared/config/schema.ts';
import type { AnyRequest } from '#shared/server/message/message.ts';
import { everyScheme, NO_SIGN_IN } from '../space/spaces.fixture.ts';
import { createSpaces } from '../space/spaces.ts';
import { DestinationElsewhere, destinationLines } from './destination-lines.ts';
import { PathMap } from './paths.ts';

const named = (name: string) => (): Scheme => ({
  name,
  challenge: () => [],
  authenticate: () => ({ kind: 'refused', refusal: 'other-scheme', reason: 'test' }),
});
const ORIGIN = 'https://rs.example';
const config = configSchema.parse({
  resource: ORIGIN,
  spaces: [{ url: `${ORIGIN}/app/`, realm: 'app', schemes: ['Bearer'] }],
});
const space = createSpaces(config, everyScheme(named), NO_SIGN_IN, systemClock).find(ORIGIN, [
  'app',
]);

/** The lines that the application at http://127.0.0.1/base/ gets. */
function linesFor(fields: Readonly<Record<string, string>>) {
  if (space === undefined) throw new Error('The space is not there.');
  const all = { Host: 'rs.example', ...fields };
  const headers = Object.fromEntries(
    Object.entries(all).map(([name, value]) => [name.toLowerCase(), value]),
  );
  const request = { rawHeaders: Object.entries(all).flat(), headers } as unknown as AnyRequest;
  const map = new PathMap('/app/', '/base/', false);
  return destinationLines({ request, space, map }, 'http://127.0.0.1');
}

describe('RFC 4918 section 10.3: Destination', () => {
  test.each([
    ['/app/b', 'http://127.0.0.1/base/b'],
    ['https://rs.example/app/b', 'http://127.0.0.1/base/b'],
  ])('the Destination %s is mapped to the resource of the application', (destination, onward) => {
    expect(linesFor({ Destination: destination })).toEqual([['Destination', onward]]);
  });

  test("the request's own host is accepted in Destination", () => {
    const fields = { Host: 'inside.example', Destination: 'https://inside.example/app/b' };
    expect(linesFor(fields)).toEqual([['Destination', 'http://127.0.0.1/base/b']]);
  });

  test.each([
    'https://other.example/app/b',
    'http://rs.example/app/b',
    'https://rs.example:1/app/b',
  ])('the Destination %s is on another server', (destination) => {
    expect(() => linesFor({ Destination: destination })).toThrow(DestinationElsewhere);
  });

  test.each(['*', '/app/b#c', 'app/b', '', 'https://rs.example/app/b#c'])(
    'the Destination %j is malformed',
    (destination) => {
      expect(() => linesFor({ Destination: destination })).toThrow('malformed');
    },
  );

  test('a Destination in another space is forbidden', () => {
    expect(() => linesFor({ Destination: '/other/b' })).toThrow('another space');
  });

  test('a request without Destination and If gets no such lines', () => {
    expect(linesFor({ Accept: '*/*' })).toEqual([]);
  });
});

describe('RFC 4918 section 10.4: If', () => {
  test.each([
    ['(<urn:uuid:1>)', '(<urn:uuid:1>)'],
    ['</app/b> (Not <urn:uuid:1> ["x"])', '<http://127.0.0.1/base/b> (Not <urn:uuid:1> ["x"])'],
    ['<https://other.example/b> (<urn:uuid:1>)', '<https://other.example/b> (<urn:uuid:1>)'],
  ])('the If field %s is mapped to the application', (sent, onward) => {
    expect(linesFor({ If: sent })).toEqual([['If', onward]]);
  });

  const MANY = '</app/b>(["x"])'.repeat(257);

  test.each(['(', '()', '<urn:uuid:1>', '(<a>', MANY])('the If field %j is refused', (sent) => {
    expect(() => linesFor({ If: sent })).toThrow('sequence of lists');
  });
});
