import { describe, test } from '@jest/globals';
import { RuleTester } from 'oxlint/plugins-dev';
import { mainClauseFirst } from './plain-words.js';

RuleTester.describe = describe;
RuleTester.it = test;

const errors = 1;

new RuleTester().run('the main clause comes first', mainClauseFirst, {
  valid: [
    '// The client sends neither field.',
    '/** Whatever is left. */',
    '// The server answers\n// what it was asked for.',
    '/**\n * The server answers\n * what it was asked for.\n */',
    "test('a client without a key is refused', () => {});",
    "expect('what is missing').toBe(1);",
  ],
  invalid: [
    { code: '// Who sends neither field is no browser.', errors },
    { code: '/** What a request asks for. */', errors },
    { code: '/**\n * Whoever comes first.\n */', errors },
    { code: 'send(); // of what is left', errors },
    { code: '/** Of the request that uses it. */', errors },
    { code: "test('of ten at once one is let in', () => {});", errors },
    { code: 'send();\n// For who asks for it.\n', errors },
    { code: "test('who has no key is refused', () => {});", errors },
    { code: 'describe(`What is sent`, () => {});', errors },
    { code: "test.each([1])('what is no number: %s', () => {});", errors },
    { code: "describe.each`a`('Who asks', () => {});", errors },
  ],
});
