/** @needs python3 */
/** Our signature bases compared with those of signature_base.py, which was written from RFC 9421 alone. */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { BadSignature } from '#shared/signatures/message.ts';
import { input, withFields } from '#shared/signatures/message.fixture.ts';
import { signatureBase } from '#shared/signatures/signature-base.ts';

const CASES = 4000;

interface Case {
  readonly request: {
    readonly method: string;
    readonly targetUri: string;
    readonly requestTarget: string;
    readonly fields: readonly (readonly [name: string, value: string])[];
  };
  /** An inner list with parameters, as in Signature-Input. */
  readonly input: string;
}

const text = (unit: string, maxLength: number) =>
  fc.string({ unit: fc.constantFrom(...unit.split('')), maxLength });

const path = fc.oneof(
  fc.constant(''),
  text('ab/.%41~;', 8).map((rest) => `/${rest.replaceAll(/%(?!41)/g, '')}`),
);
const query = fc.option(
  fc.oneof(text('ab=&+~!*', 10), fc.constantFrom('a=1&a=2', 'b&a=%7e%20', 'ab=x&a', '%61=1&b=')),
  { nil: undefined },
);
const target = fc
  .tuple(path, query)
  .map(([at, asked]) => (asked === undefined ? at : `${at}?${asked}`));
const origin = fc.constantFrom(
  'https://example.com',
  'HTTPS://Example.COM:443',
  'http://example.com:8080',
  'http://127.0.0.1',
);

const DICTIONARY_VALUES = [
  'u=1, i',
  ' a=1,   b;x=1;y="z" ,c=(a  b;q=1.50)',
  'u=1.0, u=2, i=?0',
  'a=1.0, u=2.50, c=(3.0 4.125)',
  'a="x\\"y", b=:aGk=:, c=tok/en',
  'a=1,',
  'A=1',
  '',
];
const field = fc.oneof(
  fc.tuple(fc.constantFrom('Priority', 'priority'), fc.constantFrom(...DICTIONARY_VALUES)),
  fc.tuple(fc.constantFrom('X-A', 'x-b', 'Cookie'), text('a ,;=\t"é', 8)),
);

const name = fc.constantFrom(
  '@method',
  '@target-uri',
  '@authority',
  '@scheme',
  '@request-target',
  '@path',
  '@query',
  '@query-param',
  '@status',
  '@other',
  'priority',
  'x-a',
  'x-b',
  'cookie',
  'X-A',
  'date',
);
const parameter = fc.constantFrom(
  ';sf',
  ';bs',
  ';tr',
  ';req',
  ';key="u"',
  ';key="a"',
  ';key="c"',
  ';key=u',
  ';sf=?0',
  ';name="a"',
  ';name="b"',
  ';name="ab"',
  ';name',
  ';other=1',
);
const often = <T>(rest: fc.Arbitrary<T>, nothing: T) =>
  fc.oneof({ weight: 3, arbitrary: fc.constant(nothing) }, { weight: 2, arbitrary: rest });
const keyOf = (param: string) => param.replace(/=.*/, '');
const component = fc
  .tuple(name, often(parameter, ''), often(parameter, ''))
  .filter(([, one, other]) => one === '' || keyOf(one) !== keyOf(other))
  .map(([of, one, other]) => `"${of}"${one}${other}`);
const signatureParams = fc.constantFrom(
  '',
  ';created=1',
  ';created=1;keyid="a\\"b";tag="gnap"',
  ';alg="x";n=1.500;b',
);

const cases: fc.Arbitrary<Case> = fc
  .record({
    method: fc.constantFrom('GET', 'POST', 'get'),
    origin,
    target,
    fields: fc.array(field, { maxLength: 4 }),
    components: fc.array(component, { maxLength: 4 }),
    params: signatureParams,
  })
  .map(({ components, params, origin: at, target: requestTarget, ...request }) => ({
    request: { ...request, requestTarget, targetUri: at + requestTarget },
    input: `(${components.join(' ')})${params}`,
  }));

/** The signature base, or null if the signature is refused. */
function ours({ request, input: of }: Case): string | null {
  const fields: Record<string, string[]> = {};
  for (const [key, value] of request.fields) (fields[key.toLowerCase()] ??= []).push(value);
  const { identifiers, params } = input(of);
  try {
    return signatureBase(identifiers, params, { ...request, ...withFields(fields) });
  } catch (error) {
    if (error instanceof BadSignature) return null;
    throw error;
  }
}

test('RFC 9421 section 2.5: both make the same bases of generated requests, and refuse the same requests', () => {
  const generated = fc.sample(cases, { numRuns: CASES, seed: 9421 });
  const program = fileURLToPath(new URL('signature_base.py', import.meta.url));
  const { stdout, stderr } = spawnSync('/usr/bin/python3', ['-B', program], {
    input: JSON.stringify(generated),
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  });
  expect(stderr).toBe('');
  const theirs = JSON.parse(stdout) as readonly (string | null)[];
  const different = generated
    .map((one, at) => [one, ours(one), theirs[at]])
    .filter(([, base, other]) => base !== other);
  expect(different.slice(0, 3)).toEqual([]);
  const made = theirs.filter((base) => base !== null).length;
  expect(made).toBeGreaterThan(CASES / 4);
  expect(CASES - made).toBeGreaterThan(CASES / 10);
});
