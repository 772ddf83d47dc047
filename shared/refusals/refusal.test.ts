import { globSync, readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { LABELS, within } from './refusal.ts';
import { SCHEMES } from './schemes.ts';
import { SIGNATURES } from './signatures.ts';
import { SPACES } from './spaces.ts';
import { labelOf, REFUSALS } from './table.ts';
import { refuse, TOKENS } from './tokens.ts';

const PARTS = [SPACES, TOKENS, SIGNATURES, SCHEMES];

describe('the table', () => {
  test('no code is in two parts of the table', () => {
    const codes = PARTS.flatMap((part) => Object.keys(part));
    expect(Object.keys(REFUSALS)).toHaveLength(codes.length);
  });

  test('each label counts a refusal, except the label of unknown codes', () => {
    const used = new Set(Object.values(REFUSALS).map(({ label }) => label));
    expect(LABELS.filter((label) => !used.has(label))).toEqual([]);
  });
});

describe('the words', () => {
  test('a value replaces its name in a text', () => {
    expect(refuse('token-issuer', { iss: 'https://a', issuer: 'https://b' })).toEqual({
      refusal: 'token-issuer',
      reason: 'iss is another issuer: https://a, not https://b',
    });
  });

  test('a value that looks like a name is not replaced again', () => {
    const { reason } = refuse('token-issuer', { iss: '{issuer} $& $1', issuer: 'https://b' });
    expect(reason).toBe('iss is another issuer: {issuer} $& $1, not https://b');
  });

  test('the part is named first, and the code stays the same', () => {
    expect(within('access token', refuse('token-key'))).toEqual({
      refusal: 'token-key',
      reason: 'access token: the issuer has no such key',
    });
  });
});

describe('the label', () => {
  test.each(['of-no-table', 'toString', '__proto__', ''])('is other for the code %j', (code) => {
    expect(labelOf(code)).toBe('other');
  });
});

/** A file that compares a reason phrase of HTTP. */
const OTHER_REASONS = ['resource-server/forwarding/passing-answer.ts'];

test('no code of the product compares the words of a reason', () => {
  const compared =
    /\breason\b[^\n]{0,20}\.(?:startsWith|endsWith|includes|match|search|replace)\(|\.test\([^)\n]*\breason\)/;
  const files = globSync('{authz-server,resource-server,shared}/**/*.ts').filter(
    (file) => !/\.(?:test|fixture)\.ts$|\/integration\//.test(file),
  );
  expect(files.length).toBeGreaterThan(1000);
  expect(files.filter((file) => compared.test(readFileSync(file, 'utf8'))).toSorted()).toEqual(
    OTHER_REASONS,
  );
});
